"""Campaigns over HTTP: `unimodal serve`, and the tokens of those who may call it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from unimodal.cli.app import DECIDE, app, terminal
from unimodal.errors import UnimodalError
from unimodal.escape_text import printable

tokens = typer.Typer(
    help="Make, list and withdraw the tokens of `unimodal serve`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(tokens, name="token", rich_help_panel=DECIDE)
STORE = "UNIMODAL_STORE"
TokenPath = Annotated[Path, typer.Argument(help="The token file; it has hashes, not tokens")]


@app.command(rich_help_panel=DECIDE)
def serve(
    store: Annotated[
        str,
        typer.Option(
            help="A folder, or postgresql://…; by default $UNIMODAL_STORE, else campaigns; with "
            "--demo, a folder that is deleted"
        ),
    ] = "",
    host: Annotated[str, typer.Option(help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one", min=0)] = 8000,
    token_file: Annotated[
        Path | None, typer.Option("--tokens", help="A file that `unimodal token add` made")
    ] = None,
    durability: Annotated[str, typer.Option(help="full, or fast: see docs/guide")] = "full",
    rate: Annotated[
        float, typer.Option(help="Requests per second and token, or address without one")
    ] = 5_000.0,
    watch: Annotated[float, typer.Option(help="Look for alarms every so many seconds")] = 60.0,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve three campaigns in a simulated world")
    ] = False,
) -> None:
    r"""Serve campaigns over HTTP, until SIGTERM or Ctrl-C.

    Without a token file it listens on this machine only, and whoever reaches it may do all. Leave a
    database's password to PGPASSWORD or a password file: all users of a machine see its commands.

    \b
    Examples:
      unimodal serve --store campaigns/
      unimodal serve --store campaigns/ --host 0.0.0.0 --tokens tokens.json
      unimodal serve --store postgresql://shop@db/campaigns --tokens tokens.json
      unimodal serve --demo
    """
    process = _process()
    from unimodal.errors import real_number
    from unimodal.service.limits import ServiceLimits

    limits = ServiceLimits(rate=real_number(rate, "the 'rate' of a service", above=0))
    pause = real_number(watch, "the 'watch' of a service", above=0)
    with contextlib.ExitStack() as stack:
        if demo and not store:
            store = stack.enter_context(tempfile.TemporaryDirectory(prefix="unimodal-demo-"))
            durability = "fast"
        given, store = store, store or os.environ.get(STORE) or "campaigns"
        place = _shown(store, warn=bool(given))
        process.serve(
            store,
            host,
            port,
            token_file,
            limits=limits,
            durability=durability,
            watch=pause,
            demo=demo,
            ready=lambda address: print(
                printable(f"unimodal serves {place} at {address} (Ctrl-C ends it)."), flush=True
            ),
        )


def _shown(store: str, warn: bool) -> str:
    """A store without its password; `warn` if others can read that on the command line."""
    from unimodal.campaigns.stores import as_database, is_meant_as_address

    if not is_meant_as_address(store):
        return store
    address = as_database(store, "the store of a service")
    if address.secrets and warn:
        print(
            "unimodal: all users of this machine can read the password in --store: put the address "
            f"into {STORE}, or leave the password to PGPASSWORD or a password file.",
            file=sys.stderr,
        )
    return str(address)


@tokens.command("add")
def add(
    file: TokenPath,
    role: Annotated[list[str], typer.Option(help="decide, read or admin; may be repeated")],
    name: Annotated[str, typer.Option(help="Who it is for, to tell it from others")] = "",
    campaign: Annotated[
        list[str] | None, typer.Option(help="Only for this campaign; may be repeated")
    ] = None,
    expires: Annotated[str, typer.Option(help="After this time, such as 12h or 90d")] = "",
) -> None:
    r"""Make a token and print it: this is the only time that it can be seen.

    \b
    Examples:
      unimodal token add tokens.json --role admin
      unimodal token add tokens.json --role decide --campaign prices --name shop --expires 90d
    """
    from unimodal.service.security import token_file
    from unimodal.service.security import tokens as kept

    token, entry = kept.make(name, role, campaign or (), _seconds(expires))
    with token_file.changing(file) as known:
        known[entry.id] = entry
    print(token)


@tokens.command("list")
def listed(file: TokenPath) -> None:
    r"""List the tokens of a file: ids, names, roles, campaigns, expiry; not the tokens themselves.

    \b
    Examples:
      unimodal token list tokens.json
    """
    from unimodal.report.tables import table
    from unimodal.service.security import token_file

    rows = [
        (
            *(one.id, one.name, " ".join(one.roles), " ".join(one.campaigns) or "all"),
            "never" if one.expires is None else f"{datetime.fromtimestamp(one.expires, UTC):%F %R}",
        )
        for one in token_file.read(file).values()
    ]
    columns = ["id", "name", "roles", "campaigns", "expires (UTC)"]
    terminal().print(table("Tokens", columns, rows))


@tokens.command("rotate")
def rotate(
    file: TokenPath,
    which: Annotated[str, typer.Argument(metavar="NAME", help="Its name, or its id")],
    expires: Annotated[
        str, typer.Option(help="After this time, such as 90d; by default as long as the old one")
    ] = "",
    grace: Annotated[
        str, typer.Option(help="How long the old one is still taken, such as 1h")
    ] = "0s",
) -> None:
    r"""Make a token in the place of another, with its name, roles and campaigns, and print it.

    \b
    Examples:
      unimodal token rotate tokens.json shop
      unimodal token rotate tokens.json shop --grace 1h --expires 90d
    """
    from unimodal.service.security import token_file
    from unimodal.service.security import tokens as kept

    with token_file.changing(file) as known:
        token, _ = kept.rotate(known, which, _seconds(expires), _seconds(grace) or 0.0)
    print(token)


@tokens.command("revoke")
def revoke(
    file: TokenPath,
    number: Annotated[str, typer.Argument(help="The id, as `unimodal token list` shows it")],
) -> None:
    r"""Withdraw a token: services that use the file refuse it within a second.

    \b
    Examples:
      unimodal token revoke tokens.json 1f0c6a52d3b9
    """
    from unimodal.errors import unknown_name
    from unimodal.service.security import token_file

    with token_file.changing(file) as known:
        if number not in known:
            raise unknown_name("token", number, known)
        del known[number]
    print(f"The token {number} was withdrawn.")


def _seconds(text: str) -> float | None:
    from unimodal.service.security.tokens import seconds_of

    return seconds_of(text) if text else None


def _process() -> ModuleType:
    try:
        from unimodal.service.server import process
    except ModuleNotFoundError as error:
        raise UnimodalError(
            f"a service needs {error.name}, which is not installed: pip install 'unimodal[serve]'."
        ) from None
    return process
