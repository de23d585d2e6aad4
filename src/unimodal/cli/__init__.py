"""The command line: a module for each group of commands, in the order of `unimodal --help`."""

from unimodal.cli import simulating, studies, campaigns  # isort: skip
from unimodal.cli.app import app, main

__all__ = ["app", "campaigns", "main", "simulating", "studies"]
