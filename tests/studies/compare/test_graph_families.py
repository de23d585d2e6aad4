"""The plan: every family and policy that the page promises, each with one peak."""

import math
import zlib
from collections import Counter

import numpy as np
import pytest

from unimodal.policies import POLICIES, parse
from unimodal.results.statistics import Interval
from unimodal.studies.compare.graph_families import FULL, LEFT_OUT, QUICK, policies, settings
from unimodal.studies.compare.ranking import geometric_mean
from unimodal.studies.setting import Setting


@pytest.mark.parametrize("setting", settings(FULL), ids=lambda setting: setting.name)
def test_every_case_has_one_peak_of_09_and_about_100_arms(setting):
    problem = setting.problem(0)
    assert 64 <= problem.graph.n_arms <= 128
    assert problem.check()
    assert problem.means.max() == pytest.approx(0.9) and problem.means.min() >= 0.1 - 1e-12
    assert (problem.means == setting.problem(0).means).all()


def test_peaks_differ_between_graphs():
    for setting in settings(FULL):
        assert len({setting.problem(graph).best_arm for graph in range(5)}) > 1, setting.name


def test_every_policy_is_there_and_reads_back():
    """All that are for regret and for any graph, and five with other parameters."""
    known = policies()
    assert known[:4] == ("UTS", "OSUB", "TS", "KLUCB")
    optimistic = "UTS(period=2, prior=(1.0, 0.001))"
    assert known[-5:] == (
        *("UTS(period=2)", "UTS(period=4)", optimistic),
        *("OSUB(c=0)", "KLUCB(c=0)"),
    )
    assert all(parse(text).name == text for text in known)
    assert len(known) == len(set(known)) == len(POLICIES) - len(LEFT_OUT) + 5
    regret = [cls for cls in POLICIES.values() if cls not in LEFT_OUT]
    assert [type(parse(text)) for text in known[:-5]] == regret


def test_quick_has_the_same_families_with_less_of_each():
    assert [setting.name for setting in settings(QUICK)] == [
        setting.name for setting in settings(FULL)
    ]
    assert {(setting.graphs, setting.trials, setting.horizon) for setting in settings(FULL)} == {
        (20, 5, 10**5)
    }
    assert {(setting.graphs, setting.trials, setting.horizon) for setting in settings(QUICK)} == {
        (4, 2, 10**4)
    }


def test_the_families_are_those_of_the_page():
    """ln 100 is 4.605170; three families of Barabási–Albert; all but two smooth, too."""
    graphs = {setting.name: setting.graph for setting in settings(FULL)}
    assert graphs["Erdős–Rényi, p = log(K)/K"] == "er:100:0.046052"
    assert [graphs[f"Barabási–Albert, m = {m}"] for m in (1, 2, 5)] == [
        "ba:100:1",
        "ba:100:2",
        "ba:100:5",
    ]
    assert graphs["3-D lattice"] == "lattice:5x5x4" and graphs["hypercube"] == "hypercube:7"
    assert len(graphs) == 12 + 1 + 11
    for name, graph in graphs.items():
        assert graph == graphs[name.removesuffix(", smooth")]
    assert "complete, smooth" not in graphs and "rank one, smooth" not in graphs


def test_means_fall_evenly_or_as_a_bell():
    """A line of 9 with its peak wherever it is: by hand from the distance to it."""
    for means in ("by distance", "smooth"):
        problem = Setting("line", "line:9", means, ("UTS",), 10, 1, 1).problem(3)
        away = np.abs(np.arange(9) - problem.best_arm)
        even = 0.9 - 0.8 * away / away.max()
        bell = 0.1 + 0.8 * np.exp(-0.5 * (away / (away.max() / 3)) ** 2)
        assert problem.means == pytest.approx(even if means == "by distance" else bell)


def test_entries_of_rank_one_are_evenly_spaced_in_a_random_order():
    setting = Setting("rank one", "rank_one:3x4", "rank one", ("UTS",), 10, 1, 1)
    means = setting.problem(0).means.reshape(3, 4)
    u, v = means[:, 0], means[0]
    assert np.allclose(means, np.outer(u, v) / means[0, 0])
    for side in (u, v):
        ordered = np.sort(side) / side.max()
        assert np.diff(ordered) == pytest.approx([np.diff(ordered)[0]] * (len(side) - 1))
        assert ordered[0] == pytest.approx(math.sqrt(0.1 / 0.9))
    assert len({tuple(setting.problem(graph).means) for graph in range(5)}) > 1


@pytest.mark.parametrize("means", ["by distance", "smooth"])
def test_peaks_are_anywhere_with_the_same_probability(means):
    """500 peaks on a line of five: chi-square with 4 degrees above 23.5 is 1 in 10,000."""
    setting = Setting("few", "line:5", means, ("UTS",), 10, 500, 1)
    counts = Counter(setting.problem(graph).best_arm for graph in range(500))
    assert sum((counts[arm] - 100) ** 2 / 100 for arm in range(5)) < 23.5


def test_seeds_are_those_of_the_name():
    setting = Setting("few", "line:5", "smooth", ("UTS",), 10, 500, 1)
    assert setting.seed(7) == zlib.crc32(b"few #7")


def test_a_geometric_mean_has_the_error_of_its_ratios():
    """Equal ratios with equal relative errors: the error falls with the root of their number."""
    one = Interval(1.5, 1.35, 1.65)
    alone, four = (geometric_mean([one] * n, [10**6] * n) for n in (1, 4))
    assert alone.value == pytest.approx(1.5) and four.value == pytest.approx(1.5)
    spread = [math.log(each.high / each.value) for each in (alone, four)]
    assert spread[0] == pytest.approx(0.1, rel=1e-3) and spread[1] == pytest.approx(0.05, rel=1e-3)
