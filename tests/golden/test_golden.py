"""The recorded results hold to the byte: refactoring must not change a stream."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

import unimodal as um

_spec = importlib.util.spec_from_file_location("recording", Path(__file__).parent / "recording.py")
recording = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recording)
RECORDED = json.loads(recording.RESULTS.read_text())


def test_the_paper_s_policies_on_two_problems():
    recorded = {tuple(row[:3]): row[3:] for row in RECORDED["results"]}
    found = recording.results(quick=True)
    assert len(found) == 12
    assert [recorded[tuple(row[:3])] for row in found] == [row[3:] for row in found]


@pytest.mark.full
def test_every_policy_in_both_engines_on_a_dozen_problems():
    assert recording.results() == RECORDED["results"]


def test_an_agent_s_thousand_decisions():
    assert recording.text_digest(recording.decisions()) == RECORDED["decisions"]


def test_a_campaign_of_format_2_is_verified_and_goes_on(tmp_path):
    path = tmp_path / "campaign.db"
    shutil.copy(recording.CAMPAIGN, path)
    verdict = um.verify(path)
    assert verdict and verdict.counts == {
        "open": 2, "decide": 800, "reward": RECORDED["rewards"], "revision": 1,
        "expire": RECORDED["expired"],
    }  # fmt: skip
    with um.Campaign.open(path, clock=lambda: 10.0**6) as campaign:
        assert campaign.decide().id == 801


def test_the_log_of_a_new_campaign_is_the_recorded_one(tmp_path, monkeypatch):
    recorded = recording.campaign_log()
    monkeypatch.setattr(recording, "CAMPAIGN", tmp_path / "again.db")
    recording.new_campaign()
    assert recording.campaign_log() == recorded


def test_a_saved_result_and_a_saved_agent_open():
    result = um.load(recording.HERE / "result-format-1.parquet")
    assert result["UTS"].regret.shape == (3, 20) and result.seed == 5
    agent = um.Agent.load(recording.HERE / "agent-format-1.json")
    assert agent.round == 50 and agent.ask() == RECORDED["next"]
