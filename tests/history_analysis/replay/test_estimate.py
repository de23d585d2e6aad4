"""`um.replay`: what it reports, and what it refuses."""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns import Reading
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.history_analysis.replay.logged_rewards import read

LINE = um.problems.triangular(5)


@pytest.fixture(scope="module")
def campaign():
    return simulated_campaign(um.UTS(), LINE, rounds=600, seed=3)


def test_a_row_a_policy_and_the_log_first(campaign):
    found = um.replay(campaign, [um.TS(), um.TS(prior=(9, 1), name="hopeful")], draws=40)
    table = found.table
    assert table["policy"].to_list() == ["UTS (the log)", "TS", "hopeful"]
    history = campaign.history()
    assert found.rounds == 600 and found.earned == history["reward"].sum()
    assert (table["low"] <= table["expected"]).all() and (table["expected"] <= table["high"]).all()
    assert table["against_control"][0] == 0.0
    assert (table["difference"] == table["expected"] - found.earned).all()
    assert "one peak on the graph" in str(found) and "hopeful" in str(found)
    assert json.loads(json.dumps(found.to_data()))["policies"] == table.to_dicts()
    assert found.plot().get_yticklabels()[2].get_text() == "hopeful"


def test_the_same_for_any_number_of_threads(campaign):
    one, two = (um.replay(campaign, um.TS(), draws=20, workers=n) for n in (1, 2))
    assert one.table.equals(two.table)
    assert not one.table.equals(um.replay(campaign, um.TS(), draws=20, seed=1).table)


def test_counts_come_from_the_log_and_not_from_what_the_policy_remembers():
    forgetful = um.Windowed(um.UTS(), window=50)
    campaign = simulated_campaign(forgetful, LINE, rounds=300)
    found = um.replay(campaign, [], draws=20)
    assert read(campaign).rounds == found.rounds == 300
    assert 100 < found.table["expected"][0] < 300  # what it earned, not what it remembers of it


def test_a_graph_known_by_look_up_is_replayed_as_far_as_it_is_known():
    problem = um.problems.by_distance(um.graphs.line(400), peak=30)
    campaign = simulated_campaign(um.ScoutUTS(), problem, rounds=400, root=10)
    log = read(campaign)
    assert log.graph.n_arms < 400
    assert any("confined to the arms that were met" in note for note in log.notes)
    assert um.replay(campaign, [], draws=20).rounds == 400


def test_arms_labelled_by_tuples_are_found_in_the_log():
    graph = um.graphs.from_edges([((0, 0), (0, 1)), ((0, 1), True), (True, 2**70)])
    campaign = simulated_campaign(um.UTS(), um.Problem(graph, [0.2, 0.4, 0.6, 0.5]), rounds=100)
    found = um.replay(campaign, [um.TS()], draws=20)
    assert found.rounds == 100
    assert not any("no longer" in note for note in found.notes)


def test_rewards_behind_an_open_decision_are_counted_and_said(tmp_path):
    with um.Campaign.open(tmp_path / "c.db", um.UTS(), um.graphs.line(3), seed=1) as made:
        first, second, third = made.decide(3)
        made.reward(second.id, 1.0)
        made.reward(third.id, 1.0)
        said = "2 rewards are of decisions behind one that is still open"
        log = read(made)
        assert log.rounds == 2 and any(said in note for note in log.notes)
        made.reward(first.id, 0.0)
        assert not any("still open" in note for note in read(made).notes)


def test_what_waited_or_left_is_said(campaign):
    assert not read(campaign).notes
    waiting = read(simulated_campaign(um.UTS(), LINE, rounds=100, at_once=10))
    assert "up to 10 decisions waited" in waiting.notes[0]
    history = campaign.history().with_columns(pl.col("arm").replace("4", "retired"))
    changed = SimpleNamespace(agent=campaign.agent, history=lambda: history)
    lost = history.filter(pl.col("arm") == "retired", pl.col("reward").is_not_null()).height
    assert f"{lost} rewards of arms that are no longer" in read(changed).notes[0]


@pytest.mark.parametrize("on_expiry", ["zero", "drop"])
def test_what_expired_counts_in_a_replay_as_it_did_in_the_campaign(tmp_path, on_expiry):
    """Where only successes are told, a log without the zeros would have a mean of 1."""
    clock, settings = itertools.count(), {"time_to_live": 3, "on_expiry": on_expiry}
    with um.Campaign.open(
        tmp_path / "ads.db", um.UTS(), um.graphs.line(3), clock=lambda: next(clock), **settings
    ) as campaign:
        for number in range(90):
            decision = campaign.decide()
            if number % 3 == 0:
                campaign.reward(decision.id, 1.0)
        log, expired = read(campaign), 60 - campaign.outstanding
        learnt = campaign.arms()["pulls"].sum()
    assert log.earned == 30 and expired > 50
    assert log.rounds == learnt == (30 + expired if on_expiry == "zero" else 30)
    said = "count as rewards of 0" if on_expiry == "zero" else "are left out, as if"
    assert any(f"{expired} decisions that expired" in note and said in note for note in log.notes)


def test_bounded_rewards_are_replayed_on_their_scale():
    problem = um.Problem(um.graphs.line(3), [12, 18, 14], um.Bounded(10, 20))
    found = um.replay(simulated_campaign(um.UTS(), problem, rounds=200), [], draws=20)
    assert found.table["low"].min() > 2000 and found.table["high"].max() < 4000
    assert any("too wide" in note for note in found.notes)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"policies": [um.TS(), um.TS()]}, "more than one called 'TS'"),
        ({"policies": ["ts"]}, "a policy must be an instance"),
        ({"policies": "ts"}, "a policy must be an instance .*, got 'ts'"),
        ({"policies": None}, "a policy must be an instance .*, got None"),
        ({"policies": um.TS}, "a policy must be an instance .*, got <class"),
        ({"policies": um.TS(), "draws": 5}, "'draws' must be a whole number of at least 20"),
        ({"policies": um.TS(), "draws": 10**9}, "must fit into memory"),
        ({"policies": um.TS(), "seed": -1}, "'seed'"),
    ],
)
def test_wrong_settings_get_a_sentence(campaign, settings, sentence):
    with pytest.raises(um.UnimodalError, match=sentence):
        um.replay(campaign, **settings)


def test_logs_that_cannot_be_replayed_get_a_sentence(campaign):
    gaussian = um.Problem(um.graphs.line(3), [0, 1, 0], um.Gaussian())
    with pytest.raises(um.UnimodalError, match="between what bounds rewards lie"):
        um.replay(simulated_campaign(um.UTS(), gaussian, rounds=5), um.TS())
    with pytest.raises(um.UnimodalError, match="at least one reward"):
        um.replay(Reading(Path("none"), campaign.agent, []), um.TS())
    twins = um.Problem(um.graphs.from_edges([(1, "1"), ("1", 2)]), [0.1, 0.2, 0.1])
    with pytest.raises(um.UnimodalError, match="differ as text"):
        um.replay(simulated_campaign(um.UTS(), twins, rounds=5), um.TS())
