"""Files of the project that are no pages of the site: shown, or copied, where pages name them.

A page that includes a Markdown file from outside of docs/ shows it with its links made right. A
link to such a file leads to the page that shows it. The pages of studies that are HTML already are
copied as they are.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
# What stands outside of docs/, and the page that shows it.
SHOWN = {
    "benchmarks/README.md": "/benchmarks.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CODE_OF_CONDUCT.md": "/conduct.md",
    "SECURITY.md": "/security.md",
    "examples/README.md": "/examples.md",
    "examples/data/README.md": "/examples-data.md",
    "docs/README.md": "/index.md",
    "README.md": "/index.md",
    "docs/decisions": "/decisions/index.md",
}
INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)#\s]+)((?:#[^)\s]*)?\))")
COPIED = "studies/*/*.html"


def with_links_from(folder: Path, text: str, page: Path) -> str:
    """The text of a file in `folder`, with links as they have to be on `page`."""

    def moved(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if not target.is_relative_to(ROOT) or not target.exists():
            return link[0]  # the test of links tells
        name = target.relative_to(ROOT).as_posix()
        if name in SHOWN:
            return f"{link[1]}{SHOWN[name]}{link[3]}"
        if folder == page.parent:
            return link[0]
        if target.is_relative_to(DOCS):
            return f"{link[1]}/{target.relative_to(DOCS).as_posix()}{link[3]}"
        return f"{link[1]}{os.path.relpath(target, page.parent)}{link[3]}"

    return LINK.sub(moved, text)


def include(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the text of included files into a page."""
    page = Path(app.env.doc2path(docname))

    def text_of(found: re.Match[str]) -> str:
        file = (page.parent / found[1]).resolve()
        app.env.note_dependency(str(file))
        return with_links_from(file.parent, file.read_text(encoding="utf-8"), page)

    source[0] = INCLUDE.sub(text_of, with_links_from(page.parent, source[0], page))


def link_to_html(app: Sphinx, doctree: nodes.document) -> None:
    """Links to HTML pages of ours are links, not downloads."""
    page = Path(app.env.doc2path(app.env.docname))
    for node in list(doctree.findall(addnodes.download_reference)):
        target = (page.parent / node["reftarget"]).resolve()
        if str(node["reftarget"]).startswith("/"):
            target = DOCS / str(node["reftarget"]).lstrip("/")
        if target.suffix == ".html" and target.is_relative_to(DOCS):
            link = nodes.reference("", "", *node.children, internal=False)
            link["refuri"] = os.path.relpath(target, page.parent)
            node.replace_self(link)


def copy(app: Sphinx, error: Exception | None) -> None:
    """Copy the pages that are HTML already."""
    if error is None and app.builder.format == "html":
        for path in DOCS.glob(COPIED):
            target = Path(app.outdir) / path.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", include)
    app.connect("doctree-read", link_to_html, priority=100)  # before files are collected
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}
