"""Results: summaries, ratios, figures, and files that can be re-run."""

import json
import sys
import types

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.results.result import Run

PROBLEM = um.problems.triangular(9)


@pytest.fixture(scope="module")
def result():
    return um.simulate(
        um.problems.triangular(9), [um.UTS(), um.OSUB()], horizon=1000, trials=12, seed=3
    )


def test_summary_is_tidy(result):
    summary = result.summary()
    assert summary.height == 2 * len(result.rounds)
    last = summary.filter((pl.col("policy") == "UTS") & (pl.col("round") == 1000)).row(
        0, named=True
    )
    regret = result["UTS"].regret[:, -1]
    assert last["mean"] == pytest.approx(regret.mean())
    assert last["median"] == pytest.approx(np.median(regret))
    assert last["q05"] == pytest.approx(np.quantile(regret, 0.05))
    assert last["low"] < last["mean"] < last["high"]
    assert last["q05"] <= last["q25"] <= last["median"] <= last["q75"] <= last["q95"]
    assert last["trials"] == 12


def test_ratio(result):
    ratio = result.ratio("UTS", "OSUB")
    means = [result[name].regret[:, -1].mean() for name in ("UTS", "OSUB")]
    assert ratio.value == pytest.approx(means[0] / means[1])
    assert ratio.low < ratio.value < ratio.high
    assert result.ratio("UTS", "UTS").half_width == pytest.approx(0)


@pytest.fixture(scope="module")
def made():
    """Three trials and two checkpoints, with regrets that can be summed in the head."""
    regrets = {"UTS": [[9, 1], [9, 2], [3, 6]], "OSUB": [[1, 2], [5, 6], [9, 4]]}
    runs = {}
    for policy in (um.UTS(), um.OSUB()):
        regret = np.array(regrets[policy.name], dtype=float)
        pulls = np.roll([[10, 20, 70], [5, 6, 89], [1, 2, 97]], len(policy.name), axis=1)
        restarts = np.arange(3)
        runs[policy.name] = Run(policy, regret, pulls, restarts=restarts)
    return um.Result(um.problems.triangular(3), 4, np.array([10, 100]), runs)


def test_the_numbers_of_a_result_are_those_at_the_horizon(made):
    """1, 2 and 6: mean 3, variance 7. Beside 2, 6 and 4: residuals -0.5, -2.5 and 3."""
    assert (made.horizon, made.n_trials, made.has_history) == (100, 3, False)
    reach = 4.302653 * (7 / 3) ** 0.5  # Student's 97.5 %, 2 degrees of freedom
    assert tuple(made.regret("UTS")) == pytest.approx((3, 3 - reach, 3 + reach), rel=1e-6)
    ratio, reach = made.ratio("UTS", "OSUB"), 4.302653 * (15.5 / 6) ** 0.5 / 4
    assert tuple(ratio) == pytest.approx((0.75, 0.75 - reach, 0.75 + reach), rel=1e-6)
    assert made.ratio("OSUB", "UTS").value == pytest.approx(4 / 3)


def test_the_summary_has_a_row_for_each_policy_and_checkpoint(made):
    rows = made.summary().to_dicts()
    places = [(row["policy"], row["round"], row["mean"], row["median"]) for row in rows]
    assert places == [
        ("UTS", 10, 7.0, 9.0),
        ("UTS", 100, 3.0, 2.0),
        ("OSUB", 10, 5.0, 5.0),
        ("OSUB", 100, 4.0, 4.0),
    ]
    assert (rows[1]["q25"], rows[1]["q75"], rows[1]["q95"]) == (1.5, 4.0, 5.6)
    assert rows[1]["high"] - rows[1]["low"] == pytest.approx(2 * 4.302653 * (7 / 3) ** 0.5)
    assert {row["trials"] for row in rows} == {3}


