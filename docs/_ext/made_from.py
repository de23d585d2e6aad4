"""At the foot of every page: what it was made from, and at which commit."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from project_files import INCLUDE, ROOT
from sphinx.application import Sphinx


@cache
def commit() -> str:
    """The commit of the project, as far as git knows one."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=, with changes"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() if told.returncode == 0 else ""


def files_of(page: Path) -> list[str]:
    """The files that a page is made from, by their path in the project."""
    own, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    if (page.parent / "page.md.j2").exists() and page.name == "page.md":
        beside = [page.parent / name for name in ("page.md.j2", "data.parquet", "study.py")]
        return [path.relative_to(ROOT).as_posix() for path in beside]
    included = [(page.parent / name).resolve() for name in INCLUDE.findall(text)]
    files = [own, *(path.relative_to(ROOT).as_posix() for path in included)]
    modules = re.findall(r"^\.\. auto\w+:: (unimodal[\w.]*)", text, re.MULTILINE)
    if modules:
        files.append("docstrings in src/unimodal")
    if re.search(r"<!-- generated: ", text):
        files.append("the code in src/unimodal")
    return files


def tell(app: Sphinx, pagename: str, template: str, context: dict[str, Any], _: Any) -> None:
    """Hand the words to the template of the foot."""
    context["made_from"] = []
    if pagename in app.env.found_docs:
        context["made_from"] = files_of(Path(app.env.doc2path(pagename)))
        context["made_at"] = commit()


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True}
