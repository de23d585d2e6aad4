"""`unimodal simulate` and `unimodal policies`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unimodal.cli.app import RESEARCH, app, silenced, terminal
from unimodal.errors import UnimodalError, whole_number


@app.command(rich_help_panel=RESEARCH)
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
    ] = "peakuts,uts,osub,ts,klucb",
    horizon: Annotated[str, typer.Option(help="Rounds a trial, such as 1e5")] = "1e5",
    trials: Annotated[str, typer.Option(help="Trials of each policy")] = "100",
    seed: Annotated[int, typer.Option(help="Seed of everything random, the graph included")] = 0,
    family: Annotated[
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
    delay: Annotated[
        str,
        typer.Option(help="How late rewards come: exponential:MEAN, lognormal:MEAN or fixed:TIME"),
    ] = "",
    time_to_live: Annotated[
        float | None, typer.Option(help="After how much time silence counts as 0, with --delay")
    ] = None,
    late: Annotated[str, typer.Option(help="weigh, hold or count, with --delay")] = "weigh",
    visitors: Annotated[float, typer.Option(help="Rounds in one unit of time")] = 1.0,
    workers: Annotated[int | None, typer.Option(help="Threads; all cores by default")] = None,
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the work")] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder for result.parquet, summary.csv and regret.png")
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--from", help="Run a saved result.parquet again, from what it says itself"),
    ] = None,
    shard: Annotated[
        str, typer.Option(help="Only this part of the trials, such as 3/100, for unimodal merge")
    ] = "",
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
      unimodal simulate --trials 1e4 --dask tcp://10.0.0.1:8786
      unimodal simulate --trials 1e4 --shard 3/100 --out parts
      unimodal simulate --horizon 6400 --delay exponential:1 --time-to-live 7 --visitors 160
    """
    import unimodal as um
    from unimodal import families, graphs, problems
    from unimodal import policies as known
    from unimodal.cli import merge as merging
    from unimodal.cli import simulate_output as screen
    from unimodal.report import tables
    from unimodal.studies.run_tasks import workers_at

    if dask and workers is not None:
        raise UnimodalError("--workers are threads of this machine: leave it out with --dask.")
    if scale not in ("log", "linear"):  # before minutes of work, not after
        raise UnimodalError(f"the --scale must be log or linear, got '{scale}'.")
    if out is not None and out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    part = merging.checked_shard(shard, out, again)
    if again is not None:
        with silenced():
            saved = um.Result.load(again)
        with workers_at(dask) as executor:
            result = saved.rerun(workers=workers, executor=executor)
    else:
        rounds, wanted = _number(horizon, "--horizon"), range(_number(trials, "--trials"))
        numbers = merging.trials_of(part, wanted)
        seed = whole_number(seed, "the --seed", 0)
        made = graphs.parse(graph, seed)
        best: Any = _peak(made, peak, seed)
        chosen = [known.parse(text) for text in known.split(policies)]
        problem = problems.by_distance(made, best, high, low, families.parse(family))
        which: dict[str, Any] = {"trials": len(numbers), "first_trial": numbers.start, "seed": seed}
        if delay or time_to_live is not None:
            law = problems.delays.parse(delay) if delay else None
            which |= {"delay": law, "time_to_live": time_to_live, "late": late}
            which["visitors"] = visitors
        with workers_at(dask) as executor:
            where: dict[str, Any] = {"workers": workers, "executor": executor}
            result = um.simulate(problem, chosen, horizon=rounds, **which, engine=engine, **where)
    console = terminal()
    if part is not None and out is not None:
        console.print(tables.words(merging.save(part, result, out)), soft_wrap=True)
        return
    screen.show(console, result)
    if out is not None:
        screen.write(result, out, scale)
        console.print(tables.words(f"Written to {out}/: result.parquet, summary.csv, regret.png"))
    else:
        console.print("Add --out DIR to keep the data and a figure.", style="dim")


@app.command(rich_help_panel=RESEARCH)
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
    terminal().print(tables.prose_table("Policies", columns, rows))
    terminal().print(
        "Written name(parameter=value, …), such as osub(c=0) or windowed(policy=uts, window=500)."
    )


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
    for label in graph.labels:  # which may be text, a number or a pair
        if str(label) == peak:
            return label
    return int(peak) if peak.isdecimal() else peak
