"""The incumbent's draws below the level: candidates of the worst case, thinned to the present one.

`_dip` runs as plain Python here, with a uniform that is given, so that its law is known exactly.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.leap import thompson_waits
from unimodal.engines.leap.wait_queue import NEVER
from unimodal.families.leaping import hat, outlook
from unimodal.kernels.compile import record
from unimodal.policies.state import ARM

BERNOULLI = record(um.Bernoulli())
LEVEL, MOST_LOST, DUE = 0.62, 5, 40.0


def arm_of(pulls, total):
    arms = np.zeros(1, dtype=ARM)
    arms["pulls"], arms["total"], arms["successes"] = pulls, total, total
    arms["prior_a"] = arms["prior_b"] = 1.0
    return arms[0]


def in_session(session):
    return SimpleNamespace(session=[session])


@pytest.mark.parametrize("lost", [0, 2, MOST_LOST])
def test_a_candidate_is_kept_with_the_present_mass_over_that_of_the_worst_case(monkeypatch, lost):
    """Candidates come with probability `dip_mass`, so a dip comes with the present hat's mass.

    The uniforms on both sides of the ratio are told apart, to a millionth; after as many of the
    worst rewards as there may be, every candidate is kept.
    """
    worst = hat(BERNOULLI, arm_of(100, 80.0), MOST_LOST, LEVEL, False)[0]
    arm = arm_of(100 + lost, 80.0)
    mass, rate = hat(BERNOULLI, arm, 0, LEVEL, False)
    share = mass / worst
    assert share == pytest.approx(1.0) if lost == MOST_LOST else 0.05 < share < 0.9
    asked = []
    monkeypatch.setattr(thompson_waits, "under_hat", lambda *given: asked.append(given) or 0.5)

    def is_kept(number, clock=DUE):
        monkeypatch.setattr(thompson_waits, "uniform", lambda rng: number)
        session = SimpleNamespace(dip=DUE, dip_mass=worst, level=LEVEL)
        draw = thompson_waits._dip(BERNOULLI, arm, in_session(session), clock, "rng")
        assert draw == 0.5 or math.isnan(draw)
        return draw == 0.5

    assert is_kept(0.0) and is_kept(share * (1 - 1e-6)) and is_kept(0.5 * share)
    assert asked == [(BERNOULLI, arm, LEVEL, rate, False, "rng")] * 3
    if lost < MOST_LOST:
        assert not is_kept(share * (1 + 1e-6)) and not is_kept(1 - 2**-53)
    assert not is_kept(0.0, DUE - 1)  # no candidate has come
    assert is_kept(0.0, DUE + 1)


@pytest.mark.parametrize("mass", [0.25, 0.01, 1e-9])
def test_the_wait_for_a_candidate_is_geometric(monkeypatch, mass):
    """It is longer than n contests if an exponential exceeds -n·log(1 - mass): (1 - mass)ⁿ."""
    for n in (1, 2, 7, 1000):
        for factor, contests in ((1 - 1e-9, n), (1 + 1e-9, n + 1)):
            drawn = -n * math.log1p(-mass) * factor
            monkeypatch.setattr(thompson_waits, "exponential", lambda rng, it=drawn: it)
            assert thompson_waits._geometric("rng", math.log1p(-mass)) == contests
    assert thompson_waits._geometric("rng", 0.0) == NEVER


@pytest.mark.parametrize("most", [2, 1000])
def test_candidates_come_as_often_as_after_the_most_losses_that_are_not_looked_at(
    monkeypatch, most
):
    """A quarter of the way from the mean to the level, of 1,000 pulls, or what the lead allows."""
    monkeypatch.setattr(thompson_waits, "exponential", lambda rng: 3.0)
    monkeypatch.setattr(thompson_waits, "contest_after", lambda scope, now, size, n: now + n)
    monkeypatch.setattr(thompson_waits, "next_key", lambda queue: 10.0**9)
    arms = np.array([arm_of(1000, 800.0)]).view(np.recarray)
    centre, spread = outlook(BERNOULLI, arms[0])
    session = SimpleNamespace(hot=0, position=0, level=0.74, room=(centre - 0.74) / spread)
    state = SimpleNamespace(arms=arms, rng="rng")
    near, queue = np.arange(1), in_session(session)
    found = thompson_waits._guard(None, None, BERNOULLI, state, near, queue, 50.0, most)
    lost = min(most, int(0.25 * (centre - 0.74) / centre * 1000))
    assert lost == (2 if most == 2 else 18)
    mass = hat(BERNOULLI, arms[0], lost, 0.74, False)[0]
    assert session.dip_mass == mass > hat(BERNOULLI, arms[0], 0, 0.74, False)[0]
    due = 50.0 + math.floor(3.0 / -math.log1p(-mass)) + 1.0
    assert found == (lost, due) and session.dip == due
