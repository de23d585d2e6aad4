"""What a replay reports, on earnings made up: intervals, chances, differences, shares, by hand."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.history_analysis.replay import calibration, estimate
from unimodal.history_analysis.replay.calibration import Scale, calibrate
from unimodal.history_analysis.replay.logged_rewards import LoggedRewards, most_waiting
from unimodal.history_analysis.replay.replay_result import Estimate, Replay

# 201 draws: the 2.5 % and 97.5 % quantiles are the sixth and the sixth from the end.
EVEN = np.arange(201.0)
SKEWED = np.append(np.zeros(190), np.full(11, 402.0))  # mean 22, median 0
FOUND = Replay(
    500,
    120.0,
    "UTS",
    (
        Estimate("UTS (the log)", EVEN, 0.25),
        Estimate("TS", EVEN[::-1] + 40.0, 0.5),
        Estimate("skewed", SKEWED, 0.0),
    ),
    ("a note",),
)


def test_the_table_by_hand():
    """The log's own policy expects 100, earned 120; TS 140 with 45 to 235."""
    log, ts, skewed = FOUND.table.to_dicts()
    assert log == {
        "policy": "UTS (the log)",
        "expected": 100.0,
        "low": 5.0,
        "high": 195.0,
        "difference": -20.0,
        "difference_low": -115.0,
        "difference_high": 75.0,
        "against_control": 0.0,
        "chance": 80 / 201,  # 121 … 200; one draw of 120 is no more than the log
        "on_prior": 0.25,
    }
    assert (ts["expected"], ts["low"], ts["high"]) == (140.0, 45.0, 235.0)
    assert (ts["difference"], ts["against_control"]) == (20.0, 40.0)
    assert (ts["difference_low"], ts["difference_high"]) == (-75.0, 115.0)
    assert ts["chance"] == 120 / 201 and ts["on_prior"] == 0.5
    assert skewed["expected"] == pytest.approx(22.0) and skewed["against_control"] == -78.0
    assert (skewed["low"], skewed["high"]) == (0.0, 402.0)


def test_the_lines_that_people_read():
    first, second, _ = FOUND.lines()
    assert first == ("UTS (the log)", "100", "5 … 195", "-20", "–", "40 %", "25 %")
    assert second == ("TS", "140", "45 … 235", "+20", "+40", "60 %", "50 %")
    assert FOUND.title == ("What would have been earned in 500 rounds; the log, by UTS, earned 120")
    assert FOUND.columns[4] == "against UTS again"
    data = FOUND.to_data()
    assert (data["rounds"], data["earned"], data["draws"]) == (500, 120.0, 201)


def test_the_picture_has_the_intervals_and_the_log():
    axes = FOUND.plot()
    ends = [sorted(line.get_xdata()) for line in axes.lines]
    assert [5.0, 195.0] in ends and [45.0, 235.0] in ends  # the intervals
    assert [100.0] in ends and [140.0] in ends  # the means
    assert [120.0, 120.0] in ends  # what the log earned


class Targets(um.Policy):
    """Pulls the first arm with fewer pulls than it should get in the end."""

    first: int = 29
    second: int = 30
    third: int = 31

    def choose(self, arms, near, leader, clock, rng):
        wanted = (self.first, self.second, self.third)
        return next(arm for arm in range(3) if arms[arm].pulls < wanted[arm])


@pytest.fixture
def replayed(monkeypatch):
    """A log with 29, 30 and 31 rewards of three arms, replayed in worlds made up."""
    problem = um.Problem(um.graphs.complete(3), [1.0, 1.0, 0.0])
    campaign = simulated_campaign(Targets(), problem, rounds=90)
    asked = []

    def run(worlds, candidate, **settings):
        made = iter(worlds)

        def draws(*arguments):
            asked.append(arguments)
            return SimpleNamespace(next=lambda: np.array(next(made)))

        monkeypatch.setattr(estimate, "PlausibleMeans", draws)
        return um.replay(campaign, candidate, draws=20, workers=1, **settings), asked

    return run


