"""The SQL that is sent to PostgreSQL, from the files beside this module."""

from __future__ import annotations

import functools
import re
from importlib import resources


@functools.cache
def statement(name: str) -> str:
    """The statements that a name stands for in statements.sql, without comments."""
    return _statements()[name]


@functools.cache
def _statements() -> dict[str, str]:
    text = sql_file("statements.sql") + sql_file("upkeep.sql")
    _, *parts = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
    bodies = (re.sub(r"^--.*$", "", body, flags=re.MULTILINE) for body in parts[1::2])
    return {name: " ".join(body.split()) for name, body in zip(parts[::2], bodies, strict=True)}


def sql_file(name: str) -> str:
    """The text of a file of SQL beside this module."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
