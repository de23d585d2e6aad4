"""`unimodal warm`: what it compiles is found by the next process."""

import os
import subprocess
import sys

import numba
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app
from unimodal.cli import warm as module


def warm(folder, *arguments):
    env = os.environ | {"UNIMODAL_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", "from unimodal.cli import main; main()", "warm", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.full
def test_what_it_compiles_is_there_the_next_time(tmp_path):
    first = warm(tmp_path, "uts", "--no-engines")
    assert first.returncode == 0 and first.stderr == ""
    assert " compiled in " in first.stdout
    (folder,) = tmp_path.iterdir()
    assert f"Compiled code is kept in {folder} (" in " ".join(first.stdout.split())
    names = {path.name.split("-")[0] for path in folder.glob("*.nbc")}
    assert {"round.choose", "round.observe"} <= names
    second = warm(tmp_path, "uts", "--no-engines")
    assert "was there already" in second.stdout and " compiled in " not in second.stdout


# README's campaign, and how much was compiled by its first call of each kind.
PRICES = """
import tempfile
import unimodal as um
from unimodal.kernels.compile_watch import kernels_compiled
file, prices = tempfile.mkdtemp() + "/prices.db", um.graphs.line(["9.90", "12.90", "14.90"])
money = um.Scaled(um.Bernoulli(), by=float)
with um.Campaign.open(file, um.PeakUTS(), prices, money, durability="fast") as campaign:
    decision = campaign.decide()
    campaign.reward(decision.id, 1.0)
    for decision in campaign.decide(20):
        campaign.reward(decision.id, 0.0)
    campaign.certificate(0.95)
    campaign.explain(campaign.decide().id)
    print(kernels_compiled())
"""


@pytest.mark.full
def test_after_it_a_campaign_of_prices_compiles_nothing(tmp_path):
    done = warm(tmp_path, "peakuts", "--family", "scaled", "--no-engines")
    assert done.returncode == 0 and " compiled in " in done.stdout, done.stderr
    env = os.environ | {"UNIMODAL_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", PRICES]
    played = subprocess.run(run, env=env, capture_output=True, text=True, timeout=120)
    assert played.stdout == "0\n", played.stderr


def test_prices_can_be_warmed_and_a_campaign_of_them_is_of_the_same_types():
    """What is compiled depends on types alone: those of a campaign with other factors and labels.

    So whatever the campaign of prices calls was compiled when it was warmed.
    """
    scaled, poisson = module._family("scaled"), module._family("scaled:poisson")
    assert scaled.inner == um.Bernoulli() and poisson.inner == um.Poisson()
    ladder, money = um.graphs.line(["9.90", "12.90"]), um.Scaled(um.Bernoulli(), by=float)
    agents = [um.Agent(um.PeakUTS(), ladder, money), um.Agent(um.PeakUTS(), ladder, scaled)]
    types = []
    for player in (agent._player for agent in agents):
        rule = (player.scope, player.index, player.family_record)
        types.append(numba.typeof((*rule, player.view.arena, player.state)))
    assert types[0] == types[1]


def test_the_help_names_what_is_compiled_by_default():
    text = " ".join(CliRunner().invoke(app, ["warm", "--help"]).stdout.split())
    assert module.POLICIES[0] == um.PeakUTS().name.lower()
    assert f"by default {', '.join(module.POLICIES)}" in text
    assert "unimodal warm peakuts --family scaled" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["utss"], "did you mean 'uts'"),
        (["uts", "--family", "cauchy"], "cauchy"),
        (["uts", "--family", "scald"], "did you mean 'scaled'"),
        (["uts", "--family", "scaled:cauchy"], "cauchy"),
        (["uts", "--no-engines", "--no-agents"], "there must be something to compile"),
        (["mine.py:Greedy"], "mine.py:Greedy"),  # a user's own is never kept on disk
    ],
)
def test_mistakes_get_a_sentence(tmp_path, arguments, sentence):
    ran = warm(tmp_path, *arguments)
    assert ran.returncode == 2
    assert sentence in ran.stderr and ran.stderr.count("\n") == 1
    assert not list(tmp_path.rglob("*.nbc"))
