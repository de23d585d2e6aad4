"""The engine's desk: who waits until when, who is awake, and how the session is going.

A *session* is a stretch with one incumbent and one contest. Its rivals have places 0, 1, … in the
contest. A waiting rival has a key, the clock at which it must be looked at next; an awake one is
looked at in every contest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.kernels.cache_aligned import apart
from unimodal.kernels.compile import generic, inner, jit
from unimodal.kernels.leaderboard import board, show, tied_leader

# One record a place in the contest, except `awake`, which lists the awake places.
SEAT = np.dtype(
    [
        ("rate", np.float64),  # of the hat
        ("log_miss", np.float64),  # log of the chance that a contest brings no candidate
        ("awake", np.int64),
        ("slot", np.int64),  # where the place stands among the awake, or -1
    ],
    align=True,
)
# How the session is going.
BOOK = np.dtype(
    [
        ("settled", np.int64),  # whether there is a session
        ("incumbent", np.int64),
        ("place", np.int64),  # the incumbent's
        ("n_awake", np.int64),
        ("hot", np.int64),  # whether every contest is looked at, the incumbent like the others
        ("looks", np.int64),  # since the level was chosen
        ("work", np.int64),  # looks since the session's pay was last reckoned
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


class Desk(NamedTuple):
    """The engine's own memory; a kernel takes it as one argument."""

    keys: Any  # a board of minus the keys, so that its leader is the next to look at
    levels: Any  # a board of the levels that rivals wait for, where each has its own
    tally: Any  # for either board; how many are tied is never asked
    seats: Any  # (most,) of SEAT
    called: Any  # arms, for a contest of a few
    book: Any  # (1,) of BOOK


def new_desk(most: int) -> Desk:
    """A desk for contests of up to `most` arms."""
    keys, tally = board(np.full(most, NOT_WAITING), most)
    seats, book = np.zeros(most, dtype=SEAT), np.zeros(1, dtype=BOOK)
    book["patience"], book["depth"] = 4, DEPTH
    called = apart(np.zeros(most + 1, dtype=np.int64))
    return Desk(keys, apart(keys), tally, apart(seats), called, apart(book))


@generic
def settle(index, scope, family, state, near, desk, clock):
    """Choose a level and let every rival wait for it. False if single steps are cheaper."""


@generic
def guard(index, scope, family, state, near, desk, clock, most):
    """(bearable, next): worst rewards of the incumbent, and the clock, up to which nobody matters.

    `bearable` is at most `most`; -1 asks for the session to be settled again.
    """


@generic
def look(index, scope, family, state, near, desk, clock):
    """Hold the contest of this round: the place of the arm that wins it."""


@generic
def worth(index, size):
    """How many rounds a look must cover, in a contest of this size, to be cheaper than steps."""


@generic
def seat(index, scope, family, state, near, desk, place, clock):
    """Let an arm whose statistics changed wait again. False if all must be settled again."""


@jit
def clear(desk, size):
    """Nobody waits, nobody is awake."""
    both = 2 * _leaves(size)
    desk.keys[:both] = NOT_WAITING
    desk.levels[:both] = NOT_WAITING
    desk.tally[:both] = 1
    for place in range(size):
        desk.seats[place].slot = -1
    desk.book[0].n_awake = 0


@inner
def _leaves(size):
    leaves = 2
    while leaves < size:
        leaves *= 2
    return leaves


@jit
def wait_until(desk, size, place, clock):
    """Let a place wait; it is no longer awake."""
    both = 2 * _leaves(size)
    show(desk.keys[:both], desk.tally[:both], place, -clock)
    seats, book, slot = desk.seats, desk.book[0], desk.seats[place].slot
    if slot >= 0:
        book.n_awake -= 1
        last = seats[book.n_awake].awake
        seats[slot].awake = last
        seats[last].slot = slot
        seats[place].slot = -1


@jit
def wake(desk, size, place):
    """Let a place be looked at in every contest; it no longer waits."""
    both = 2 * _leaves(size)
    show(desk.keys[:both], desk.tally[:both], place, NOT_WAITING)
    seats, book = desk.seats, desk.book[0]
    if seats[place].slot < 0:
        seats[place].slot = book.n_awake
        seats[book.n_awake].awake = place
        book.n_awake += 1


@jit
def next_key(desk):
    """The clock of the next look; infinite if nobody waits."""
    return -desk.keys[1]


@jit
def next_place(desk, size):
    """The place to look at next."""
    both = 2 * _leaves(size)
    return tied_leader(desk.keys[:both], desk.tally[:both], 0)


@jit
def set_level(desk, size, place, level):
    """Note the level that a place waits for."""
    both = 2 * _leaves(size)
    show(desk.levels[:both], desk.tally[:both], place, level)


@jit
def top_place(desk, size):
    """The place that waits for the highest level, `desk.levels[1]`."""
    both = 2 * _leaves(size)
    return tied_leader(desk.levels[:both], desk.tally[:both], 0)
