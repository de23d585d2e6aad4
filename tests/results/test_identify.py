"""Rewards until certified: the table, and trials that did not end or ended wrong."""

import dataclasses
import json
import math

import numpy as np
import pytest

import unimodal as um
from unimodal.results.statistics import share_interval

PROBLEM = um.Problem(um.graphs.line(3), [0.2, 0.8, 0.3])


@pytest.fixture(scope="module")
def found():
    policies = [um.UniTT(), um.UniTT(c=1)]
    return um.identify(PROBLEM, policies, trials=12, horizon=400, seed=3, progress=False)


def with_ends(found, stopped, certified):
    """The same with other ends of the first policy's trials."""
    name = next(iter(found.result))
    certified = np.array(certified)
    run = dataclasses.replace(
        found.result[name],
        stopped=np.array(stopped),
        certified=certified,
        is_right=certified == PROBLEM.best_arm,
    )
    result = dataclasses.replace(found.result, runs={name: run})
    return dataclasses.replace(found, result=result)


def test_it_is_what_simulate_finds(found):
    stop = um.Certified(0.95)
    again = um.simulate(
        PROBLEM, [um.UniTT()], horizon=400, trials=12, seed=3, stop=stop, progress=False
    )
    assert (again["UniTT"].stopped == found.result["UniTT"].stopped).all()
    assert found.rewards("UniTT").value == again["UniTT"].stopped.mean()
    assert found.bound == PROBLEM.identification_bound * math.log(1 / (1 - 0.95))


def test_the_table(found):
    table = found.summary()
    assert table["policy"].to_list() == ["UniTT", "UniTT(c=1.0)"]
    row = table.to_dicts()[0]
    assert row["times_bound"] == row["mean"] / found.bound
    assert (row["trials"], row["unfinished"], row["wrong"]) == (12, 0.0, 0.0)
    title, head, *lines = str(found).splitlines()
    assert title.endswith(f"the bound is {found.bound:,.0f} rewards") and len(lines) == 2
    assert head.split()[:2] == ["policy", "rewards"] and lines[0].startswith("UniTT ")
    assert "<table" in found._repr_html_() and "UniTT(c=1.0)" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["policies"]["UniTT"]["mean"] == row["mean"]
    pair = found.result["UniTT"].stopped.mean() / found.result["UniTT(c=1.0)"].stopped.mean()
    assert found.ratio("UniTT", "UniTT(c=1.0)").value == pytest.approx(pair)


def test_what_did_not_end_is_at_least_so_long(found):
    some = with_ends(found, [100, 120, 400, 400, 400, 90], [1, 1, -1, -1, -1, 1])
    line = str(some).splitlines()[-1]
    assert "≥ 252" in line and "> 400" in line and "50 %" in line
    assert some.summary()["unfinished"].item() == 0.5


def test_wrong_ends_are_counted_with_their_interval(found):
    some = with_ends(found, [100] * 10, [1] * 7 + [0, 2, -1])
    row = some.summary().to_dicts()[0]
    assert row["wrong"] == 0.2 and row["unfinished"] == pytest.approx(0.1)
    assert (row["wrong_low"], row["wrong_high"]) == pytest.approx((0.0252, 0.5561), abs=1e-4)


def test_the_interval_of_a_share_is_clopper_and_pearsons():
    from scipy.stats import binom

    for count, trials in ((0, 20), (3, 20), (20, 20), (7, 1000)):
        share = share_interval(count, trials)
        if count > 0:
            assert binom.sf(count - 1, trials, share.low) == pytest.approx(0.025)
        if count < trials:
            assert binom.cdf(count, trials, share.high) == pytest.approx(0.025)
    assert share_interval(0, 20).low == 0.0 and share_interval(20, 20).high == 1.0


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (um.Interval(0, 1, mean=lambda x: x), "must be a unimodal.Problem"),
        (um.Problem(um.graphs.line(4), [0.5, 0.1, 0.2, 0.9]), "one peak"),
        (um.problems.jumping_peak(um.graphs.line(5), horizon=100, every=10), "moving problem"),
    ],
    ids=["interval", "two peaks", "moving"],
)
def test_problems_without_one_peak_that_stays(problem, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.identify(problem, um.UniTT(), trials=2, progress=False)
