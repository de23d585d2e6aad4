"""Recorded rewards: read in order or drawn by row, saved, and refused where the table has gaps."""

import json

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.problems import from_data, recorded

RNG = np.random.default_rng(3)
TABLE = (RNG.random((60, 3)) < [0.2, 0.6, 0.4]).astype(float)
NUMBERS = RNG.normal(0, 1, (60, 3)) + np.array([0, 2, 1])


def played(problem, policy=None, horizon=60, **given):
    result = um.simulate(
        problem, policy or um.UTS(), horizon=horizon, history=True, workers=1, **given
    )
    return next(iter(result.values()))


def test_in_order_round_t_reads_row_t_in_every_trial():
    run = played(recorded(TABLE), trials=3)
    for arms, rewards in zip(run.arms, run.rewards, strict=True):
        assert (rewards == TABLE[np.arange(60), arms]).all()
    means = TABLE.mean(axis=0)
    assert np.allclose(run.regret[:, -1], run.pulls @ (means.max() - means))


def test_in_order_does_not_depend_on_where_the_horizon_is():
    short, whole = (played(recorded(TABLE), horizon=h, trials=2) for h in (30, 60))
    assert (whole.rewards[:, :30] == short.rewards).all()


def test_resampled_rewards_are_rows_drawn_uniformly():
    """Each row is named by its reward: a chi-square of 60 rows in 60,000 rounds.

    The seed is fixed; over random seeds it would fail in 1 of 1,000 tests. A row left out, or drawn
    twice as often, adds at least 1,000 to a statistic whose 99.9 % is 99.
    """
    names = np.arange(60.0)[:, None] + np.zeros((60, 2))
    problem = recorded(names, family=um.Bounded(0, 59), resampled=True)
    run = played(problem, horizon=60_000, trials=1)
    counts = np.bincount(run.rewards[0].astype(int), minlength=60)
    assert ((counts - 1000) ** 2 / 1000).sum() < 98.3


def test_resampled_trials_differ_and_do_not_depend_on_workers():
    problem = recorded(NUMBERS, family=um.Gaussian(), resampled=True)
    one = um.simulate(problem, um.TS(), horizon=200, trials=4, workers=1, history=True)
    two = um.simulate(problem, um.TS(), horizon=200, trials=4, workers=2, history=True)
    assert (one["TS"].rewards == two["TS"].rewards).all()
    assert len({tuple(row) for row in one["TS"].rewards}) == 4
    parts = [um.simulate(problem, um.TS(), horizon=200, trials=2, first_trial=f) for f in (0, 2)]
    assert (um.merge(parts)["TS"].regret[:, -1] == one["TS"].regret[:, -1]).all()


def test_a_plain_policy_plays_it_too():
    class First(um.Policy):
        compiled = False

        def scope(self, graph):
            return um.EveryArm()

        def choose(self, arms, near, leader, clock, rng):
            return near[0]

    run = played(recorded(TABLE), First(), trials=1)
    assert (run.rewards[0] == TABLE[np.arange(60), run.arms[0]]).all()


@pytest.mark.parametrize(
    "table",
    [
        {"a": TABLE[:, 0], "b": TABLE[:, 1].tolist(), "c": tuple(TABLE[:, 2])},
        pl.DataFrame(TABLE, ["a", "b", "c"]),
    ],
)
def test_columns_have_labels(table):
    problem = recorded(table)
    assert list(problem.graph.labels) == ["a", "b", "c"] and (problem.table == TABLE).all()
    ring = um.graphs.from_edges([("c", "a"), ("a", "b"), ("b", "c")])
    turned = recorded(table, ring)
    columns = [list("abc").index(label) for label in ring.labels]
    assert (turned.table == TABLE[:, columns]).all()


def test_pandas():
    pd = pytest.importorskip("pandas")
    assert (recorded(pd.DataFrame(TABLE, columns=list("abc"))).table == TABLE).all()


def test_the_family_follows_the_rewards():
    assert recorded(TABLE).family == um.Bernoulli()
    assert recorded(NUMBERS).family == um.Bounded(NUMBERS.min(), NUMBERS.max())
    assert recorded([[1, 0], [1, 0]]).means.tolist() == [1.0, 0.0]
    assert recorded([[0.5, 0.25]]).table.shape == (1, 2)  # a single round


