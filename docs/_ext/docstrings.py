"""Docstrings as they stand in the code, made what Sphinx reads.

What is said of a property may have a colon, before which Napoleon would see a type.
They name pages by their path, as in docs/guide/past-data.md: on the site these are links. A bar is
a bar, as in |N⁺|, and names nothing to be replaced.
"""

from __future__ import annotations

import re
from typing import Any

from project_files import DOCS
from sphinx.application import Sphinx

PAGE = re.compile(r"`?\bdocs/([\w./-]+)\.md\b`?")


def _link(found: re.Match[str]) -> str:
    exists = (DOCS / f"{found[1]}.md").exists()
    return f":doc:`/{found[1]}`" if exists else found[0]


def prepare(app: Sphinx, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring that are no examples."""
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[number] = PAGE.sub(_link, line.replace("|", "\\|"))


_properties: dict[str, list[str]] = {}


def hide(app: Sphinx, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Keep what is said of a property from Napoleon."""
    if what in ("property", "attribute"):
        _properties[name], lines[:] = lines[:], []


def show(app: Sphinx, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Put it back."""
    if name in _properties:
        lines[:] = _properties.pop(name)
        prepare(app, what, name, it, options, lines)


def shorten(
    app: Sphinx, what: str, name: str, it: Any, options: Any, told: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Signatures with the names that the code has for arrays and classes."""
    return told and _short(told), returned and _short(returned)


def _short(types: str) -> str:
    types = re.sub(r"~(?:\w+\.)*(\w+)", r"\1", types)
    types = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", types)
    return re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]", r"NDArray[\1]", types)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", hide, priority=100)
    app.connect("autodoc-process-docstring", prepare, priority=200)
    app.connect("autodoc-process-docstring", show, priority=900)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True}
