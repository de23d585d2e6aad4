"""Words and tables for the terminal, and tables for spreadsheets: names in them stay names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from unimodal.escape_text import printable

if TYPE_CHECKING:
    import polars as pl

MARK = "†"  # behind a number that few large trials make, in tables and in figures


def words(text: object, style: str = "") -> Any:
    r"""Text for the terminal as it is: [b] is no markup, and control characters are seen.

    >>> words("[b]\x1b[31m").plain
    '[b]\\x1b[31m'
    """
    from rich.text import Text

    return Text(printable(text, lines=True), style)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A table whose first column is on the left and the others on the right."""
    from rich import box
    from rich.table import Table

    named = _cell(title, "bold")
    made = Table(title=named, box=box.SIMPLE_HEAD, title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(_cell(column), justify="right" if number else "left", no_wrap=number == 0)
    for row in rows:
        made.add_row(*map(_cell, row))
    return made


def prose_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A table of words: all columns on the left, a line between rows."""
    from rich import box
    from rich.table import Table

    named = _cell(title, "bold")
    made = Table(title=named, box=box.SIMPLE_HEAD, title_justify="left", show_lines=True)
    for column in columns:
        made.add_column(_cell(column), justify="left", overflow="fold")
    for row in rows:
        made.add_row(*map(_cell, row))
    return made


def _cell(text: object, style: str = "") -> Any:
    r"""A cell, which is one line: a label with an end of a line in it shows it as \n."""
    return words(printable(text), style)


def aligned(rows: Iterable[Sequence[object]]) -> list[str]:
    r"""Lines of plain text: the first column on the left, the others on the right.

    >>> print(*aligned([("policy", "regret"), ("UTS", "41 ± 9")]), sep="\n")
    policy  regret
    UTS     41 ± 9
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]


def shortened(text: str, most: int) -> str:
    """Text of at most so many characters, with both its ends: labels often begin alike.

    >>> shortened("customer-0042-eu", 12)
    'custo…042-eu'
    """
    text = printable(text)
    if len(text) <= most:
        return text
    return f"{text[: (most - 1) // 2]}…{text[-(most // 2) :]}"


_FORMULA = r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]"


def for_spreadsheets(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would run as a formula.

    Those are the ones that begin with =, +, - or @, after blanks or not, or with a tab or the end
    of a line (OWASP, "CSV injection"). Spreadsheets take an apostrophe as a sign that text follows;
    other readers see it. So CSV files are for looking at, and Parquet files have names as they are.

    >>> import polars as pl
    >>> for_spreadsheets(pl.DataFrame({"policy": ["UTS", "=1+1"]}))["policy"].to_list()
    ['UTS', "'=1+1"]
    """
    import polars as pl

    column = pl.col(pl.String)
    guarded = pl.lit("'") + column
    return frame.with_columns(
        pl.when(column.str.contains(_FORMULA)).then(guarded).otherwise(column).name.keep()
    )
