"""Why a decision fell on its arm: made again from the log, with the numbers that it went by."""

import json
import sqlite3
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.agents.saving import copied
from unimodal.campaigns import explain, fold
from unimodal.cli import app
from unimodal.policies.contest_values import noting, value_name

LADDER = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90"), ("14.90", "16.90")])
QUICK = {"durability": "fast", "clock": lambda: 0.0}


class Greedy(um.Policy):
    "The best mean around the leader, and now and then any arm there."

    def choose(self, arms, near, leader, clock, rng):
        return near[um.random.randint(rng, len(near))]


@pytest.mark.parametrize(
    ("policy", "family"),
    [
        (um.UTS(), um.Bernoulli()),
        (um.ScoutUTS(), um.Bernoulli()),  # which draws links before, and holds contests again
        (um.PeakUTS(), um.Bernoulli()),  # which looks around in some leads
        (um.OSUB(), um.Bernoulli()),
        (um.IMEDUB(), um.Bernoulli()),
        pytest.param(um.NPTS(), um.Bounded(0, 1), marks=pytest.mark.full),
        (um.UniTT(), um.Bernoulli()),
        (um.OSUB(), um.Scaled(um.Bernoulli(), by=[3.0, 2.0, 1.0] * 3)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_winner_showed_the_best_and_the_stream_is_the_same(policy, family):
    """Every round is played twice: as always, and with notes."""
    agent, best = um.Agent(policy, um.graphs.line(9), family, 3), (0.2, 0.5, 0.8)
    name, highest = value_name(agent._player.index)
    assert name
    rng, contests = np.random.default_rng(0), 0
    for _ in range(400 if isinstance(policy, um.PeakUTS) else 120):  # whose first leads are looks
        twin, notes = copied(agent)._player, []
        twin.state, twin.choose = twin.with_board(twin.state), noting(notes)
        played = agent._player.play()
        assert twin.play() == played
        assert twin.state.rng.tolist() == agent._player.state.rng.tolist()
        for near, values, winner in notes:
            edge = max(values) if highest else min(values)
            assert values[near.index(winner)] == pytest.approx(edge, rel=1e-12)
            contests += 1
        agent._player.learn(played[0], float(rng.random() < best[played[0] % 3]))
    assert contests > 50


def test_every_decision_of_a_log_is_explained(path, start, value_of):
    made, known = [], {}
    with start(LADDER) as campaign:
        for number in range(60):
            known[number + 1] = {row["arm"]: row for row in campaign.arms().rows(named=True)}
            made.append(campaign.decide(propensity=number % 2 == 0))
            campaign.reward(made[-1].id, value_of(number))
        for decision in made:
            found = campaign.explain(decision.id)
            assert (found.arm, found.reason, found.leader) == (
                decision.arm,
                decision.reason,
                decision.leader,
            )
            assert found.propensity == decision.propensity and found.round == decision.id
            assert len(found.competitors) == decision.near
            assert [one.arm for one in found.competitors if one.is_chosen] == [decision.arm]
            assert (found.contests > 0) == (decision.reason == "contest")
            if decision.reason == "forced leader":
                led = sum(one.leader == decision.leader for one in made[: decision.id - 1])
                assert f"it had led {led:,} before." in found.because
            for one in found.competitors:
                before = known[decision.id].get(one.arm, {"pulls": 0, "mean": None})
                assert one.pulls == before["pulls"]
                if one.pulls:
                    assert one.mean == before["mean"] and 0 < one.low < one.high < 1
                assert one.is_leader == (one.arm == decision.leader)
    assert {one.reason for one in made} == {"start", "forced leader", "contest"}
    assert explain(path, 60) == campaign_explains(path, 60)  # from the file, closed or open
    again = json.loads(found.to_json())
    assert again["competitors"][0]["arm"] == found.competitors[0].arm and again["id"] == 60


def campaign_explains(path, number):
    with um.Campaign.open(path, **QUICK) as campaign:
        return campaign.explain(number)


def test_it_is_folded_from_the_snapshot_before(path, start, play, reopen, monkeypatch):
    with start() as campaign:
        play(campaign, 40)
    with reopen() as campaign:
        play(campaign, 40)
    with reopen() as campaign:  # of one version, the first and the last snapshot are kept
        play(campaign, 10)
        expected = {number: campaign.explain(number) for number in (5, 45, 85)}
    restore, used = fold.Fold._restore, []

    def noted(machine, seq):
        used.append(seq)
        restore(machine, seq)

    monkeypatch.setattr(fold.Fold, "_restore", noted)
    for number, found in expected.items():
        assert explain(path, number) == found
    assert used == [81, 81]  # from the beginning, and from the snapshot after decision 40; the
    # last one, after decision 90, is too late for all of them


def test_what_it_says(start):
    with start(LADDER) as campaign:
        campaign.decide(4)
        assert "number 2 of 4" in campaign.explain(2).because
        text = str(campaign.explain(2))
        assert text.startswith("Decision 2: ") and "chosen" in text
        while (decision := campaign.decide()).reason != "contest":
            pass
        found = campaign.explain(decision.id)
        who = "led and" if decision.arm == decision.leader else f"led. {decision.arm!r}"
        won = f"won the contest: it had the highest of {decision.near} (draw "
        assert found.because.startswith(f"{decision.leader!r} {who} {won}")
        assert "draw" in found._repr_html_() and "<table" in found._repr_html_()


def test_a_decision_that_was_capped(start):
    """Who won is told beside who was played."""
    with start(LADDER) as campaign:
        campaign.cap(0.05, over=20)
        made = []
        for number in range(60):
            made.append(campaign.decide())
            campaign.reward(made[-1].id, float(number * 7919 % 10 < 5))
        capped = [one for one in made if one.reason == "cap"]
        found = [campaign.explain(one.id) for one in capped]
    assert len(found) > 5
    for one, decision in zip(found, capped, strict=True):
        assert one.arm == one.leader == decision.arm != one.winner
        assert f"{one.winner!r} won the contest" in one.because
        assert "its 1 of the last 20 decisions (a cap of 0.05), so the leader" in one.because
        (row,) = [row for row in one.rows() if row[-1] == "won, capped"]
        assert row[0] == one.winner


def test_the_command(path, start, value_of):
    def run(*words):
        return CliRunner().invoke(app, ["explain", str(path), *words])

    odd = um.graphs.from_edges([("[b]9.90", "12.90"), ("12.90", "\x1b[31m")])
    with start(odd) as campaign:
        campaign.pause("12.90")
        campaign.decide(30, propensity=True)
        expected = [campaign.explain(number) for number in range(1, 31)]
    for number, found in enumerate(expected, 1):
        shown = run(str(number))
        assert shown.exit_code == 0 and "\x1b" not in shown.output, shown.output
        assert "Paused at that moment: 12.90." in shown.output
        assert json.loads(run(str(number), "--json").output) == json.loads(found.to_json())
    wrong = run("31")
    assert isinstance(wrong.exception, um.errors.UnknownDecision)
    assert {one.reason for one in expected} == {"start", "forced leader", "contest"}


def test_of_many_competitors_those_that_matter_are_shown(path):
    with um.Campaign.open(path, um.TS(), um.graphs.star(40), **QUICK) as campaign:
        decision = campaign.decide()
        found = campaign.explain(decision.id)
    assert len(found.competitors) == 40 and len(found.rows()) == 16
    assert found.rows()[0][0] == str(decision.arm) and found.rows()[-1][0] == "25 more"
    assert len(found.rows(most=99)) == 40 and "25 more" in str(found)


def test_a_policy_of_ones_own_is_passed_and_does_not_tell(path):
    with um.Campaign.open(path, Greedy(), LADDER, **QUICK) as campaign:
        campaign.decide(8)
        found = campaign.explain(8)
    assert found.value_name == "" and "does not tell" in found.because
    assert all(one.value is None for one in found.competitors) and found.winner == found.arm
    assert explain(path, 8, Greedy()) == found
    with pytest.raises(um.UnimodalError, match="Greedy"):
        explain(path, 8)


def test_no_look_up_is_made(path):
    asked = []

    def neighbours(arm):
        asked.append(arm)
        return [arm - 1, arm + 1]

    with um.Campaign.open(path, graph=neighbours, root=0, seed=2, **QUICK) as campaign:
        for number in range(30):
            decision = campaign.decide()
            campaign.reward(decision.id, float(number % 3 > 0))
        before = len(asked)
        for number in range(1, 31):
            assert campaign.explain(number).id == number
    assert len(asked) == before and explain(path, 30).id == 30


@pytest.mark.parametrize("number", [0, -1, 1.5, "x", None])
def test_an_id_is_a_whole_number(start, number):
    with start() as campaign, pytest.raises(um.UnimodalError, match="the id of a decision must"):
        campaign.explain(number)


def test_an_unknown_id(path, start):
    with start() as campaign:
        with pytest.raises(um.errors.UnknownDecision, match="made none yet"):
            campaign.explain(1)
        campaign.decide(3)
        with pytest.raises(um.errors.UnknownDecision, match=r"no decision 4 .* made 3 so far"):
            campaign.explain(4)
    with pytest.raises(um.errors.UnknownDecision, match="made 3 so far"):
        explain(path, 4)


def test_an_id_before_the_first_snapshot_of_this_version(path, start, play, reopen, monkeypatch):
    def as_version(version):
        for name, module in list(sys.modules.items()):
            if name.startswith("unimodal.campaigns.") and hasattr(module, "__version__"):
                monkeypatch.setattr(module, "__version__", version)

    as_version("0.0.1")
    with start() as campaign:
        play(campaign, 10)
    as_version("0.0.2")
    with reopen() as campaign:
        play(campaign, 10)
        with pytest.raises(um.UnimodalError, match=r"decision 10 cannot .* from 11 on"):
            campaign.explain(10)
        assert campaign.explain(11).id == 11
    with pytest.raises(um.UnimodalError, match=r"before the first snapshot of 0\.0\.2"):
        explain(path, 1)


def test_a_decision_that_comes_out_otherwise_is_not_explained(path, start, play):
    with start() as campaign:
        play(campaign, 20)
    change(path, "UPDATE log SET arm = 1 - arm WHERE decision = 3 AND kind = 'decide'")
    change(path, "DELETE FROM snapshots")
    with pytest.raises(um.UnimodalError, match=r"decision 3 .* cannot be explained here"):
        explain(path, 3)


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
