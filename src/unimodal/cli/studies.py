"""`unimodal reproduce` and `unimodal compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unimodal.cli.app import RESEARCH, app, silenced, terminal
from unimodal.errors import UnimodalError

SHARD = "Only this part of the work, such as 3/100, for unimodal merge"


@app.command(rich_help_panel=RESEARCH)
def reproduce(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer graphs and trials (default)")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's own scale; about 40 core-minutes")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report and for finished work")] = Path(
        "report"
    ),
    only: Annotated[
        str, typer.Option(help="Only what this names, such as 'Table 1' or 'K = 100,'")
    ] = "",
    decide: Annotated[
        bool,
        typer.Option("--decide", help="The paper's own scale, then trials until all is decided"),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(help="Core-minutes that --decide may add to the paper's own scale: 180"),
    ] = None,
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the work")] = "",
    source: Annotated[
        Path | None, typer.Option("--from", help="Make the report from a findings.parquet")
    ] = None,
    shard: Annotated[str, typer.Option(help=SHARD)] = "",
) -> None:
    r"""Run the paper's evaluation and write a page with its numbers beside ours.

    It resumes after an interruption.

    \b
    Examples:
      unimodal reproduce
      unimodal reproduce --full --out full
      unimodal reproduce --decide --budget 60 --out full
      unimodal reproduce --full --only "Table 2: K = 20, p = 1/2"
      unimodal reproduce --full --dask tcp://10.0.0.1:8786
      unimodal reproduce --full --shard 3/100 --out parts
      unimodal reproduce --from docs/studies/reproduction/findings.parquet --out again
    """
    from unimodal.cli import merge as merging
    from unimodal.cli import reproduce_output as command
    from unimodal.studies.reproduce import findings

    if quick and full:
        raise UnimodalError("--quick and --full exclude each other: give one of them, or none.")
    if out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    minutes = command.checked_budget(decide, budget, quick, only, source)
    console = terminal()
    part = merging.checked_shard(shard, out, source)
    if part is not None:
        if decide:
            raise UnimodalError("--decide adds trials by what it found: leave out --shard.")
        merging.run_shard(part, "reproduce", "full" if full else "quick", only, out, dask)
        return
    if source is not None:
        with silenced():
            found, decided = findings.load(source), command.decided_beside(source)
        command.remake(found, decided, source, out, console)
    elif decide:
        command.decide(out, minutes, dask, console)
    else:
        command.reproduce("full" if full else "quick", out, only, dask, console)


@app.command(rich_help_panel=RESEARCH)
def compare(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer graphs, trials and rounds: a minute or two")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page and for finished work")] = Path(
        "comparison"
    ),
    only: Annotated[str, typer.Option(help="Only families with this in their name")] = "",
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler to run the work")] = "",
    source: Annotated[
        Path | None, typer.Option("--from", help="Make the page from a comparison.parquet")
    ] = None,
    shard: Annotated[str, typer.Option(help=SHARD)] = "",
) -> None:
    r"""Run every policy on every family of graphs and write a page that ranks them.

    Takes eight core-minutes. It resumes after an interruption.

    \b
    Examples:
      unimodal compare --quick
      unimodal compare --only smooth --out smooth
      unimodal compare --dask tcp://10.0.0.1:8786
      unimodal compare --shard 3/100 --out parts
      unimodal compare --from docs/studies/comparison/comparison.parquet --out again
    """
    from unimodal.cli import compare_output as command
    from unimodal.cli import merge as merging
    from unimodal.studies.compare import comparison

    command.check(quick, out, only, dask, source)
    part = merging.checked_shard(shard, out, source)
    if part is not None:
        merging.run_shard(part, "compare", "quick" if quick else "full", only, out, dask)
        return
    if source is None:
        command.compare(quick, out, only, dask, terminal())
        return
    with silenced():
        found = comparison.load(source)
    command.remake(found, source, out, terminal())
