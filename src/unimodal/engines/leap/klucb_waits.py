"""KL-UCB without looking: a rival's index grows with the clock alone while it is not pulled.

It reaches a level when its budget reaches N·kl(mean, level). Until then it cannot win, as long as
the incumbent's index stays above the level, which the incumbent's worst rewards bound. A wait ends
early, never late; the real contest then decides. docs/decisions/0006-leaping.md has the proof.
`bulk_pulls.py` adds the indices that read another clock.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

import numpy as np

from unimodal.engines.leap.wait_queue import (
    NEVER,
    NOT_WAITING,
    clear,
    guard,
    hold_contest,
    next_key,
    next_position,
    requeue,
    set_level,
    start_waiting,
    top_position,
    wait_until,
    wake,
    worth,
)
from unimodal.families.family import of_arm
from unimodal.families.leaping import worst
from unimodal.families.unsaturated_scale import (
    between,
    distance,
    is_sharp,
    linear_form,
    mean_level,
)
from unimodal.kernels.compile import generic, inner
from unimodal.policies.index import (
    Budgeted,
    KLUpper,
    contest,
    index_level,
    own_budget,
    whole_budget,
)
from unimodal.policies.leaping import ENDLESS, contest_after
from unimodal.policies.state import LEADER

_SAFE = 1e-9  # relative room for rounding, far above what it takes
_ROUNDING = 1e-14  # relative: no more than rounding


@generic
def reading(index, clock, incumbent):
    """The clock of a contest as the index reads it; `clock` is as the scope does."""


@generic
def reached(index, budget, pulls):
    """The reading at which an arm with so many pulls has this budget."""


@reading.register(KLUpper)
def _as_the_scope(index, clock, incumbent):
    return clock


@start_waiting.register(KLUpper)
def _start_waiting(index, scope, family, state, near, queue, clock):
    if index.c < 0.0:
        return False  # f would not grow with the clock
    return enqueue_all(index, scope, family, state, near, queue, clock)


@inner
def enqueue_all(index, scope, family, state, near, queue, clock):
    """Let every rival wait for a level of its own."""
    clear(queue, len(near))
    queue.session[0].room = -1.0
    bound, now = _incumbent(index, family, state, near, queue, clock)
    for position in range(len(near)):
        if position != queue.session[0].position:
            _enqueue(index, scope, family, state, near, queue, position, bound, now)
    return True


@inner
def _incumbent(index, family, state, near, queue, clock):
    """The level that the incumbent will show in the next contest, and the reading of that."""
    record = state.arms[near[queue.session[0].position]]
    now = reading(index, clock + 1, record)
    return index_level(index, family, record, whole_budget(index, now)), now


@inner
def _clearly_below(rival, bound):
    return rival < bound - _SAFE * abs(bound)


@inner
def _enqueue(index, scope, family, state, near, queue, position, bound, now):
    """Let a rival wait for a level of its own between its index and the incumbent's, or wake it."""
    record = state.arms[near[position]]
    rival = index_level(index, family, record, whole_budget(index, now))
    set_level(queue, len(near), position, NOT_WAITING)
    if not _clearly_below(rival, bound):
        wake(queue, len(near), position)
        return
    # Close to the rival, since rewards close the gap faster than the clock; but where others wait
    # for a higher level anyway, up to the middle.
    near_by, middle = between(family, rival, bound, 0.1), between(family, rival, bound, 0.5)
    level = max(near_by, min(middle, queue.levels[1]))
    own = of_arm(family, record)
    if not is_sharp(own, level):
        wake(queue, len(near), position)
        return
    set_level(queue, len(near), position, level)
    budget = distance(own, float(record.pulls), record.total, level)
    enough = min(reached(index, budget * (1.0 - _SAFE), record.pulls), NEVER)
    # The last round whose clock is surely not enough, and then the next contest.
    quiet = max(math.floor(enough * (1.0 - _SAFE)) - 1.0, now - 1.0)
    wait_until(queue, len(near), position, contest_after(scope, quiet, len(near), 1.0))


@reached.register(KLUpper)
def _clock_of_budget(index, budget, pulls):
    # The x ≥ 1 with f(x) = budget, by Newton in log x.
    y, c = budget, index.c
    if budget > 1.0 and c > 0.0:
        y = 1.0 + (budget - 1.0) / (1.0 + c)  # below the root, where f is concave in log x
        for _ in range(60):
            step = (budget - y - c * math.log(max(y, 1.0))) / (1.0 + c / y)
            y += step
            if abs(step) <= 1e-12 * y:
                break
    return math.exp(y) if y < 700.0 else math.inf


