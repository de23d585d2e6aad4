"""The command line. Heavy imports stand inside the commands, so that --help is quick."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unimodal.errors import UnimodalError, whole_number

if TYPE_CHECKING:
    from rich.console import Console

    from unimodal.problems import Problem
    from unimodal.result import Result

app = typer.Typer(
    help="Bandits whose arms lie on a graph and whose reward has one peak.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would read er:100:0.05 as an emoji
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command; a mistake gets one sentence and a non-zero exit, never a traceback."""
    try:
        app()
    except UnimodalError as error:
        print(f"unimodal: {error}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("unimodal: there is not enough memory: take fewer arms or trials.", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader, such as head, has gone
        os._exit(0)
    except KeyboardInterrupt:
        print("unimodal: stopped; what is finished is kept.", file=sys.stderr, flush=True)
        os._exit(130)  # not sys.exit, which would wait for threads that are still compiling


@app.command()
def simulate(
    graph: Annotated[
        str,
        typer.Option(
            help="line:K, complete:K, er:K:P, ba:K:M, grid:RxC, torus:RxC, lattice:AxBxC, star:K, "
            "tree:K, hypercube:D, rank_one:RxC or edges:FILE.csv"
        ),
    ] = "line:17",
    policies: Annotated[
        str,
        typer.Option(help="Names with commas; parameters in parentheses; FILE.py:Class for yours"),
    ] = "uts,osub,ts,klucb",
    horizon: Annotated[str, typer.Option(help="Rounds a trial, such as 1e5")] = "1e5",
    trials: Annotated[str, typer.Option(help="Trials of each policy")] = "100",
    seed: Annotated[int, typer.Option(help="Seed of everything random, the graph included")] = 0,
    rewards: Annotated[
        str, typer.Option(help="bernoulli, gaussian:SIGMA, poisson, exponential, bounded:A:B")
    ] = "bernoulli",
    high: Annotated[float, typer.Option(help="Mean of the best arm")] = 0.9,
    low: Annotated[float, typer.Option(help="Mean of the arms farthest from it")] = 0.1,
    peak: Annotated[
        str, typer.Option(help="The best arm: 'middle', 'random' or an arm")
    ] = "middle",
    scale: Annotated[str, typer.Option(help="Axis of rounds in the figure: log or linear")] = "log",
    engine: Annotated[
        str, typer.Option(help="auto, step (every round) or leap (skips, in the same law)")
    ] = "auto",
    workers: Annotated[int | None, typer.Option(help="Threads; all cores by default")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for result.parquet, summary.csv and regret.png")
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--from", help="Run a saved result.parquet again, from what it says itself"),
    ] = None,
) -> None:
    r"""Compare policies on a graph: a table here, and a figure and the data in a folder.

    Means fall evenly with the distance from the best arm, as in the paper.

    \b
    Examples:
      unimodal simulate --graph line:129 --horizon 1e5 --trials 100 --out results
      unimodal simulate --graph er:100:0.05 --peak random --policies "uts,osub(c=0)"
      unimodal simulate --graph edges:friends.csv --policies uts,mine.py:Greedy
      unimodal simulate --horizon 1e9 --policies uts,osub --engine leap
      unimodal simulate --from results/result.parquet --out again
    """
    import unimodal as um
    from unimodal import families, graphs, problems
    from unimodal import policies as known

    if scale not in ("log", "linear"):  # before minutes of work, not after
        raise UnimodalError(f"the --scale must be log or linear, got '{scale}'.")
    if out is not None and out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    if again is not None:
        result = um.rerun(um.load(again), workers=workers)
    else:
        rounds, repeats = _number(horizon, "--horizon"), _number(trials, "--trials")
        seed = whole_number(seed, "the --seed", 0)
        made = graphs.parse(graph, seed)
        best: Any = _peak(made, peak, seed)
        chosen = [known.parse(text) for text in known.split(policies)]
        problem = problems.by_distance(made, best, high, low, families.parse(rewards))
        numbers: dict[str, Any] = {"horizon": rounds, "trials": repeats, "seed": seed}
        result = um.simulate(problem, chosen, **numbers, engine=engine, workers=workers)
    console = _console()
    _show(console, result)
    if out is not None:
        _write(result, out, scale)
        console.print(f"Written to {out}/: result.parquet, summary.csv, regret.png")
    else:
        console.print("Add --out DIR to keep the data and a figure.", style="dim")


@app.command()
def policies() -> None:
    """List the policies: parameters, what each does, and where it comes from.

    Example: unimodal policies
    """
    import dataclasses

    from unimodal.policies import POLICIES, WRAPPERS
    from unimodal.report import tables

    rows = []
    for name, cls in (POLICIES | WRAPPERS).items():
        fields = [f for f in dataclasses.fields(cls) if f.name != "name"]
        parameters = ", ".join(
            f.name if f.default is dataclasses.MISSING else f"{f.name}={f.default}" for f in fields
        )
        rows.append((name, parameters, cls.summary, cls.citation))
    columns = ("name", "parameters", "what it does", "source")
    _console().print(tables.prose_table("Policies", columns, rows))


@app.command()
def reproduce(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer graphs and trials (default)")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's own scale; half an hour on 2 cores")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report and for finished work")] = Path(
        "report"
    ),
    only: Annotated[
        str, typer.Option(help="Only what this names, such as 'Table 1' or 'K = 100,'")
    ] = "",
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the work")] = "",
    source: Annotated[
        Path | None, typer.Option("--from", help="Make the report from a findings.parquet")
    ] = None,
) -> None:
    r"""Run the paper's evaluation and write a page with its numbers beside ours.

    Stopped or killed, it goes on where it was when it is run again.

    \b
    Examples:
      unimodal reproduce
      unimodal reproduce --full --out full
      unimodal reproduce --full --only "Table 1"
      unimodal reproduce --from docs/reproduction/findings.parquet --out again
    """
    from unimodal.reproduce import command

    if quick and full:
        raise UnimodalError("--quick and --full exclude each other: give one of them, or none.")
    if out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    console = _console()
    if source is not None:
        command.remake(source, out, console)
    else:
        command.reproduce("full" if full else "quick", out, only, dask, console)


