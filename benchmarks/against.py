"""The files as they are against another commit: the same lines, in processes that take turns.

The lines are in `workloads.py`, which keeps to the public API, so that older commits run it. The
interval of a ratio is that of the sign test: order statistics of the pairs' ratios, which hold the
median with at least 95 % whatever the law of the noise, if pairs are independent.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from unimodal.errors import UnimodalError

REPOSITORY = Path(__file__).resolve().parents[1]
WORKLOADS = REPOSITORY / "benchmarks" / "workloads.py"
Lines = dict[str, float | str]  # a number, or why there is none
FEWEST = 6  # pairs, for an interval of 95 %
SLOWER = 1.05


@dataclass(frozen=True)
class Comparison:
    """One line of both versions: what they took, and the ratio new/old with its interval."""

    line: str
    old: float  # the median over pairs
    new: float
    ratio: float  # the median of the pairs' ratios
    low: float
    high: float
    lowest: float  # of all the pairs' ratios
    highest: float

    @property
    def is_slower(self) -> bool:
        """Whether the whole interval lies above 1.05."""
        return self.low > SLOWER

    @property
    def is_faster(self) -> bool:
        """Whether the whole interval lies below 1/1.05."""
        return self.high < 1 / SLOWER


def median_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """An interval for the median, by the sign test: from the k-th smallest to the k-th largest.

    >>> median_interval([0.91, 0.98, 0.99, 1.00, 1.01, 1.02, 1.03, 1.05, 1.08, 1.30])
    (0.98, 1.08)
    """
    ordered, n = sorted(values), len(values)
    below, k = 0.5**n, 0  # the probability that at most k values lie below the median
    while k + 1 < n / 2 and 2 * (below + math.comb(n, k + 1) * 0.5**n) <= 1 - level:
        k += 1
        below += math.comb(n, k) * 0.5**n
    return ordered[k], ordered[n - 1 - k]


def compared(old: Sequence[Lines], new: Sequence[Lines]) -> Iterator[Comparison | str]:
    """The lines of both versions, from their results in pairs; a sentence where the old has none.

    A line that the files as they are cannot run is an error.
    """
    for line in new[0]:
        before, after = ([results[line] for results in side] for side in (old, new))
        for reason in after:
            if isinstance(reason, str):
                raise UnimodalError(f"{line}: the files as they are cannot run it ({reason}).")
        numbers = [each for each in before if not isinstance(each, str)]
        if len(numbers) < len(before):
            reason = next(each for each in before if isinstance(each, str))
            yield f"{line}: the other commit cannot run it ({reason})."
            continue
        ratios = [b / a for a, b in zip(numbers, after, strict=True)]
        yield Comparison(
            line,
            *(median(numbers), median(after), median(ratios)),
            *(*median_interval(ratios), min(ratios), max(ratios)),
        )


@contextlib.contextmanager
def checked_out(commit: str, repository: Path = REPOSITORY) -> Iterator[Path]:
    """The files of a commit in a folder for the time being, as a worktree of git."""
    with tempfile.TemporaryDirectory(prefix="unimodal-bench-") as temporary:
        folder = Path(temporary) / "old"
        git = ["git", "-C", str(repository), "worktree"]
        command = [*git, "add", "--quiet", "--detach", str(folder), commit]
        try:
            made = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise UnimodalError("comparing with a commit needs git: install it first.") from None
        if made.returncode:
            why = (made.stderr.strip().splitlines() or ["git failed"])[-1]
            raise UnimodalError(
                f"the commit to compare with must be one of {repository}, got '{commit}' "
                f"({why}): see git log."
            )
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], capture_output=True)


def results(source: Path, lines: Sequence[str], cache: Path | None = None) -> Lines:
    """What the version in this folder takes, measured in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    if cache is not None:
        environment["UNIMODAL_CACHE_DIR"] = str(cache)
    command = [sys.executable, str(WORKLOADS), *lines]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        why = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnimodalError(f"the version in {source} cannot run the benchmark: {why}")
    found = json.loads(ran.stdout)
    if not Path(found["package"]).is_relative_to(source.resolve()):
        raise UnimodalError(f"the benchmark must run the version in {source}, got {found}.")
    measured: Lines = found["lines"]
    return measured


def against(
    commit: str, pairs: int, groups: Mapping[str, Sequence[str]], told: Callable[[str], object]
) -> Iterator[list[Comparison]]:
    """Compare the files as they are with a commit, one group of lines after the other."""
    if pairs < FEWEST:
        raise UnimodalError(
            f"the '--pairs' must be at least {FEWEST} for an interval of 95 %, got {pairs}."
        )
    with checked_out(commit) as old, tempfile.TemporaryDirectory() as folder:
        sides = [(old, Path(folder) / "old"), (REPOSITORY, Path(folder) / "new")]
        for group, lines in groups.items():
            if group != "cold":
                told(f"{group}: compiling both versions")
                for source, cache in sides:
                    results(source, lines, cache)
            found: tuple[list[Lines], list[Lines]] = ([], [])
            for pair in range(pairs):
                told(f"{group}: pair {pair + 1} of {pairs}")
                for turn in (0, 1) if pair % 2 else (1, 0):
                    source, cache = sides[turn]
                    found[turn].append(results(source, lines, cache))
            comparisons = []
            for each in compared(*found):
                if isinstance(each, str):
                    told(each)
                else:
                    comparisons.append(each)
            yield comparisons
