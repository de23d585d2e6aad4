"""How much a service takes of one client."""

from __future__ import annotations

from dataclasses import dataclass

NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"  # of a campaign: part of a file's name, so nothing else
LARGEST = 2**63 - 1  # whole number: stores count in 64 bits
MOST_DECISIONS = 10_000  # in one request
MOST_REWARDS = 10_000
MOST_EVENTS = 10_000
MOST_LABELS = 1_000  # to be paused, resumed or retired in one request
LONGEST_LABEL = 200
LONGEST_TEXT = 500  # of a policy, a family, a generator
LONGEST_KEY = 200


@dataclass(frozen=True)
class ServiceLimits:
    """What an owner may want otherwise."""

    body: int = 4 * 2**20  # bytes; 413 for more, before anything is parsed
    stranger_body: int = 2**16  # bytes, of who has shown no token
    body_seconds: float = 10.0  # for a body to arrive
    head_seconds: float = 10.0  # for the head of a request to arrive
    answer_seconds: float = 60.0  # for an answer to be taken
    keep_seconds: float = 5.0  # for the next request to begin
    fields: int = 30_000  # in a body
    connections: int = 0  # in all; 0, and at most: half of the descriptors
    connections_of_one: int = 0  # address; 0: three quarters of all
    arms: int = 100_000
    edges: int = 1_000_000
    rewards: int = 10_000_000  # for which a policy makes room: a window, or one for each arm
    waiting: int = 1_024  # calls in the queue, half of them of one token; 503 for more
    readings: int = 64  # slow reads that wait, a quarter of them of one token
    rate: float = 5_000.0  # requests per second and token, or address without one
    most_open: int = 256  # campaigns, for their memory; fewer where descriptors are short
    idle: float = 900.0  # seconds after which a campaign that nobody uses is closed
    wait: float = 5.0  # seconds for which another process may keep a campaign busy