@app.command()
def compare(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer graphs, trials and rounds: a minute or two")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page and for finished work")] = Path(
        "comparison"
    ),
    only: Annotated[str, typer.Option(help="Only families with this in their name")] = "",
    source: Annotated[
        Path | None, typer.Option("--from", help="Make the page from a comparison.parquet")
    ] = None,
) -> None:
    r"""Run every policy on every family of graphs and write a page that ranks them.

    Five minutes on one core. Stopped or killed, it goes on where it was when it is run again.

    \b
    Examples:
      unimodal compare --quick
      unimodal compare --only smooth --out smooth
      unimodal compare --from docs/comparison/comparison.parquet --out again
    """
    from unimodal.compare import command

    command.compare(quick, out, only, source, _console())


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="The campaign's file")],
    html: Annotated[Path | None, typer.Option(help="A file for the page, with pictures")] = None,
    around: Annotated[
        str | None, typer.Option(help="The arm to look around; the leader by default")
    ] = None,
) -> None:
    r"""Look at a campaign: its leader, what is known around it, and how it came there.

    \b
    Examples:
      unimodal inspect ads.db
      unimodal inspect ads.db --html ads.html
      unimodal inspect ads.db --around 12.90
    """
    from unimodal.viewing import command

    command.show(_campaign(file), html, around, _console())


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="The campaign's file")],
    policies: Annotated[
        str,
        typer.Option(help="Names with commas; parameters in parentheses; FILE.py:Class for yours"),
    ] = "ts,osub,klucb",
    draws: Annotated[int, typer.Option(help="Worlds that each policy is simulated in")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of everything random")] = 0,
    any_peaks: Annotated[
        bool, typer.Option("--any-peaks", help="Do not assume that the means have one peak")
    ] = False,
    out: Annotated[Path | None, typer.Option("--json", help="A file for the numbers")] = None,
) -> None:
    r"""Estimate what other policies would have earned in a campaign, with 95 % intervals.

    Means are drawn from what the log leaves plausible, and each policy is simulated on every draw
    for as many rounds as there are rewards. The log's own policy runs again as a control.

    \b
    Examples:
      unimodal replay ads.db
      unimodal replay ads.db --policies "ts,osub(c=0),klucb" --draws 500
      unimodal replay ads.db --policies uts,mine.py:Greedy --json replay.json
    """
    from unimodal.replaying import command

    command.run(_campaign(file), policies, draws, seed, not any_peaks, out, _console())


