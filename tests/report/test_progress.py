"""Progress: shown on a terminal and in a notebook, and its clock stands still while compiling."""

import sys
import time
import types
import warnings

import pytest

from unimodal.kernels.compile_watch import compilation, compiled_for
from unimodal.report import progress


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, data, raw):
        self.shown.append(data["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    """A stand-in for IPython in a kernel; what it shows."""
    shown = []

    def display(data, raw, display_id):
        assert raw and display_id
        shown.append(data["text/plain"])
        return Handle(shown)

    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    module.display = types.ModuleType("IPython.display")
    module.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", module.display)
    monkeypatch.setattr(progress.NotebookBar, "QUICK", 0.0)
    return shown


def test_in_a_notebook_a_line_is_shown_replaced_and_removed(notebook):
    with warnings.catch_warnings(), progress.bar("UTS: 3 trials each", 200) as update:
        warnings.simplefilter("error")
        update(50)
        update(200)
    first, second, last = notebook
    assert first.startswith("UTS: 3 trials each  ━━━━━───────────────  25 %")
    assert "rounds/s" in first and first.endswith("left")
    assert "100 %" in second and second.endswith("0:00 left")
    assert last == ""


def test_in_a_notebook_quick_work_shows_nothing(notebook, monkeypatch):
    monkeypatch.setattr(progress.NotebookBar, "QUICK", 0.5)
    with progress.bar("UTS", 10) as update:
        update(5)
    assert notebook == []


def test_progress_that_is_not_wanted_is_not_shown(notebook):
    with progress.bar("UTS", 10, show=False) as update:
        update(5)
    assert notebook == []


def test_in_a_notebook_it_says_what_it_compiles(notebook):
    with progress.bar("UTS", 10) as update, compiled_for("UTS for Bernoulli rewards (once)"):
        with compilation("leap"):
            update(0)
        update(5)
    assert notebook[0].endswith("0 %  compiling UTS for Bernoulli rewards (once) …")
    assert "compiling" not in notebook[1]


def test_ipython_on_a_terminal_is_not_a_notebook(notebook, monkeypatch):
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: types.SimpleNamespace())
    assert progress.notebook_display() is None


def test_the_clock_of_the_rate_stands_still_while_compiling():
    before = progress.working_clock()
    with compilation("leap"):
        time.sleep(0.2)
    assert progress.working_clock() - before < 0.1


def test_on_a_terminal_it_says_what_it_compiles(capfd):
    what = "UTS for Bernoulli rewards (once; about 5 s)"
    with progress.bar("UTS, OSUB: 100 trials each", 10, show=True) as update, compiled_for(what):
        with compilation("leap"):
            time.sleep(0.3)  # Rich draws ten times a second
        update(5)
    assert f"compiling {what} …" in capfd.readouterr().err
