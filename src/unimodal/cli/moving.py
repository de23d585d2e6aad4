"""A campaign on the move: `unimodal copy`, `restore`, `export`, `compact`, `erase`, `migrate`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from unimodal.cli.app import KEEP, app
from unimodal.cli.campaigns import ArchiveFiles, CampaignFile, OwnPolicy, own_policy
from unimodal.escape_text import printable


@app.command(rich_help_panel=KEEP)
def copy(
    source: CampaignFile,
    target: Annotated[str, typer.Argument(help="A new file, or the address of a new campaign")],
    policy: OwnPolicy = "",
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Compare the copy, but do not fold its log again")
    ] = False,
) -> None:
    r"""Copy a campaign, which may be in use, into a new file or database.

    The copy is compared with the source, and its state is computed again from its log. Exit code 1
    if that says that the campaign is not sound; the copy is then as unsound as its source.

    \b
    Examples:
      unimodal copy ads.db backups/ads-monday.db
      unimodal copy ads.db "postgresql://user@host/shop?campaign=ads"
      unimodal copy "postgresql://user@host/shop?campaign=ads" ads.db
    """
    from unimodal.campaigns import copy as copied
    from unimodal.campaigns import sentence
    from unimodal.report.progress import bar

    with contextlib.ExitStack() as stack:
        shown: list[Any] = []  # a bar, as soon as it is known how long

        def progress(events: int, of: int) -> None:
            if not shown:
                shown.append(stack.enter_context(bar("copying", of, unit="events")))
            shown[0](events)

        done = copied(source, target, own_policy(policy), check=not no_verify, progress=progress)
    print(printable(str(done)))
    if done.verdict is not None:
        print(printable(sentence(done.verdict)))
        if not done.verdict:
            sys.exit(1)


@app.command(rich_help_panel=KEEP)
def restore(
    backup: Annotated[str, typer.Argument(help="A copy that `unimodal backup` or `copy` wrote")],
    target: Annotated[str, typer.Argument(help="The campaign's file, which nobody has open")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace a file that is there; it gets another name"),
    ] = False,
    policy: OwnPolicy = "",
) -> None:
    r"""Put a copy of a campaign in the place of its file.

    The copy is verified first. Do not use cp: what is left of the file before in its -wal would be
    written over the copy. Into a database, `unimodal copy` puts a file under a new name.

    \b
    Examples:
      unimodal restore backups/ads-monday.db ads.db
      unimodal restore backups/ads-monday.db ads.db --replace
    """
    from unimodal.campaigns import restore as restored
    from unimodal.campaigns import sentence

    done = restored(backup, target, own_policy(policy), replace=replace)
    print(printable(str(done)))
    print(printable(sentence(done.verdict)))


@app.command(rich_help_panel=KEEP)
def export(
    file: CampaignFile,
    target: Annotated[Path, typer.Argument(help="A new file, .parquet or .ndjson")],
    rows: Annotated[
        str, typer.Option(help="One row per event ('events') or per decision ('decisions')")
    ] = "events",
    archive: ArchiveFiles = [],  # noqa: B006
) -> None:
    r"""Write the log of a campaign, which may be in use, as Parquet or as JSON line by line.

    \b
    Examples:
      unimodal export ads.db ads.parquet
      unimodal export ads.db ads.ndjson --rows decisions
      unimodal export ads.db ads.parquet --archive ads.db.events-1-20000.parquet
    """
    from unimodal.campaigns import export as exported

    print(printable(str(exported(file, target, rows, archive))))


@app.command(rich_help_panel=KEEP)
def compact(
    file: CampaignFile,
    archive: Annotated[
        Path | None,
        typer.Option(help="A new .parquet file; by default FILE.events-FIRST-LAST.parquet"),
    ] = None,
    key_lifetime: Annotated[
        float, typer.Option(help="Seconds for which keys of decide(key=…) are still known")
    ] = 86_400.0,
    policy: OwnPolicy = "",
) -> None:
    r"""Move the events before the last snapshot into an archive; the campaign may be in use.

    It is verified first. Keep the archive: `verify`, `inspect`, `explain`, `replay` and `export`
    take it with --archive, and see only what came later without it.

    \b
    Examples:
      unimodal compact ads.db
      unimodal compact ads.db --archive archive/ads-2026.parquet
      unimodal compact "postgresql://user@host/shop?campaign=ads" --archive ads-2026.parquet
    """
    from unimodal.campaigns import compact as compacted

    done = compacted(file, archive, own_policy(policy), key_lifetime=key_lifetime)
    print(printable(str(done)))


@app.command(rich_help_panel=KEEP)
def erase(
    file: CampaignFile,
    arm: Annotated[str, typer.Argument(help="The label of an arm")],
    data: Annotated[
        bool, typer.Option("--data", help="Erase its rewards, too; it must have been retired")
    ] = False,
    archive: ArchiveFiles = [],  # noqa: B006
    policy: OwnPolicy = "",
) -> None:
    r"""Replace the label of an arm by a neutral one in a campaign and in its archives.

    Prints what `unimodal verify` can no longer check. Copies made before are not changed.

    \b
    Examples:
      unimodal erase ads.db "Ann Smith"
      unimodal erase ads.db "Ann Smith" --archive ads.db.events-1-20000.parquet
      unimodal erase ads.db "Ann Smith" --data --archive ads.db.events-1-20000.parquet
    """
    from unimodal.campaigns import erase as erased

    done = erased(file, arm, data=data, archives=archive, policy=own_policy(policy))
    print(printable(str(done)))


@app.command(rich_help_panel=KEEP)
def migrate(
    file: Annotated[str, typer.Argument(help="A campaign's file")], policy: OwnPolicy = ""
) -> None:
    r"""Bring a campaign's file that an older version wrote up to date, and verify it.

    A copy of the file as it was is kept beside it, as FILE.format1.bak.

    \b
    Examples:
      unimodal migrate ads.db
    """
    from unimodal.campaigns import migrate as migrated
    from unimodal.campaigns import sentence

    done = migrated(file, own_policy(policy))
    print(printable(str(done)))
    print(printable(sentence(done.verdict)))
    if not done.verdict:
        sys.exit(1)
