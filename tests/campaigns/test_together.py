"""Several calls in one commit: each has its own answer, and none has another's fault."""

import contextlib
import sqlite3

import pytest

import unimodal as um
from unimodal.campaigns.commands import rewarding as commands
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.events.keyed import key_digest
from unimodal.campaigns.group_commit import Call


def rewarding(number, value=1.0):
    return commands.rewarding(number, value)


def half_way(state):
    """Change something, and fail then."""
    commands.telling(0, 1.0).work(state)
    raise RuntimeError("half-way")


@pytest.fixture
def commits(monkeypatch):
    """Counts the commits of a campaign from now on."""
    done = []

    def count(campaign):
        commit = campaign._store.commit
        monkeypatch.setattr(campaign._store, "commit", lambda: (done.append(1), commit())[1])
        return done

    return count


def test_no_calls_at_all_keep_nobody_from_committing(path, start):
    with start() as campaign:
        campaign._do([])
        assert campaign.decide().id == 1


def test_calls_share_a_commit_and_a_refused_one_disturbs_nobody(path, start, commits):
    with start() as campaign:
        made = campaign.decide(3)
        done = commits(campaign)
        calls = [rewarding(made[0].id), rewarding(99), rewarding(made[1].id), rewarding(made[0].id)]
        campaign._do(calls)
        assert len(done) == 1
        assert [call.result for call in calls] == [True, None, True, False]
        assert [type(call.error) for call in calls] == [
            *(type(None), um.errors.UnknownDecision, type(None), type(None))
        ]
    assert um.verify(path).counts["reward"] == 2 and um.verify(path)


def test_one_that_fails_half_way_is_undone_and_the_others_are_done(path, start, commits):
    with start() as campaign:
        made = campaign.decide(3)
        done = commits(campaign)
        broken = Call(half_way, checks_first=False)
        calls = [rewarding(made[0].id), broken, rewarding(made[1].id)]
        campaign._do(calls)
        assert [call.result for call in calls] == [True, None, True]
        assert isinstance(broken.error, RuntimeError) and len(done) == 1
        assert calls[0].error is calls[2].error is None
    found = um.verify(path)
    assert found and found.counts["reward"] == 2 and "tell" not in found.counts


def test_a_commit_that_fails_is_told_to_all_of_them(path, start, monkeypatch):
    with start() as campaign:
        made = campaign.decide(3)

        def fail():
            raise um.errors.StoreError("the disk is full.")

        calls = [rewarding(one.id) for one in made]
        with monkeypatch.context() as patched:
            patched.setattr(campaign._store, "commit", fail)
            campaign._do(calls)
        assert [str(call.error) for call in calls] == ["the disk is full."] * 3
        assert [call.result for call in calls] == [None] * 3
        assert len({id(call.error) for call in calls}) == 3
        campaign._do(calls)  # again, and it is as if nothing had been
        assert [(call.result, call.error) for call in calls] == [(True, None)] * 3
    assert um.verify(path).counts["reward"] == 3 and um.verify(path)


def test_a_damaged_event_is_the_error_of_the_call_that_met_it(path, start, reopen):
    """The others of its commit are done."""
    with start() as campaign:
        campaign.decide(2, key="a")
    spoil = """UPDATE log SET data = replace(data, '"n": 2', '"n": []') WHERE kind = 'key'"""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute(spoil)
    with reopen() as campaign:
        calls = [rewarding(1), deciding(2, False, key_digest("a")), rewarding(2, 0.0)]
        campaign._do(calls)
        assert [call.result for call in calls] == [True, None, True]
        assert "must be decisions under a key" in str(calls[1].error)
        assert calls[0].error is calls[2].error is None
