"""Three campaigns that live: prices, radio rates and advertising, fed by a simulated world.

For `unimodal serve --demo`. Each world is a thread that decides and tells rewards, in batches that
become slower once there is something to see. The means are made up and no policy sees them.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unimodal
from unimodal import families, graphs, policies
from unimodal.agents.decisions import Decision
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.service.service import Service

PRICES = ["4.90", "6.90", "8.90", "9.90", "11.90", "12.90", "14.90", "16.90", "19.90", "24.90"]
RATES = [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]  # Mbit/s, of an 802.11n stream
_NEEDED = [2.0, 5.0, 9.0, 11.0, 15.0, 18.0, 20.0, 25.0]  # dB at which half of the frames arrive
_FRIENDSHIPS = Path(unimodal.__file__).parents[2] / "examples" / "data" / "ego-facebook.csv.gz"
_FIRST, _QUICK, _PAUSE = 60, 0.05, 0.25  # batches, and seconds between them: then, and later
_LIVES = 6.0  # seconds after which a visitor who has not bought will not
_COMPILING = (
    "The demonstration begins: its policies are compiled, which takes some seconds, and only once."
)
_log = logging.getLogger("unimodal")


@dataclass(frozen=True)
class World:
    """What a campaign is about, and what comes of a decision: a reward, after some seconds."""

    name: str
    settings: dict[str, Any]
    outcome: Callable[[Decision, random.Random], tuple[float | None, float]]
    batch: int = 10


def pricing() -> World:
    """Purchases are told when their time is nearly over; who does not buy says nothing.

    Told as they happen they would be ahead of the refusals: docs/guide/delays.md.
    """
    ladder = graphs.line(PRICES)
    family = families.Scaled(families.Bernoulli(), by=float)

    def outcome(decision: Decision, rng: random.Random) -> tuple[float | None, float]:
        buys = rng.random() < 0.6 / (1 + math.exp((float(decision.arm) - 13) / 3))
        return (1.0 if buys else None), 0.8 * _LIVES

    settings = {"policy": policies.UTS(), "graph": ladder, "family": family}
    return World("prices", {**settings, "time_to_live": _LIVES, "on_expiry": "zero"}, outcome)


def radio() -> World:
    """The best rate moves as the signal goes from 28 dB to 6 dB and back, in five minutes."""
    ladder = graphs.line(RATES)
    family = families.Scaled(families.Bernoulli(), by=float)
    policy = policies.Windowed(policies.UTS(), window=200)

    def outcome(decision: Decision, rng: random.Random) -> tuple[float | None, float]:
        signal = 17 + 11 * math.cos(2 * math.pi * time.monotonic() / 300)
        needed = float(np.interp(decision.arm, RATES, _NEEDED))  # of an inserted rate, too
        arrives = 1 / (1 + math.exp(-1.5 * (signal - needed)))
        return float(rng.random() < arrives), 0.0

    return World("radio", {"policy": policy, "graph": ladder, "family": family}, outcome)


def advertising() -> World:
    """Clicks fall by half with each step from one person among friends."""
    graph = _friends()
    steps = dict(zip(graph.labels, graph.distances(graph.n_arms // 3).tolist(), strict=True))

    def outcome(decision: Decision, rng: random.Random) -> tuple[float | None, float]:
        clicks = rng.random() < 0.3 * 0.5 ** steps.get(decision.arm, 9)  # 9: somebody new
        return float(clicks), rng.expovariate(1.0)

    policy = policies.UTS(period=2, start="probe(8)")
    return World("advertising", {"policy": policy, "graph": graph}, outcome)


def _friends() -> Graph:
    """The Facebook graph of the examples; a random one where they are not installed."""
    if _FRIENDSHIPS.exists():
        return graphs.read_edges(_FRIENDSHIPS)
    return graphs.barabasi_albert(1000, 5, seed=1)


WORLDS = (pricing, radio, advertising)


class Demo:
    """The worlds of a service, each in a thread, until they are stopped."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._live, args=(make,), name=f"demo-{make.__name__}")
            for make in WORLDS
        ]

    def start(self) -> None:
        """Begin; the campaigns appear one after the other, as their policies are compiled."""
        self._service.note = _COMPILING
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, before the campaigns are closed."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _live(self, make: Callable[[], World]) -> None:
        world = make()
        rng, late = random.Random(world.name), list[tuple[float, int, float]]()
        if not self._service.catalog.has(world.name):
            self._service.campaigns.create(world.name, **world.settings)
        for number in itertools.count():
            try:
                self._step(world, rng, late)
            except UnimodalError as error:  # such as a reward of an arm that its owner retired
                _log.warning("the demonstration of %s: %s", world.name, error)
            if self._stopped.wait(_QUICK if number < _FIRST else _PAUSE):
                return

    def _step(self, world: World, rng: random.Random, late: list[tuple[float, int, float]]) -> None:
        """Show something to some people, and hear from others."""
        service = self._service
        with service.campaigns.use(world.name) as campaign:
            if not service.is_ended(world.name):
                made = campaign.decide(world.batch)
                service.metrics.decided(world.name, made)
                now = time.monotonic()
                for decision in made:
                    reward, after = world.outcome(decision, rng)
                    if reward is not None:
                        heapq.heappush(late, (now + after, decision.id, reward))
            told = []
            while late and late[0][0] <= time.monotonic():
                _, number, reward = heapq.heappop(late)
                told.append((number, reward))
            if told:
                campaign.reward(*map(list, zip(*told, strict=True)))
                service.metrics.rewarded(world.name, ["counted"] * len(told))
