"""A campaign from its file: `unimodal verify`, `inspect`, `certify`, `explain` and others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from unimodal.cli.app import DECIDE, KEEP, app, terminal
from unimodal.escape_text import printable

CampaignFile = Annotated[
    str, typer.Argument(help="A campaign's file, or postgresql://user@host/database?campaign=name")
]
OwnPolicy = Annotated[
    str, typer.Option(help="FILE.py:Class(…), if the campaign's policy is one of your own")
]
ArchiveFiles = Annotated[
    list[Path],
    typer.Option("--archive", help="An archive that `unimodal compact` wrote; all of them, if any"),
]


@app.command(rich_help_panel=KEEP)
def verify(
    file: CampaignFile,
    policy: OwnPolicy = "",
    archive: ArchiveFiles = [],  # noqa: B006
) -> None:
    r"""Compute a campaign's state again from its log, and compare it bit for bit.

    Exit code 1 if something is wrong.

    \b
    Examples:
      unimodal verify ads.db
      unimodal verify ads.db --policy "mine.py:Greedy(epsilon=0.2)"
      unimodal verify ads.db --archive ads.db.events-1-20000.parquet
    """
    from unimodal.campaigns import sentence
    from unimodal.campaigns import verify as verified

    verdict = verified(file, own_policy(policy), archive)
    print(printable(sentence(verdict)))
    if not verdict:
        sys.exit(1)


@app.command(rich_help_panel=KEEP)
def backup(
    file: CampaignFile,
    target: Annotated[
        str, typer.Argument(help="A new file; of a campaign in a database, a new one of the same")
    ],
) -> None:
    r"""Copy a campaign that may be in use to its like; what was acknowledged before is in it.

    Do not copy the file by other means while it is in use: a part of it is in its -wal file. From a
    file into a database, or back, `unimodal copy` goes.

    \b
    Examples:
      unimodal backup ads.db backups/ads-monday.db
      unimodal backup "postgresql://host/shop?campaign=ads" "postgresql://host/shop?campaign=monday"
    """
    from unimodal.campaigns.reading import backup as copied
    from unimodal.campaigns.stores import as_place

    copy = copied(file, target)
    size = f" ({copy.stat().st_size:,} bytes)" if isinstance(copy, Path) else ""
    place = as_place(file, "the path of a campaign")
    print(printable(f"{place} was copied to {copy}{size}."))


@app.command(rich_help_panel=DECIDE)
def inspect(
    file: CampaignFile,
    html: Annotated[Path | None, typer.Option(help="A file for the page, with pictures")] = None,
    around: Annotated[
        str | None, typer.Option(help="The arm to look around; the leader by default")
    ] = None,
    policy: OwnPolicy = "",
    archive: ArchiveFiles = [],  # noqa: B006
) -> None:
    r"""Look at a campaign: its leader, what is known around it, and how it came there.

    \b
    Examples:
      unimodal inspect ads.db
      unimodal inspect ads.db --html ads.html
      unimodal inspect ads.db --around 12.90
    """
    from unimodal.cli import inspect_output as command

    command.show(_looked_at(file, policy, archive), html, around, terminal())


@app.command(rich_help_panel=DECIDE)
def certify(
    file: CampaignFile,
    confidence: Annotated[float, typer.Option(help="How sure to be, between 0 and 1")] = 0.95,
    tolerance: Annotated[
        float | None, typer.Option(help="By how much the peak may be better, in units of reward")
    ] = None,
    policy: OwnPolicy = "",
    archive: ArchiveFiles = [],  # noqa: B006
) -> None:
    r"""Say which arm is the peak, at a confidence that holds however often one looks.

    Exit code 1 if it is not certified yet.

    \b
    Examples:
      unimodal certify prices.db
      unimodal certify prices.db --confidence 0.99
      unimodal certify prices.db --tolerance 0.05
    """
    from unimodal.cli import certify_output as command

    if not command.show(_looked_at(file, policy, archive), confidence, tolerance, terminal()):
        sys.exit(1)


@app.command(rich_help_panel=DECIDE)
def explain(
    file: CampaignFile,
    decision: Annotated[int, typer.Argument(help="The id of a decision")],
    policy: OwnPolicy = "",
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON")] = False,
    archive: ArchiveFiles = [],  # noqa: B006
) -> None:
    r"""Say why a decision fell on its arm: what was known then, what was drawn, who won.

    It is worked out from the log alone; no look-up is made.

    \b
    Examples:
      unimodal explain ads.db 1234
      unimodal explain ads.db 1234 --json
    """
    from unimodal.campaigns import explain as explained
    from unimodal.cli import explain_output as command

    found = explained(file, decision, own_policy(policy), archive)
    if json:
        print(found.to_json())
    else:
        command.show(found, terminal())


@app.command(rich_help_panel=DECIDE)
def replay(
    file: CampaignFile,
    policies: Annotated[
        str,
        typer.Option(help="Names with commas; parameters in parentheses; FILE.py:Class for yours"),
    ] = "peakuts,ts,osub,klucb",
    draws: Annotated[int, typer.Option(help="Worlds that each policy is simulated in")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of everything random")] = 0,
    any_peaks: Annotated[
        bool, typer.Option("--any-peaks", help="Do not assume that the means have one peak")
    ] = False,
    out: Annotated[Path | None, typer.Option("--json", help="A file for the numbers")] = None,
    policy: OwnPolicy = "",
    archive: ArchiveFiles = [],  # noqa: B006
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
    from unimodal.cli import replay_output as command

    command.run(
        _looked_at(file, policy, archive), policies, draws, seed, not any_peaks, out, terminal()
    )


def own_policy(policy: str) -> Any:
    """The policy that --policy names; None if it names none."""
    from unimodal.policies import parse

    return parse(policy) if policy else None


def _looked_at(file: str, policy: str, archive: list[Path]) -> Any:
    from unimodal.campaigns import look

    return look(file, own_policy(policy), archive)
