"""Comparing two versions: the interval, the marks, and what it says where it cannot."""

import math
import subprocess

import against
import numpy as np
import pytest
from against import compared, median_interval

from unimodal.errors import UnimodalError


@pytest.mark.parametrize("n", [6, 10, 11, 20, 31])
def test_the_interval_holds_the_median_with_at_least_95_percent_and_no_shorter_one_does(n):
    low, high = median_interval(range(n))
    left_out = low  # values below the interval, and as many above
    assert high == n - 1 - low

    def missing(k):
        return 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n

    assert missing(left_out) <= 0.05 < missing(left_out + 1)


def test_the_interval_of_ten_pairs_goes_from_the_second_smallest_to_the_second_largest():
    ratios = [1.30, 0.91, 0.98, 0.99, 1.00, 1.01, 1.02, 1.03, 1.05, 1.08]
    assert median_interval(ratios) == (0.98, 1.08)


def test_lines_of_both_versions_are_compared_pair_by_pair():
    noise = np.random.default_rng(0).uniform(0.5, 2.0, 10)  # of the machine, the same for a pair
    old = [{"a": x, "b": x, "new": "TypeError: no keys"} for x in noise]
    new = [{"a": 1.2 * x, "b": 0.7 * x, "new": x} for x in noise]
    slow, fast, sentence = compared(old, new)
    assert (slow.line, fast.line) == ("a", "b")
    assert slow.ratio == pytest.approx(1.2) and slow.is_slower and not slow.is_faster
    assert fast.ratio == pytest.approx(0.7) and fast.is_faster and not fast.is_slower
    assert sentence == "new: the other commit cannot run it (TypeError: no keys)."


def test_a_line_that_the_files_as_they_are_cannot_run_is_an_error():
    with pytest.raises(UnimodalError, match="a: the files as they are cannot"):
        list(compared([{"a": 1.0}] * 6, [{"a": "Error: no"}] * 6))


def test_one_slow_pair_or_two_do_not_make_a_line_slower():
    old, new = [{"a": 1.0}] * 10, [{"a": 1.04}] * 8 + [{"a": 3.0}] * 2
    (line,) = compared(old, new)
    assert not line.is_slower and (line.lowest, line.highest) == (1.04, 3.0)


@pytest.mark.parametrize(
    ("commit", "pairs", "what"),
    [
        ("HEAD", 5, "'--pairs' must be at least 6"),
        ("no-such-commit", 10, "must be one of .*got 'no-such-commit'"),
    ],
)
def test_mistakes_get_a_sentence(commit, pairs, what):
    groups = {"start": ["import unimodal"]}
    with pytest.raises(UnimodalError, match=what):
        next(against.against(commit, pairs, groups, print))


def test_a_commit_is_checked_out_for_the_time_being(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "file").write_text("old")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    (tmp_path / "file").write_text("new")
    with against.checked_out("HEAD", tmp_path) as folder:
        assert (folder / "file").read_text() == "old"
    assert not folder.exists()
    listed = subprocess.run([*git, "worktree", "list"], capture_output=True, text=True).stdout
    assert listed.count("\n") == 1


def test_a_line_is_run_by_the_version_in_a_folder(tmp_path):
    """The other version's own code is imported, though it holds nothing of benchmarks/."""
    package = tmp_path / "src" / "unimodal"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text("line = problems = graphs = None")
    lines = against.results(tmp_path, ["import unimodal", "ask + tell UTS, line 129"])
    assert 0 < lines["import unimodal"] < 1
    assert "has no attribute 'Agent'" in lines["ask + tell UTS, line 129"]
