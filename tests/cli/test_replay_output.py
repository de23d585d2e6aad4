"""`unimodal replay` on a campaign's file."""

import json

import pytest
import typer
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app


def command(name):
    return typer.main.get_command(app).commands[name]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("campaign") / "ads.db"
    with um.Campaign.open(path, um.UTS(), um.graphs.line(5), durability="fast") as campaign:
        for _ in range(60):
            made = campaign.decide(5)
            campaign.reward([one.id for one in made], [float(one.arm == 2) for one in made])
    return path


@pytest.fixture
def run(file):
    return lambda *words: CliRunner().invoke(app, ["replay", str(file), *words])


def test_a_table_and_what_it_rests_on(run, tmp_path):
    out = tmp_path / "replay.json"
    shown = run("--policies", "ts", "--draws", "20", "--json", str(out))
    assert shown.exit_code == 0
    for words in ("UTS (the log)", "95 % interval", "means do not change", "on prior"):
        assert words in shown.output
    data = json.loads(out.read_text())
    assert data["draws"] == 20 and len(data["policies"]) == 2


def test_the_default_policy_is_among_those_that_are_compared():
    (parameter,) = [one for one in command("replay").params if one.name == "policies"]
    assert parameter.default.split(",")[0] == um.PeakUTS().name.lower()


def test_a_wrong_policy_gets_a_sentence(run):
    assert "did you mean 'ts'" in str(run("--policies", "tss").exception)