@app.command()
def bench(
    what: Annotated[
        list[str] | None, typer.Argument(help="step, leap, ask or start; all by default")
    ] = None,
) -> None:
    r"""Measure speed, as ratios to plain loops timed in the same run (five minutes for all).

    \b
    Examples:
      unimodal bench
      unimodal bench leap
    """
    from unimodal.bench import command

    command.run(what or (), _console())


def _campaign(file: Path) -> Any:
    """A campaign that is there already."""
    import unimodal as um

    return um.Campaign.open(file)


def _number(text: str, option: str) -> int:
    """A whole number that may be written 1e5."""
    try:
        value = float(text)
    except ValueError:
        raise UnimodalError(
            f"the {option} must be a whole number, such as 1000 or 1e5, got '{text}'."
        ) from None
    return whole_number(value, f"the {option}")


def _peak(graph: Any, peak: str, seed: int) -> Any:
    from unimodal.problems import random_peak

    if peak == "middle":
        return None
    if peak == "random":
        return graph.label_of(random_peak(graph, seed))
    for label in graph.labels or ():  # which may be text, a number or a pair
        if str(label) == peak:
            return label
    return int(peak) if peak.isdecimal() else peak


def _console() -> Console:
    from rich.console import Console

    # A pipe has no width: do not wrap tables there at 80 columns.
    width = None if sys.stdout.isatty() else 120
    return Console(width=width, emoji=False, highlight=False)


def _show(console: Console, result: Result) -> None:
    from unimodal import analysis
    from unimodal.report import tables

    best = min(result, key=lambda name: result.regret(name).value)
    rows = []
    for name, run in result.items():
        last = run.regret[:, -1]
        low, median, high = (analysis.describe(last)[q] for q in ("q05", "median", "q95"))
        ratio = result.ratio(name, best) if result.regret(best).value > 0 else "–"
        quantiles = f"{low:.1f} … {high:.1f}"
        rows.append((name, result.regret(name), f"{median:.1f}", quantiles, ratio))
    problem: Problem = result.problem
    title = f"Regret after {result.horizon:,} rounds, {result.trials} trials, seed {result.seed}"
    columns = ("policy", "mean ± 95 %", "median", "5 % … 95 %", f"relative to {best}")
    console.print(f"{problem!r}")
    check = problem.check()
    if not check:
        console.print(f"Note: {check}", style="yellow")
    console.print(tables.table(title, columns, rows))
    bound = problem.lower_bound
    console.print(
        f"Theorem 1: c(μ) = {bound:.3g}, c(μ)·log T = {bound * _log(result.horizon):.4g} "
        "(for large T; a finite regret may lie below)."
    )


def _log(x: float) -> float:
    from math import log

    return log(x)


def _write(result: Result, folder: Path, scale: str) -> None:
    from unimodal import files

    result.save(folder / "result.parquet")
    summary = result.summary()
    files.write(folder / "summary.csv", lambda to: summary.write_csv(to))
    figure: Any = result.plot(scale=scale).figure
    files.write(folder / "regret.png", lambda to: figure.savefig(to, dpi=160))
