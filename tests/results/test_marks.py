"""Where a result shows that few trials make a mean: summary, print, notebooks, figures, ratios."""

import numpy as np
import pytest

import unimodal as um
from unimodal.results.result import Result, Run

PROBLEM = um.problems.triangular(5)
ROUNDS = np.array([10, 100])


def result_of(*columns):
    """A result with these regrets at the horizon, by policy; a tenth of them at round 10."""
    named = {f"P{number}": np.asarray(one, dtype=float) for number, one in enumerate(columns)}
    pulls = np.full((len(columns[0]), 5), 20)
    runs = {
        name: Run(um.UTS(), np.stack([0.1 * one, one], axis=1), pulls)
        for name, one in named.items()
    }
    return Result(PROBLEM, 0, ROUNDS, runs, "auto")


CALM = np.tile([10.0, 11.0, 12.0, 13.0], 25)
LOST = np.append(CALM[:-1], 2000.0)


@pytest.fixture
def result():
    return result_of(LOST, CALM)


def test_the_summary_says_which_means_few_trials_make(result):
    table = result.summary()
    assert table["few"].to_list() == [True, True, False, False]
    assert table["needed"].to_list()[:2] == [2500, 2500]
    assert table["needed"].null_count() == 2 and table["note"].null_count() == 2
    assert table["note"][1].startswith("1 of 100 trials has 64 % of the mean and 99 % of the var")
    assert {"median", "q99"} <= set(table.columns)


def test_print_and_notebook_have_the_mark_and_its_sentence(result):
    for shown in (str(result), result._repr_html_()):
        assert shown.count("†") == 2  # behind the number, and before the sentence
        assert "P0: 1 of 100 trials has 64 % of the mean" in shown
        assert "About 2,500 trials would do." in shown
    calm = result_of(CALM, CALM)
    assert "†" not in str(calm) and "†" not in calm._repr_html_()


def test_a_ratio_is_marked_above_and_below_the_line(result):
    assert str(result.ratio("P0", "P1")).endswith("†")
    assert str(result.ratio("P1", "P0")).endswith("†")
    assert result.ratio("P1", "P1").few is None


def test_a_figure_has_the_mark_at_the_curve_and_a_line_below(result):
    ax = result.plot()
    assert [line.get_label() for line in ax.lines if line.get_gid() == "regret"] == ["P0 †", "P1"]
    assert ax.get_xlabel() == (
        "round t\n† P0: few large trials make this mean; about 2,500 would do"
    )
    again = result_of(LOST, CALM).plot(ax)
    assert again.get_xlabel().count("†") == 2  # those of the first result stay
    assert result_of(CALM).plot().get_xlabel() == "round t"


def test_one_trial_has_a_summary_without_marks():
    table = result_of(CALM[:1]).summary()
    assert table["few"].to_list() == [False, False]
    assert table["needed"].null_count() == 2
