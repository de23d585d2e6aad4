"""Campaigns that move between files and databases, and that are compacted and erased there."""

import shutil
import time

import pytest

import unimodal as um
from unimodal.campaigns import archives as archive
from unimodal.campaigns.content_digests import content_of
from unimodal.campaigns.reading import read, read_table
from unimodal.campaigns.stores import Interrupted
from unimodal.campaigns.stores.postgresql import PostgresqlStore
from unimodal.campaigns.stores.postgresql import store as stores
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.upkeep import erase as erasing

PEOPLE = um.graphs.from_edges([("Ann", "Bob"), ("Bob", "Cy"), ("Cy", "Größe <7>")])


def content(place):
    return read(place, content_of)


@pytest.fixture
def played(path, start, play):
    """A closed campaign with everything in its log that is not a plain decision or reward."""
    with start(PEOPLE, data={"Bob": (5, 2.0)}, time_to_live=100) as campaign:
        play(campaign, 25)
        campaign.add_edges([("Ann", 7)])
        campaign.tell("Bob", 1.0)
        campaign.pause("Ann")
        campaign.decide(3, propensity=True, key="visit 17")
    return path


def test_a_campaign_goes_from_a_file_to_a_database_and_back(played, postgresql, tmp_path):
    there, back = postgresql(), tmp_path / "back.db"
    first = um.campaigns.copy(played, there)
    second = um.campaigns.copy(there, back)
    assert first.verdict and second.verdict and first.events == second.events
    assert content(played) == content(there) == content(back)
    opened = [um.Campaign.open(p, clock=lambda: 0.0) for p in (played, there, back)]
    again = [[d.to_dict() for d in campaign.decide(9)] for campaign in opened]
    assert again[0] == again[1] == again[2]
    assert opened[1].decide(3, key="visit 17") == opened[2].decide(3, key="visit 17")
    for campaign in opened:
        campaign.close()
    assert content(played) == content(there) == content(back)


def test_a_copy_to_a_campaign_that_is_there_is_refused(played, postgresql):
    there = postgresql()
    um.campaigns.copy(played, there, check=False)
    before = content(there)
    with pytest.raises(um.UnimodalError, match=r"there is a campaign postgresql://.* already"):
        um.campaigns.copy(played, there)
    with pytest.raises(um.UnimodalError, match=r"there is a file .* already"):
        um.campaigns.copy(there, played)
    assert content(there) == before


def test_a_copy_that_fails_leaves_no_campaign(played, postgresql):
    there = postgresql()

    def fail(done, of):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        um.campaigns.copy(played, there, progress=fail)
    assert um.campaigns.copy(played, there, check=False).events


def test_compacting_and_erasing_do_there_what_they_do_in_a_file(played, postgresql, tmp_path, play):
    there = postgresql()
    um.campaigns.copy(played, there, check=False)
    places, names, archives = (played, there), ("file", "server"), {played: [], there: []}
    with pytest.raises(um.UnimodalError, match="needs a name, since there is no folder beside it"):
        um.campaigns.compact(there)
    behind = [um.Campaign.open(p, clock=lambda: 0.0) for p in places]  # follow from before
    for turn in range(2):
        for place, name in zip(places, names, strict=True):
            target = tmp_path / f"{name}-{turn}.parquet"
            archives[place].append(um.campaigns.compact(place, target).archive)
            with um.Campaign.open(place, clock=lambda: 0.0) as campaign:
                play(campaign, 20)
        notes = [read(p, lambda store: store.settings("archived"))["archived"] for p in places]
        digests = [[part["digest"] for part in note["parts"]] for note in notes]
        assert digests[0] == digests[1] and notes[0]["counts"] == notes[1]["counts"]
    for campaign in behind:
        campaign.decide(2, key="visit 18")
        campaign.close()
    for place in places:
        assert um.verify(place) and um.verify(place, archives=archives[place])
        with um.Campaign.open(place, clock=lambda: 0.0) as campaign:
            assert [d.id for d in campaign.decide(3, key="visit 17")] == [26, 27, 28]
        archives[place] = um.campaigns.erase(place, "Bob", archives=archives[place]).archives
        whole = um.verify(place, archives=archives[place])
        assert whole and whole.first == 0 and um.verify(place)
        assert "Bob" not in read_table(place, archives[place]).write_csv()
    assert content(played)[1:5] == content(there)[1:5]
    back = um.campaigns.copy(there, tmp_path / "back.db")
    assert um.verify(back.target, archives=archives[there])


def test_an_archive_of_a_file_belongs_to_the_copy_in_a_database(played, postgresql, tmp_path):
    twin = tmp_path / "twin.db"
    shutil.copy(played, twin)
    moved = um.campaigns.compact(played)
    there = postgresql()
    um.campaigns.copy(played, there)
    assert read_table(there, [moved.archive]).equals(read_table(twin))


