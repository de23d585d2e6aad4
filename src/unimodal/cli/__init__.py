"""The command line: a module for each group of commands, in the order of `unimodal --help`."""

import inspect

from unimodal.cli import (  # isort: skip
    simulate as simulating,
    studies,
    merge,
    campaigns,
    moving,
    serve,
    warm,
)
from unimodal.cli.app import app, main

for _command in [*app.registered_commands, *serve.tokens.registered_commands]:
    # Docstrings are raw, but it takes the character itself for examples to keep their lines.
    _command.help = inspect.cleandoc(_command.callback.__doc__ or "").replace(r"\b", "\b")

__all__ = [
    "app",
    "campaigns",
    "main",
    "merge",
    "moving",
    "serve",
    "simulating",
    "studies",
    "warm",
]
