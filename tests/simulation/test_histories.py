"""Histories from seeds: none goes wrong, and each is what it was when it is run again."""

import json

import pytest

from unimodal.testing.simulation import history as histories
from unimodal.testing.simulation import new_history, run
from unimodal.testing.simulation.command import main
from unimodal.testing.simulation.kept import InMemory
from unimodal.testing.simulation.shrink import shrunk

HISTORIES, AT_ONCE = 500, 50


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
def test_nothing_goes_wrong(first):
    wrong = {seed: run(new_history(seed)) for seed in range(first, first + AT_ONCE)}
    assert {seed: each for seed, each in wrong.items() if each is not None} == {}


def log_of(history, folder):
    """The events that a history has led to."""
    made = histories._Run(history, InMemory(), folder)
    made.all()
    return made._world.ledger.events


@pytest.mark.parametrize("seed", range(12))
def test_a_seed_and_its_json_replay_everything(seed, tmp_path):
    history = new_history(seed)
    once = log_of(history, tmp_path / "once")
    again = log_of(json.loads(json.dumps(history)), tmp_path / "again")
    assert once == again and once


def test_histories_have_all_that_is_called_and_done():
    done = {
        call["do"]
        for seed in range(100)
        for step in new_history(seed)["steps"]
        for call in step["calls"]
    }
    assert done == {
        *("decide", "reward", "tell", "expire", "look", "pause", "resume", "cap", "retire"),
        *("insert", "add_edges", "close", "history", "clock", "compact", "erase", "copy"),
        *("backup", "verify", "compare", "set back", "cut", "restore"),
    }


def test_what_is_wrong_is_printed_with_its_seed_and_a_short_history(monkeypatch, capsys, tmp_path):
    """Wrong here is what has two closes: nothing else of the history is left."""

    def two_closes(history):
        made = [call["do"] for step in history["steps"] for call in step["calls"]]
        return "closed twice" if made.count("close") >= 2 else None

    monkeypatch.setattr("unimodal.testing.simulation.command.run", two_closes)
    seed = next(seed for seed in range(100) if two_closes(new_history(seed)))
    assert main(["--histories", "1", "--seed", str(seed)]) == 1
    told, history, summary = capsys.readouterr().out.splitlines()
    assert told == f"seed {seed}: closed twice"
    left = [call["do"] for step in json.loads(history)["steps"] for call in step["calls"]]
    assert left == ["close", "close"]
    assert summary.startswith(f"1 histories from seed {seed}, ") and summary.endswith(": 1 wrong")
    file = tmp_path / "history.json"
    file.write_text(history)
    assert main(["--replay", str(file)]) == 1
    assert capsys.readouterr().out == "closed twice\n"


def test_a_run_is_resumed_and_not_mixed_with_another(monkeypatch, capsys, tmp_path):
    seen = []

    def note(history):
        seen.append(history["seed"])

    monkeypatch.setattr("unimodal.testing.simulation.command.run", note)
    kept = str(tmp_path / "kept.json")
    assert main(["--histories", "3", "--seed", "7", "--resume", kept]) == 0
    assert main(["--histories", "5", "--seed", "7", "--resume", kept]) == 0
    assert seen == [7, 8, 9, 10, 11]
    assert main(["--histories", "5", "--seed", "8", "--resume", kept]) == 2
    assert "is of seed 7 and commit" in capsys.readouterr().err


def test_a_history_without_faults_is_not_shrunk():
    history = new_history(0)
    assert shrunk(history, lambda history: "always" if history["steps"] else None)["steps"]


def test_a_file_that_is_no_history_is_told(tmp_path, capsys):
    (tmp_path / "other.json").write_text("[]")
    assert main(["--replay", str(tmp_path / "other.json")]) == 2
    assert "must be a history" in capsys.readouterr().err
