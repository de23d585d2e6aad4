"""Thompson sampling without looking: waits are geometric, draws conditional on passing the level.

In every contest each arm draws once. A waiting arm's draws are split at the level: whether one lies
above is decided by its hat, candidate by candidate, so the contests until the next candidate are
geometric; a draw above is the candidate, a draw below is made only if it can matter, conditional
on lying below. docs/decisions/0006-leaping.md has the proof.
"""

from __future__ import annotations

import math

import numpy as np

from unimodal.engines.leap.wait_queue import (
    NEVER,
    clear,
    guard,
    look,
    next_key,
    next_place,
    seat,
    settle,
    wait_until,
    wake,
    worth,
)
from unimodal.families.family import posterior
from unimodal.families.reward_sums import worst
from unimodal.families.tails import hat, is_sure, outlook, under_hat
from unimodal.kernels.compile import inner
from unimodal.kernels.random import exponential, uniform
from unimodal.policies.index import Thompson, lot
from unimodal.policies.skipping import contest_after

SHARE = 0.25  # of the level's depth, which the incumbent may lose before it is looked at again
FREQUENT = 0.25  # a rival that passes the level more often is drawn in every contest
FEW = 16  # in contests of no more arms, drawing all of them is the cheapest


@settle.register(Thompson)
def _settle(index, scope, family, state, near, desk, clock):
    book = desk.book[0]
    if _only_sure_one(family, state, near, book.place):
        _seat_under_a_sure_one(near, desk)
        return True
    winners_known = book.hot and book.looks >= 8
    if not winners_known or book.holding > 0.5:
        book.hot = book.looks = 0
        level = _level_under(family, state, near, book, clock)
        often = _seat_all(scope, family, state, near, desk, level, book.place, clock)
        seldom = book.eager or often < max(FREQUENT, len(near) / 500.0)
        if book.n_awake == 0 and seldom and math.isfinite(worst(family)):
            book.room = _depth(family, state, near, desk)
            return True
        if len(near) <= FEW and not book.eager:
            return False
    book.hot, book.looks = 1, 0
    level = _level_of_winners(book) if winners_known else book.level
    book.holding = 0.0
    _seat_all(scope, family, state, near, desk, level, -1, clock)
    return True


@inner
def _only_sure_one(family, state, near, place):
    """Whether an arm draws the top every time, and no other does."""
    if not is_sure(family, state.arms[near[place]]):
        return False
    for other in range(len(near)):
        if other != place and is_sure(family, state.arms[near[other]]):
            return False
    return True


@inner
def _seat_under_a_sure_one(near, desk):
    """Nobody else can win, however often they pass any level below the top."""
    clear(desk, len(near))
    desk.book[0].hot, desk.book[0].level = 0, math.inf
    for place in range(len(near)):
        if place != desk.book[0].place:
            wait_until(desk, len(near), place, NEVER)


@inner
def _level_under(family, state, near, book, clock):
    """A level under the incumbent's mean: by its width, or by the gap to the best rival.

    With gap/(2·log t), the rivals' crossings grow by a constant factor only, and the incumbent
    may be pulled in proportion to its pulls before its mean has lost a share of that.
    """
    centre, spread = outlook(family, state.arms[near[book.place]])
    rival = -math.inf
    for other in range(len(near)):
        if other != book.place:
            rival = max(rival, outlook(family, state.arms[near[other]])[0])
    return centre - max(book.depth * spread, (centre - rival) / (2.0 * math.log(clock + 3.0)))


@inner
def _level_of_winners(book):
    """A level that the winner of a contest hardly ever misses, and few others pass."""
    return book.winning - 3.0 * book.varying


@inner
def _depth(family, state, near, desk):
    """How far the level lies under the incumbent's mean, in standard deviations."""
    centre, spread = outlook(family, state.arms[near[desk.book[0].place]])
    return (centre - desk.book[0].level) / spread


@inner
def _seat_all(scope, family, state, near, desk, level, but, clock):
    """Seat everybody at a level, but one; returns how many pass it in a contest, about."""
    clear(desk, len(near))
    desk.book[0].level = level
    often = 0.0
    for place in range(len(near)):
        if place != but:
            often += _seat(scope, family, state, near, desk, place, clock)
    return often


@inner
def _seat(scope, family, state, near, desk, place, clock):
    mass, rate = hat(family, state.arms[near[place]], 0, desk.book[0].level, True)
    if mass > FREQUENT:
        wake(desk, len(near), place)
        return 1.0
    desk.seats[place].rate = rate
    desk.seats[place].log_miss = math.log1p(-mass)
    _wait(scope, state, desk, len(near), place, clock)
    return mass


@inner
def _wait(scope, state, desk, size, place, clock):
    """Let an arm wait for its next candidate."""
    contests = _geometric(state.rng, desk.seats[place].log_miss)
    wait_until(desk, size, place, contest_after(scope, clock, size, contests))


