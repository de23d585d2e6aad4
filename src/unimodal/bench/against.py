"""The files as they are against another commit: the same lines, in processes that take turns.

The lines are in `benchmarks/workloads.py`, which keeps to the public API, so that older commits run
it. The interval of a ratio is that of the sign test: order statistics of the pairs' ratios, which
hold the median with at least 95 % whatever the law of the noise, if pairs are independent.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from unimodal.errors import UnimodalError, unknown_name

REPOSITORY = Path(__file__).resolve().parents[3]
WORKLOADS = REPOSITORY / "benchmarks" / "workloads.py"
GROUPS = ("step", "leap", "ask", "campaign", "start", "cold")
DEFAULT = GROUPS[:-1]  # a cold pair takes most of a minute
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


def compared(old: Sequence[dict[str, float]], new: Sequence[dict[str, float]]) -> list[Comparison]:
    """The lines that both versions have, from their results in pairs."""
    found = []
    for line in old[0]:
        if all(line in results for results in (*old, *new)):
            before, after = ([results[line] for results in side] for side in (old, new))
            ratios = [b / a for a, b in zip(before, after, strict=True)]
            interval = median_interval(ratios)
            found.append(Comparison(line, median(before), median(after), median(ratios), *interval))
    return found


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


def results(source: Path, cache: Path, groups: Sequence[str]) -> dict[str, float]:
    """What the version in this folder takes, measured in a new process."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(source / "src"),
        "UNIMODAL_CACHE_DIR": str(cache),
    }
    command = [sys.executable, str(WORKLOADS), *groups]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        why = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnimodalError(f"the version in {source} cannot run the benchmark: {why}")
    found = json.loads(ran.stdout)
    if not Path(found["package"]).is_relative_to(source.resolve()):
        raise UnimodalError(f"the benchmark must run the version in {source}, got {found}.")
    lines: dict[str, float] = found["lines"]
    return lines


def against(
    commit: str, pairs: int, groups: Sequence[str], told: Callable[[str], object]
) -> Iterator[list[Comparison]]:
    """Compare this version with a commit, one group of lines after the other."""
    for name in groups:
        if name not in GROUPS:
            raise unknown_name("group of lines", name, GROUPS)
    if pairs < FEWEST:
        raise UnimodalError(
            f"the '--pairs' must be at least {FEWEST} for an interval of 95 %, got {pairs}."
        )
    if not WORKLOADS.exists():
        raise UnimodalError(
            f"comparing with a commit needs the repository, with {WORKLOADS}: "
            "run it from a clone, with the package installed from there (make install)."
        )
    with checked_out(commit) as old, tempfile.TemporaryDirectory() as folder:
        sides = [(old, Path(folder) / "old"), (REPOSITORY, Path(folder) / "new")]
        for group in groups or DEFAULT:
            if group != "cold":
                told(f"{group}: compiling both versions")
                for side in sides:
                    results(*side, [group])
            found: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
            for pair in range(pairs):
                told(f"{group}: pair {pair + 1} of {pairs}")
                for turn in (0, 1) if pair % 2 else (1, 0):
                    found[turn].append(results(*sides[turn], [group]))
            yield compared(*found)
