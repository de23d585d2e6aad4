"""Tables for papers: LaTeX with booktabs, and Markdown. Cells are plain text as on the screen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from unimodal.escape_text import printable
from unimodal.report.tables import MARK


class Cell(NamedTuple):
    """The text of a cell, and whether its first number, or its name, stands out."""

    text: str
    is_bold: bool = False


Rows = Sequence[Sequence[Cell]]

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    MARK: r"$^\dagger$", "±": r"$\pm$", "−": r"$-$", "–": "--", "—": "---", "…": r"\dots{}",
    "μ": r"$\mu$", "≥": r"$\ge$", "≤": r"$\le$", "·": r"$\cdot$", "×": r"$\times$", "\u00a0": "~",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "√": r"$\surd$", "∞": r"$\infty$",
    **{letter: f"\\{letter}" for letter in "#$%&_{}"},
}  # fmt: skip
_REACHES = re.compile(r"−(\S+) \+(\S+)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&!])")


def latex_text(text: object) -> str:
    r"""Text that LaTeX prints as it is: no letter of it is a command, or unknown to pdflatex.

    >>> print(latex_text("a_b 5 % κ"))
    a\_b 5 \% $\kappa$
    """
    return "".join(_LATEX.get(letter) or _latex_letter(letter) for letter in printable(text))


def _latex_letter(letter: str) -> str:
    if letter.isascii() or ("LATIN" in unicodedata.name(letter, "") and ord(letter) < 0x180):
        return letter
    greek = re.fullmatch(r"GREEK SMALL LETTER (\w+)", unicodedata.name(letter, ""))
    if greek and greek[1] not in ("OMICRON", "FINAL"):
        return f"$\\{greek[1].lower().replace('lamda', 'lambda')}$"
    return f"\\texttt{{U+{ord(letter):04X}}}"


def latex(columns: Sequence[str], rows: Rows, notes: Sequence[str] = ()) -> str:
    r"""A tabular; the document needs \usepackage{booktabs}. Notes stand below, across all columns.

    >>> print(latex(["policy", "regret"], [[Cell("UTS"), Cell("35 −3 +7", True)]]))
    % needs \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    policy & regret \\
    \midrule
    UTS & \textbf{35} $_{-3}^{+7}$ \\
    \bottomrule
    \end{tabular}
    """
    lines = [r"% needs \usepackage{booktabs}"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}", r"\toprule"]
    lines += [" & ".join(map(latex_text, columns)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_latex_cell, row)) + r" \\" for row in rows]
    lines += [r"\bottomrule"]
    across = rf"\multicolumn{{{len(columns)}}}{{p{{0.95\linewidth}}}}"
    lines += [rf"{across}{{\footnotesize {latex_text(note)}}} \\" for note in notes]
    return "\n".join([*lines, r"\end{tabular}"])


def _latex_cell(cell: Cell) -> str:
    text, space, rest = cell.text.partition(" ") if _is_number(cell.text) else (cell.text, "", "")
    reaches = _REACHES.match(rest)
    if reaches:
        after = f"$_{{-{reaches[1]}}}^{{+{reaches[2]}}}$" + latex_text(rest[reaches.end() :])
    else:
        after = latex_text(rest)
    first = latex_text(text.replace("-", "−") if _is_number(text) else text)
    return (rf"\textbf{{{first}}}" if cell.is_bold else first) + space + after


def markdown(columns: Sequence[str], rows: Rows, notes: Sequence[str] = ()) -> str:
    r"""A table as GitHub, Pandoc and MyST read it. Notes stand below.

    >>> print(markdown(["policy", "regret"], [[Cell("a|b"), Cell("35 −3 +7", True)]]))
    | policy | regret |
    |:---|---:|
    | a\|b | **35** −3 +7 |
    """
    lines = [_row(map(_markdown_text, columns)), f"|:---|{'---:|' * (len(columns) - 1)}"]
    lines += [_row(map(_markdown_cell, row)) for row in rows]
    return "\n".join([*lines, *(f"\n{_markdown_text(note)}" for note in notes)])


def _row(cells: object) -> str:
    return f"| {' | '.join(cells)} |"  # type: ignore[arg-type]


def _markdown_cell(cell: Cell) -> str:
    text, space, rest = cell.text.partition(" ") if _is_number(cell.text) else (cell.text, "", "")
    first = _markdown_text(text)
    return (f"**{first}**" if cell.is_bold else first) + space + _markdown_text(rest)


def _markdown_text(text: object) -> str:
    return _MARKDOWN.sub(r"\\\1", printable(text))


def _is_number(text: str) -> bool:
    return re.match(r"-?[\d.,]+(e[+-]?\d+)?( |$)", text) is not None
