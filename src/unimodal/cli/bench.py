"""`unimodal bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from unimodal.cli.app import MACHINE, app, terminal


@app.command(rich_help_panel=MACHINE)
def bench(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="step, leap, ask, agent or start; all by default. With --against: step, leap, "
            "ask, campaign, start or cold; all but cold by default"
        ),
    ] = None,
    against: Annotated[
        str, typer.Option(metavar="COMMIT", help="Compare with another commit of the repository")
    ] = "",
    pairs: Annotated[int, typer.Option(help="With --against: pairs of runs that take turns")] = 10,
) -> None:
    r"""Measure speed, as ratios to plain loops timed in the same run (several minutes for all).

    With --against, the lines of another commit and of the files as they are now are timed in
    turns; it ends with status 1 if the whole 95 % interval of a ratio lies above 1.05.

    \b
    Examples:
      unimodal bench
      unimodal bench leap
      unimodal bench --against HEAD~1 step leap
      unimodal bench --against ac7e735 --pairs 20
    """
    from unimodal.cli import bench_output as command

    if not against:
        command.run(what or (), terminal())
    elif command.run_against(against, pairs, what or (), terminal()):
        raise typer.Exit(1)
