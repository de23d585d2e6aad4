"""One palette for all figures: that of `report/figures.py`, and greys."""

import re
from pathlib import Path

from unimodal.report import figures

ROOT = Path(__file__).parents[2]
COLOUR = re.compile(r"[\"'](#[0-9A-Fa-f]{3,6}|tab:\w+|C\d)[\"']")
PALETTE = {colour for colour, _ in figures.STYLES.values()} | set(figures.STEPS)
# The picture of a graph shades arms by their mean, which is another scale.
SHADED = {"graph_picture.py"}


def strange(text):
    """Colours that are not of the palette."""
    return [colour for colour in COLOUR.findall(text) if colour.upper() not in PALETTE]


def test_figures_keep_to_the_palette():
    folders = ("docs/studies", "examples", "src/unimodal")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    found = {path.name: strange(path.read_text(encoding="utf-8")) for path in files}
    assert {
        name: colours for name, colours in found.items() if colours and name not in SHADED
    } == {}


def test_another_colour_is_noticed():
    assert strange('ax.plot(x, color="#2a6fbb", label="#1") or "C0" or "#0072B2"') == [
        "#2a6fbb",
        "C0",
    ]