def test_a_campaign_of_the_same_database_with_the_same_numbers_changes_nothing(
    postgresql, play, in_store
):
    """Decisions, events and snapshots of all campaigns have the same numbers."""
    mine, other = postgresql(), postgresql()
    for address, rewarded in ((mine, 1), (other, 12)):
        with um.Campaign.open(address, um.UTS(), PEOPLE, seed=4, clock=lambda: 0.0) as campaign:
            play(campaign, rewarded)
            campaign.decide(3)
            if address == other:
                campaign.add_edges([("Ann", 7)])
    assert read(mine, lambda store: list(store.revisions())) == []
    assert read(mine, lambda store: store.reward_of(1)) is not None
    assert read(mine, lambda store: store.reward_of(2)) is None
    kept = read(other, lambda store: list(store.kept_rewards()))
    assert 1 in dict(pair for some in kept for pair in some)
    in_store(mine, lambda store: store.drop_rewards([1, 2]))
    assert read(other, lambda store: list(store.kept_rewards())) == kept
    in_store(mine, lambda store: store.drop_snapshots(1000))
    assert 1 < read(other, lambda store: store.last_snapshot()) < 80  # of this version
    for seq in (1, 80, 90):
        in_store(mine, lambda store, seq=seq: store.keep_snapshot(seq, "another version", "{}"))
    found = read(mine, lambda store: [seq for seq, _ in store.snapshots()])
    assert found == [1, 90]  # the first of a version and its last


@pytest.mark.full
def test_an_erasure_that_takes_long_is_not_cut_off_by_the_server(
    played, postgresql, tmp_path, monkeypatch
):
    """A server ends transactions that are idle; archives are written inside of one."""
    there = postgresql()
    um.campaigns.copy(played, there, check=False)
    old = um.campaigns.compact(there, tmp_path / "old.parquet").archive
    as_rows = erasing.as_rows

    def slowly(frame):
        for rows in as_rows(frame):
            time.sleep(0.3)
            yield rows

    monkeypatch.setattr(erasing, "as_rows", slowly)
    monkeypatch.setattr(archive, "_CHUNK", 5)
    monkeypatch.setattr(erasing, "WAIT", 1.0)
    monkeypatch.setattr(stores, "_IDLE", 1.0)
    begun = time.monotonic()
    erased = um.campaigns.erase(there, "Bob", archives=[old])
    assert time.monotonic() - begun > 3.0
    assert um.verify(there, archives=erased.archives)


@pytest.mark.parametrize(
    "step",
    [
        *("put", "commit"),
        pytest.param("drop_snapshots", marks=pytest.mark.full),
        pytest.param("append", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("what", ["compact", "erase"])
def test_a_connection_that_is_lost_once_is_made_again(
    played, postgresql, tmp_path, monkeypatch, what, step
):
    """Also where it is lost after the commit, whose answer then never comes.

    At b076057 the internal class `Interrupted` left both, after a commit, too.
    """
    copied = um.campaigns.copy(played, postgresql(), check=False).target
    usual, cut = getattr(PostgresqlStore, step), []

    def cut_once(store, *given, **named):
        if cut:
            return usual(store, *given, **named)
        cut.append(step)
        if step == "commit":
            tell = PostgresqlConnection.ask

            def lost(connection, *asked):
                monkeypatch.setattr(PostgresqlConnection, "ask", tell)
                tell(connection, *asked)
                connection.close()
                raise Interrupted("the connection was lost.")

            monkeypatch.setattr(PostgresqlConnection, "ask", lost)
        else:
            store._session.connected().close()
        return usual(store, *given, **named)

    monkeypatch.setattr(PostgresqlStore, step, cut_once)
    if what == "compact":
        moved = um.campaigns.compact(copied, tmp_path / "events.parquet")
        assert um.verify(copied, archives=[moved.archive]).wrong == [] and moved.events > 0
    else:
        assert um.campaigns.erase(copied, "Bob").label == "erased-1"
        assert um.verify(copied).wrong == []
    assert cut or (what, step) in [("compact", "append"), ("erase", "drop_snapshots")]


def test_a_copy_whose_connection_is_lost_is_an_error_that_users_know(
    played, postgresql, monkeypatch
):
    def lose(store, *_, **__):
        store._session.connected().close()
        store.last()

    monkeypatch.setattr(PostgresqlStore, "put", lose)
    with pytest.raises(um.errors.StoreError, match="cannot be reached") as found:
        um.campaigns.copy(played, postgresql())
    assert type(found.value) is um.errors.StoreError
