"""Files that know whether they are whole: any byte that was changed is noticed."""

import polars as pl
import pytest

import unimodal as um
from unimodal import checksums


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = um.simulate(um.problems.triangular(5), um.UTS(), horizon=60, trials=2, progress=False)
    return made.save(tmp_path_factory.mktemp("results") / "result.parquet")


def is_whole(path):
    try:
        with path.open("rb") as handle:
            checksums.check(handle)
            return handle.tell() == 0
    except ValueError:
        return False


def test_a_byte_that_was_changed_is_noticed_wherever_it_is(path, tmp_path):
    """At ac7e735 one such byte ended the process: Polars asked for 2**61 bytes of memory."""
    whole = path.read_bytes()
    place = whole.rfind(b"sha256:")
    assert is_whole(path) and len(whole) > 2000
    for at in range(0, len(whole), 7):
        if not place <= at < place + len(b"sha256:"):  # without the word, it is an older file
            (tmp_path / "x").write_bytes(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
            assert not is_whole(tmp_path / "x"), at
    for end in (len(whole) // 2, len(whole) - 1):
        with pytest.raises(um.UnimodalError, match="damaged"):
            (tmp_path / "x").write_bytes(whole[:end])
            um.load(tmp_path / "x")


def test_longer_files_are_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(checksums, "_PIECE", 64)
    frame = pl.DataFrame({"a": list(range(5000))})
    frame.write_parquet(tmp_path / "x", metadata={**checksums.BLANK, "b": "c" * 300})
    checksums.fill_in(tmp_path / "x")
    assert is_whole(tmp_path / "x") and pl.read_parquet(tmp_path / "x").equals(frame)
    monkeypatch.undo()
    assert is_whole(tmp_path / "x")


def test_files_of_older_versions_have_none(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x")
    assert is_whole(tmp_path / "x")
    with pytest.raises(AssertionError, match="without a place"):
        checksums.fill_in(tmp_path / "x")
    for raw in (b"", b"x", b"sha256:", b"sha256:" + b"0" * 64):
        (tmp_path / "x").write_bytes(raw)
        assert is_whole(tmp_path / "x") == (b"sha256" not in raw)
