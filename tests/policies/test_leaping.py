"""What scopes promise an engine that skips rounds, against rounds counted one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unimodal.families import Bernoulli, Bounded, Exponential, Gaussian, Poisson
from unimodal.kernels.compile import record
from unimodal.kernels.random import stream
from unimodal.policies.leaping import ENDLESS, contest_after, incumbent, loss_margin, remains
from unimodal.policies.scope import AroundLeader, EveryArm, forced
from unimodal.policies.scout import Scout
from unimodal.policies.state import implied_board, new_state


@given(st.integers(2, 7), st.integers(0, 40), st.integers(1, 30))
def test_contests_between_forced_rounds(period, clock, contests):
    scope, now, held = record(AroundLeader(period)), clock, 0
    while held < contests:
        held += not forced(scope, now, 99)
        now += 1
    assert contest_after(scope, clock, 99, float(contests)) == now


@given(st.integers(2, 7), st.booleans(), st.integers(0, 20), st.integers(1, 30))
def test_contests_between_forced_rounds_of_a_scout(size, climbs, later, contests):
    """In its climb (of 100 leads for each member), and after it."""
    scope = record(Scout(patience=100))
    clock = later + (0 if climbs else 100 * size)
    now, held = clock, 0
    while held < contests:
        held += not forced(scope, now, size)
        now += 1
    assert contest_after(scope, clock, size, float(contests)) == now


def test_a_period_of_zero_is_the_size_and_a_negative_one_never_comes():
    assert contest_after(record(AroundLeader(0)), 0, 3, 2.0) == 3
    assert contest_after(record(AroundLeader(-1)), 10, 3, 5.0) == 15
    assert contest_after(record(EveryArm()), 10, 3, 5.0) == 15


def state_with(pulls, totals):
    family = Bernoulli()
    state = new_state(len(pulls), len(pulls), family, None, np.empty(0, int), 0.0, stream(0, 0, 0))
    state.arms["pulls"], state.arms["total"] = pulls, totals
    best, count = implied_board(state.arms, len(pulls), 0.0)
    return state._replace(best=best, count=count)


@pytest.mark.parametrize(
    ("family", "lowest"),
    [
        (Bernoulli(), 0),
        (Bounded(-1, 1), -1),
        (Bounded(2, 3), 2),
        (Poisson(), 0),
        (Exponential(), 0),
    ],
    ids=repr,
)
@given(data=st.data())
def test_the_leader_leads_for_as_long_as_promised(family, lowest, data):
    """And not longer: with one more worst reward another arm might lead."""
    n_arms = data.draw(st.integers(2, 6))
    pulls = data.draw(st.lists(st.integers(1, 60), min_size=n_arms, max_size=n_arms))
    totals = [data.draw(st.integers(lowest * n, (lowest + 1) * n)) for n in pulls]
    state, scope = state_with(pulls, totals), record(AroundLeader(3))
    leader = incumbent(scope, state)
    means = np.array(totals) / np.array(pulls)
    if leader < 0:
        assert (means == means.max()).sum() > 1
        return
    assert remains(scope, state, leader)
    other = np.delete(means, leader).max()
    most = loss_margin(scope, record(family), state, leader)
    if other == lowest:
        assert most == ENDLESS
        return

    def mean_after(count):
        return (totals[leader] + count * lowest) / (pulls[leader] + count)

    assert mean_after(most) > other
    assert mean_after(most + 1) <= other + 1e-12 * abs(other)


def test_without_a_worst_reward_the_leader_bears_none():
    """Strictly ahead it is safe until its next reward, and otherwise not at all."""
    scope, family = record(AroundLeader(3)), record(Gaussian(2.0))
    assert loss_margin(scope, family, state_with([4, 4], [-3.0, -8.0]), 0) == 0
    assert loss_margin(scope, family, state_with([4, 4], [-3.0, -3.0]), 0) == -1
    assert loss_margin(scope, family, state_with([4, 4], [-3.0, -8.0]), 1) == -1


def test_without_a_leader_the_most_pulled_arm_is_expected():
    state, scope = state_with([3, 9, 9], [3, 0, 0]), record(EveryArm())
    assert incumbent(scope, state) == 1
    assert loss_margin(scope, record(Bernoulli()), state, 1) == ENDLESS
    state.notes[2] = 0  # the last arm
    assert remains(scope, state, 1)
    state.arms[0]["pulls"] = 10
    assert not remains(scope, state, 1)


@pytest.mark.parametrize("totals", [(2, 2), (0, 0)])
def test_tied_leaders_are_nobody(totals):
    assert incumbent(record(AroundLeader(3)), state_with([4, 4], totals)) == -1