@pytest.mark.parametrize("resampled", [False, True])
def test_it_is_saved_and_opened_again(resampled, tmp_path):
    problem = recorded(NUMBERS, um.graphs.complete(3), um.Gaussian(), resampled=resampled)
    again = from_data(json.loads(json.dumps(problem.to_data())))
    assert repr(again) == repr(problem) and (again.table == problem.table).all()
    result = um.simulate(problem, um.UTS(), horizon=40, trials=3)
    loaded = um.load(result.save(tmp_path / "x.parquet"))
    assert (loaded.rerun()["UTS"].regret == result["UTS"].regret).all()
    assert (loaded.extend(1)["UTS"].regret[:3] == result["UTS"].regret).all()


@pytest.mark.parametrize(
    "change",
    [{"rows": 7}, {"rows": 10**9}, {"table": "A"}, {"table": "!"}, {"resampled": 3}, {"rows": -1}],
)
def test_a_changed_file_is_refused(change):
    data = recorded(TABLE).to_data()
    data["recorded"] = data["recorded"] | change
    with pytest.raises((ValueError, MemoryError, OSError)) as error:
        from_data(data)
    assert "Traceback" not in str(error.value)


def test_only_the_step_engine_plays_it():
    for problem in (recorded(TABLE), recorded(TABLE, resampled=True)):
        with pytest.raises(um.UnimodalError, match="its rewards were recorded"):
            um.simulate(problem, um.UTS(), horizon=50, engine="leap")
    long = um.simulate(recorded(TABLE, resampled=True), um.UTS(), horizon=6000, trials=1)
    assert long["UTS"].pulls.sum() == 6000


def test_more_rounds_than_rows_are_refused_and_certificates_in_order():
    with pytest.raises(um.UnimodalError, match=r"at most 60, .* got 61: .* resampled=True"):
        um.simulate(recorded(TABLE), um.UTS(), horizon=61)
    with pytest.raises(um.UnimodalError, match="independent rewards"):
        um.simulate(recorded(TABLE), um.UTS(), horizon=60, stop=um.Certified(0.9))
    found = um.identify(recorded(TABLE, resampled=True), um.UniTT(), trials=2, horizon=500)
    assert len(found.rewards("UniTT")) == 3


NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([[1, NAN, 0], [1, 1, 1]],), "got none for arm 1 in row 0"),
        (([[1, 0, 0], [1, None, 1]],), "got none for arm 1 in row 1"),
        (([[1, 0, 0], [1, 1]],), "must be rows of numbers"),
        (([[1, 0, 0], [1, 1]], um.graphs.line(3)), "got none for arm 2 in row 1"),
        (({"a": [1, 0], "b": [1]},), "got none for arm 'b' in row 1"),
        (({"a": [1, NAN], "b": [1, 0]},), "got none for arm 'a' in row 1"),
        ((pl.DataFrame({"a": [1, None], "b": [1, 0]}),), "got none for arm 'a' in row 1"),
        (({"a": [1, 0]}, um.graphs.line(["a", "b"])), "got none for 'b'"),
        (({"a": [1], "b": [0], "x": [1]}, um.graphs.line(["a", "b"])), "'x'"),
        (({"a": [1], "b": "no"},), "'no' for arm 'b'"),
        (({"a": [], "b": []},), "of shape"),
        (({"a": [1, 0]},), "at least 2"),
        (({},), "at least 2"),
        (([],), "must be rows of numbers"),
        ((None,), "must be rows of numbers"),
        (("table",), "must be rows of numbers"),
        (([1, 2],), "must be rows of numbers"),
        (([["1", "2"]],), "must be rows of numbers|the text"),
        (([["a", "b"]], um.graphs.line(2)), "the text 'a' in row 0"),
        (([[1, 2, 3]], um.graphs.line(2)), r"of shape \(1, 3\), and 2 arms"),
        (([[2, 2], [2, 2]],), "every reward is 2 says nothing"),
        (([[0.5, 1]], None, um.Bernoulli()), "must be 0 or 1, got 0.5"),
        (([[-1, 1]], None, um.Poisson()), "at least 0, got -1"),
        (([[1, float("inf")]],), "must be finite"),
        (([[1, 0]], "line"), "'graph' of recorded must be a Graph"),
        (([[1, 0]], None, "bernoulli"), "recorded must be a reward family|family"),
        (([[1, 0]], None, um.Scaled(um.Bernoulli(), by=2.0)), "got a Scaled family"),
    ],
)
def test_bad_tables_get_a_sentence(given, said):
    with pytest.raises(um.UnimodalError, match=said):
        recorded(*given)


def test_resampled_is_true_or_false():
    with pytest.raises(um.UnimodalError, match="must be True or False, got 'yes'"):
        recorded(TABLE, resampled="yes")
