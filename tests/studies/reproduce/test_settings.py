"""The plan: the paper's scale, seeds that depend on the cell alone, tasks that cover it once."""

import dataclasses
import zlib
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import unimodal as um
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce.settings import FULL, QUICK, Setting, edge_probability, settings
from unimodal.studies.study import Study
from unimodal.studies.tasks import Task, cut, run


def test_full_is_the_papers_scale():
    plan = settings(FULL)
    table_2 = [s for s in plan if s.experiment == "Table 2"]
    assert len(table_2) == 24 and sum(len(s.policies) for s in table_2) == 96
    assert all((s.graphs, s.trials, s.horizon) == (10, 100, 10**5) for s in table_2)
    lines = [s for s in plan if s.experiment == "Appendix B" and s.density == "triangle"]
    assert len(lines) == 6 and all((s.trials, s.horizon) == (100, 10**7) for s in lines)
    sparse = [s for s in plan if s.density in ("5/K", "10/K")]
    assert len(sparse) == 2 and all((s.n_arms, s.horizon) == (1000, 10**6) for s in sparse)
    assert len({s.name for s in plan}) == len(plan)


def test_quick_has_the_same_settings_with_fewer_graphs_and_trials():
    plan = settings(QUICK)
    assert [s.name for s in plan] == [s.name for s in settings(FULL)]
    for one in plan:
        sizes = (one.horizon, one.graphs, one.trials)
        if one.experiment in ("Table 2", "Table 3"):
            assert sizes == ((10**5, 3, 3) if one.n_arms == 1000 else (10**5, 4, 15))
        elif one.experiment == "Table 1":
            assert sizes == (10**5, 1, 100)
        elif one.experiment == "Appendix B":
            assert sizes == ((10**6, 1, 6) if one.density == "triangle" else (10**6, 3, 3))
        else:
            assert sizes == ((10**5, 1, 20) if one.density == "triangle" else (10**5, 4, 6))


def test_who_plays_where():
    """Four policies in Tables 1 and 2, the two of Table 3 and of Appendix B, and the choices."""
    four, choices = ("KLUCB", "TS", "OSUB", "UTS"), "OSUB(c=0) OSUB(c=1) OSUB(start=literal)"
    plan = settings(FULL)
    for one in plan:
        expected = {"Table 1": four, "Table 2": four, "Table 3": ("TS", "OSUB")}
        expected["Appendix B"] = ("UTS", "OSUB")
        if one.experiment != "Open choices":
            assert one.policies == expected[one.experiment]
        else:
            assert len(one.policies) == 12 and set(choices.split()) < set(one.policies)
    assert [(s.n_arms, s.graphs, s.trials) for s in plan if s.experiment == "Open choices"] == [
        *((17, 1, 100), (129, 1, 100)),
        *((k, 10, 20) for k in (5, 10, 20, 50, 100)),
    ]
    for table, p, number in (("Table 3", "0.1", 6), ("Table 2", "log(K)/K", 6)):
        sizes = [s.n_arms for s in plan if (s.experiment, s.density) == (table, p)]
        assert sizes == [5, 10, 20, 50, 100, 1000][:number]


def test_appendix_b_uses_the_papers_peaks():
    peaks = sorted(s.high for s in settings(FULL) if s.experiment == "Appendix B")
    assert peaks[:6] == [0.108, 0.116, 0.14, 0.165, 0.23, 0.425]


@pytest.mark.parametrize("density", ["1", "1/2", "log(K)/K", "line", "0.1", "triangle"])
def test_problems_are_the_papers(density):
    setting = Setting("Table 2", 20, density, ("UTS",), 100, 2, 2)
    problem = setting.problem(0)
    assert problem.means.max() == 0.9 and problem.means.min() == 0.1 and problem.check()
    assert (problem.means == setting.problem(0).means).all()
    if density in ("1/2", "0.1"):
        assert setting.problem(0).graph != setting.problem(1).graph


@pytest.mark.parametrize(
    ("density", "n_arms", "p"),
    [
        ("1", 7, 1.0),
        ("1/2", 7, 0.5),
        ("0.1", 7, 0.1),
        ("log(K)/K", 5, 0.32188758248682),  # natural logarithms: 1.6094 / 5
        ("log(K)/K", 1000, 0.0069077552789821),
        ("5/K", 1000, 0.005),
        ("10/K", 200, 0.05),
    ],
)
def test_a_density_is_a_probability(density, n_arms, p):
    assert edge_probability(density, n_arms) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(
    ("density", "n_arms", "p"),
    [("1/2", 100, 0.5), ("log(K)/K", 1000, 0.0069078), ("0.1", 100, 0.1), ("10/K", 300, 1 / 30)],
)
def test_graphs_have_as_many_edges_as_the_density_says(density, n_arms, p):
    """The mean of three graphs within 5 standard errors: fewer than 1 in 10⁶ false alarms.

    That graphs are connected moves the mean by less than one; log₂(K)/K would by 1,500 of 3,450.
    """
    setting = Setting("Table 2", n_arms, density, ("UTS",), 100, 3, 1)
    edges = [setting.problem(graph).graph.n_edges for graph in range(3)]
    pairs = n_arms * (n_arms - 1) / 2
    assert abs(np.mean(edges) - p * pairs) < 5 * np.sqrt(p * (1 - p) * pairs / 3)
    assert len(set(edges)) > 1  # another graph each time


