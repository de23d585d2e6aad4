"""Events move into an archive without loss; what is left goes on, and is verified."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import unimodal as um
from unimodal.campaigns import archives as archive
from unimodal.campaigns import look, sentence, snapshots
from unimodal.campaigns.content_digests import content_of
from unimodal.campaigns.stores import sqlite
from unimodal.campaigns.upkeep import compact as compacting
from unimodal.history_analysis.replay import logged_rewards

DATA = Path(__file__).parent.parent / "data"
LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])


def table(path, archives=()):
    return um.campaigns.reading.read_table(path, archives)


def log(path):
    return sqlite.read_store(path, lambda s: [row for rows in s.rows() for row in rows])


@pytest.fixture
def twins(path, start, play, tmp_path):
    """Two campaigns with the same log, past data, a change of the graph and open decisions."""
    with start(LADDER, data={"b": (5, 2.0)}, time_to_live=100) as campaign:
        play(campaign, 30)
        campaign.retire("e")
        campaign.add_edges([("a", "c")])
        play(campaign, 20)
        campaign.decide(4)
    twin = tmp_path / "twin.db"
    shutil.copy(path, twin)
    return path, twin


def test_a_compacted_campaign_goes_on_as_if_it_were_whole(twins, play):
    path, twin = twins
    before = path.stat().st_size
    moved = um.campaigns.compact(path)
    assert moved.first == 1 and moved.last == len(log(twin)) and path.stat().st_size < before
    assert [row[2] for row in log(path)] == ["data", "revision", "revision", "decide"]
    one, two = (um.Campaign.open(p, durability="fast", clock=lambda: 0.0) for p in twins)
    assert [d.to_dict() for d in one.decide(9)] == [d.to_dict() for d in two.decide(9)]
    for campaign in (one, two):
        assert campaign.reward(1, 0.0) is False and campaign.reward(52, 1.0) is True
        with pytest.raises(um.errors.ConflictingReward):
            campaign.reward(1, 1.0)
    assert one.history()["arm"][-1] == two.history()["arm"][-1]  # of a decision in the archive
    play(one, 9)
    play(two, 9)
    assert one.arms().equals(two.arms()) and one.outstanding == two.outstanding == 12
    one.close()
    two.close()
    archives = [moved.archive]
    assert table(path, archives).equals(table(twin)) and log(path)[-20:] == log(twin)[-20:]
    assert table(path).equals(table(twin)[moved.last :])
    with um.Campaign.open(path, um.UTS(), LADDER, data={"b": (5, 2.0)}) as again:  # still its own
        assert again.outstanding == 12


def test_verify_says_what_it_could_not_check(twins):
    path, twin = twins
    moved = um.campaigns.compact(path)
    found, whole = um.verify(path), um.verify(path, archives=[moved.archive])
    assert found and found.counts == whole.counts == um.verify(twin).counts
    assert (found.first, found.events, whole.first) == (moved.last, 0, 0)
    assert f"Not checked: events 1 to {moved.last:,}, which are in {moved.archive.name} (pass" in (
        sentence(found)
    )
    assert whole.events == moved.last and whole.snapshots == [moved.last]
    assert "Not checked" not in sentence(whole)


def test_it_can_be_done_again_and_all_archives_are_needed(twins, reopen, play):
    path, twin = twins
    first = um.campaigns.compact(path, path.with_name("old.parquet"))
    for one in twins:
        with um.Campaign.open(one, durability="fast", clock=lambda: 0.0) as campaign:
            play(campaign, 25)
    second = um.campaigns.compact(path)
    assert (second.first, second.last) == (first.last + 1, len(log(twin)))
    whole = um.verify(path, archives=[second.archive, first.archive])
    assert whole and whole.events == second.last and whole.counts == um.verify(path).counts
    assert table(path, [first.archive, second.archive]).equals(table(twin))
    with pytest.raises(um.UnimodalError, match=r"are in the archive old.parquet, which is none of"):
        um.verify(path, archives=[second.archive])
    copied = um.campaigns.copy(path, path.with_name("copy.db"))
    assert copied.verdict and um.verify(copied.target, archives=[second.archive, first.archive])
    assert sqlite.read_store(path, content_of) == sqlite.read_store(copied.target, content_of)
    with pytest.raises(um.UnimodalError, match="no events before a snapshot that could be moved"):
        um.campaigns.compact(path)


def test_who_follows_the_log_from_before_goes_on(path, start, play, monkeypatch):
    """It finds its next events gone, and loads the snapshot."""
    behind, ahead = start(LADDER), start(LADDER)
    play(behind, 5)
    ahead.add_edges([("e", "f")])
    play(ahead, 40)
    ahead.close()
    moved = um.campaigns.compact(path)
    play(behind, 10)
    assert behind.agent.graph.n_arms == 6
    behind.close()
    assert um.verify(path) and um.verify(path, archives=[moved.archive])


def test_a_reward_in_one_statement_by_who_is_behind_is_not_lost(path, start, play):
    """The number of its event is free again, and would be in the middle of the archive."""
    behind, ahead = start(LADDER), start(LADDER)
    made = behind.decide(40)
    for decision in made[:30]:
        behind.reward(decision.id, 1.0)
    assert behind._writer._undisturbed >= 20  # so that it need not read before it writes
    play(ahead, 40)
    ahead.close()
    moved = um.campaigns.compact(path)
    assert behind.reward(made[30].id, 1.0) is True
    behind.close()
    assert table(path, [moved.archive]).filter(kind="reward").height == 71
    assert um.verify(path) and um.verify(path, archives=[moved.archive])


@pytest.mark.parametrize("looked_up", [False, True])
def test_a_label_that_is_erased_meanwhile_does_not_come_back(path, monkeypatch, looked_up):
    """Neither by the archive nor by the snapshot, which were read before."""

    def neighbours(person):
        number = int(person.removeprefix("person ")) if person.startswith("person ") else 11
        return [f"person {number - 1}", f"person {number + 1}"]

    held = um.graphs.from_edges([("person 9", "person 10"), ("person 10", "person 11")])
    graph, root = (neighbours, "person 10") if looked_up else (held, None)
    policy = um.UTS(start="probe(4)") if looked_up else um.UTS()
    with um.Campaign.open(path, policy, graph, root=root, seed=4) as campaign:
        for decision in campaign.decide(20):
            campaign.reward(decision.id, 1.0)
    fill = compacting.fill_archive

    def meanwhile(*given):
        fill(*given)
        um.campaigns.erase(path, "person 11")

    monkeypatch.setattr(compacting, "fill_archive", meanwhile)
    with pytest.raises(um.errors.Busy, match="was compacted, replaced or erased by others"):
        um.campaigns.compact(path)
    assert b"person 11" not in path.read_bytes() and um.verify(path)


def test_others_use_the_campaign_meanwhile(path, start, play, monkeypatch):
    """They take snapshots, in whose place that of the archive stands, and write beside it."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 40)
    campaign = start(LADDER)
    for _ in range(2):
        play(campaign, 25)
        campaign._writer._snapshots._writer.join()
    assert len(sqlite.read_store(path, lambda s: s.snapshots())) == 2
    fill = compacting.fill_archive

    def meanwhile(*given):
        play(campaign, 100)
        campaign._writer._snapshots._writer.join()
        fill(*given)

    monkeypatch.setattr(compacting, "fill_archive", meanwhile)
    moved = um.campaigns.compact(path)
    play(campaign, 10)
    campaign.close()
    found = um.verify(path)
    assert (
        found and found.first == moved.last < found.snapshots[-1] and found.counts["decide"] == 160
    )
    assert um.verify(path, archives=[moved.archive]).events == 321


