"""Watching a run: what is done, what it found, how long it will take."""

import io

import numpy as np
import pytest
from rich.console import Console

from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce import live_view as watching
from unimodal.studies.reproduce.live_view import Watch
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.tasks import Task

SETTING = Setting("Table 2", 50, "line", ("UTS", "TS"), 100, 2, 3)
# Two graphs of UTS, cut into two tasks each, and one graph of TS.
TASKS = [
    *(Task(SETTING, "UTS", graph, *ends) for graph in (0, 1) for ends in ((0, 2), (2, 3))),
    Task(SETTING, "TS", 0, 0, 3),
]


def regrets(task):
    """(1, what is found) for each trial: 100 and 200 by graph, and the trial's number."""
    return np.array([[1.0, 100.0 * (1 + task.graph) + n] for n in range(task.first, task.last)])


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path / "x.db") as store:
        yield store


def test_a_cell_has_its_mean_once_all_of_its_tasks_are_done(store):
    watch = Watch(TASKS, store)
    assert watch.cells == 2 and watch.means == {} and watch.done == 0.0
    for number, task in enumerate(TASKS):
        store.put(task, regrets(task))
        watch.tell(task)
        assert watch.done == pytest.approx(sum(one.seconds for one in TASKS[: number + 1]))
        assert len(watch.means) == (0 if number < 3 else 1 if number == 3 else 2)
    # 100, 101, 102, 200, 201 and 202, at the last checkpoint.
    assert watch.means[SETTING.name, "UTS"] == pytest.approx(151.0)
    assert watch.means[SETTING.name, "TS"] == pytest.approx(101.0)
    assert watch.done == pytest.approx(watch.total)


def test_the_time_left_comes_from_what_was_done_since_the_start(store, monkeypatch):
    """Two of five tasks were done before, which says nothing; the third takes ten seconds."""
    now = [1000.0]
    monkeypatch.setattr(watching.time, "monotonic", lambda: now[0])
    for task in TASKS[:2]:
        store.put(task, regrets(task))
    watch = Watch(TASKS, store)
    assert watch.done == pytest.approx(TASKS[0].seconds + TASKS[1].seconds)
    assert watch.seconds_left is None  # nothing yet to go by
    now[0] += 10.0
    store.put(TASKS[2], regrets(TASKS[2]))
    watch.tell(TASKS[2])
    left = TASKS[3].seconds + TASKS[4].seconds
    assert watch.seconds_left == pytest.approx(10.0 * left / TASKS[2].seconds)


def test_ours_stands_beside_the_papers(store):
    """UTS 156 and TS 454 in the paper at K = 50 on a line."""
    for task in TASKS[:4]:
        store.put(task, regrets(task))
    text = io.StringIO()
    Console(file=text, width=120).print(Watch(TASKS, store))
    assert "151 (156)" in text.getvalue() and "… (454)" in text.getvalue()
    assert "1 of 2 cells" in text.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(99.4, "99 s"), (100, "2 min"), (3600, "60 min")])
def test_a_time_as_one_says_it(seconds, text):
    assert watching._spoken(seconds) == text
