"""Do delays differ, or change? False alarms are as seldom as is said; planted faults are seen."""

import numpy as np
import pytest

from unimodal.inference.delay_tests import compare_delays, compare_halves, is_only_highest

LIVES = 7.0


def rewards(seed, arms=5, visitors=1500, days=20.0, mean=1.0, factors=None, doubles=False):
    """Rewards that came in time: arms of which the later ones are shown more, and their times."""
    rng = np.random.default_rng(seed)
    decided = np.sort(rng.uniform(0, days, visitors))
    # The mix of arms changes, as it does in a campaign: a test that ignores the cut-off would err.
    arm = np.minimum((rng.random(visitors) ** (1 + decided / days) * arms).astype(int), arms - 1)
    sold = rng.random(visitors) < np.linspace(0.1, 0.5, arms)[arm]
    delays = rng.exponential(mean, visitors)
    delays *= 1.0 if factors is None else np.asarray(factors)[arm]
    delays *= np.where(decided > days / 2, 2.0, 1.0) if doubles else 1.0
    came = sold & (delays < LIVES) & (decided + delays <= days)
    return arm[came], decided[came], (decided + delays)[came], days


def share_of_alarms(test, level, trials, **how):
    return np.mean([test(seed, **how) < level for seed in range(trials)])


def by_arm(seed, **how):
    arms, decided, happened, now = rewards(seed, **how)
    return compare_delays(arms, decided, happened, now, LIVES).p_value


def by_half(seed, **how):
    _, decided, happened, now = rewards(seed, **how)
    return compare_halves(decided, happened, now, LIVES).p_value


@pytest.mark.parametrize("test", [by_arm, by_half])
@pytest.mark.parametrize("mean", [0.2, 1.0, 3.0])
def test_false_alarms_are_as_seldom_as_is_said(test, mean):
    # At the level 0.05, 600 trials have more than 0.08 false alarms with probability 0.001.
    assert share_of_alarms(test, 0.05, 600, mean=mean) < 0.08


def test_an_arm_with_delays_three_times_as_long_is_seen():
    # Measured: 100 of 100.
    assert share_of_alarms(by_arm, 0.01, 100, factors=[1, 1, 1, 1, 3]) > 0.9


def test_delays_that_double_are_seen():
    assert share_of_alarms(by_half, 0.01, 100, doubles=True, visitors=6400, days=40.0) > 0.9


def test_without_the_cut_off_it_would_cry_wolf():
    # The same halves, compared as if every decision were old: young decisions show short delays.
    def wrong(seed):
        _, decided, happened, _ = rewards(seed, mean=3.0, days=7.0)
        return compare_halves(decided, happened, 1e9, LIVES).p_value

    assert share_of_alarms(wrong, 0.05, 100) > 0.5


def test_too_few_rewards_say_nothing():
    assert compare_delays([], [], [], 1.0, LIVES).group == -1
    assert compare_delays([0, 1], [0.0, 0.0], [1.0, 1.0], 9.0, LIVES).p_value == 1.0
    assert not is_only_highest(49, 49) and is_only_highest(50, 50) and not is_only_highest(60, 59)