def neighbours(arm):
    return [arm - 1, arm + 1]


def test_a_campaign_that_looks_up_is_compacted(path):
    def opened(**named):
        return um.Campaign.open(
            path, um.UTS(start="probe(4)"), neighbours, root=100, clock=lambda: 0.0, **named
        )

    def play(campaign):
        for decision in campaign.decide(60):
            campaign.reward(decision.id, float(decision.arm > 100))

    with opened(seed=3) as campaign:
        play(campaign)
    shutil.copy(path, path.with_name("twin.db"))
    moved = um.campaigns.compact(path)
    kept = [row[2] for row in log(path)]
    assert 3 <= len(kept) < 10 and set(kept[:-1]) == {"look-up"}
    with opened() as campaign:
        play(campaign)
    assert um.verify(path).events == um.verify(path, archives=[moved.archive]).events - moved.last
    um.campaigns.compact(path)
    with opened() as campaign:
        assert campaign.decide().id == 121


def test_snapshots_of_other_versions_are_in_the_archive(path, start, play, reopen, monkeypatch):
    with start() as campaign:
        play(campaign, 20)
    older = path.with_name("older.db")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE snapshots SET version = '0.0.1'")
    connection.execute("UPDATE settings SET value = '0.0.1' WHERE key = 'version'")
    connection.commit()
    connection.close()
    with reopen() as campaign:  # which takes a snapshot of this version
        play(campaign, 20)
    shutil.copy(path, older)
    moved = um.campaigns.compact(path)
    whole = um.verify(path, archives=[moved.archive])
    assert whole and whole.first == um.verify(older).first == 42
    assert whole.snapshots == um.verify(older).snapshots


