"""Thompson sampling without looking: waits are geometric, draws conditional on passing the level.

In every contest each arm draws once. A waiting arm's draws are split at the level: whether one lies
above is decided by its hat, candidate by candidate, so the contests until the next candidate are
geometric; a draw above is the candidate, a draw below is made only if it can matter, conditional
on lying below. docs/decisions/0006-leaping.md has the proof.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np

from unimodal.engines.leap.wait_queue import (
    NEVER,
    clear,
    guard,
    hold_contest,
    next_key,
    next_position,
    requeue,
    start_waiting,
    wait_until,
    wake,
    worth,
)
from unimodal.families.family import earned
from unimodal.families.leaping import hat, is_sure, outlook, under_hat, worst
from unimodal.kernels.compile import generic, inner
from unimodal.kernels.random import exponential, uniform
from unimodal.policies.index import Thompson, posterior_draw, tie_key
from unimodal.policies.leaping import contest_after

SHARE = 0.25  # of the level's depth, which the incumbent may lose before it competes again
FREQUENT = 0.25  # a rival that passes the level more often is drawn in every contest
FEW = 16  # in contests of no more arms, drawing all of them is the cheapest


@start_waiting.register(Thompson)
def _start_waiting(index, scope, family, state, near, queue, clock):
    session = queue.session[0]
    if _only_sure_one(family, state, near, session.position):
        _enqueue_under_a_sure_one(near, queue)
        return True
    winners_known = session.hot and session.contests >= 8
    if not winners_known or session.holding > 0.5:
        session.hot = session.contests = 0
        level = _level_under(family, state, near, session, clock)
        often = _enqueue_all(scope, family, state, near, queue, level, session.position, clock)
        seldom = session.eager or often < max(FREQUENT, len(near) / 500.0)
        if session.n_awake == 0 and seldom and math.isfinite(worst(family)):
            session.room = _depth(family, state, near, queue)
            return True
        whole = len(near) <= FEW or draws_are_cheap(index, near)
        if whole and not session.eager:
            return False
    session.hot, session.contests = 1, 0
    level = _level_of_winners(session) if winners_known else session.level
    session.holding = 0.0
    _enqueue_all(scope, family, state, near, queue, level, -1, clock)
    return True


@generic
def draws_are_cheap(index, near):
    """Whether to draw all competitors is cheaper than to look for those who matter."""


@draws_are_cheap.register(Thompson)
def _never(index, near):
    return False


@inner
def _only_sure_one(family, state, near, position):
    """Whether an arm draws the top every time, and no other does."""
    if not is_sure(family, state.arms[near[position]]):
        return False
    for other in range(len(near)):
        if other != position and is_sure(family, state.arms[near[other]]):
            return False
    return True


@inner
def _enqueue_under_a_sure_one(near, queue):
    """Nobody else can win, however often they pass any level below the top."""
    clear(queue, len(near))
    queue.session[0].hot, queue.session[0].level = 0, math.inf
    for position in range(len(near)):
        if position != queue.session[0].position:
            wait_until(queue, len(near), position, NEVER)


@inner
def _level_under(family, state, near, session, clock):
    """A level under the incumbent's mean: by its width, or by the gap to the best rival.

    With gap/(2·log t), the rivals' crossings grow by a constant factor only, and the incumbent
    may be pulled in proportion to its pulls before its mean has lost a share of that.
    """
    centre, spread = outlook(family, state.arms[near[session.position]])
    rival = -math.inf
    for other in range(len(near)):
        if other != session.position:
            rival = max(rival, outlook(family, state.arms[near[other]])[0])
    return centre - max(session.depth * spread, (centre - rival) / (2.0 * math.log(clock + 3.0)))


@inner
def _level_of_winners(session):
    """A level that the winner of a contest hardly ever misses, and few others pass."""
    return session.winning - 3.0 * session.varying


@inner
def _depth(family, state, near, queue):
    """How far the level lies under the incumbent's mean, in standard deviations."""
    centre, spread = outlook(family, state.arms[near[queue.session[0].position]])
    return (centre - queue.session[0].level) / spread


@inner
def _enqueue_all(scope, family, state, near, queue, level, but, clock):
    """Let all rivals but one wait for a level; returns how many pass it in a contest, about."""
    clear(queue, len(near))
    queue.session[0].level = level
    often = 0.0
    for position in range(len(near)):
        if position != but:
            often += _enqueue(scope, family, state, near, queue, position, clock)
    return often


@inner
def _enqueue(scope, family, state, near, queue, position, clock):
    mass, rate = hat(family, state.arms[near[position]], 0, queue.session[0].level, True)
    if mass > FREQUENT:
        wake(queue, len(near), position)
        return 1.0
    queue.rivals[position].rate = rate
    queue.rivals[position].log_miss = math.log1p(-mass)
    _wait(scope, state, queue, len(near), position, clock)
    return mass


@inner
def _wait(scope, state, queue, size, position, clock):
    """Let an arm wait for its next candidate."""
    contests = _geometric(state.rng, queue.rivals[position].log_miss)
    wait_until(queue, size, position, contest_after(scope, clock, size, contests))


