import os
import stat

import pytest

from unimodal import files
from unimodal.errors import UnimodalError


def write_text(text):
    return lambda path: path.write_text(text)


def fill_half_and_fail(error):
    def fill(path):
        path.write_text("half of the n")
        raise error

    return fill


def test_a_file_is_written_and_its_path_returned(tmp_path):
    path = files.write(str(tmp_path / "agent.json"), write_text("new"))
    assert path == tmp_path / "agent.json"
    assert path.read_text() == "new"


def test_missing_folders_are_made(tmp_path):
    path = files.write(tmp_path / "deep" / "down" / "agent.json", write_text("new"))
    assert path.read_text() == "new"


def test_the_writer_gets_another_file_of_the_same_kind_in_the_same_folder(tmp_path):
    path, seen = tmp_path / "result.parquet", []
    path.write_text("old")

    def fill(beside):
        seen.append((beside, path.read_text()))
        beside.write_text("new")

    files.write(path, fill)
    [(beside, meanwhile)] = seen
    assert beside != path
    assert beside.parent == path.parent  # or else moving it would not be one step
    assert beside.suffix == ".parquet"  # some writers go by it
    assert meanwhile == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), UnimodalError("no.")])
def test_when_the_writer_fails_the_old_file_is_kept_and_nothing_else_left(tmp_path, error):
    path = tmp_path / "agent.json"
    path.write_text("old")
    with pytest.raises(type(error)):
        files.write(path, fill_half_and_fail(error))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_told_in_a_sentence_and_loses_nothing(tmp_path):
    path = tmp_path / "agent.json"
    path.write_text("old")
    with pytest.raises(
        UnimodalError, match=r"agent.json cannot be written \(No space left.*room\.$"
    ):
        files.write(path, fill_half_and_fail(OSError(28, "No space left on device")))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_below_a_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnimodalError, match=r"cannot be written \(.*\): choose a place that can"):
        files.write(tmp_path / "file" / "agent.json", write_text("new"))


def test_a_folder_is_never_replaced_by_a_file(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    with pytest.raises(UnimodalError, match="cannot be written"):
        files.write(folder, write_text("new"))
    assert list(tmp_path.iterdir()) == [folder]


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    """As /dev/stdout is: in its place there would be a file from then on, for everybody."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write(pipe, write_text("new"))
    assert os.read(reader, 99) == b"new" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("path", [None, 5, b"agent.json", "agent\0.json"])
def test_what_is_no_path_gets_a_sentence(path):
    with pytest.raises(UnimodalError, match="path of a file to write must be a file's name, got"):
        files.write(path, write_text("new"))


def test_a_new_file_is_as_readable_as_any_other(tmp_path):
    (tmp_path / "other").write_text("made by open()")
    path = files.write(tmp_path / "agent.json", write_text("new"))
    assert permissions(path) == permissions(tmp_path / "other")


def test_asking_for_the_umask_leaves_it_alone(tmp_path):
    before = os.umask(0o027)
    try:
        path = files.write(tmp_path / "agent.json", write_text("new"))
        assert permissions(path) == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_gets_its_name_when_it_is_written_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "folder" / "new.txt"
    with files.new_file(path, "a text") as made:
        made.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole" and list(path.parent.iterdir()) == [path]
    with pytest.raises(UnimodalError, match=r"there is a file .* already, and a text is written"):
        files.new_file(path, "a text").__enter__()
    with pytest.raises(RuntimeError), files.new_file(tmp_path / "other", "a text") as made:
        made.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == [path.parent]


def test_a_new_file_does_not_take_the_place_of_one_that_came_meanwhile(tmp_path):
    path = tmp_path / "new.txt"
    with (
        pytest.raises(UnimodalError, match=r"there is a file .* already"),
        files.new_file(path, "a text") as made,
    ):
        made.write_text("ours")
        path.write_text("theirs")
    assert path.read_text() == "theirs" and list(tmp_path.iterdir()) == [path]
