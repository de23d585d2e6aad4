"""The stored data of docs/studies is what this code finds: some trials of each are played again."""

from pathlib import Path

import numpy as np
import pytest

from unimodal.engines.leap import engine
from unimodal.studies import load, pages
from unimodal.studies.compare import comparison
from unimodal.studies.reproduce import findings
from unimodal.studies.tasks import Task, run

STUDIES = Path(__file__).parents[2] / "docs" / "studies"


@pytest.fixture
def plain_draws(monkeypatch):
    """Betas are drawn as they were when the data were made: quick draws have the same law."""
    monkeypatch.setattr(engine, "with_quick_draws", lambda index, family, n_arms: index)


before_quick_draws = pytest.mark.usefixtures("plain_draws")


def same(found, stored):
    """Equal to the seven digits that a file keeps."""
    assert np.asarray(found, dtype=np.float32).tolist() == stored.astype(np.float32).tolist()


@pytest.mark.parametrize(
    ("k", "density", "policy", "graph"),
    [(10, "1/2", "UTS", 3), (5, "line", "TS", 9), (20, "log(K)/K", "OSUB", 0)],
)
def test_the_reproduction(k, density, policy, graph):
    one = findings.load(STUDIES / "reproduction" / "findings.parquet").at(
        "Table 2", k, density, policy
    )
    same(run(Task(one.setting, policy, graph, 0, 4))[:, -1], one.final[graph, :4])


@before_quick_draws
@pytest.mark.full  # compiles a kernel that no other test here needs
def test_scouting():
    one = findings.load(STUDIES / "scouting" / pages.DATA).at("Table 2", 20, "line", "ScoutUTS")
    same(run(Task(one.setting, "ScoutUTS", 2, 7, 10))[:, -1], one.final[2, 7:10])


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        pytest.param("line", "UTS", marks=pytest.mark.full),
        ("star, smooth", "OSUB"),
        ("grid", "PeakUTS"),
    ],
)
def test_the_comparison(name, policy):
    found = comparison.load(STUDIES / "comparison" / "comparison.parquet")
    (setting,) = (one for one in found.settings if one.name == name)
    task = Task(setting, policy, 4, 0, 5)
    same(setting.measure(task)[:, -1], found.get(setting, policy).final[4])


@before_quick_draws
@pytest.mark.full
def test_other_graphs():
    found = load(STUDIES / "other-graphs" / pages.DATA)
    (setting,) = (one for one in found.settings if one.name == "grid, grid:5x4, smooth")
    same(
        setting.measure(Task(setting, "UTS", 1, 0, 3))[:, -1],
        found.get(setting, "UTS").final[1, :3],
    )


def own(name, setting, outcome):
    """A study with settings of its own: its module and its outcomes."""
    module = pages.load(STUDIES / name)
    kinds = getattr(module, setting), getattr(module, outcome)
    return module, load(STUDIES / name / pages.DATA, *kinds)


def test_past_data():
    module, found = own("past-data", "Before", "Lost")
    for setting, policy in [
        (module.COLD, "OSUB"),
        *((module.LEAST, p) for p in module.LEAST.policies),
    ]:
        rows = setting.measure(Task(setting, policy, 0, 6, 12))
        same(rows[:, 0], found.get(setting, policy).regret[6:12])


@pytest.mark.parametrize("place", ["line, K = 20", "log(K)/K, K = 100"])
def test_peak(place):
    """All but the milliseconds."""
    _, found = own("peak", "Peaked", "Raced")
    (setting,) = (one for one in found.settings if one.name == f"{place}, by distance, regret")
    one = found.get(setting, "PeakUTS")
    rows = setting.measure(Task(setting, "PeakUTS", 3, 0, 2))
    for column, name in enumerate(one.columns[:-1]):
        same(rows[:, column], one[name][3, :2])


def test_delays():
    module, found = own("delays", "Delay", "Late")
    setting = module.Delay("line of 17", 100)
    row = setting.measure(Task(setting, "UTS", 0, 5, 6))[0]
    one = found.get(setting, "UTS")
    # The regrets of this study were once kept in a table with four decimals.
    assert row.tolist() == pytest.approx([one[name][0, 5] for name in one.columns], abs=1e-4)


@before_quick_draws
@pytest.mark.full
def test_continuous():
    module, found = own("continuous", "Search", "Regret")
    setting = module.Search("a corner", "a corner", 10**4)
    for policy in ("UTS", "LSE"):
        rows = setting.measure(Task(setting, policy, 3, 0, 2))
        one = found.get(setting, policy)
        for column, name in enumerate(one.columns):
            same(rows[:, column], one[name][3])


def test_second_peaks():
    module, found = own("second-peaks", "Test", "Reports")
    setting = module.POWER[0]
    for policy in ("KLUCB", module.EQUALLY):
        rows = setting.measure(Task(setting, policy, 0, 0, setting.trials))
        same(rows[:, 0], found.get(setting, policy)["ours"][0])


@pytest.mark.full
def test_drift():
    module, found = own("drift", "Speed", "Dynamic")
    setting = module.Speed("walk", 1000)
    for policy in ("UTS", "windowed(policy=UTS, window=400)", "restarting(policy=UTS, window=100)"):
        rows = setting.measure(Task(setting, policy, 0, 2, 4))
        one = found.get(setting, policy)
        for column, name in enumerate(one.columns):
            same(rows[:, column], one[name][0, 2:4])
