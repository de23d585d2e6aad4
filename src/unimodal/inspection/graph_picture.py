"""The graph around an arm, drawn: size tells pulls, colour the mean reward.

Where everything is, as numbers; `graph.svg.j2` writes them as SVG.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unimodal.inspection.graph_layout import Layout, around
from unimodal.report.tables import shortened

if TYPE_CHECKING:
    from unimodal.inspection.view import View

_WIDTH, _LEGEND = 640, 54  # of the picture, and of the strip under it
_LEAST, _LARGEST = 7.0, 24.0  # radii
_SURE = 30  # pulls
_CROWD = 25  # arms, from which labels get small
_LETTERS = 12  # of a label, at most
# From low to high means, light to dark: legible in grey, and by the colour-blind (Cividis).
_COLOURS = ("#fdea45", "#d3c164", "#a59c74", "#7c7b78", "#575d6d", "#293f71", "#00204d")


@dataclass(frozen=True)
class Node:
    """An arm: a circle, and a label under it or outside of its ring."""

    told: str  # what a pointer on it shows
    x: float
    y: float
    size: float
    colour: str
    pulled: bool
    is_centre: bool
    text: str
    text_x: float
    text_y: float
    font: int
    anchor: str


@dataclass(frozen=True)
class Picture:
    """All that is drawn, in pixels."""

    width: int
    height: int
    label: str
    caption: str
    edges: list[tuple[tuple[float, float], tuple[float, float]]]
    nodes: list[Node]
    scale: tuple[float, float] | None  # the means of the lightest and the darkest colour
    legend_y: float
    colours: tuple[str, ...] = _COLOURS


def draw(view: View) -> Picture:
    """The arm in the middle and those around it."""
    pulls = view.records["pulls"]
    layout = around(view.graph, view.centre, pulls)
    arms = list(layout.places)
    rows = dict(zip(arms, view.table(arms).iter_rows(named=True), strict=True))
    # Means of arms with a few pulls are 0 or 1 by luck: they do not set the scale, if others can.
    pulled = sorted((row for row in rows.values() if row["pulls"] > 0), key=lambda r: -r["pulls"])
    sure = [row["mean"] for number, row in enumerate(pulled) if number < 2 or row["pulls"] >= _SURE]
    lowest, highest = (min(sure), max(sure)) if sure else (0.0, 1.0)
    most = max(float(row["pulls"]) for row in rows.values())
    xs, ys = zip(*layout.places.values(), strict=True)
    (left, right), (top, bottom) = ((min(ends), max(ends)) for ends in (xs, ys))
    reach = max((right - left) / 2, (bottom - top) / 2, 1.0)
    letters = min(max(len(str(row["arm"])) for row in rows.values()), _LETTERS)
    margin = max(7 * letters if len(arms) > _CROWD else 4.5 * letters, 26) + _LARGEST
    scale = (_WIDTH / 2 - margin) / reach
    height = (bottom - top) * scale + 2 * (_LARGEST + 24) + _LEGEND

    def at(arm: int) -> tuple[float, float]:
        x, y = layout.places[arm]
        return _WIDTH / 2 + scale * (x - (left + right) / 2), _LARGEST + 24 + scale * (y - top)

    nodes = []
    for arm in sorted(arms, key=lambda arm: -rows[arm]["pulls"]):  # small ones on top
        row = rows[arm]
        share = math.sqrt(float(row["pulls"]) / most) if most > 0 else 0.0
        size = _LEAST + (_LARGEST - _LEAST) * share
        colour = _colour(row["mean"], lowest, highest) if row["pulls"] > 0 else "white"
        outward = layout.places[arm] if len(arms) > _CROWD else (0.0, 0.0)
        nodes.append(_node(row, at(arm), size, colour, arm == view.centre, outward))
    return Picture(
        _WIDTH,
        round(height),
        f"The graph around {view.label}: {len(arms)} arms",
        _caption(view, layout),
        [(at(one), at(other)) for one, other in layout.edges],
        nodes,
        (lowest, highest) if sure else None,
        height - 34,
    )


def _caption(view: View, layout: Layout) -> str:
    steps = f"up to {layout.rings} steps away" if layout.rings > 1 else "one step away"
    missing = " Edges among the neighbours are not drawn." if layout.thinned else ""
    if layout.left_out:
        missing += f" {layout.left_out:,} neighbours with fewer pulls are not drawn."
    return (
        f"Arms {steps} from {view.label} ({view.why}, with the thick edge). The larger, the more "
        f"pulls; the darker, the higher the mean reward; dashed: never pulled.{missing}"
    )


def _node(
    row: dict[str, Any],
    place: tuple[float, float],
    size: float,
    colour: str,
    is_centre: bool,
    outward: tuple[float, float],
) -> Node:
    told = f"{row['arm']}: {row['pulls']:,.6g} pulls"
    if row["pulls"]:
        told += f", mean {row['mean']:.4g}"
    told += f" ({row['low']:.3g} to {row['high']:.3g})"
    text = shortened(str(row["arm"]), _LETTERS)
    (x, y), length = place, math.hypot(*outward)
    font, anchor = 15, "middle"
    left, top = x, y + size + font
    if length > 0.0:  # in a crowd a label stands outside of its ring
        font, away = 12, size + 5.0
        left, top = x + away * outward[0] / length, y + away * outward[1] / length + 4.0
        sideways = outward[0] / length
        anchor = "start" if sideways > 0.3 else "end" if sideways < -0.3 else "middle"
        top += 0.0 if abs(sideways) > 0.3 else math.copysign(5.0, outward[1])
    return Node(
        told, x, y, size, colour, bool(row["pulls"]), is_centre, text, left, top, font, anchor
    )


def _colour(mean: float, lowest: float, highest: float) -> str:
    share = min(max((mean - lowest) / (highest - lowest), 0.0), 1.0) if highest > lowest else 1.0
    place = share * (len(_COLOURS) - 1)
    first = min(int(place), len(_COLOURS) - 2)
    rest = place - first
    one, other = (_COLOURS[first + i] for i in (0, 1))
    mixed = [
        round((1 - rest) * int(one[i : i + 2], 16) + rest * int(other[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in mixed)