def test_each_world_is_played_once_by_each_policy(replayed):
    """In even worlds the first arm wins always, in odd ones never; the second arm always does."""
    worlds = [[float(n % 2 == 0), 1.0, 0.0] for n in range(20)]
    found, asked = replayed(worlds, Targets(86, 2, 2, name="other"), seed=7)
    ((graph, wins, losses, one_peak, seed),) = asked
    assert graph.n_arms == 3 and seed == 7 and one_peak
    assert wins.tolist() == [29.0, 30.0, 0.0] and losses.tolist() == [0.0, 0.0, 31.0]
    assert found.rounds == 90 and found.earned == 59.0
    log, other = found.estimates
    assert log.earned.tolist() == [59.0, 30.0] * 10
    assert other.earned.tolist() == [88.0, 2.0] * 10
    # Of the first arm the log has 29 rewards, one too few; of the second 30.
    assert log.on_prior == pytest.approx(29 / 90) and other.on_prior == pytest.approx(86 / 90)


def test_luck_differs_from_draw_to_draw_and_not_from_policy_to_policy(replayed):
    """90 fair coins, 20 times: their mean is off by 5 for 1 seed in 400,000."""
    found, asked = replayed([[0.5, 0.5, 0.5]] * 20, Targets(name="the same"), one_peak=False)
    log, same = found.estimates
    assert len(set(log.earned.tolist())) > 4 and abs(log.earned.mean() - 45) < 5
    assert log.earned.tolist() == same.earned.tolist()  # the same streams
    assert asked[-1][3] is False


def test_worlds_are_on_the_scale_of_the_rewards(monkeypatch):
    """Bounded(10, 20): a share of 0.25 is a mean of 12.5, and 24 in two pulls are 0.4 wins."""
    pulls, totals = np.array([2.0, 1.0]), np.array([24.0, 20.0])
    log = LoggedRewards(um.graphs.line(2), um.Bounded(10, 20), um.UTS(), pulls, totals, ())
    assert log.wins == pytest.approx([0.4, 1.0])
    assert (log.rounds, log.earned) == (3, 44.0)
    draws = SimpleNamespace(next=lambda: np.array([0.25, 1.0]))
    monkeypatch.setattr(estimate, "PlausibleMeans", lambda *arguments: draws)
    (world,) = estimate._worlds(log, 1, 0, True)
    assert world.means.tolist() == [12.5, 20.0] and world.family == um.Bounded(10, 20)


def test_those_who_wait_are_counted_event_by_event():
    kinds = ["decide", "decide", "reward", "decide", "decide", "expire", "reward", "reward"]
    assert most_waiting(pl.DataFrame({"kind": kinds})) == 3
    assert most_waiting(pl.DataFrame({"kind": ["revise", "decide", "reward"]})) == 1
    assert most_waiting(pl.DataFrame({"kind": []}, {"kind": pl.String})) == 0


@pytest.mark.parametrize(
    ("earned", "low", "high", "within"),
    [
        (-0.5, 0, 1, False),  # below all of 39 draws: a rank in [0, 1/40)
        (0.5, 1, 2, True),
        (18.5, 19, 20, True),
        (37.5, 38, 39, True),
        (38.5, 39, 40, False),
        (7.0, 7, 9, True),  # one tie
    ],
)
def test_a_rank_is_that_of_one_more_draw(monkeypatch, earned, low, high, within):
    """Draws 0, 1, …, 38: ranks in fortieths, within 95 % from 1/40 to 39/40; 36.1 wide."""
    monkeypatch.setattr(calibration, "simulated_campaign", lambda *arguments, **named: None)
    monkeypatch.setattr(calibration, "play_once", lambda *arguments, **named: (earned, None))
    scale = Scale(arms=3, rounds=10, draws=39, worlds=5)
    ranks, covered, width = calibrate(um.TS(), lambda *told: np.arange(39.0), scale)
    assert len(ranks) == 5 and (low / 40 <= ranks).all() and (ranks < high / 40).all()
    assert covered == within and width == pytest.approx(0.95 * 38)


def test_worlds_for_calibration_have_one_peak_and_every_such_order():
    """Of three arms four orders have one peak: chi-square with 3 degrees, 1 alarm in 10,000."""
    rng = np.random.default_rng(5)
    orders = [
        tuple(np.argsort(calibration._one_peaked_means(3, rng)).tolist()) for _ in range(1000)
    ]
    found = {order: orders.count(order) for order in set(orders)}
    assert set(found) == {(0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)}
    assert sum((count - 250) ** 2 / 250 for count in found.values()) < 21.1
