"""The ranking of made-up regrets, computed by hand; and the page in docs/studies/comparison."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from unimodal.results.statistics import Interval
from unimodal.studies import setting as settings
from unimodal.studies.compare import comparison
from unimodal.studies.compare.page import _standing, markdown
from unimodal.studies.compare.ranking import geometric_mean, order, ranked
from unimodal.studies.outcome import Regrets, ratio
from unimodal.studies.setting import Setting
from unimodal.studies.study import Outcomes
from unimodal.studies.tasks import Task

FOLDER = Path(__file__).parents[3] / "docs" / "studies" / "comparison"
T_3 = 3.182446  # Student's 97.5 % with 3 degrees of freedom, from a table


def setting(name):
    return Setting(name, "line:9", "by distance", ("UTS", "OSUB", "TS"), 1000, 4, 2)


def regrets(policy, final, milliseconds=1.0):
    final = np.array(final, dtype=float)
    return Regrets(None, policy, final, np.zeros(3), milliseconds)


def compared(**by_name):
    """A comparison of these outcomes, by the names of their settings."""
    kept = [
        dataclasses.replace(one, setting=setting(name))
        for name, outcomes in by_name.items()
        for one in outcomes.values()
    ]
    return Outcomes(kept, [setting(name) for name in by_name], "a test")


# Four graphs of two trials each. Means: UTS 10, OSUB 8, TS 12.
FIRST = {
    "UTS": regrets("UTS", [[8, 10], [9, 11], [10, 12], [9, 11]], 2.0),
    "OSUB": regrets("OSUB", [[0, 8], [1, 5], [2, 6], [2, 40]], 5.0),  # the worst trial of all
    "TS": regrets("TS", [[11, 13], [11, 13], [11, 13], [11, 13]], 9.0),
}
# Means: UTS 10, OSUB 20, TS 5.
SECOND = {
    "UTS": regrets("UTS", [[10, 10], [10, 10], [9, 11], [8, 12]], 8.0),
    "OSUB": regrets("OSUB", [[20, 20], [20, 20], [20, 20], [20, 20]], 20.0),
    "TS": regrets("TS", [[4, 6], [5, 5], [5, 5], [4, 6]], 1.0),
}


def test_a_case_is_won_by_the_lowest_mean():
    """Not by the lowest worst trial, and not by the lowest median."""
    assert [one.policy for one in order(FIRST)] == ["OSUB", "UTS", "TS"]
    assert [one.policy for one in order(SECOND)] == ["TS", "UTS", "OSUB"]
    even = {"A": regrets("A", [[0, 0], [0, 30]]), "B": regrets("B", [[7, 7], [7, 8]])}
    assert [one.policy for one in order(even)] == ["B", "A"]  # 7.25 before 7.5


def test_ratios_are_to_uts_and_paired_by_graph():
    """OSUB's graphs have 4, 3, 4 and 21, those of UTS 9, 10, 11 and 10: a ratio of 0.8.

    Residuals over - 0.8·under: -3.2, -5, -4.8 and 13, whose squares sum to 227.28.
    """
    found = ratio(FIRST["OSUB"], FIRST["UTS"])
    assert found.value == pytest.approx(0.8)
    reach = T_3 * math.sqrt(227.28 / 3 / 4) / 10
    assert (found.low, found.high) == pytest.approx((0.8 - reach, 0.8 + reach), rel=1e-6)


def test_the_rank_is_by_the_geometric_mean_over_families():
    """UTS 1 and 1; OSUB 0.8 and 2; TS 1.2 and 0.5: so √0.6 for TS, then UTS, then √1.6."""
    found = compared(first=FIRST, second=SECOND)
    ranks = ranked(found)
    assert [rank.policy for rank in ranks] == ["TS", "UTS", "OSUB"]
    values = [math.sqrt(0.6), 1.0, math.sqrt(1.6)]
    assert [rank.relative.value for rank in ranks] == pytest.approx(values)
    assert [rank.best_in for rank in ranks] == [1, 0, 1]
    assert [rank.highest for rank in ranks] == pytest.approx([1.2, 1.0, 2.0])
    assert [rank.highest_in for rank in ranks if rank.policy != "UTS"] == ["first", "second"]
    assert [rank.milliseconds for rank in ranks] == pytest.approx([3.0, 4.0, 10.0])  # √(9·1), …


def test_all_wins_are_counted():
    ranks = ranked(compared(one=FIRST, two=FIRST, three=FIRST, four=SECOND))
    assert {rank.policy: rank.best_in for rank in ranks} == {"OSUB": 3, "TS": 1, "UTS": 0}


def test_the_interval_of_a_geometric_mean_by_hand():
    """Standard errors of the logarithms: 0.1/t/0.5 and 0.6/t/2 with t = 3.182446 (4 samples)."""
    found = geometric_mean([Interval(0.5, 0.4, 0.6), Interval(2.0, 1.4, 2.6)], [4, 4])
    error = math.sqrt((0.2 / T_3) ** 2 + (0.3 / T_3) ** 2) / 2
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx(math.exp(-1.959964 * error), rel=1e-4)
    assert found.high == pytest.approx(math.exp(1.959964 * error), rel=1e-4)
    three = [Interval(value, value, value) for value in (1.0, 1.0, 8.0)]
    assert geometric_mean(three, [4, 4, 4]).value == pytest.approx(2.0)  # no median


def test_an_entry_describes_all_trials_and_the_worst():
    one = FIRST["OSUB"]
    assert one.worst == 40.0
    assert one.quantiles["median"] == pytest.approx(3.5)  # of 0 1 2 2 5 6 8 40
    assert one.quantiles["mean"] == pytest.approx(8.0)


def test_the_picture_of_a_family_has_the_numbers_of_its_regrets():
    one = Regrets(None, "OSUB", FIRST["OSUB"].final, np.array([1.0, 4.0, 8.0]), 5.0)
    standing = _standing(one)
    reach = T_3 * math.sqrt(((4 - 8) ** 2 + (3 - 8) ** 2 + (4 - 8) ** 2 + (21 - 8) ** 2) / 3 / 4)
    expected = (8.0, 8.0 - reach, 8.0 + reach, 3.5, 37.76, 40.0)  # 99 %: 0.93 between 8 and 40
    assert standing.curve.tolist() == [1.0, 4.0, 8.0]
    assert tuple(standing)[1:-1] == pytest.approx(expected, rel=1e-6)
    assert standing.needed is None


def test_times_and_regrets_are_taken_from_the_columns_they_stand_in():
    """Rows of a trial: seconds, then regrets at the checkpoints. Two graphs of three trials."""
    kept = np.array(
        [
            [[0.001, 1, 2], [0.002, 3, 4], [0.009, 5, 6]],
            [[0.004, 7, 8], [0.003, 9, 10], [0.500, 11, 13]],
        ]
    )
    one = Regrets.of(None, "UTS", kept)
    assert one.final.tolist() == [[2, 4, 6], [8, 10, 13]]
    assert one.curve == pytest.approx([6.0, 43 / 6])
    assert one.milliseconds == pytest.approx(3.5)


def test_a_trial_is_timed_from_its_beginning_to_its_end(monkeypatch):
    """A clock that goes on by what each trial takes: 2 s, then 3 s."""
    clock = iter([10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr(settings.time, "thread_time", lambda: next(clock))
    monkeypatch.setattr(settings, "played", lambda task: iter([np.array([1.0, 5.0]), [2.0, 7.0]]))
    rows = settings.Setting.measure(None, Task(setting("first"), "UTS", 0, 3, 5))
    assert rows.tolist() == [[2.0, 1.0, 5.0], [3.0, 2.0, 7.0]]


def test_the_page_of_the_docs_is_what_this_code_makes_of_its_data():
    found = comparison.load(FOLDER / "comparison.parquet")
    assert markdown(found) == (FOLDER / "tables.md").read_text(encoding="utf-8")
