"""Trials that end when their leader is certified: when, with whom, and what the result knows."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial
from unimodal.inference.certificate import Counted, certify
from unimodal.inference.peak_test import Numbering, most_order_evidence, order_evidence
from unimodal.results import stopping
from unimodal.results.stopping import NOBODY, PeakTest, StopTest, next_look
from unimodal.results.trial_plan import Pieces

PROBLEM = um.Problem(um.graphs.line(3), [0.2, 0.8, 0.3])
HALF = um.Certified(0.5)
RANGE = np.array([250])


def looks(horizon):
    now = 1
    while now < horizon:
        yield now
        now = next_look(now)
    yield horizon


def played(problem=PROBLEM, policies=(), stop=HALF, **more):
    policies = policies or um.UniTT()
    settings = {"horizon": 60, "trials": 6, "engine": "step", "progress": False, **more}
    return um.simulate(problem, policies, stop=stop, **settings)


@pytest.fixture(scope="module")
def result():
    return played(history=True, checkpoints=[10, 50])


def test_the_grid_of_looks():
    grid = list(looks(10**6))
    assert grid[:200] == list(range(1, 201)) and grid[200:203] == [202, 204, 206]
    assert grid[-1] == 10**6 and len(grid) == 1083
    steps = np.diff(grid)
    assert (steps <= np.maximum(np.array(grid[:-1]) // 100, 1)).all()


def test_a_trial_ends_at_the_first_look_that_certifies(result):
    """The whole certificate is asked at every look, from the history: no screening, no engine."""
    run = result["UniTT"]
    assert run.is_right.any() and (run.certified < 0).any()
    for row in range(result.n_trials):
        expected = None
        for now in looks(result.horizon):
            arms, rewards = run.arms[row, :now], run.rewards[row, :now]
            if (arms < 0).any():
                break  # it ended before
            pulls = np.bincount(arms, minlength=3).astype(float)
            totals = np.bincount(arms, rewards, minlength=3)
            found = certify(
                Counted(
                    labels=PROBLEM.graph.labels,
                    neighbours=PROBLEM.graph.neighbors,
                    family=PROBLEM.family.of_arms(PROBLEM.graph.labels),
                    pulls=pulls,
                    totals=totals,
                    numbering=Numbering(3),
                    recent=pulls,
                ),
                0.5,
            )
            expected = (now, -1 if found.peak is None else found.peak)
            if found.peak is not None:
                break
        assert expected == (run.stopped[row], run.certified[row])


def test_what_the_result_knows_of_an_end(result):
    run = result["UniTT"]
    assert (run.pulls.sum(axis=1) == run.stopped).all()
    assert (run.is_right == (run.certified == 1)).all()
    for row, end in enumerate(run.stopped):
        assert (run.arms[row, :end] >= 0).all() and np.isfinite(run.rewards[row, :end]).all()
        assert (run.arms[row, end:] == -1).all() and np.isnan(run.rewards[row, end:]).all()
    assert not um.second_peaks(result, policy="UniTT", trial=1)
    table = result.trials()
    assert table.columns == [
        "policy",
        "trial",
        "round",
        "regret",
        "stopped",
        "certified",
        "is_right",
    ]
    assert table["certified"].to_list()[::3] == [None if c < 0 else c for c in run.certified]
    assert "of at most 60 rounds, until certified at 50 %" in repr(result)
    assert "until certified" in result._repr_html_()


def test_after_the_end_the_certified_arm_is_played():
    """Also where it is wrong: at 1 %, on a near tie, with an arm that is not the peak."""
    near_tie = um.Problem(um.graphs.line(3), [0.5, 0.55, 0.5])
    found = played(near_tie, stop=um.Certified(0.01), horizon=400, trials=60, checkpoints=[399])
    run = found["UniTT"]
    wrong = (run.certified >= 0) & ~run.is_right
    assert wrong.any() and run.is_right.any()
    gaps = near_tie.gaps
    for row in range(60):
        if run.certified[row] >= 0:
            rest = found.rounds - run.stopped[row]
            expected = run.pulls[row] @ gaps + rest * gaps[run.certified[row]]
            assert run.regret[row] == pytest.approx(expected)
    unfinished = run.certified < 0
    assert (run.stopped[unfinished] == 400).all()


@pytest.mark.full  # and inference/test_certified_wrongly.py
def test_certificates_are_not_wrong_more_often_than_stated():
    """At 80 %: of 60 trials, 22 or more are wrong with probability 0.001 if the rate is 0.2."""
    near_tie = um.Problem(um.graphs.line(3), [0.3, 0.5, 0.3])
    run = played(near_tie, um.UniTT(), um.Certified(0.8), horizon=1000, trials=60)["UniTT"]
    assert ((run.certified >= 0) & ~run.is_right).sum() < 22
    assert run.is_right.mean() > 0.5


FAMILIES = {
    "Bernoulli": um.Bernoulli(),
    "Gaussian": um.Gaussian(0.5),
    "Poisson": um.Poisson(),
    "Scaled": um.Scaled(um.Bernoulli(), by=[1.0, 2.0, 0.5]).on(um.graphs.line(3)),
}


@given(
    st.sampled_from(sorted(FAMILIES)),
    st.lists(st.integers(0, 400), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
@settings(max_examples=200, deadline=None)
def test_the_screening_is_never_below_the_evidence(name, pulls, means):
    pulls = np.array(pulls, dtype=float)
    totals = np.floor(pulls * np.array(means))
    family = FAMILIES[name].of_arms(range(3))
    exact = order_evidence(family, pulls, totals, 1, [0, 2])
    assert (most_order_evidence(family, pulls, totals, 1, [0, 2]) >= exact - 1e-9).all()


def test_the_engines_stop_in_the_same_rounds_on_the_same_rewards():
    """A table fixes the rewards, and the policy draws nothing: both engines must see the same."""
    ends, problem = [], um.Problem(um.graphs.line(3), [0.1, 0.6, 0.1])
    for seed in range(8):
        coins = np.random.default_rng(seed).random((3, 3001))
        table = (coins < problem.means[:, None]).astype(float)
        pair = []
        for kind in (StepTrial, LeapTrial):
            trial = kind(problem, um.OSUB(), seed, 0, np.array([3000]), True)
            trial.rewards = Tabled(table)
            if kind is LeapTrial:
                trial.hurry(1.0)
            found = Pieces().finish(trial, um.OSUB(), StopTest(um.Certified(0.7), problem))
            pair.append((trial.round, found, *trial.state.arms["total"]))
        assert pair[0] == pair[1]
        ends.append(pair[0][0])
    assert len(set(ends)) > 4 and max(ends) > 200  # looks that are not in every round


@pytest.mark.full  # by default: the same rounds on the same rewards
def test_the_engines_have_the_same_law_of_ends():
    """Kolmogorov and Smirnov, 200 trials each: a false alarm in 1 of 1,000 choices of seeds.

    The leap engine is in a hurry: it leaps from the first round on, and is cut at every look.
    """
    ends = {StepTrial: [], LeapTrial: []}
    problem = um.Problem(um.graphs.line(3), [0.05, 0.95, 0.05])
    test = StopTest(um.Certified(0.1), problem)
    for kind, found in ends.items():
        for number in range(200):
            trial = kind(problem, um.UTS(), 5, number + 200 * (kind is StepTrial), RANGE, False)
            if kind is LeapTrial:
                trial.hurry(1.0)
            Pieces().finish(trial, um.UTS(), test)
            found.append(trial.round)
    step, leap = map(np.array, ends.values())
    assert stats.ks_2samp(step, leap).pvalue > 1e-3
    assert stats.ks_2samp(step, leap * 1.5).pvalue < 1e-3


def test_saved_loaded_rerun_and_extended(result, tmp_path):
    loaded = um.Result.load(result.save(tmp_path / "r.parquet"))
    assert loaded.stop == HALF and loaded.to_data() == result.to_data()
    assert result.to_data()["stop"] == {"certified": 0.5}
    again = loaded.rerun(workers=1, progress=False)
    for key, array in result["UniTT"].arrays().items():
        for other in (loaded, again):
            assert np.array_equal(array, getattr(other["UniTT"], key), equal_nan=key == "rewards")
    more = played(trials=4, checkpoints=3).extend(trials=2, progress=False)
    whole = played(checkpoints=3)
    for key, array in whole["UniTT"].arrays().items():
        assert np.array_equal(array, getattr(more["UniTT"], key)), key


def test_without_a_rule_nothing_is_added(tmp_path):
    plain = played(stop=None, horizon=50, trials=2)
    assert "stop" not in plain.to_data() and plain["UniTT"].stopped is None
    assert "stopped" not in plain["UniTT"].arrays() and len(plain.trials().columns) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"stopped": 0},
        {"stopped": 10**6},
        {"certified": 7},
        {"certified": -2},
        {"is_right": False},
        {"certified": 0},
    ],
    ids=str,
)
def test_ends_that_cannot_be_are_not_loaded(result, tmp_path, change):
    path = result.save(tmp_path / "r.parquet")
    about = pl.read_parquet_metadata(path)["unimodal"]
    frame = pl.read_parquet(path).with_columns(
        **{
            key: pl.lit(value, dtype=pl.Boolean if key == "is_right" else pl.Int64)
            for key, value in change.items()
        }
    )
    frame.write_parquet(path, metadata={"unimodal": about})
    with pytest.raises(um.UnimodalError, match="another kind, or damaged"):
        um.load(path)


@pytest.mark.parametrize("stop", [None, {"certified": 1.5}, {"sometimes": 0.5}, "certified"])
def test_another_rule_is_not_loaded(result, tmp_path, stop):
    path = result.save(tmp_path / "r.parquet")
    about = json.loads(pl.read_parquet_metadata(path)["unimodal"])
    about = {key: value for key, value in about.items() if key != "stop"}
    if stop is not None:
        about["stop"] = stop
    pl.read_parquet(path).write_parquet(path, metadata={"unimodal": json.dumps(about)})
    with pytest.raises(um.UnimodalError, match=r"another kind, or damaged|must lie"):
        um.load(path)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, math.nan, math.inf, "0.95", None, [0.9]])
def test_a_confidence_that_is_none(confidence):
    with pytest.raises(um.UnimodalError, match=r"^the 'confidence' must .*\.$"):
        um.Certified(confidence)
    with pytest.raises(um.UnimodalError, match=r"^the 'confidence' must .*\.$"):
        um.identify(PROBLEM, um.UTS(), confidence=confidence)


class Odd(um.Family):
    """A family without evidence."""

    def draw(self, mean, rng):
        return mean

    def divergence(self, p, q):
        return (p - q) ** 2


MOVING = um.problems.jumping_peak(um.graphs.line(5), horizon=100, every=10)


@pytest.mark.parametrize(
    ("problem", "policy", "stop", "words"),
    [
        (PROBLEM, um.UTS(), 0.95, "'stop' parameter of simulate must be um.Certified"),
        (PROBLEM, um.UTS(), um.Certified, "'stop' parameter of simulate must be um.Certified"),
        (MOVING, um.UTS(), HALF, "got a moving problem"),
        (PROBLEM, um.Windowed(um.UTS(), window=50), HALF, "Windowed UTS forgets some"),
        (um.Problem(um.graphs.line(2), [0.1, 0.2], Odd()), um.OSUB(), HALF, "log_evidence"),
        (um.Interval(0, 1, mean=lambda x: x), um.UTS(), HALF, "must be a unimodal.Problem"),
    ],
    ids=str,
)
def test_what_no_certificate_can_be_about(problem, policy, stop, words):
    with pytest.raises(um.UnimodalError, match=words) as sentence:
        played(problem, policy, stop)
    assert str(sentence.value).endswith(".") and "\n" not in str(sentence.value)


def test_what_passes_the_screening_is_tested_exactly():
    """With known factors the mean of both arms' rewards is not where they speak least."""
    problem = um.Problem(um.graphs.line(2), [4.0, 6.0], um.Scaled(um.Bernoulli(), by=[5, 20]))
    test, family = PeakTest(problem, um.Certified(0.95)), problem.family.of_arms([0, 1])
    asked, found = math.log(20), []
    for pulls in range(5, 400, 5):
        counts, totals = np.array([pulls, pulls]), np.array([0.5 * pulls, 0.3 * pulls])
        exact = order_evidence(family, counts, totals, 1, [0])[0]
        screened = most_order_evidence(family, counts, totals, 1, [0])[0]
        assert (test.certified(counts, totals) == 1) == (exact >= asked)
        found.append((exact >= asked, screened >= asked))
    assert {(False, False), (False, True), (True, True)} == set(found)


@pytest.mark.parametrize("which", ["order_evidence", "pooled_evidence"])
def test_evidence_that_is_just_what_is_asked_certifies(monkeypatch, which):
    """By Ville's inequality it is ever reached with probability δ at most; a float less fails."""
    test = PeakTest(um.Problem(um.graphs.line(3), [0.1, 0.9, 0.1]), um.Certified(0.9))
    asked = test._question(1)[2]
    pulls, totals = np.array([5, 50, 5]), np.array([1.0, 45.0, 1.0])
    shown = {"order_evidence": asked, "pooled_evidence": asked}
    for least, certified in ((asked, 1), (np.nextafter(asked, 0.0), NOBODY)):
        for name, evidence in {**shown, which: least}.items():
            monkeypatch.setattr(stopping, name, lambda *data, it=evidence: it)
        assert test.certified(pulls, totals) == certified