@inner
def _geometric(rng, log_miss):
    """The number of contests up to the first candidate."""
    if log_miss == 0.0:
        return NEVER
    return min(math.floor(exponential(rng) / -log_miss) + 1.0, NEVER)


@seat.register(Thompson)
def _seat_again(index, scope, family, state, near, desk, place, clock):
    book = desk.book[0]
    if book.hot:
        _seat(scope, family, state, near, desk, place, clock)
        stale = abs(_level_of_winners(book) - book.level) > book.varying
        return not ((book.looks >= 16 and stale) or (book.looks >= 64 and book.holding > 0.5))
    if place != book.place:
        _seat(scope, family, state, near, desk, place, clock)
    return book.n_awake == 0


@worth.register(Thompson)
def _worth(index, size):
    return 450.0 / (40.0 + 29.0 * size)


@guard.register(Thompson)
def _guard(index, scope, family, state, near, desk, clock, most):
    book = desk.book[0]
    if book.hot:
        return 0, contest_after(scope, clock, len(near), 1.0)
    record = state.arms[near[book.place]]
    if book.level == math.inf:
        # Until its first failure: then the session is settled again.
        return (0, next_key(desk)) if is_sure(family, record) else (-1, 0.0)
    depth = _depth(family, state, near, desk)
    if depth > 1.5 * book.room or depth < 0.7 * book.room:
        return -1, 0.0  # the level was chosen for another width
    centre = outlook(family, record)[0]
    share = SHARE * (centre - book.level) / (centre - worst(family))
    bearable = min(most, np.int64(share * record.pulls))
    # The incumbent's own draw: a candidate below the level at most this often, whatever its
    # rewards will be, as long as no more of them than `bearable` are the worst.
    mass = hat(family, record, bearable, book.level, False)[0]
    if mass > 0.5:
        return -1, 0.0
    book.dip_mass = mass
    contests = _geometric(state.rng, math.log1p(-mass))
    book.dip = contest_after(scope, clock, len(near), contests)
    return bearable, min(book.dip, next_key(desk))


@look.register(Thompson)
def _look(index, scope, family, state, near, desk, clock):
    book, arms, rng, size = desk.book[0], state.arms, state.rng, len(near)
    level = book.level
    best, best_draw = -1, -math.inf
    for slot in range(book.n_awake):
        place = desk.seats[slot].awake
        draw = posterior(family, arms[near[place]], rng)
        if _beats(state, near, draw, place, best_draw, best):
            best, best_draw = place, draw
    while next_key(desk) <= clock:
        place = next_place(desk, size)
        draw = under_hat(family, arms[near[place]], level, desk.seats[place].rate, True, rng)
        if draw == draw and _beats(state, near, draw, place, best_draw, best):
            best, best_draw = place, draw
        _wait(scope, state, desk, size, place, clock)
    if not book.hot:
        place = book.place
        record = arms[near[place]]
        draw = _dip(family, record, desk, clock, rng)
        if draw != draw:  # it lies above
            if best < 0:
                return place  # where nobody else does
            draw = _draw_above(family, record, level, rng)
        if _beats(state, near, draw, place, best_draw, best):
            best, best_draw = place, draw
    if not best_draw > level:
        # Nobody passed the level: whoever waits has drawn below it.
        for place in range(size):
            if desk.seats[place].slot < 0 and (book.hot or place != book.place):
                draw = _draw_below(family, arms[near[place]], level, rng)
                if _beats(state, near, draw, place, best_draw, best):
                    best, best_draw = place, draw
    if book.hot:
        _remember(desk, best_draw, best == book.place)
    return best


@inner
def _dip(family, record, desk, clock, rng):
    """The incumbent's draw where it lies below the level, or else NaN."""
    book = desk.book[0]
    if clock < book.dip:
        return math.nan
    mass, rate = hat(family, record, 0, book.level, False)
    # Candidates came as often as in the worst case; thin them to the present one.
    if uniform(rng) * book.dip_mass >= mass:
        return math.nan
    return under_hat(family, record, book.level, rate, False, rng)


@inner
def _remember(desk, draw, held):
    """Keep running averages of the winning draws, to choose the next level by."""
    book = desk.book[0]
    weight = 1.0 / min(book.looks + 1.0, 16.0)
    book.varying += (abs(draw - book.winning) - book.varying) * weight
    book.winning += (draw - book.winning) * weight
    book.holding += (held - book.holding) * weight


@inner
def _beats(state, near, draw, place, best_draw, best):
    if draw != best_draw or best < 0:
        return draw > best_draw or best < 0
    return lot(state, near[place]) > lot(state, near[best])


@inner
def _draw_above(family, arm, level, rng):
    """A draw above a level that nearly all of them exceed."""
    while True:
        draw = posterior(family, arm, rng)
        if draw > level:
            return draw


@inner
def _draw_below(family, arm, level, rng):
    """A draw below a level that most of them do not exceed."""
    while True:
        draw = posterior(family, arm, rng)
        if draw <= level:
            return draw
