"""How fast it is: beside plain loops in the same run, and beside another commit.

    python benchmarks/run.py                          # or: make bench
    python benchmarks/run.py leap service             # some groups of lines
    python benchmarks/run.py --against HEAD~1 step "campaign: a decision, commits"

With --against, the files as they are and another commit are timed in turns; it ends with status 1
if the whole 95 % interval of a line's ratio lies above 1.05.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import durable_rewards
import figures
import leaps
import oracles
from against import REPOSITORY, SLOWER, Comparison, against, results
from rich.console import Console
from workloads import GROUPS, SLOW, lines_of

from unimodal.cli.app import terminal
from unimodal.errors import UnimodalError, unknown_name
from unimodal.report import tables

# What is measured beside plain loops, by group. Groups without such figures show their lines.
FIGURES: dict[str, list[Any]] = {
    "step": [figures.rates],
    "leap": [leaps.leaps, leaps.long_runs, leaps.near_ties],
    "agent": [figures.decisions, oracles.figures],
    "campaign": [durable_rewards.durable_rewards],
    "start": [figures.start_up, figures.first_use],
}
BESIDE = {"step": "C++ guide", "leap": "aim", "start": "aim"}  # the column beside what must be


def chosen(names: Sequence[str]) -> dict[str, list[str]]:
    """Lines by group: of the groups that are named, and single lines by their own names."""
    found: dict[str, list[str]] = {}
    every = {line: group for group in GROUPS for line in lines_of(group)}
    for name in names or [group for group in GROUPS if group not in SLOW]:
        if name in GROUPS:
            found[name] = lines_of(name)
        elif name in every:
            lines = found.setdefault(every[name], [])
            if name not in lines:
                lines.append(name)
        else:
            kind, known = ("line", every) if " " in name else ("group of lines", GROUPS)
            raise unknown_name(kind, name, tuple(known))
    return found


def show(groups: Mapping[str, Sequence[str]], console: Console) -> None:
    """Measure groups; each figure is told as soon as it is known."""
    for group, lines in groups.items():
        if group in FIGURES and len(lines) == len(lines_of(group)):
            show_figures(group, console)
        else:
            show_lines(group, lines, console)


def show_figures(group: str, console: Console) -> None:
    rows = []
    for figure in itertools.chain.from_iterable(each() for each in FIGURES[group]):
        word = "reached" if figure.reached else "MISSED"
        rows.append((figure.work, figure.value, figure.must, figure.guide, word))
        console.print(f"{figure.work}: {figure.value}", style="dim")
    columns = ("work", "measured", "must reach", BESIDE.get(group, ""), "")
    console.print(tables.table(f"Speed ({group}), one core, runs take turns", columns, rows))


def show_lines(group: str, lines: Sequence[str], console: Console) -> None:
    found = results(REPOSITORY, lines)
    for line, value in found.items():
        if isinstance(value, str):
            raise UnimodalError(f"{line}: it cannot be run ({value}).")
    rows = [(line, f"{value:.3g}") for line, value in found.items()]
    title = f"Speed ({group}): core-seconds, or bare commits if the line says so"
    console.print(tables.table(title, ("line", "measured"), rows))


def compare(
    commit: str, pairs: int, groups: Mapping[str, Sequence[str]], console: Console
) -> list[Comparison]:
    """Compare with a commit, one table for each group."""
    found: list[Comparison] = []
    columns = ("line", commit, "now", "now / then", "95 % interval", "range", "")
    for lines in against(commit, pairs, groups, lambda text: console.print(text, style="dim")):
        found += lines
        title = f"Medians of {pairs} pairs of processes; intervals by the sign test"
        console.print(tables.table(title, columns, rows_of(lines)))
    slower = [each.line for each in found if each.is_slower]
    console.print(
        f"Slower by more than {SLOWER - 1:.0%} for certain: {'; '.join(slower) or 'no line'}."
    )
    return found


def rows_of(lines: Sequence[Comparison]) -> Iterator[tuple[str, ...]]:
    for each in lines:
        yield (
            each.line,
            f"{each.old:.3g}",
            f"{each.new:.3g}",
            f"{each.ratio:.3f}",
            f"{each.low:.3f} to {each.high:.3f}",
            f"{each.lowest:.3f} to {each.highest:.3f}",
            "SLOWER" if each.is_slower else "faster" if each.is_faster else "",
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a line is slower, 2 after a mistake."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = f"groups ({', '.join(GROUPS)}; all but {', '.join(SLOW)} by default) or single lines"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--against", metavar="COMMIT", help="another commit of the repository")
    parser.add_argument("--pairs", type=int, default=10, help="of runs that take turns")
    options = parser.parse_args(arguments)
    console = terminal()
    try:
        groups = chosen(options.names)
        if options.against is None:
            show(groups, console)
            return 0
        found = compare(options.against, options.pairs, groups, console)
        return int(any(each.is_slower for each in found))
    except UnimodalError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the worktree is removed then, too
    sys.exit(main())