def test_peaks_are_anywhere_with_the_same_probability():
    """500 peaks on a line of five: chi-square with 4 degrees above 23.5 is 1 in 10,000."""
    setting = Setting("Table 2", 5, "line", ("UTS",), 100, 500, 1)
    counts = Counter(setting.problem(graph).best_arm for graph in range(500))
    assert sum((counts[arm] - 100) ** 2 / 100 for arm in range(5)) < 23.5
    triangle = Setting("Table 1", 17, "triangle", ("UTS",), 100, 1, 1)
    assert triangle.problem(0).best_arm == 8


@pytest.mark.parametrize("density", ["line", "1/2", "triangle"])
def test_the_highest_mean_is_the_settings(density):
    setting = Setting("Appendix B", 17, density, ("UTS",), 100, 1, 1, high=0.14)
    assert setting.problem(0).means.max() == 0.14 and setting.problem(0).means.min() == 0.1


def test_what_is_found_has_graphs_trials_and_checkpoints_in_their_places():
    """Regrets of 2 graphs × 3 trials × 4 checkpoints, and of one graph; one policy not finished."""
    several = Setting("Table 2", 5, "1/2", ("UTS", "TS"), 100, 2, 3)
    single = Setting("Table 1", 17, "triangle", ("UTS",), 100, 1, 3)
    regret = np.arange(24.0).reshape(2, 3, 4) ** 2
    kept = {(several, "UTS"): regret, (several, "TS"): None, (single, "UTS"): regret[:1]}
    store = SimpleNamespace(all_of=lambda setting, policy: kept[setting, policy])
    found = findings.found_in(Study([several, single], findings.Finding)._collect(store))
    assert len(found.all) == 2 and found.at("Table 2", 5, "1/2", "TS") is None
    one = found.at("Table 2", 5, "1/2", "UTS")
    assert one.final.tolist() == [[9.0, 49.0, 121.0], [225.0, 361.0, 529.0]]
    assert one.curves[0].tolist() == [80 / 3, 107 / 3, 140 / 3, 179 / 3]  # (0 + 16 + 64)/3, …
    alone = found.at("Table 1", 17, "triangle", "UTS")
    assert alone.curves.tolist() == regret[0].tolist()
    assert found.at("Table 1", 17, "triangle", "UTS", high=0.14) is None
    assert list(found.of(several)) == ["UTS"]


def test_seeds_are_those_of_the_name():
    setting = Setting("Table 2", 20, "1/2", ("UTS",), 100, 2, 2)
    assert setting.seed(1) == zlib.crc32(b"Table 2: K = 20, p = 1/2 #1")
    low = dataclasses.replace(setting, high=0.14)
    assert low.seed(1) == zlib.crc32(b"Table 2: K = 20, p = 1/2, peak 0.14 #1")


def test_seeds_depend_on_the_cell_alone():
    small = Setting("Table 2", 20, "1/2", ("UTS",), 100, 2, 2)
    large = dataclasses.replace(small, graphs=9, trials=50, policies=("TS", "UTS"))
    assert small.seed(1) == large.seed(1) != small.seed(0)
    one, two = (Task(setting, "UTS", 1, 0, 2) for setting in (small, large))
    assert one.key("law") == two.key("law")
    assert (run(one) == run(two)).all()


def test_a_key_changes_with_all_that_determines_a_result():
    setting = Setting("Table 2", 20, "1/2", ("UTS",), 100, 2, 2)
    task = Task(setting, "UTS", 0, 0, 2)
    others = [
        dataclasses.replace(task, policy="OSUB"),
        dataclasses.replace(task, graph=1),
        dataclasses.replace(task, last=1),
        dataclasses.replace(task, setting=dataclasses.replace(setting, horizon=101)),
        dataclasses.replace(task, setting=dataclasses.replace(setting, high=0.8)),
        dataclasses.replace(task, setting=dataclasses.replace(setting, density="0.1")),
    ]
    keys = {task.key("law"), task.key("another law"), *(other.key("law") for other in others)}
    assert len(keys) == 2 + len(others)


def test_tasks_cover_every_trial_once():
    for setting in settings(QUICK):
        seen = np.zeros((len(setting.policies), setting.graphs, setting.trials), dtype=int)
        for task in cut([setting]):
            assert 0 <= task.first < task.last <= setting.trials
            seen[setting.policies.index(task.policy), task.graph, task.first : task.last] += 1
        assert (seen == 1).all()


def test_a_task_is_what_simulate_finds():
    """Its graph, its seed, its trials."""
    setting = Setting("Table 2", 20, "line", ("UTS",), 500, 2, 4)
    for graph, first, last in ((0, 0, 3), (1, 2, 4)):
        regret = run(Task(setting, "UTS", graph, first, last))
        result = um.simulate(
            setting.problem(graph),
            um.UTS(),
            horizon=500,
            trials=last,
            seed=setting.seed(graph),
            checkpoints=61,
        )
        assert (regret == result["UTS"].regret[first:]).all()
