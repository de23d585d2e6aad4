"""IMED and KLUCB-UB without looking: what grows is the incumbent's pulls, and they are the clock.

With the level c under the incumbent's mean, a rival below c cannot win while log N_incumbent stays
under N·kl(mean, c) + log N. KLUCB-UB: the leader's index is its mean, which is at least c, and the
rival's is under c. IMED: some arm's index is at most log N_incumbent, the best arm's (no arm has
more pulls than an incumbent of all arms; around a leader, the incumbent is the best arm), and the
rival's is at least N·kl(mean, c) + log N. So both wait as KL-UCB does, in `klucb_waits.py`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.engines.leap.klucb_waits import enqueue_all, reached, reading
from unimodal.engines.leap.wait_queue import start_waiting
from unimodal.policies.index import ByPulls
from unimodal.policies.leaping import contest_after


@reading.register(ByPulls)
def _pulls_of_the_incumbent(index, clock, incumbent):
    return incumbent.pulls


@reached.register(ByPulls)
def _as_many_times_the_rivals(index, budget, pulls):
    return pulls * math.exp(budget) if budget < 700.0 else math.inf


@start_waiting.register(ByPulls)
def _start_waiting(index, scope, family, state, near, queue, clock):
    if contest_after(scope, 0, len(near), 1.0) != 1.0:
        return False  # forced pulls count for this clock, too, and the waits leave them out
    return enqueue_all(index, scope, family, state, near, queue, clock)
