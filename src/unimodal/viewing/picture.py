"""The graph around an arm as SVG: size tells pulls, colour the mean reward."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from unimodal.report.tables import shortened
from unimodal.viewing.layout import Layout, around

if TYPE_CHECKING:
    from unimodal.viewing.view import View

_WIDTH, _LEGEND = 640, 54  # of the picture, and of the strip under it
_LEAST, _LARGEST = 7.0, 24.0  # radii
_SURE = 30  # pulls
_CROWD = 25  # arms, from which labels get small
_LETTERS = 12  # of a label, at most
# From low to high means, light to dark: legible in grey, and by the colour-blind (Cividis).
_COLOURS = ("#fdea45", "#d3c164", "#a59c74", "#7c7b78", "#575d6d", "#293f71", "#00204d")


def draw(view: View) -> tuple[str, Layout]:
    """The picture, and what it shows."""
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

    lines = []
    for one, other in layout.edges:
        (x1, y1), (x2, y2) = at(one), at(other)
        lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    nodes = []
    for arm in sorted(arms, key=lambda arm: -rows[arm]["pulls"]):  # small ones on top
        row, (x, y) = rows[arm], at(arm)
        share = math.sqrt(float(row["pulls"]) / most) if most > 0 else 0.0
        size = _LEAST + (_LARGEST - _LEAST) * share
        colour = _colour(row["mean"], lowest, highest) if row["pulls"] > 0 else "white"
        outward = layout.places[arm] if len(arms) > _CROWD else (0.0, 0.0)
        nodes.append(_node(row, (x, y), size, colour, arm == view.centre, outward))
    label = escape(f"The graph around {view.label}: {len(arms)} arms")
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{label}" '
        'style="max-width: 40rem; display: block; margin: 0 auto" '
        'font-family="system-ui, sans-serif" xmlns="http://www.w3.org/2000/svg">'
        f'<g stroke="#bbb" stroke-width="1.2">{"".join(lines)}</g>{"".join(nodes)}'
        f"{_legend(height - 34, lowest, highest, bool(sure))}</svg>"
    )
    return svg, layout


def _node(
    row: dict[str, Any],
    place: tuple[float, float],
    size: float,
    colour: str,
    is_centre: bool,
    outward: tuple[float, float],
) -> str:
    told = f"{row['arm']}: {row['pulls']:,.6g} pulls"
    if row["pulls"]:
        told += f", mean {row['mean']:.4g}"
    told += f" ({row['low']:.3g} to {row['high']:.3g})"
    edge = 'stroke="#d55e00" stroke-width="4"' if is_centre else 'stroke="#444" stroke-width="1"'
    if not row["pulls"]:
        edge += ' stroke-dasharray="3 2"'
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
    return (
        f'<g><title>{escape(told)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" '
        f'fill="{colour}" {edge}/><text x="{left:.1f}" y="{top:.1f}" font-size="{font}" '
        f'text-anchor="{anchor}" fill="#1a1a1a" stroke="white" stroke-width="3" '
        f'paint-order="stroke">{escape(text)}</text></g>'
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


def _legend(y: float, lowest: float, highest: float, any_means: bool) -> str:
    if not any_means:
        return ""
    boxes = "".join(
        f'<rect x="{_WIDTH / 2 - 105 + 30 * i}" y="{y:.0f}" width="30" height="12" fill="{c}"/>'
        for i, c in enumerate(_COLOURS)
    )
    left, right, line = _WIDTH / 2 - 112, _WIDTH / 2 + 112, f"{y + 11:.0f}"
    words = (
        f'<text x="{left}" text-anchor="end" y="{line}">mean {lowest:.3g} or less</text>'
        f'<text x="{right}" y="{line}">{highest:.3g} or more</text>'
    )
    return f'<g font-size="14" fill="#444">{boxes}{words}</g>'
