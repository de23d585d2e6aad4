"""Pages: one self-contained HTML file each, good on paper and on a phone.

All HTML comes from the templates beside this file. They escape whatever is put into them, so a
label or a name out of somebody else's file stays text.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unimodal.escape_text import printable
from unimodal.report import figures

if TYPE_CHECKING:
    from jinja2 import Environment

# How a verdict begins, and the class that colours it.
_VERDICTS = {
    "agrees": "agrees",
    "differs": "differs",
    "contradicts": "contradicts",
    "undecided": "undecided",
    "not run": "not",
    "holds": "holds",
    "does not": "does",
    "waits": "waits",
    "too close": "close",
    "open": "undecided",
}


_OF_SEVERAL = {"agrees": "agree", "differs": "differ", "contradicts": "contradict"}
_OF_SEVERAL |= {"holds": "hold", "does": "do", "waits": "wait"}


def for_number(verdict: str, number: int) -> str:
    """A verdict as it is said of so many.

    >>> for_number("does not hold", 1), for_number("does not hold", 4), for_number("open", 2)
    ('does not hold', 'do not hold', 'open')
    """
    verb, space, rest = verdict.partition(" ")
    return verdict if number == 1 else _OF_SEVERAL.get(verb, verb) + space + rest


def page(template: str, **values: Any) -> str:
    """The whole file, from a template and what it shows."""
    return environment().get_template(template).render(**values)


def notebook_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], notes: Sequence[str] = ()
) -> str:
    """A line and a small table with notes below, as notebooks show an object."""
    return page("notebook.html.j2", title=title, columns=columns, rows=list(rows), notes=notes)


@functools.cache
def environment() -> Environment:
    """The templates, made when a page is first asked for: most commands make none."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("unimodal.report"),
        autoescape=True,
        finalize=_legible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["verdict_class"] = _verdict_class
    made.filters["for_number"] = for_number
    made.filters["anchor"] = lambda title: re.sub(r"[^a-z0-9]+", "-", str(title).lower()).strip("-")
    return made


def _legible(value: Any) -> Any:
    """What a template prints: HTML of our own as it is, all else without control characters."""
    return value if hasattr(value, "__html__") else printable(value)


def _verdict_class(text: object) -> str:
    words = str(text)
    return next((kind for start, kind in _VERDICTS.items() if words.startswith(start)), "")


@dataclass(frozen=True)
class Figure:
    """A picture on a page, with its caption."""

    svg: Any  # Markup
    caption: str
    wide: bool = False


def figure(drawn: Any, name: str, caption: str, wide: bool = False) -> Figure:
    """A matplotlib figure as an inline <svg>; matplotlib escapes the text in it."""
    import matplotlib
    from markupsafe import Markup

    target = io.StringIO()
    # A salt of its own keeps the ids of several pictures on one page apart, and the bytes equal.
    salted = matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"})
    with salted:  # text stays text, so it is the browser that needs fonts
        figures.save(drawn, target, format="svg", metadata={"Date": None, "Creator": None})
    svg = target.getvalue()
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(?:d|x|y)="[^"<>]*"', _hundredths, svg)
    opening = Markup('<svg role="img" aria-label="{}" ').format(printable(caption))
    return Figure(opening + Markup(svg.removeprefix("<svg ")), caption, wide)


def _hundredths(attribute: re.Match[str]) -> str:
    """Coordinates cut to hundredths of a point, which nobody can see and a page can do without."""
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0]).replace("\n", " ").replace(' "', '"')


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""A table in Markdown, in which no cell can end its column, its row, or begin HTML.

    >>> print(markdown_table(("policy", "regret"), [("UTS", 42), ("a|<b>", 43)]))
    | policy | regret |
    |---|---|
    | UTS | 42 |
    | a\|&lt;b> | 43 |
    """
    lines = [columns, *rows]
    written = [f"| {' | '.join(markdown_text(cell) for cell in line)} |" for line in lines]
    return "\n".join([written[0], "|---" * len(columns) + "|", *written[1:]])


def markdown_text(text: object) -> str:
    """Text within Markdown as it is: no end of a cell or a line, no link, no code, no HTML."""
    return re.sub(r"([\\|`\[\]])", r"\\\1", printable(text)).replace("<", "&lt;")
