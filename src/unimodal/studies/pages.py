"""Pages of studies: Markdown and figures, rendered from stored data.

A folder of a study has `study.py`, with two functions: `run(folder)` does the long work and writes
`data.parquet`; `render(out)` writes the page and its figures from that. `make pages` calls the
second of all of them.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from unimodal.studies.sample_intervals import BRACKETS

STUDY, TEMPLATE, PAGE, DATA = "study.py", "page.md.j2", "page.md", "data.parquet"
_KEY = "Drawn from"  # the field of a PNG that holds the hash of what it shows


def fill_in(template: Path, out: Path, **values: Any) -> Path:
    """Write the page of a template, beside which it stands, into the folder `out`.

    `brackets` in a template is the sentence on what stands behind means.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Markdown, not HTML: there is nothing to escape in tables of our own numbers.
    templates = Environment(
        loader=FileSystemLoader(template.parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    page = out / PAGE
    values = {"brackets": BRACKETS, **values}
    page.write_text(templates.get_template(template.name).render(**values), encoding="utf-8")
    return page


def draw(figure: Any, path: Path, dpi: int = 130) -> Path:
    """Save a figure as PNG, with a hash of what it shows; an equal one is left as it is.

    The pixels depend on the version of matplotlib and on fonts; the hash does not.
    """
    shown = fingerprint(figure)
    if fingerprint_in(path) != shown:
        figure.savefig(path, dpi=dpi, metadata={_KEY: shown, "Software": None})
    return path


def fingerprint_in(path: Path) -> str | None:
    """The hash in a PNG that `draw` saved; None if there is no such file, or no hash in it."""
    from PIL import Image

    if not path.exists():
        return None
    with Image.open(path) as image:
        return image.info.get(_KEY)


def fingerprint(figure: Any) -> str:
    """A hash of what a figure shows: its numbers to five digits, words, scales and looks.

    >>> from matplotlib.figure import Figure
    >>> def drawn(height):
    ...     figure = Figure()
    ...     figure.subplots().plot([1, 2], [1, height])
    ...     return fingerprint(figure)
    >>> drawn(3) == drawn(3), drawn(3) == drawn(3.01)
    (True, False)
    """
    axes = [inside for ax in figure.axes for inside in (ax, *ax.child_axes)]
    shown = [list(figure.get_size_inches()), *(list(_shown(ax)) for ax in axes)]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def _shown(ax: Any) -> Iterator[Any]:
    titles = [ax.get_title(where) for where in ("left", "center", "right")]
    yield [*titles, ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale(), ax.get_yscale()]
    yield [_digits(ax.get_xlim()), _digits(ax.get_ylim())]
    for line in ax.lines:
        looks = [line.get_color(), line.get_marker(), line.get_linestyle(), line.get_label()]
        yield [_digits(line.get_xydata()), *map(str, looks)]
    for many in ax.collections:
        yield [_digits(path.vertices) for path in many.get_paths()]
        yield _digits(many.get_offsets())
    for patch in ax.patches:
        yield _digits(patch.get_verts())
    legend = ax.get_legend()
    words = [*ax.texts, *(legend.get_texts() if legend else [])]
    yield [text.get_text() for text in words]


def _digits(numbers: Any) -> list[str]:
    return [f"{number:.5g}" for number in np.asarray(numbers, dtype=float).ravel()]


def command(run: Callable[[Path], object], render: Callable[[Path], object], here: Path) -> None:
    """Run `study.py` as a command: `python study.py run [folder]` or `python study.py render`."""
    parser = argparse.ArgumentParser(description="Run a study, or render its page.")
    parser.add_argument("what", choices=["run", "render"])
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the finished work of a run")
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.folder or Path(tempfile.mkdtemp()))
    render(here)


def studies(folder: Path) -> list[Path]:
    """The folders in `folder` that have a `study.py`, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{STUDY}"))


def load(folder: Path) -> ModuleType:
    """The `study.py` of a folder, as a module; it may import other files of its folder."""
    name = f"study_{folder.name.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, folder / STUDY)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def main() -> None:
    """Render every study: `python -m unimodal.studies.pages docs/studies`."""
    for folder in studies(Path(sys.argv[1])):
        load(folder).render(folder)
        print(folder)


if __name__ == "__main__":
    main()
