"""Watching a run: what is done, what it found, how long it will take."""

import io

import numpy as np
import pytest
from rich.console import Console

from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce import live_view as watching
from unimodal.studies.reproduce import sampling_view
from unimodal.studies.reproduce.live_view import Watch
from unimodal.studies.reproduce.paper_numbers import POLICIES
from unimodal.studies.reproduce.sampling_view import Panel
from unimodal.studies.reproduce.sequential_sampling import Progress
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.tasks import Task, cut

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


def test_at_eighty_columns_no_line_is_wrapped(store):
    """The longest cells there can be: all of Table 2, ours as long as the paper's."""
    settings = [Setting("Table 2", 1000, p, POLICIES, 100, 1, 1) for p in ("log(K)/K", "line")]
    tasks = list(cut(settings))
    watch = Watch(tasks, store)
    watch.means = {(task.setting.name, task.policy): 12345.6 for task in tasks}
    text = io.StringIO()
    Console(file=text, width=80).print(watch)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert any("12346 (12024)" in line and "12346 (1000)" in line for line in lines)
    assert lines[-1].startswith("8 of 8 cells") and "━" not in lines[-1]


def test_deciding_fits_eighty_columns_and_says_what_is_open():
    panel = Panel()
    panel(Progress(10800.0, 4000.0, ["a"] * 12, ["b"] * 3, ["claim " * 20, "another"]), True)
    text = io.StringIO()
    Console(file=text, width=80).print(panel)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert len(lines) == 4 and max(map(len, lines)) <= 80
    assert lines[0].startswith("Deciding: claim claim") and lines[0].endswith("…")
    assert lines[1] == "12 claims and 3 numbers open"
    assert lines[3].startswith("66.7 of 180 core-minutes used (Ctrl-C is safe")


def test_where_there_is_no_terminal_a_line_is_written_now_and_then(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(sampling_view.time, "monotonic", lambda: now[0])
    lines = sampling_view.Lines()
    for seconds in (0.0, 5.0, 25.0):
        now[0] = 100.0 + seconds
        lines(Progress(600.0, 60.0 + seconds, ["a"], [], ["UTS is best"]), True)
        lines(Progress(600.0, 60.0 + seconds, ["a"], [], ["UTS is best"]), False)
    assert capsys.readouterr().err.splitlines() == [
        "1 claims and 0 numbers open; 1.0 of 10.0 core-minutes used; now: UTS is best",
        "1 claims and 0 numbers open; 1.4 of 10.0 core-minutes used; now: UTS is best",
    ]