@guard.register(Budgeted)
def _guard(index, scope, family, state, near, queue, clock, most):
    session = queue.session[0]
    record = state.arms[near[queue.session[0].position]]
    now = reading(index, clock + 1, record)
    loss_margin = _bearable(index, family, record, queue.levels[1], now)
    if loss_margin < 0 or 4 * loss_margin < session.room:
        _lower_levels(index, scope, family, state, near, queue, clock)
        loss_margin = _bearable(index, family, record, queue.levels[1], now)
        session.room = loss_margin
    session.room = max(session.room, loss_margin)
    if queue.session[0].n_awake > 0:
        return min(loss_margin, 0), contest_after(scope, clock, len(near), 1.0)
    return min(most, loss_margin), next_key(queue) - now + clock + 1.0


@inner
def _lower_levels(index, scope, family, state, near, queue, clock):
    """Let those wait anew who wait for a level that has come too close to the incumbent's index."""
    bound, now = _incumbent(index, family, state, near, queue, clock)
    whole = whole_budget(index, now)
    while queue.levels[1] > -math.inf:
        position = top_position(queue, len(near))
        rival = index_level(index, family, state.arms[near[position]], whole)
        if _clearly_below(rival, bound) and queue.levels[1] < between(family, rival, bound, 0.6):
            return
        _enqueue(index, scope, family, state, near, queue, position, bound, now)


@inner
def _bearable(index, family, record, level, now):
    """How many worst rewards leave the incumbent's index above the level (-1: not even now).

    h(k) = (N + k)·kl((S + k·low)/(N + k), level) is convex in k, since N·kl(S/N, level) is
    convex in (N, S): the tangent at a larger k bounds it from above.
    """
    low, of = worst(family), of_arm(family, record)
    if level == -math.inf:
        return ENDLESS
    whole = whole_budget(index, now)
    if not math.isfinite(low):
        return 0 if _clearly_below(level, index_level(index, family, record, whole)) else -1
    pulls, total = float(record.pulls), record.total
    own = mean_level(of, pulls, total)
    mean, theta, log_norm = linear_form(of, level)
    if own >= level:
        if mean <= low:
            return ENDLESS
        count = math.floor(min(max((total - mean * pulls) / (mean - low), 0.0), 1e15))
        after = mean_level(of, pulls + count, total + count * low)
        return np.int64(count) if after >= level - _ROUNDING * abs(level) else 0
    if not is_sharp(of, level):
        return 0 if _clearly_below(level, index_level(index, family, record, whole)) else -1
    room = own_budget(index, whole, record.pulls) * (1.0 - _SAFE)
    room -= distance(of, pulls, total, level) * (1.0 + _SAFE)
    if room <= 0.0:
        return -1
    slope = _slope(of, own, low, theta, log_norm)
    if not slope > 0.0:
        return 0
    far = room / slope
    own = mean_level(of, pulls + far, total + far * low)
    slope = _slope(of, own, low, theta, log_norm)
    return np.int64(min(room / slope * (1.0 - _SAFE), 1e15)) if slope > 0.0 else 0


@inner
def _slope(family, own, low, theta, log_norm):
    """The derivative of h, where the incumbent's mean has the level `own`."""
    _, own_theta, own_log_norm = linear_form(family, own)
    return low * (own_theta - theta) + log_norm - own_log_norm


@hold_contest.register(Budgeted)
def _hold_contest(index, scope, family, state, near, queue, clock):
    size, own = len(near), queue.session[0].position
    now = reading(index, clock, state.arms[near[own]])
    while next_key(queue) <= now:
        position = next_position(queue, size)
        wake(queue, size, position)
        set_level(queue, size, position, NOT_WAITING)
    called, awake = queue.called, queue.session[0].n_awake
    called[0] = near[own]
    for slot in range(awake):
        called[slot + 1] = near[queue.rivals[slot].awake]
    arm = contest(index, family, state, called[: awake + 1], state.notes[LEADER], clock)
    for slot in range(awake):
        if called[slot + 1] == arm:
            return queue.rivals[slot].awake
    return own


@requeue.register(Budgeted)
def _enqueue_again(index, scope, family, state, near, queue, position, clock):
    bound, now = _incumbent(index, family, state, near, queue, clock)
    if position != queue.session[0].position:
        _enqueue(index, scope, family, state, near, queue, position, bound, now)
    else:
        # The incumbent won, so whoever was awake is below it.
        for slot in range(queue.session[0].n_awake - 1, -1, -1):
            _enqueue(index, scope, family, state, near, queue, queue.rivals[slot].awake, bound, now)
    return True


@worth.register(Budgeted)
def _worth(index, size):
    return 750.0 / (170.0 + 10.0 * size)
