"""Shards: how they are written, which trials each has, and which folders are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unimodal as um
from unimodal.results.shards import Shard, found_in, parse


@given(st.integers(0, 50), st.integers(0, 200), st.integers(1, 30))
def test_shards_share_all_numbers_in_order(first, many, count):
    numbers = range(first, first + many)
    shares = [Shard(number, count).of(numbers) for number in range(1, count + 1)]
    assert [n for share in shares for n in share] == list(numbers)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(
    "text",
    ["", "3", "0/4", "5/4", "-1/4", "1/0", "1.5/4", "a/b", "1/4/2", " 1/4", "1/100001",
     "1/" + "9" * 30, "٣/٤", 3, None],
)  # fmt: skip
def test_a_shard_is_a_number_of_a_count(text):
    with pytest.raises(um.UnimodalError, match="a shard is written number/count"):
        parse(text)


def folder_of(tmp_path, *names):
    for name in names:
        (tmp_path / name).write_text("")
    return tmp_path


def test_files_are_found_in_the_order_of_their_numbers(tmp_path):
    names = [Shard(number, 11).path(Path(), ".db").name for number in range(1, 12)]
    beside = ("finished.db", "result.parquet", "shard-01-of-11.db-wal", "shard-01-of-11.db-shm")
    found = found_in(folder_of(tmp_path, *names, *beside))
    assert [path.name for path in found.values()] == names == sorted(names)
    assert list(found) == [Shard(number, 11) for number in range(1, 12)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "there are no shards in .* make them with --shard 1/4"),
        (["1-of-3", "3-of-3"], r"but 2/3 is missing in .* run it with --shard"),
        (["1-of-9"], "2/9, 3/9, 4/9, 5/9, 6/9 and 3 more are missing"),
        (["1-of-2", "2-of-2", "02-of-2"], "both shard 2/2: remove one"),
        (["1-of-2", "2-of-3"], "shard-1-of-2.parquet and shard-2-of-3.parquet do not"),
        (["1-of-1", "2-of-2 (copy)"], r"a name such as .* got .*\(copy\).parquet: rename"),
        (["3-of-2"], "a shard is written number/count"),
    ],
)
def test_a_folder_with_other_than_all_shards_once_is_refused(names, said, tmp_path):
    folder = folder_of(tmp_path, *(f"shard-{name}.parquet" for name in names))
    with pytest.raises(um.UnimodalError, match=said):
        found_in(folder)


def test_shards_of_two_kinds_of_work_are_refused(tmp_path):
    folder_of(tmp_path, "shard-1-of-2.parquet", "shard-2-of-2.db")
    with pytest.raises(um.UnimodalError, match="belong to one piece of work"):
        found_in(tmp_path)
    with pytest.raises(um.UnimodalError, match="there is none at"):
        found_in(tmp_path / "nowhere")
