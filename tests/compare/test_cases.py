"""The plan: every family and policy that the page promises, each with one peak."""

import math

import pytest

from unimodal.analysis import Interval
from unimodal.compare.cases import FULL, QUICK, cases, policies
from unimodal.compare.ranking import geometric_mean
from unimodal.policies import POLICIES, parse


@pytest.mark.parametrize("case", cases(FULL), ids=lambda case: case.name)
def test_every_case_has_one_peak_of_09_and_about_100_arms(case):
    problem = case.problem(0)
    assert 64 <= problem.graph.n_arms <= 128
    assert problem.check()
    assert problem.means.max() == pytest.approx(0.9) and problem.means.min() >= 0.1 - 1e-12
    assert (problem.means == case.problem(0).means).all()


def test_peaks_differ_between_graphs():
    for case in cases(FULL):
        assert len({case.problem(graph).best_arm for graph in range(5)}) > 1, case.name


def test_every_policy_is_there_and_reads_back():
    known = policies()
    assert len(known) == len(set(known)) == len(POLICIES) + 3
    assert [type(parse(text)) for text in known[: len(POLICIES)]] == list(POLICIES.values())


def test_quick_has_the_same_families():
    assert [case.name for case in cases(QUICK)] == [case.name for case in cases(FULL)]


def test_a_geometric_mean_has_the_error_of_its_ratios():
    """Equal ratios with equal relative errors: the error falls with the root of their number."""
    one = Interval(1.5, 1.35, 1.65)
    alone, four = (geometric_mean([one] * n, [10**6] * n) for n in (1, 4))
    assert alone.value == pytest.approx(1.5) and four.value == pytest.approx(1.5)
    spread = [math.log(each.high / each.value) for each in (alone, four)]
    assert spread[0] == pytest.approx(0.1, rel=1e-3) and spread[1] == pytest.approx(0.05, rel=1e-3)