@inner
def _geometric(rng, log_miss):
    """The number of contests up to the first candidate."""
    if log_miss == 0.0:
        return NEVER
    return min(math.floor(exponential(rng) / -log_miss) + 1.0, NEVER)


@requeue.register(Thompson)
def _enqueue_again(index, scope, family, state, near, queue, position, clock):
    session = queue.session[0]
    if session.hot:
        _enqueue(scope, family, state, near, queue, position, clock)
        stale = abs(_level_of_winners(session) - session.level) > session.varying
        return not (
            (session.contests >= 16 and stale) or (session.contests >= 64 and session.holding > 0.5)
        )
    if position != session.position:
        _enqueue(scope, family, state, near, queue, position, clock)
    return session.n_awake == 0


@worth.register(Thompson)
def _worth(index, size):
    return 450.0 / (40.0 + 29.0 * size)


@guard.register(Thompson)
def _guard(index, scope, family, state, near, queue, clock, most):
    session = queue.session[0]
    if session.hot:
        return 0, contest_after(scope, clock, len(near), 1.0)
    record = state.arms[near[session.position]]
    if session.level == math.inf:
        # Until its first failure: then the session starts again.
        return (0, next_key(queue)) if is_sure(family, record) else (-1, 0.0)
    depth = _depth(family, state, near, queue)
    if depth > 1.5 * session.room or depth < 0.7 * session.room:
        return -1, 0.0  # the level was chosen for another width
    centre = outlook(family, record)[0]
    low = earned(family, record, worst(family))
    share = SHARE * (centre - session.level) / (centre - low)
    loss_margin = min(most, np.int64(share * record.pulls))
    # The incumbent's own draw: a candidate below the level at most this often, whatever its
    # rewards will be, as long as no more of them than `loss_margin` are the worst.
    mass = hat(family, record, loss_margin, session.level, False)[0]
    if mass > 0.5:
        return -1, 0.0
    session.dip_mass = mass
    contests = _geometric(state.rng, math.log1p(-mass))
    session.dip = contest_after(scope, clock, len(near), contests)
    return loss_margin, min(session.dip, next_key(queue))


@hold_contest.register(Thompson)
def _hold_contest(index, scope, family, state, near, queue, clock):
    session, arms, rng, size = queue.session[0], state.arms, state.rng, len(near)
    level = session.level
    best, best_draw = -1, -math.inf
    for slot in range(session.n_awake):
        position = queue.rivals[slot].awake
        draw = posterior_draw(index, family, state, near[position])
        if _beats(state, near, draw, position, best_draw, best):
            best, best_draw = position, draw
    while next_key(queue) <= clock:
        position = next_position(queue, size)
        draw = under_hat(
            family, arms[near[position]], level, queue.rivals[position].rate, True, rng
        )
        if draw == draw and _beats(state, near, draw, position, best_draw, best):
            best, best_draw = position, draw
        _wait(scope, state, queue, size, position, clock)
    if not session.hot:
        position = session.position
        record = arms[near[position]]
        draw = _dip(family, record, queue, clock, rng)
        if draw != draw:  # it lies above
            if best < 0:
                return position  # where nobody else does
            draw = _draw_above(index, family, state, near[position], level)
        if _beats(state, near, draw, position, best_draw, best):
            best, best_draw = position, draw
    if not best_draw > level:
        # Nobody passed the level: whoever waits has drawn below it.
        for position in range(size):
            if queue.rivals[position].slot < 0 and (session.hot or position != session.position):
                draw = _draw_below(index, family, state, near[position], level)
                if _beats(state, near, draw, position, best_draw, best):
                    best, best_draw = position, draw
    if session.hot:
        _remember(queue, best_draw, best == session.position)
    return best


@inner
def _dip(family, record, queue, clock, rng):
    """The incumbent's draw where it lies below the level, or else NaN."""
    session = queue.session[0]
    if clock < session.dip:
        return math.nan
    mass, rate = hat(family, record, 0, session.level, False)
    # Candidates came as often as in the worst case; thin them to the present one.
    if uniform(rng) * session.dip_mass >= mass:
        return math.nan
    return under_hat(family, record, session.level, rate, False, rng)


@inner
def _remember(queue, draw, held):
    """Keep running averages of the winning draws, to choose the next level by."""
    session = queue.session[0]
    weight = 1.0 / min(session.contests + 1.0, 16.0)
    session.varying += (abs(draw - session.winning) - session.varying) * weight
    session.winning += (draw - session.winning) * weight
    session.holding += (held - session.holding) * weight


@inner
def _beats(state, near, draw, position, best_draw, best):
    if draw != best_draw or best < 0:
        return draw > best_draw or best < 0
    return tie_key(state, near[position]) > tie_key(state, near[best])


@inner
def _draw_above(index, family, state, arm, level):
    """A draw above a level that nearly all of them exceed."""
    while True:
        draw = posterior_draw(index, family, state, arm)
        if draw > level:
            return draw


@inner
def _draw_below(index, family, state, arm, level):
    """A draw below a level that most of them do not exceed."""
    while True:
        draw = posterior_draw(index, family, state, arm)
        if draw <= level:
            return draw
