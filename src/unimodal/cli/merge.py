"""`unimodal merge`, and --shard of the commands whose work it puts together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unimodal.cli.app import RESEARCH, app, silenced, terminal
from unimodal.errors import UnimodalError

if TYPE_CHECKING:
    from rich.console import Console

    from unimodal.results.result import Result
    from unimodal.results.shards import Shard

_KINDS = ("compare", "reproduce")


@app.command(rich_help_panel=RESEARCH)
def merge(
    folder: Annotated[Path, typer.Argument(help="The --out of all shards")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for what one run would write; DIR by default")
    ] = None,
    scale: Annotated[str, typer.Option(help="Axis of rounds in the figure: log or linear")] = "log",
    policies: Annotated[
        str, typer.Option(help="FILE.py:Class of your own policies, of which files have the name")
    ] = "",
) -> None:
    r"""Put the shards of simulate, compare or reproduce together: the bytes of one run.

    \b
    Examples:
      unimodal simulate --trials 1e4 --shard 1/2 --out parts
      unimodal simulate --trials 1e4 --shard 2/2 --out parts
      unimodal merge parts
    """
    from unimodal.results import shards

    if scale not in ("log", "linear"):
        raise UnimodalError(f"the --scale must be log or linear, got '{scale}'.")
    if out is not None and out.exists() and not out.is_dir():
        raise UnimodalError(f"--out must be a folder, got the file {out}: name another place.")
    found = shards.found_in(folder)
    if next(iter(found.values())).suffix == ".parquet":
        _merge_results(found, out or folder, scale, policies)
    else:
        _merge_study(next(iter(found.values())), folder, out or folder, terminal())


def checked_shard(shard: str, out: Path | None, source: Path | None) -> Shard | None:
    """The shard that --shard names, if it does; refused without --out, and with --from."""
    from unimodal.results import shards

    if not shard:
        return None
    if source is not None:
        raise UnimodalError("--shard is a part of new work: leave out --from.")
    if out is None:
        raise UnimodalError("--shard needs the folder in which all shards are kept: add --out DIR.")
    return shards.parse(shard)


def trials_of(part: Shard | None, wanted: range) -> range:
    """The trials of a shard; all of them if there is none."""
    if part is None:
        return wanted
    if part.count > len(wanted):
        raise UnimodalError(
            f"{len(wanted)} trials make at most as many shards, got {part}: ask for more --trials, "
            "or for fewer shards."
        )
    return part.of(wanted)


def save(part: Shard, result: Result, out: Path) -> str:
    """Write the trials of a shard into its file; what to say of it."""
    path = result.save(part.path(out, ".parquet"))
    numbers = f"{result.numbers.start} to {result.numbers.stop - 1}"
    return f"Shard {part}, trials {numbers}, is in {path}; with all there: unimodal merge {out}"


def run_shard(part: Shard, kind: str, scale: str, only: str, out: Path, dask: str) -> None:
    """Run a shard of a study and say where it is."""
    from unimodal.report import tables
    from unimodal.studies.run_tasks import workers_at
    from unimodal.studies.study import Study, progress_bar

    chosen, outcome = _planned(kind, scale, only)
    watch, note = progress_bar(f"Shard {part}"), {"kind": kind, "scale": scale, "only": only}
    with workers_at(dask) as executor:
        path = Study(chosen, outcome).run_shard(str(part), out, executor, watch, note)
    said = f"Shard {part} is in {path}; with all there: unimodal merge {out}"
    terminal().print(tables.words(said), soft_wrap=True)


def _planned(kind: str, scale: str, only: str) -> tuple[list[Any], Any]:
    """The settings of a study that a command runs, and what is kept of each."""
    if kind == "compare":
        from unimodal.cli import compare_output
        from unimodal.studies.compare.graph_families import FULL, QUICK, settings
        from unimodal.studies.outcome import Regrets

        planned = settings(QUICK if scale == "quick" else FULL)
        return compare_output.with_name(planned, only), Regrets
    from unimodal.cli import reproduce_output
    from unimodal.studies.reproduce.findings import Finding
    from unimodal.studies.reproduce.settings import SCALES
    from unimodal.studies.reproduce.settings import settings as paper

    return reproduce_output.with_name(paper(SCALES[scale]), only), Finding


def _merge_results(found: dict[Shard, Path], out: Path, scale: str, policies: str) -> None:
    """Write what one `unimodal simulate` would."""
    from unimodal import policies as known
    from unimodal.cli import simulate_output as screen
    from unimodal.report import tables
    from unimodal.results.merge import merge_named
    from unimodal.results.result import Result

    own = [known.parse(text) for text in known.split(policies)] if policies else []
    with silenced():
        parts = [(f"shard {one}", Result.load(path, policies=own)) for one, path in found.items()]
    result = merge_named(parts)
    if result.first_trial:
        raise UnimodalError(
            f"shard {next(iter(found))} must begin with trial 0, got {result.first_trial}: "
            "run it again."
        )
    console = terminal()
    screen.show(console, result)
    screen.write(result, out, scale)
    console.print(tables.words(f"Written to {out}/: result.parquet, summary.csv, regret.png"))


def _merge_study(first: Path, folder: Path, out: Path, console: Console) -> None:
    """Take the tasks of all shards together, then write what one run would."""
    from unimodal.cli import compare_output, reproduce_output
    from unimodal.studies import shards
    from unimodal.studies.reproduce.settings import SCALES
    from unimodal.studies.study import FILE, Study

    note = shards.made_by(first)
    known = isinstance(note, dict) and note.get("kind") in _KINDS and note.get("scale") in SCALES
    if not known or not isinstance(note.get("only"), str):
        raise UnimodalError(
            f"{first} is a shard of a study of your own: merge it with that study's merge."
        )
    kind, scale, only = note["kind"], note["scale"], note["only"]
    chosen, outcome = _planned(kind, scale, only)
    shards.merge(Study(chosen, outcome).tasks(), folder, out / FILE)
    if kind == "compare":
        compare_output.compare(scale == "quick", out, only, "", console)
    else:
        reproduce_output.reproduce(scale, out, only, "", console)
