"""Campaigns over HTTP: `unimodal serve`, and the tokens of those who may call it."""

from __future__ import annotations

import contextlib
import re
import tempfile
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
TokenPath = Annotated[Path, typer.Argument(help="The token file; it has hashes, not tokens")]


@app.command(rich_help_panel=DECIDE)
def serve(
    store: Annotated[
        str, typer.Option(help="A folder, or postgresql://…; with --demo, one that is deleted")
    ] = "",
    host: Annotated[str, typer.Option(help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one", min=0)] = 8000,
    token_file: Annotated[
        Path | None, typer.Option("--tokens", help="A file that `unimodal token add` made")
    ] = None,
    durability: Annotated[str, typer.Option(help="full, or fast: see docs/guide")] = "full",
    rate: Annotated[float, typer.Option(help="Requests per second and token")] = 5_000.0,
    watch: Annotated[float, typer.Option(help="Look for alarms every so many seconds")] = 60.0,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve three campaigns in a simulated world")
    ] = False,
) -> None:
    r"""Serve campaigns over HTTP, until SIGTERM or Ctrl-C.

    Without a token file it listens on this machine only, and whoever reaches it may do all.

    \b
    Examples:
      unimodal serve --store campaigns/
      unimodal serve --store campaigns/ --host 0.0.0.0 --tokens tokens.json
      unimodal serve --store postgresql://shop@db/campaigns --tokens tokens.json
      unimodal serve --demo
    """
    server = _server()
    from unimodal.errors import real_number
    from unimodal.service.limits import Limits

    limits = Limits(rate=real_number(rate, "the 'rate' of a service", above=0))
    pause = real_number(watch, "the 'watch' of a service", above=0)
    with contextlib.ExitStack() as stack:
        if demo and not store:
            store = stack.enter_context(tempfile.TemporaryDirectory(prefix="unimodal-demo-"))
            durability = "fast"
        place = _without_password(store or "campaigns")
        server.serve(
            store or "campaigns",
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


def _without_password(store: str) -> str:
    return re.sub(r"(://[^:/@?]*):[^/?]*@", r"\1@", store)


@tokens.command("add")
def add(
    file: TokenPath,
    role: Annotated[list[str], typer.Option(help="decide, read or admin; may be repeated")],
    name: Annotated[str, typer.Option(help="Who it is for, to tell it from others")] = "",
    campaign: Annotated[
        list[str] | None, typer.Option(help="Only for this campaign; may be repeated")
    ] = None,
) -> None:
    r"""Make a token and print it: this is the only time that it can be seen.

    \b
    Examples:
      unimodal token add tokens.json --role admin
      unimodal token add tokens.json --role decide --campaign prices --name shop
    """
    from unimodal.service import tokens as kept

    token, entry = kept.make(name, role, campaign or ())
    with kept.changing(file) as known:
        known[entry.id] = entry
    print(token)


@tokens.command("list")
def listed(file: TokenPath) -> None:
    r"""List the tokens of a file: ids, names, roles, campaigns; never the tokens themselves.

    \b
    Examples:
      unimodal token list tokens.json
    """
    from unimodal.report.tables import table
    from unimodal.service import tokens as kept

    rows = [
        (one.id, one.name, " ".join(one.roles), " ".join(one.campaigns) or "all")
        for one in kept.read(file).values()
    ]
    terminal().print(table("Tokens", ["id", "name", "roles", "campaigns"], rows))


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
    from unimodal.service import tokens as kept

    with kept.changing(file) as known:
        if number not in known:
            raise unknown_name("token", number, known)
        del known[number]
    print(f"The token {number} was withdrawn.")


def _server() -> ModuleType:
    try:
        from unimodal.service import server
    except ModuleNotFoundError as error:
        raise UnimodalError(
            f"a service needs {error.name}, which is not installed: pip install 'unimodal[serve]'."
        ) from None
    return server
