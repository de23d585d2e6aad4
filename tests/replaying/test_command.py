"""`unimodal replay`, on a campaign in memory that stands in for the file."""

import json

import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.agent.rehearsal import rehearse
from unimodal.cli import app


class Opened:
    """What `um.Campaign` does with a file, for one that is always the same."""

    @staticmethod
    def open(path):
        assert str(path) == "ads.db"
        return rehearse(um.UTS(), um.problems.triangular(5), rounds=300)


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(um, "Campaign", Opened, raising=False)
    return lambda *words: CliRunner().invoke(app, ["replay", "ads.db", *words])


def test_a_table_and_what_it_rests_on(run, tmp_path):
    out = tmp_path / "replay.json"
    shown = run("--policies", "ts", "--draws", "20", "--json", str(out))
    assert shown.exit_code == 0
    for words in ("UTS (the log)", "95 % interval", "means do not change", "on prior"):
        assert words in shown.output
    data = json.loads(out.read_text())
    assert data["draws"] == 20 and len(data["policies"]) == 2


def test_a_wrong_policy_gets_a_sentence(run):
    assert "did you mean 'ts'" in str(run("--policies", "tss").exception)
