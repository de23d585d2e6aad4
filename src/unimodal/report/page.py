"""Pages: one self-contained HTML file, good on paper and on a phone."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light; --ink: #1a1a1a; --soft: #666; --line: #ddd; --good: #00634a;
        --bad: #a33b00; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); margin: 0 auto; padding: 1.2rem;
       max-width: 68rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; border-top: 1px solid var(--line);
     padding-top: 1rem; }
p, li { max-width: 46rem; }
.soft { color: var(--soft); font-size: .9rem; }
.counts { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
.counts div { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .9rem; }
.counts b { display: block; font-size: 1.5rem; line-height: 1.2; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; }
figure.wide { grid-column: 1 / -1; }
figure svg { width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0; }
th, td { padding: .22rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; vertical-align: top; }
th:first-child, td:first-child, td.words, th.words { text-align: left; white-space: normal; }
thead th { border-bottom: 2px solid var(--ink); }
.agrees, .holds { color: var(--good); }
.differs, .contradicts, .does { color: var(--bad); font-weight: 600; }
.undecided, .not, .waits { color: var(--soft); font-style: italic; }
@media print { body { font-size: 10pt; max-width: none; } h2, h3 { break-after: avoid; }
               .scroll { overflow: visible; } tr { break-inside: avoid; } a { color: inherit; } }
"""


def page(title: str, body: str) -> str:
    """The whole file."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], words: Sequence[int] = ()) -> str:
    """A table; columns whose numbers are in `words` hold text. Verdicts get their colour."""

    def kind(number: int) -> str:
        return ' class="words"' if number in words else ""

    head = "".join(f"<th{kind(i)}>{escape(str(c))}</th>" for i, c in enumerate(columns))
    lines = []
    for row in rows:
        cells = [f"<td{kind(i)}>{verdict(str(cell))}</td>" for i, cell in enumerate(row)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


_VERDICTS = (
    "agrees",
    "differs",
    "contradicts",
    "undecided",
    "not run",
    "holds",
    "does not",
    "waits",
)


def verdict(text: str) -> str:
    """Text for HTML, in a colour of its own if it is a verdict; the word alone says it too."""
    if text.startswith(_VERDICTS):
        return f'<span class="{text.split()[0]}">{escape(text)}</span>'
    return escape(text)


def counts(numbers: Mapping[str, object]) -> str:
    """Numbers in boxes, such as the verdict counts, at the top of a page."""
    boxes = [f"<div><b>{escape(str(n))}</b>{verdict(word)}</div>" for word, n in numbers.items()]
    return f'<div class="counts">{"".join(boxes)}</div>'


def figure(drawn: Any, name: str, caption: str, wide: bool = False) -> str:
    """A matplotlib figure as an inline <svg> with its caption."""
    import matplotlib

    target = io.StringIO()
    # A salt of its own keeps the ids of several pictures on one page apart, and the bytes equal.
    salted = matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"})
    with salted, warnings.catch_warnings():
        # Text stays text, so it is the browser that needs a font with these letters.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font")
        drawn.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(?:d|x|y)="[^"]*"', _hundredths, svg)
    label = f'role="img" aria-label="{escape(caption)}"'
    svg = svg.replace("<svg ", f"<svg {label} ", 1)
    kind = ' class="wide"' if wide else ""
    return f"<figure{kind}>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _hundredths(attribute: re.Match[str]) -> str:
    """Coordinates cut to hundredths of a point, which nobody can see and a page can do without."""
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0]).replace("\n", " ").replace(' "', '"')


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown.

    >>> print(markdown_table(("policy", "regret"), [("UTS", 42)]))
    | policy | regret |
    |---|---|
    | UTS | 42 |
    """
    lines = [columns, *rows]
    written = [f"| {' | '.join(str(cell) for cell in line)} |" for line in lines]
    return "\n".join([written[0], "|---" * len(columns) + "|", *written[1:]])
