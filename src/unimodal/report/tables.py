"""Tables for the terminal: columns of text in, a rich table out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A table whose first column is on the left and the others on the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    named = Text(title, style="bold")
    made = Table(title=named, box=box.SIMPLE_HEAD, title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left", no_wrap=number == 0)
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))  # a label such as [/b] is not markup
    return made


def prose_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A table of words: all columns on the left, a line between rows."""
    from rich import box
    from rich.table import Table

    made = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", show_lines=True
    )
    for column in columns:
        made.add_column(column, justify="left", overflow="fold")
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    return made


def shortened(text: str, most: int) -> str:
    """Text of at most so many characters, with both its ends: labels often begin alike.

    >>> shortened("customer-0042-eu", 12)
    'custo…042-eu'
    """
    if len(text) <= most:
        return text
    return f"{text[: (most - 1) // 2]}…{text[-(most // 2) :]}"
