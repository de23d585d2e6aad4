"""Pictures that a telephone would shrink until nobody can read them are marked, for site.css."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

WIDE = 900  # pixels: more than one panel of a figure


def mark_wide(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give pictures of many pixels a class."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".png" and path.exists():
            with Image.open(path) as opened:
                if opened.width > WIDE:
                    image["classes"].append("wide")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", mark_wide)
    return {"parallel_read_safe": True}