# Faults.

KILLED = """
import os, signal, sys
import unimodal as um
from unimodal.campaigns.stores import sqlite
step = sys.argv[2]
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if step == "archive":
    um.files.os.link = die
elif step == "between":
    sqlite.open_store = die
else:
    setattr(sqlite.SqliteStore, step, die)
um.campaigns.compact(sys.argv[1])
"""


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("archive", marks=pytest.mark.full),
        pytest.param("between", marks=pytest.mark.full),
        "commit",
        pytest.param("reclaim", marks=pytest.mark.full),
    ],
)
def test_a_kill_between_the_steps_loses_nothing(twins, step):
    path, twin = twins
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), step], timeout=120)
    assert killed.returncode == -9
    name = path.with_name(f"{path.name}.events-1-{len(log(twin))}.parquet")
    if step != "reclaim":
        assert log(path) == log(twin) and name.exists() == (step != "archive")
        assert um.campaigns.compact(path).archive == name  # and takes up what is there
    assert um.verify(path) and table(path, [name]).equals(table(twin))


def test_an_archive_that_does_not_come_back_as_it_was_written_is_not_kept(twins, monkeypatch):
    path, twin = twins
    fill = compacting.fill_archive

    def badly(target, *rest):
        fill(target, *rest)
        content = bytearray(target.read_bytes())
        content[len(content) // 2] ^= 1
        target.write_bytes(content)

    monkeypatch.setattr(compacting, "fill_archive", badly)
    with pytest.raises(um.UnimodalError, match="or damaged"):
        um.campaigns.compact(path)
    assert log(path) == log(twin) and not list(path.parent.glob("*.parquet"))


def test_a_compaction_beside_another_drops_nothing(twins, monkeypatch):
    path, twin = twins
    opened, moved = sqlite.open_store, []

    def another(*given):
        monkeypatch.setattr(sqlite, "open_store", opened)
        moved.append(um.campaigns.compact(path, path.with_name("first.parquet")))
        return opened(*given)

    monkeypatch.setattr(sqlite, "open_store", another)
    with pytest.raises(um.errors.Busy, match="was compacted, replaced or erased by others"):
        um.campaigns.compact(path, path.with_name("second.parquet"))
    assert table(path, [moved[0].archive]).equals(table(twin))


def test_two_compactions_of_the_same_events_into_one_archive_are_one(twins, monkeypatch):
    """At b076057 the second one said: remove the archive, which had the only copy of the events."""
    path, twin = twins
    opened, moved = sqlite.open_store, []

    def another(*given):
        monkeypatch.setattr(sqlite, "open_store", opened)
        moved.append(um.campaigns.compact(path))
        return opened(*given)

    monkeypatch.setattr(sqlite, "open_store", another)
    assert um.campaigns.compact(path).archive == moved[0].archive
    assert table(path, [moved[0].archive]).equals(table(twin))
    assert bool(um.verify(path, archives=[moved[0].archive]))


def rewritten(path, change):
    """An archive with other events, and with the checksum of these."""
    frame, about = archive.read_archive(path)
    path.unlink()
    archive.fill_archive(path, change(frame), about)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda p, twin: p.write_bytes(p.read_bytes()[:-100]), "or damaged"),
        (lambda p, twin: p.write_bytes(b"PAR1" + bytes(100)), "or damaged"),
        (lambda p, twin: p.unlink(), "there is no file"),
        (lambda p, twin: (p.unlink(), p.mkdir()), "got a folder"),
        (lambda p, twin: rewritten(p, lambda f: f[1:]), "or damaged"),
        (lambda p, twin: rewritten(p, lambda f: f.with_columns(time=1.0)), "or damaged"),
        (lambda p, twin: rewritten(p, lambda f: f.drop("data")), "or damaged"),
        (lambda p, twin: (p.unlink(), other(twin, p)), "which is none of"),
    ],
)
def test_a_damaged_or_foreign_archive_is_refused(twins, harm, words):
    path, twin = twins
    moved = um.campaigns.compact(path)
    harm(moved.archive, twin)
    with pytest.raises(um.UnimodalError, match=words):
        um.verify(path, archives=[moved.archive])
    assert um.verify(path)


