"""What works once works again: snapshots, keys, compactions and erasures one after the other."""

import itertools
import shutil

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns import look, snapshots, verify
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.events.keyed import key_digest
from unimodal.campaigns.stores import sqlite
from unimodal.history_analysis.replay import logged_rewards

PEOPLE = um.graphs.from_edges([("Ann", "Bob"), ("Bob", "Cy"), ("Cy", "Di"), ("Di", "Eve")])


def log(path):
    return sqlite.read_store(path, lambda store: [row for rows in store.rows() for row in rows])


# Snapshots beside the work.


@pytest.mark.parametrize("at_a_time", [1, 3, 2_000])
def test_every_reward_is_found_after_many_snapshots_in_a_row(
    path, start, reopen, value_of, monkeypatch, at_a_time
):
    """All events around each of them are rewards, so that one dropped at an end is seen."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    monkeypatch.setattr(snapshots, "_REWARDS", at_a_time)
    with start() as campaign:
        writing = campaign._writer._snapshots
        decisions = campaign.decide(60)
        taken = set()
        for decision in decisions:
            campaign.reward(decision.id, value_of(decision.id))
            writing._writer.join()
            taken.add(campaign._store.last_snapshot())
            assert verify(path).wrong == []
        kept = list(itertools.chain.from_iterable(campaign._store.kept_rewards()))
        last = campaign._store.last_snapshot()
    assert len(taken) >= 2  # plus the one of the end
    told = {row[3]: row[9] for row in log(path) if row[2] == "reward" and row[0] <= last}
    assert dict(kept) == told and len(told) > 0
    with reopen() as campaign:
        for decision in decisions:
            assert campaign.reward(decision.id, value_of(decision.id)) is False
            with pytest.raises(um.errors.ConflictingReward):
                campaign.reward(decision.id, 1.0 - value_of(decision.id))


# Keys.


def keyed(*keys):
    """Calls under keys, as a service collects them for one commit."""
    return [deciding(2, False, key_digest(key)) for key in keys]


@pytest.mark.parametrize("keys", ["aa", "aba", "aabb", "abab"])
def test_the_same_key_twice_in_one_commit_is_decided_once(path, start, reopen, keys):
    with start(PEOPLE) as campaign:
        for again in range(3):  # the first commit makes them; those after it find them in the log
            calls = keyed(*keys)
            campaign._do(calls)
            assert [call.error for call in calls] == [None] * len(keys)
            found = {}
            for key, call in zip(keys, calls, strict=True):
                made, needed, _ = call.result
                assert needed is None and len(made) == 2
                assert found.setdefault(key, made) == made
            assert campaign.agent.outstanding == 2 * len(set(keys)), again
    rows = log(path)
    assert sum(row[2] == "decide" for row in rows) == 2 * len(set(keys))
    assert sum(row[2] == "key" for row in rows) == len(set(keys))
    with reopen() as campaign:
        for key, made in found.items():
            assert campaign.decide(2, key=key) == made
    assert verify(path)


# Compaction, twice, and all who read afterwards.


def play(campaign, rounds, seed):
    """Rewards of which one in ten is open and the order is not that of the decisions."""
    rng = np.random.default_rng(seed)
    decisions = campaign.decide(rounds)
    order = [int(number) for number in rng.permutation(rounds) if number % 10]
    for number in order:
        decision = decisions[number]
        chance = {"Ann": 0.2, "Bob": 0.4, "Cy": 0.8, "Di": 0.4, "Eve": 0.2}[decision.arm]
        campaign.reward(decision.id, float(rng.random() < chance))


@pytest.fixture
def thrice(path, tmp_path):
    """A campaign of three parts, the first two in archives of their own; its twin is whole."""
    twin = tmp_path / "twin.db"
    ticking = (float(number) for number in itertools.count())
    named = {"durability": "fast", "clock": lambda: next(ticking)}
    archives = []
    for part in range(3):
        with um.Campaign.open(path, um.UTS(), PEOPLE, seed=4, **named) as campaign:
            play(campaign, 60, part)
            campaign.decide(2, key=f"visit {part}")
        if part < 2:
            archives.append(tmp_path / f"part-{part}.parquet")
            shutil.copy(path, tmp_path / f"before-{part}.db")
            um.campaigns.compact(path, archives[-1])
    ticking = (float(number) for number in itertools.count())
    for part in range(3):
        with um.Campaign.open(twin, um.UTS(), PEOPLE, seed=4, **named) as campaign:
            play(campaign, 60, part)
            campaign.decide(2, key=f"visit {part}")
    return path, twin, archives


def test_after_two_compactions_all_is_there_with_the_archives(thrice):
    path, twin, archives = thrice
    assert verify(path) and verify(path, archives=archives) and verify(twin)
    whole, expected = look(path, archives=archives), look(twin)
    assert whole.history().equals(expected.history())
    assert str(um.inspect(whole)) == str(um.inspect(expected))
    assert um.alarms(whole) == um.alarms(expected)
    for number in (5, 70, 130):
        found = um.campaigns.explain(path, number, archives=archives)
        assert str(found) == str(um.campaigns.explain(twin, number))


def test_after_two_compactions_those_who_go_on_read_what_is_left(thrice):
    path, twin, _ = thrice
    named = {"durability": "fast", "clock": lambda: 1e4}
    with um.Campaign.open(path, **named) as one, um.Campaign.open(twin, **named) as two:
        left, all_of_it = one.history(), two.history()
        rest = all_of_it.tail(left.height)
        assert left.height > 100 and left.equals(rest)
        late = rest.filter(pl.col("kind") == "reward")
        assert late["arm"].null_count() == 0 and late.height == 54
        assert str(one.explain(130)) == str(two.explain(130))
        with pytest.raises(um.UnimodalError, match="begins after decision 124"):
            one.explain(124)
        assert one.arms().equals(two.arms()) and one.outstanding == two.outstanding == 24
        assert one.certificate().leader == two.certificate().leader
        for part in range(3):  # keys of a day are remembered
            assert one.decide(2, key=f"visit {part}") == two.decide(2, key=f"visit {part}")
        for number in (2, 70, 130):  # rewards in each part
            told = all_of_it.filter((pl.col("decision") == number) & (pl.col("kind") == "reward"))
            value = told["reward"][0]
            assert one.reward(number, value) is two.reward(number, value) is False
            with pytest.raises(um.errors.ConflictingReward):
                one.reward(number, 1.0 - value)
        for number in (1, 63, 125):  # and decisions that are open in each
            assert one.reward(number, 1.0) is two.reward(number, 1.0)
    assert logged_rewards.read(look(path)).notes and verify(path) and verify(twin)


def test_alarms_after_a_compaction_are_raised_by_what_came_since(path):
    """A change, and rewards that no longer come, on a log whose beginning was moved away."""
    ticking = (float(number) for number in itertools.count())
    named = {"durability": "fast", "clock": lambda: next(ticking)}

    def opened():
        return um.Campaign.open(path, um.UTS(), um.graphs.line(2), seed=4, **named)

    def told(campaign, rounds, value):
        for _ in range(rounds):
            decision = campaign.decide()
            campaign.reward(decision.id, value(decision))

    with opened() as campaign:
        told(campaign, 150, lambda decision: 1.0)
        assert campaign.alarms() == []
    for archive in ("one", "two"):
        um.campaigns.compact(path, path.with_name(f"{archive}.parquet"))
        with opened() as campaign:
            assert campaign.alarms() == []
            told(campaign, 60, lambda decision: 1.0)
            assert campaign.alarms() == []
    with opened() as campaign:
        told(campaign, 100, lambda decision: 0.0)
        assert "change" in [alarm.kind for alarm in campaign.alarms()]
        campaign.decide(300)
        assert "waiting" in [alarm.kind for alarm in campaign.alarms()]


# Erasure, twice.


@pytest.mark.parametrize("compacts", [False, True])
def test_a_second_erasure_leaves_the_first_and_the_rest_alone(path, compacts):
    ticking = (float(number) for number in itertools.count())
    named = {"durability": "fast", "clock": lambda: next(ticking)}
    with um.Campaign.open(path, um.UTS(), PEOPLE, seed=4, **named) as campaign:
        play(campaign, 60, 0)
        before = campaign.arms()
    archives = []
    if compacts:
        archives = [um.campaigns.compact(path, path.with_name("one.parquet")).archive]
    labels = {}
    for name in ("Bob", "Di", "Ann"):
        done = um.campaigns.erase(path, name, archives=archives)
        labels[name], archives = done.label, list(done.archives)
        with um.Campaign.open(path, **named) as campaign:
            arms = campaign.arms()
            assert arms["pulls"].to_list() == before["pulls"].to_list()
            assert arms["arm"].to_list() == [labels.get(arm, arm) for arm in before["arm"]]
            campaign.reward(campaign.decide().id, 1.0)
            before = campaign.arms().with_columns(
                arm=pl.Series([back(labels, arm) for arm in campaign.arms()["arm"]])
            )
        assert verify(path)
    assert len(set(labels.values())) == 3
    raw = b"".join(file.read_bytes() for file in (path, *archives))
    assert not any(name.encode() in raw for name in labels) and b"Cy" in raw
    with pytest.raises(um.UnimodalError, match="Bob"):
        um.campaigns.erase(path, "Bob", archives=archives)


def back(labels, arm):
    return {new: old for old, new in labels.items()}.get(arm, arm)