def test_the_picture_has_the_means_and_their_95_percent(made):
    axes = made.plot()
    assert axes.lines[0].get_ydata().tolist() == [7.0, 3.0]
    assert axes.lines[1].get_ydata().tolist() == [5.0, 4.0]
    ends = axes.collections[0].get_paths()[0].vertices
    at_the_end = sorted({y for x, y in ends.tolist() if x == 100})
    reach = 4.302653 * (7 / 3) ** 0.5
    assert at_the_end == pytest.approx([3 - reach, 3 + reach], rel=1e-6)


def test_rows_of_a_file_are_trials_of_policies(made, tmp_path):
    frame = pl.read_parquet(made.save(tmp_path / "x.parquet"))
    assert frame["policy"].to_list() == ["UTS"] * 3 + ["OSUB"] * 3
    assert frame["trial"].to_list() == [0, 1, 2, 0, 1, 2]
    assert frame["regret"].to_list()[2] == [3.0, 6.0] and frame["regret"].to_list()[4] == [5.0, 6.0]
    loaded = um.load(tmp_path / "x.parquet")
    assert loaded["OSUB"].pulls.tolist() == made["OSUB"].pulls.tolist()
    assert loaded["OSUB"].restarts.tolist() == [0, 1, 2]
    assert (loaded.seed, loaded.rounds.tolist(), loaded.engine) == (4, [10, 100], "auto")


def test_names(result):
    assert list(result) == ["UTS", "OSUB"] and len(result) == 2 and "UTS" in result
    with pytest.raises(um.UnimodalError, match="Known are UTS, OSUB"):
        result["uts"]


def test_one_trial_has_no_interval():
    alone = um.simulate(um.problems.triangular(9), um.UTS(), horizon=100, trials=1)
    assert np.isnan(alone.regret("UTS").low)
    alone.plot()


def test_print_shows_one_row_per_policy(result):
    title, columns, *rows = str(result).splitlines()
    assert title.endswith(repr(result.problem)) and columns.startswith("policy")
    assert [row.split()[0] for row in rows] == ["UTS", "OSUB"]
    assert str(result.regret("UTS")) in rows[0]


def test_plot(result):
    axes = result.plot()
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.texts] == ["UTS", "OSUB", "c(μ) log t"]
    assert axes.get_legend() is None
    again = result.plot(axes)  # labels are written anew, not twice
    assert len(again.texts) == 6 and len({text.get_text() for text in again.texts}) == 3
    axes = result.plot()
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--"]  # last, the bound
    assert len({line.get_marker() for line in axes.lines}) == 3  # legible without colour
    bound = axes.lines[2].get_ydata()[-1]
    assert bound == pytest.approx(result.problem.lower_bound * np.log(1000))
    assert len(axes.collections) == 2  # the bands
    assert result.plot(scale="linear").get_xscale() == "linear"
    with pytest.raises(um.UnimodalError, match="scale"):
        result.plot(scale="cubic")


def test_a_file_can_be_loaded_and_re_run_from_itself(result, tmp_path):
    path = result.save(tmp_path / "result.parquet")
    loaded = um.load(path)
    assert loaded.problem.graph == result.problem.graph
    assert loaded.policies == result.policies
    again = loaded.rerun()
    for name in result:
        for key in ("regret", "pulls"):
            assert (getattr(loaded[name], key) == getattr(result[name], key)).all()
            assert (getattr(again[name], key) == getattr(result[name], key)).all()


def test_a_file_is_readable_without_us(result, tmp_path):
    path = result.save(tmp_path / "result.parquet")
    frame = pl.read_parquet(path)
    assert frame.columns == ["policy", "trial", "regret", "pulls", "restarts"]
    assert frame.height == 24
    data = json.loads(pl.read_parquet_metadata(path)["unimodal"])
    assert data["seed"] == 3 and data["versions"]["unimodal"] == um.__version__
    assert data["policies"][0] == {
        "policy": "UTS",
        "name": "UTS",
        "own": False,
        "parameters": {"prior": None, "period": "degree", "start": "sweep", "ties": "random"},
    }


