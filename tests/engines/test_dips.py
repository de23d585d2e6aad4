"""The incumbent's draws below the level: candidates of the worst case, thinned to the present one.

`_dip` runs as plain Python here, with a uniform that is given, so that its law is known exactly.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.leap import thompson_waits
from unimodal.families.leaping import hat
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
