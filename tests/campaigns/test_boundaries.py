"""What stands exactly at an end: of a snapshot, a key's events, an archive, a cap, a jump."""

import json
from collections import Counter

import pytest

import unimodal as um
from unimodal.agents.decisions import Book
from unimodal.agents.limits import Cap, Limits
from unimodal.campaigns import verify
from unimodal.campaigns.archives import read_archive
from unimodal.campaigns.certifying import counted_sums
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.events import Keyed, Row
from unimodal.campaigns.events.keyed import key_digest
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.reading import load, read
from unimodal.campaigns.stores import sqlite

PEOPLE = um.graphs.line(["Ann", "Bob", "Cy", "Di"])


def log(path):
    return sqlite.read_store(path, lambda store: [row for rows in store.rows() for row in rows])


def test_a_change_of_the_graph_may_be_the_last_event_before_a_snapshot(path, start, reopen, play):
    with start(PEOPLE) as campaign:
        play(campaign, 10)
        campaign.add_edges([("Di", "Eve")])
    assert log(path)[-1][2] == "revision"
    with reopen() as campaign:
        assert campaign.agent.graph.labels[-1] == "Eve"
        play(campaign, 10)
    assert verify(path).wrong == []


def test_the_events_of_a_key_are_its_decisions_from_the_first_to_the_last(path, start):
    with start(PEOPLE) as campaign:
        made = [campaign.decide(2, key=key) for key in "ab"]
    rows = {row[0]: row for row in log(path)}
    told = [Keyed.of(Row._make(row)).events for row in rows.values() if row[2] == "key"]
    found = [[rows[n][3] for n in range(first, last + 1)] for ((first, last),) in told]
    assert found == [[decision.id for decision in some] for some in made]


def test_each_archive_goes_on_from_the_one_before(path, start, reopen, play, tmp_path):
    archives, before = [], ""
    for part in range(3):
        with start(PEOPLE) if not part else reopen() as campaign:
            play(campaign, 10)
        archives.append(tmp_path / f"{part}.parquet")
        um.campaigns.compact(path, archives[-1])
        _, about = read_archive(archives[-1])
        assert about.before == before
        before = about.digest
    assert verify(path, archives=archives).wrong == []


def test_rewards_behind_the_first_decision_after_an_archive_do_not_count(path, start, reopen, play):
    with start(PEOPLE) as campaign:
        play(campaign, 20)
        before = campaign.arms().sort("arm")
    um.campaigns.compact(path)
    with reopen() as campaign:
        for decision in campaign.decide(8)[1:]:
            campaign.reward(decision.id, 1.0)
        pulls, totals = campaign._followed(lambda agent, log: counted_sums(agent, log, PEOPLE))
    means = [total / n if n else None for n, total in zip(pulls, totals, strict=True)]
    assert pulls.tolist() == before["pulls"].to_list() and sum(pulls) == 20
    assert means == before["mean"].to_list()


def test_a_decision_that_is_open_in_an_archive_is_waited_for(path, start, reopen, play):
    with start(PEOPLE) as campaign:
        campaign.decide()
        play(campaign, 5)
    um.campaigns.compact(path)
    with reopen() as campaign:
        play(campaign, 5)
        assert um.inspect(campaign).facts["waiting"] == "1"


def test_events_of_a_log_with_archives_are_counted_up_to_any_of_them(path, start, reopen, play):
    with start(PEOPLE) as campaign:
        play(campaign, 5)
    moved = um.campaigns.compact(path)
    with reopen() as campaign:
        play(campaign, 5)
    archives = load([moved.archive])
    parts = read(path, lambda store: list(store.rows()), archives)
    kinds = [row[2] for rows in parts for row in rows]
    for until in (1, moved.last - 1, moved.last, moved.last + 1, len(kinds)):
        found = read(path, lambda store, until=until: store.counts(until), archives)
        assert found == Counter(kinds[:until])


def test_erasures_are_numbered(path, start, play):
    with start(PEOPLE) as campaign:
        play(campaign, 10)
    for name in ("Ann", "Cy"):
        um.campaigns.erase(path, name)
    numbers = [json.loads(row[10])["number"] for row in log(path) if row[2] == "erase"]
    assert numbers == [1, 2]


