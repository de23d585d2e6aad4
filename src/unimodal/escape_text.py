"""Text that somebody else wrote, made safe to show: on a terminal, on a page, in an error."""

from __future__ import annotations

import unicodedata

# Control characters, which steer a terminal; formats, which turn the direction of writing or are
# not seen at all; halves of characters, which no file can hold; and the ends of lines.
_NOT_FOR_READING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # of emoji and of scripts that need them: they stay


def printable(text: object, *, lines: bool = False) -> str:
    r"""The text with every character that is not for reading written as its escape.

    With `lines`, the ends of its lines stay as they are.

    >>> print(printable("a\x1b[31mb\nc\u202e"))
    a\x1b[31mb\nc\u202e
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    stays = f"{_JOINERS}\n" if lines else _JOINERS
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in _NOT_FOR_READING and letter not in stays
        else letter
        for letter in shown
    )
