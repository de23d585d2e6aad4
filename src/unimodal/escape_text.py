"""Text that somebody else wrote, made safe to show: on a terminal, on a page, in an error."""

from __future__ import annotations

import re

# Control characters, which steer a terminal; the ends of lines; marks that turn the direction of
# writing; what is not seen at all; and halves of characters, which no file can hold. The joiners
# of emoji and of scripts that need them (U+200C, U+200D) stay.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)


def printable(text: object, *, lines: bool = False) -> str:
    r"""The text with every character that is not for reading written as its escape.

    With `lines`, the ends of its lines stay as they are.

    >>> print(printable("a\x1b[31mb\nc\u202e"))
    a\x1b[31mb\nc\u202e
    """

    def escape(found: re.Match[str]) -> str:
        if lines and found[0] == "\n":
            return "\n"
        return found[0].encode("unicode_escape").decode()

    return _UNSAFE.sub(escape, str(text))
