"""Cells of tutorials whose output is empty show none: a bar of progress leaves nothing behind."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def drop_empty(app: Sphinx, doctree: nodes.document) -> None:
    """Take empty outputs out of a page."""
    for cell in list(doctree.findall(nodes.container)):
        if "cell_output" in cell["classes"]:
            for output in list(cell.children):
                pictures = list(output.findall(nodes.image)) + list(output.findall(nodes.raw))
                if not pictures and not output.astext().strip():
                    cell.remove(output)
            if not cell.children:
                cell.parent.remove(cell)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", lambda app, doctree, name: drop_empty(app, doctree))
    return {"parallel_read_safe": True}
