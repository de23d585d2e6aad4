"""The files of a campaign are its owner's, from the first moment; those of before stay as is."""

import os
import stat

import pytest

import unimodal as um
from unimodal.campaigns.stores import as_place
from unimodal.service.campaigns.catalog import FolderCatalog

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")


@pytest.fixture(autouse=True)
def generous():
    """A umask that would let all read."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def filled(path):
    prices = um.graphs.from_edges([("ann", "bob"), ("bob", "eve")])
    campaign = um.Campaign.open(path, um.UTS(), prices, seed=4)
    campaign.reward([one.id for one in campaign.decide(20)], [1.0] * 20)
    return campaign


def test_all_that_is_made_for_a_campaign_is_its_owners(tmp_path):
    path = tmp_path / "a.db"
    with filled(path) as campaign:
        assert set(modes(tmp_path)) >= {"a.db", "a.db-wal", "a.db-shm"}
        assert set(modes(tmp_path).values()) == {0o600}
        campaign.backup(tmp_path / "backup.db")
    um.campaigns.copy(path, tmp_path / "copy.db")
    um.campaigns.export(path, tmp_path / "all.parquet")
    um.campaigns.export(path, tmp_path / "all.ndjson")
    moved = um.campaigns.compact(path)
    um.campaigns.erase(path, "bob", archives=[moved.archive])
    FolderCatalog(tmp_path).set_ended("a", True)
    found = modes(tmp_path)
    assert {"backup.db", "copy.db", "all.parquet", "all.ndjson", "a.ended"} <= set(found)
    assert any(".erased-" in name for name in found)
    assert set(found.values()) == {0o600}, found


def test_files_that_are_there_keep_their_mode(tmp_path):
    path = tmp_path / "a.db"
    filled(path).close()
    path.chmod(0o640)
    with um.Campaign.open(path) as campaign:
        campaign.decide()
        assert modes(tmp_path) == dict.fromkeys(("a.db", "a.db-wal", "a.db-shm"), 0o640)
    um.campaigns.erase(path, "bob")
    assert modes(tmp_path)["a.db"] == 0o640


def test_a_file_is_private_before_anything_is_in_it(tmp_path, monkeypatch):
    """A mode that is set afterwards would leave a moment in which others can open it."""
    made, opened = [], os.open

    def noted(path, flags, mode=0o777, **named):
        if flags & os.O_CREAT and str(path).startswith(str(tmp_path)):
            made.append((os.path.exists(path), mode))
        return opened(path, flags, mode, **named)

    monkeypatch.setattr(os, "open", noted)
    filled(tmp_path / "a.db").close()
    um.campaigns.export(tmp_path / "a.db", tmp_path / "all.ndjson")
    assert [mode for existed, mode in made if not existed] == [0o600, 0o600]


def test_a_file_is_asked_for_where_only_a_file_will_do(tmp_path):
    filled(tmp_path / "a.db").close()
    address = "postgresql://u:zq7@h/d?campaign=a"
    for call in (
        lambda to: um.campaigns.export(tmp_path / "a.db", to),
        lambda to: um.campaigns.compact(tmp_path / "a.db", archive=to),
        lambda to: um.verify(tmp_path / "a.db", archives=[to]),
    ):
        for to in (address, "mysql://u:zq7@h/d", "PostgreSQL:/u:zq7@h", as_place(address, "it")):
            with pytest.raises(um.UnimodalError) as refused:
                call(to)
            assert "zq7" not in str(refused.value) and "a file's name" in str(refused.value)
