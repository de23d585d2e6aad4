"""Tasks and where they are kept, with settings made up: sizes, order, and every trial in place."""

from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass

import numpy as np
import pytest

from unimodal.studies.finished_tasks import opened
from unimodal.studies.run_tasks import do
from unimodal.studies.tasks import Task, cut


@dataclass(frozen=True)
class Plan:
    """Trials that take a second of UTS, and ten of any other policy."""

    name: str = "plan"
    policies: tuple[str, ...] = ("UTS", "UTS(period=2)")
    horizon: int = 100
    graphs: int = 2
    trials: int = 10

    def seconds_a_trial(self, policy):
        return 1.0 if policy == "UTS" else 10.0

    def to_data(self):
        return asdict(self)


def rows(task):
    """A row a trial, which says whose it is."""
    kind = 1000.0 if task.policy == "UTS" else 2000.0
    return np.array([[kind + 100 * task.graph + n, -n] for n in range(task.first, task.last)])


class Recorder(Executor):
    """Runs what it is given at once, and fails as often as it is told."""

    def __init__(self, failures=0):
        self.seen, self.left = [], failures

    def submit(self, run, task):
        self.seen.append(task)
        future = Future()
        if self.left:
            self.left -= 1
            future.set_exception(RuntimeError("lost"))
        else:
            future.set_result(run(task))
        return future


def test_tasks_take_about_four_seconds():
    made = [(task.policy, task.graph, task.first, task.last) for task in cut([Plan()])]
    by_four = [(0, 4), (4, 8), (8, 10)]
    assert made[:6] == [("UTS", graph, *ends) for graph in (0, 1) for ends in by_four]
    assert made[6:] == [("UTS(period=2)", graph, n, n + 1) for graph in (0, 1) for n in range(10)]
    assert [task.seconds for task in cut([Plan()])][:7] == [4.0, 4.0, 2.0, 4.0, 4.0, 2.0, 10.0]


def test_every_trial_comes_back_in_its_place(tmp_path):
    with opened(tmp_path / "x.db") as store:
        do(list(cut([Plan()])), store, Recorder(), run=rows)
        for policy, kind in (("UTS", 1000.0), ("UTS(period=2)", 2000.0)):
            found = store.all_of(Plan(), policy)
            assert found.shape == (2, 10, 2)
            expected = [[kind + 100 * graph + n for n in range(10)] for graph in (0, 1)]
            assert found[:, :, 0].tolist() == expected
            assert found[1, :, 1].tolist() == [-n for n in range(10)]


def test_a_policy_is_complete_only_with_all_of_its_trials(tmp_path):
    *most, last = cut([Plan(policies=("UTS",))])
    with opened(tmp_path / "x.db") as store:
        do(most, store, Recorder(), run=rows)
        assert store.all_of(Plan(), "UTS") is None
        do([last], store, Recorder(), run=rows)
        assert store.all_of(Plan(), "UTS").shape == (2, 10, 2)
        assert store.all_of(Plan(name="other"), "UTS") is None


def test_quick_work_comes_first_and_what_is_finished_not_again(tmp_path):
    tasks, told = list(cut([Plan()])), []
    with opened(tmp_path / "x.db") as store:
        store.put(tasks[0], rows(tasks[0]))
        seen = Recorder()
        do(tasks, store, seen, told.append, rows)
    assert [task.policy for task in seen.seen] == ["UTS"] * 5 + ["UTS(period=2)"] * 20
    assert tasks[0] not in seen.seen and sorted(map(repr, told)) == sorted(map(repr, seen.seen))


@pytest.mark.parametrize(("failures", "comes"), [(3, True), (4, False)])
def test_a_task_whose_worker_died_is_handed_out_again_three_times(tmp_path, failures, comes):
    task = Task(Plan(), "UTS", 0, 0, 4)
    workers = Recorder(failures)
    with opened(tmp_path / "x.db") as store:
        if comes:
            do([task], store, workers, run=rows)
            assert store.has(task)
        else:
            with pytest.raises(RuntimeError, match="lost"):
                do([task], store, workers, run=rows)
        assert len(workers.seen) == 4


def test_an_error_of_our_own_is_not_tried_again(tmp_path):
    tried = []

    def fails(task):
        tried.append(task)
        raise RuntimeError("mine")

    with opened(tmp_path / "x.db") as store, pytest.raises(RuntimeError, match="mine"):
        do([Task(Plan(), "UTS", 0, 0, 4)], store, run=fails)
    assert len(tried) == 1
