"""The plan: the paper's scale, seeds that depend on the cell alone, tasks that cover it once."""

import dataclasses

import numpy as np
import pytest

import unimodal as um
from unimodal.reproduce.experiments import FULL, QUICK, Setting, settings
from unimodal.work.tasks import Task, cut, run


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


def test_quick_has_the_same_settings():
    assert [s.name for s in settings(QUICK)] == [s.name for s in settings(FULL)]


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
            seen[setting.policies.index(task.policy), task.graph, task.first : task.last] += 1
        assert (seen == 1).all()


def test_a_task_is_what_simulate_finds():
    setting = Setting("Table 2", 20, "line", ("UTS",), 500, 1, 3)
    regret = run(Task(setting, "UTS", 0, 0, 3))
    result = um.simulate(
        setting.problem(0), um.UTS(), horizon=500, trials=3, seed=setting.seed(0), checkpoints=61
    )
    assert (regret == result["UTS"].regret).all()
