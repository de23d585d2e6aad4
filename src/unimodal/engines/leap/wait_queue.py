"""The wait queue of rivals: who waits until when, who is awake, and how the session is going.

A *session* is a stretch with one incumbent and one contest. Its rivals have positions 0, 1, … in
the contest. A waiting rival has a key, the clock at which it must compete next; an awake one
competes in every contest.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import generic, inner, jit
from unimodal.kernels.leaderboard import board, show, tied_leader

# One record a position in the contest, except `awake`, which lists the awake positions.
RIVAL = np.dtype(
    [
        ("rate", np.float64),  # of the hat
        ("log_miss", np.float64),  # log of the chance that a contest brings no candidate
        ("awake", np.int64),
        ("slot", np.int64),  # where the position stands among the awake, or -1
    ],
    align=True,
)
# How the session is going.
SESSION = np.dtype(
    [
        ("is_open", np.int64),  # whether there is a session
        ("incumbent", np.int64),
        ("position", np.int64),  # the incumbent's
        ("n_awake", np.int64),
        ("hot", np.int64),  # whether every contest is held, with the incumbent like the others
        ("contests", np.int64),  # since the level was chosen
        ("work", np.int64),  # contests since it was last asked whether the session pays
        ("since", np.int64),  # the round of that
        ("patience", np.int64),  # rounds to step before the next session
        ("resume", np.int64),  # the round at which they end
        ("eager", np.int64),  # whether to leap where single steps would be cheaper, as tests do
        ("depth", np.float64),  # standard deviations from the incumbent's mean down to the level
        ("level", np.float64),
        ("room", np.float64),  # what the incumbent could bear when the level was chosen
        ("dip", np.float64),  # the clock of its next candidate below the level
        ("dip_mass", np.float64),  # and how often one comes
        ("winning", np.float64),  # the recent winning draws
        ("varying", np.float64),  # how they vary
        ("holding", np.float64),  # and how many were the incumbent's
    ],
    align=True,
)

DEPTH = 4.5
NEVER = 2.0**50  # beyond any horizon
NOT_WAITING = -np.inf


class WaitQueue(NamedTuple):
    """The engine's own memory; a kernel takes it as one argument."""

    keys: Any  # a board of minus the keys, so that its leader is the next to compete
    levels: Any  # a board of the levels that rivals wait for, where each has its own
    tally: Any  # for either board; how many are tied is never asked
    rivals: Any  # (most,) of RIVAL
    called: Any  # arms, for a contest of a few
    session: Any  # (1,) of SESSION


def new_wait_queue(most: int) -> WaitQueue:
    """A queue for contests of up to `most` arms."""
    keys, tally = board(np.full(most, NOT_WAITING), most)
    rivals, session = np.zeros(most, dtype=RIVAL), np.zeros(1, dtype=SESSION)
    session["patience"], session["depth"] = 4, DEPTH
    called = cache_aligned(np.zeros(most + 1, dtype=np.int64))
    return WaitQueue(
        keys, cache_aligned(keys), tally, cache_aligned(rivals), called, cache_aligned(session)
    )


@generic
def start_waiting(index, scope, family, state, near, queue, clock):
    """Choose a level and let every rival wait for it. False if single steps are cheaper."""


@generic
def guard(index, scope, family, state, near, queue, clock, most):
    """(bearable, next): worst rewards of the incumbent, and the clock, up to which nobody matters.

    `loss_margin` is at most `most`; -1 asks for the session to start again.
    """


@generic
def hold_contest(index, scope, family, state, near, queue, clock):
    """Hold the contest of this round: the position of the arm that wins it."""


@generic
def worth(index, size):
    """How many rounds a contest must cover, in a contest of this size, to be cheaper than steps."""


@generic
def requeue(index, scope, family, state, near, queue, position, clock):
    """Let an arm whose statistics changed wait again. False if all must start to wait again."""


@jit
def clear(queue, size):
    """Nobody waits, nobody is awake."""
    both = 2 * _leaves(size)
    queue.keys[:both] = NOT_WAITING
    queue.levels[:both] = NOT_WAITING
    queue.tally[:both] = 1
    for position in range(size):
        queue.rivals[position].slot = -1
    queue.session[0].n_awake = 0


@inner
def _leaves(size):
    leaves = 2
    while leaves < size:
        leaves *= 2
    return leaves


@jit
def wait_until(queue, size, position, clock):
    """Let a position wait; it is no longer awake."""
    both = 2 * _leaves(size)
    show(queue.keys[:both], queue.tally[:both], position, -clock)
    rivals, session, slot = queue.rivals, queue.session[0], queue.rivals[position].slot
    if slot >= 0:
        session.n_awake -= 1
        last = rivals[session.n_awake].awake
        rivals[slot].awake = last
        rivals[last].slot = slot
        rivals[position].slot = -1


@jit
def wake(queue, size, position):
    """Let a position compete in every contest; it no longer waits."""
    both = 2 * _leaves(size)
    show(queue.keys[:both], queue.tally[:both], position, NOT_WAITING)
    rivals, session = queue.rivals, queue.session[0]
    if rivals[position].slot < 0:
        rivals[position].slot = session.n_awake
        rivals[session.n_awake].awake = position
        session.n_awake += 1


@jit
def next_key(queue):
    """The clock of the next contest; infinite if nobody waits."""
    return -queue.keys[1]


@jit
def next_position(queue, size):
    """The position that competes next."""
    both = 2 * _leaves(size)
    return tied_leader(queue.keys[:both], queue.tally[:both], 0)


@jit
def set_level(queue, size, position, level):
    """Note the level that a position waits for."""
    both = 2 * _leaves(size)
    show(queue.levels[:both], queue.tally[:both], position, level)


@jit
def top_position(queue, size):
    """The position that waits for the highest level, `queue.levels[1]`."""
    both = 2 * _leaves(size)
    return tied_leader(queue.levels[:both], queue.tally[:both], 0)
