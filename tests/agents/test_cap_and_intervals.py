"""What a cap counts, and the intervals that are shown of an agent's arms."""

import pytest

import unimodal as um
from unimodal.agents.arm_intervals import arm_rows
from unimodal.agents.limits import Cap, Limits, checked_cap


@pytest.mark.parametrize(
    ("share", "over", "most"), [(0.29, 100, 29), (0.57, 100, 57), (1 / 3, 10, 3), (0.2999, 10, 2)]
)
def test_a_share_is_of_whole_decisions(share, over, most):
    """0.29·100 and 0.57·100 are a little less than 29 and 57 in floats."""
    assert checked_cap(share, over).most == most


def test_intervals_of_rewards_between_two_bounds_lie_on_their_scale():
    """100 rewards of 12 between 10 and 20 are worth 20 successes of a coin: 12 ± 0.8."""
    agent = um.Agent(um.UTS(), um.graphs.line(2), family=um.Bounded(10, 20))
    agent.tell([0] * 100, [12.0] * 100)
    (row,) = arm_rows(agent)
    assert row["mean"] == 12.0
    assert 11.1 < row["low"] < 11.9 and 12.1 < row["high"] < 13.0


def test_a_decision_that_fell_on_another_arm_counts_for_that_one():
    """Of four decisions an arm may have two."""
    limits = Limits()
    limits.set_cap(Cap(0.5, 4))
    limits.add(0)
    limits.add(1)
    limits.replace_last(0)
    limits.note_full(leader=2)
    assert limits.full == (0,)
