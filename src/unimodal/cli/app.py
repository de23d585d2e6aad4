"""The application: what all commands share. Heavy imports stand inside the commands."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from unimodal.errors import UnimodalError
from unimodal.version import __version__

if TYPE_CHECKING:
    from rich.console import Console

# The groups of `unimodal --help`, in its order.
DECIDE = "Campaigns online"
KEEP = "Keep and move campaigns"
RESEARCH = "Simulation and studies"
MACHINE = "This machine"
GROUPS = (DECIDE, KEEP, RESEARCH, MACHINE)


class InGroups(TyperGroup):
    """Commands group by group, which Typer does with rich only: their `rich_help_panel` says it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the groups."""
        return [name for group in GROUPS for name in self.commands if self._group(name) == group]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, names))
        for group, members in itertools.groupby(names, self._group):
            with formatter.section(group):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(width)) for name in members]
                )

    def _group(self, name: str) -> str:
        """The group of a command; the last one where it says none."""
        group = getattr(self.commands[name], "rich_help_panel", None)
        return group if group in GROUPS else GROUPS[-1]


app = typer.Typer(
    cls=InGroups,
    help="Bandits whose arms lie on a graph and whose reward has one peak.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would read er:100:0.05 as an emoji
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"unimodal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    pass


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


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Let no library write to standard error: Polars tells pages of Rust of a damaged file.

    It is the command's to do so, not the library's: a process has one standard error.
    """
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def terminal() -> Console:
    """Where commands print."""
    from rich.console import Console

    # A pipe has no width: do not wrap tables there at 80 columns.
    width = None if sys.stdout.isatty() else 120
    return Console(width=width, emoji=False, highlight=False, markup=False)