def other(twin, target):
    """Make the archive of a campaign that is longer."""
    with um.Campaign.open(twin, clock=lambda: 0.0) as campaign:
        campaign.decide()
    um.campaigns.compact(twin, target)


def test_an_archive_that_is_not_the_fold_of_the_snapshot_is_found(twins):
    """Somebody changed a reward, and wrote both digests anew."""
    path, _ = twins
    moved = um.campaigns.compact(path)
    frame, about = archive.read_archive(moved.archive)
    flip = pl.when(pl.col("decision") == 7).then(1 - pl.col("reward")).otherwise(pl.col("reward"))
    frame = frame.with_columns(reward=flip)
    digest = archive.digest_of(archive.as_rows(frame), "")
    moved.archive.unlink()
    archive.fill_archive(
        moved.archive, frame, archive.About(1, about.last, "", digest, about.state)
    )
    connection = sqlite3.connect(path)
    connection.execute("UPDATE settings SET value = replace(value, ?, ?)", (about.digest, digest))
    connection.commit()
    connection.close()
    found = um.verify(path, archives=[moved.archive])
    assert found.wrong == [f"the snapshot after event {about.last} is not the fold of the log"]


def test_a_reward_that_is_kept_otherwise_than_it_was_archived_is_found(twins):
    path, _ = twins
    moved = um.campaigns.compact(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE rewards SET reward = 1 - reward WHERE decision = 7")
    connection.commit()
    connection.close()
    found = um.verify(path, archives=[moved.archive])
    assert found.wrong == ["the table 'rewards' differs from the log in 1"]


@pytest.mark.parametrize(
    ("note", "words"),
    [("7", "'archived' in .* is damaged"), ('{"until": 3}', "'archived' in .* is damaged")],
)
def test_a_damaged_note_is_found(twins, note, words):
    path, _ = twins
    um.campaigns.compact(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE settings SET value = ? WHERE key = 'archived'", (note,))
    connection.commit()
    connection.close()
    assert re.search(words, um.verify(path).wrong[0])
    with pytest.raises(um.errors.DamagedFile, match=words):
        um.inspect(path)


def test_what_cannot_be_compacted_is_told_in_a_sentence(twins, tmp_path):
    path, _ = twins
    whole = log(path), sorted(os.listdir(tmp_path))

    def refused(words, *given):
        with pytest.raises(um.UnimodalError, match=words):
            um.campaigns.compact(*given)
        assert (log(path), sorted(os.listdir(tmp_path))) == whole

    refused("there is no file", tmp_path / "nowhere.db")
    refused("an archive is a Parquet file, got .*: name it", path, tmp_path / "old.csv")
    with pytest.raises(um.UnimodalError, match="has its whole log"):
        um.verify(path, archives=[DATA / "campaign-format-5.parquet"])
    (tmp_path / "there.parquet").write_text("something else")
    whole = log(path), sorted(os.listdir(tmp_path))
    refused("there is a file .* already", path, tmp_path / "there.parquet")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE log SET reward = 1 - reward WHERE decision = 7 AND reward >= 0")
    connection.commit()
    connection.close()
    whole = log(path), sorted(os.listdir(tmp_path))
    refused("is not sound, so nothing was moved: ", path)


# Readers of a log without its beginning.


def test_readers_say_that_the_beginning_is_in_an_archive(path, start, play):
    with start() as campaign:
        play(campaign, 100)
    moved = um.campaigns.compact(path)
    with um.Campaign.open(path, clock=lambda: 0.0) as campaign:
        play(campaign, 100)
        assert campaign.alarms() == []
        assert "after event 201 are counted" in str(campaign.certificate().assumptions)
        with pytest.raises(
            um.UnimodalError, match="begins after decision 100, and what was before"
        ):
            campaign.explain(7)
        assert campaign.explain(107).id == 107
    view = um.inspect(path)
    assert view.facts["events before, in an archive"] == "201" and view.facts["decisions"] == "100"
    notes = logged_rewards.read(look(path)).notes
    assert any("first 201 events are in an archive" in note for note in notes)
    archives = [moved.archive]
    whole = um.inspect(look(path, archives=archives))
    assert whole.facts["decisions"] == "200" and "events before, in an archive" not in whole.facts
    assert um.campaigns.explain(path, 7, archives=archives).id == 7
    assert um.campaigns.export(path, path.with_name("log.parquet")).after == 201
    assert um.campaigns.export(path, path.with_name("all.parquet"), archives=archives).rows == 402