def test_a_cap_that_was_saved_counts_the_decisions_of_before():
    limits = Limits(cap=Cap(0.5, 4))
    for arm in (0, 1, 1):
        limits.add(arm)
    again = limits.copied()
    again.note_full(leader=0)
    assert again.full == (1,)


def test_times_of_a_jump_are_late_after_its_first_and_up_to_its_last():
    book = Book(um.Bernoulli())
    book.late = (1.0, 2.0, 5.0)
    assert [book.since(time) for time in (1.0, 1.5, 2.0, 2.5)] == [1.0, 6.5, 7.0, 2.5]


def test_a_reward_that_is_the_last_event_of_an_archive_is_erased(path, start):
    """That event stays in the log, so its reward is none of those that are kept without one."""
    with start(PEOPLE) as campaign:
        decisions = campaign.decide(20)
        campaign.retire("Ann")
        for decision in sorted(decisions, key=lambda one: one.arm == "Ann"):
            campaign.reward(decision.id, 1.0)
    assert log(path)[-1][2:4] == ("reward", decision.id) and decision.arm == "Ann"
    moved = um.campaigns.compact(path)
    erased = um.campaigns.erase(path, "Ann", data=True, archives=[moved.archive])
    assert verify(path).wrong == verify(path, archives=erased.archives).wrong == []


def test_an_archive_names_all_arms_whose_data_were_erased(path, start, play):
    with start(PEOPLE) as campaign:
        play(campaign, 20)
        campaign.retire("Ann", "Di")
    archives = [um.campaigns.compact(path).archive]
    for name in ("Ann", "Di"):
        archives = um.campaigns.erase(path, name, data=True, archives=archives).archives
    _, about = read_archive(archives[0])
    assert about.erased == ["erased-1", "erased-2"]
    assert verify(path, archives=archives).wrong == []


@pytest.mark.parametrize("is_file", [True, False])
def test_a_reward_that_is_the_event_of_a_snapshot_is_found_or_missed(
    path, start, play, postgresql, in_store, is_file
):
    with start(PEOPLE) as campaign:
        *_, last = play(campaign, 5)
    place = path if is_file else um.campaigns.copy(path, postgresql(), check=False).target
    assert read(place, lambda store: store.last_snapshot() == store.last())
    assert verify(place).wrong == []
    in_store(place, lambda store: store.drop_rewards([last.id]))
    assert verify(place).wrong == ["the table 'rewards' differs from the log in 1"]


def test_an_arm_that_was_retired_learns_nothing_when_its_decision_expires(path, start):
    now = [0.0]
    with start(PEOPLE, time_to_live=10, on_expiry="zero", clock=lambda: now[0]) as campaign:
        made = campaign.decide(6)
        campaign.retire("Ann")
        now[0] = 20.0
        assert campaign.expire() == 6
        pulls = campaign.arms()["pulls"].to_list()
    assert sum(pulls) == sum(one.arm != "Ann" for one in made) < 6
    assert verify(path).wrong == []


def test_a_copy_knows_which_version_had_the_campaign(path, start, postgresql, in_store, tmp_path):
    """Else another version would not take a snapshot, from which on it can fold the log."""
    with start(PEOPLE) as campaign:
        campaign.decide(3)
    for target in (tmp_path / "copy.db", postgresql()):
        um.campaigns.copy(path, target, check=False)
        assert not in_store(target, lambda store: store.written_by("another version"))


def test_the_last_of_two_uses_of_a_key_in_one_transaction_is_told_again(start):
    """The first had expired when the second came; both are not yet in the log."""
    digest = key_digest("a")

    def used(state):
        return [deciding(2, False, digest, life).work(state)[0] for life in (60.0, 0.0, 60.0)]

    with start(PEOPLE) as campaign:
        first, second, again = campaign._writer(Call(used))
        assert [one.id for one in first] == [1, 2] and [one.id for one in second] == [3, 4]
        assert again == second == campaign.decide(2, key="a")