def test_history_and_other_families_survive(tmp_path):
    graph = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    problem = um.problems.by_distance(graph, "c", family=um.Gaussian(0.5))
    made = um.simulate(problem, um.TS(), horizon=50, trials=2, history=True)
    loaded = um.load(made.save(tmp_path / "x.parquet"))
    assert (loaded["TS"].arms == made["TS"].arms).all()
    assert loaded.problem.family == um.Gaussian(0.5)
    assert loaded.problem.graph.labels == ("a", "b", "c", "d")
    assert (loaded.rerun()["TS"].rewards == made["TS"].rewards).all()


def test_files_that_are_not_results_get_a_sentence(tmp_path, result):
    (tmp_path / "text").write_text("no")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    path = result.save(tmp_path / "cut.parquet")
    path.write_bytes(path.read_bytes()[:500])
    for name, words in [
        ("none", "there is no file"),
        ("text", "must be a result"),
        ("other.parquet", "must be a result"),
        ("cut.parquet", "must be a result"),
    ]:
        with pytest.raises(um.UnimodalError, match=words):
            um.load(tmp_path / name)


def test_a_policy_of_ones_own_is_given_again(tmp_path):
    class Mine(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return leader

    made = um.simulate(um.problems.triangular(3), Mine(), horizon=20, trials=2)
    path = made.save(tmp_path / "x.parquet")
    with pytest.raises(um.UnimodalError, match="Mine: pass it"):
        um.load(path)
    assert um.load(path, policies=[Mine()]).policies == [Mine()]


def test_trials_are_a_long_table():
    result = um.simulate(PROBLEM, [um.UTS(), um.TS()], horizon=50, trials=3, checkpoints=[10, 50])
    table = result.trials()
    assert table.columns == ["policy", "trial", "round", "regret"] and len(table) == 12
    row = table.row(9, named=True)
    assert (row["policy"], row["trial"], row["round"]) == ("TS", 1, 50)
    assert row["regret"] == result["TS"].regret[1, 1]


def test_a_result_in_pandas(monkeypatch):
    result = um.simulate(PROBLEM, um.UTS(), horizon=50, trials=3, checkpoints=[10, 50])

    class Frame:
        def __init__(self, data):
            self.data = data

    pandas = types.ModuleType("pandas")
    pandas.DataFrame = Frame
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert result.to_pandas().data == result.trials().to_dict(as_series=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(um.UnimodalError, match="pip install pandas"):
        result.to_pandas()


def test_load_opens_results_and_agents_and_says_what_it_found(tmp_path):
    result = um.simulate(PROBLEM, um.UTS(), horizon=50, trials=2)
    agent = um.Agent(um.UTS(), PROBLEM.graph)
    assert isinstance(um.load(result.save(tmp_path / "r")), um.Result)
    assert isinstance(um.load(agent.save(tmp_path / "a")), um.Agent)
    assert isinstance(um.Result.load(tmp_path / "r"), um.Result)
    with pytest.raises(um.UnimodalError, match=r"must be a result .* got Agent\(UTS"):
        um.Result.load(tmp_path / "a")


def test_pulls_of_the_best_arm_are_those_of_the_best_arm_of_their_round():
    """Who stays at the peak of round 1 has few of them; without a history nobody can say."""
    means = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]
    problem = um.problems.Moving(um.graphs.line(3), [1, 101], means)
    kept, lost = (
        um.simulate(problem, um.UTS(), horizon=1000, trials=2, engine="step", history=history)
        for history in (True, False)
    )
    best = np.where(np.arange(1, 1001) > 100, 2, 0)
    share = 100 * np.mean(kept["UTS"].arms == best)
    assert str(kept).splitlines()[-1].endswith(f" {share:.1f} %")
    assert f"{share:.1f} %" in kept._repr_html_()
    assert str(lost).splitlines()[-1].endswith(" –")
    still = um.simulate(problem.at(1), um.UTS(), horizon=100, trials=2, engine="step")
    pulls = still["UTS"].pulls
    assert str(still).splitlines()[-1].endswith(f" {100 * pulls[:, 0].sum() / pulls.sum():.1f} %")
