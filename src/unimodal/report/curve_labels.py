"""Names at the ends of curves, in place of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GID = "curve-label"


class CurveEnd(NamedTuple):
    """The last point of a curve, what it is called, and its colour."""

    name: str  # as matplotlib shows it: see `figures.literal`
    x: float
    y: float
    color: Any


def end_of(line: Any) -> CurveEnd:
    """The end of a line of matplotlib, by its label."""
    x, y = map(float, line.get_xydata()[-1])  # numbers also where words stand on an axis
    return CurveEnd(str(line.get_label()), x, y, line.get_color())


def label_curves(ax: Axes, ends: Sequence[CurveEnd], scale: float = 0.9) -> None:
    """Write each name beside the end of its curve, none over another; limits must be final.

    Labels that an earlier call wrote on these axes are replaced. They are so much larger than
    the words of a legend, in whose place they stand: the size that was set for matplotlib counts.
    """
    import matplotlib
    from matplotlib.font_manager import FontProperties

    legend = matplotlib.rcParams["legend.fontsize"]  # points, or a word such as "medium"
    size = scale * FontProperties(size=legend).get_size_in_points()
    for text in [text for text in ax.texts if text.get_gid() == _GID]:
        text.remove()
    ax.get_xlim(), ax.get_ylim()  # the limits of what was drawn so far
    place = ax.transScale + ax.transLimits
    height = ax.get_window_extent().height * 72 / ax.figure.dpi  # points, before the layout
    shown = [one for one in ends if np.isfinite([one.x, one.y]).all()]
    at = [height * float(place.transform((one.x, one.y))[1]) for one in shown]
    for one, was, now in zip(shown, at, spread(at, 1.2 * size, height), strict=True):
        thin = {"arrowstyle": "-", "color": one.color, "linewidth": 0.6, "relpos": (0, 0.5)}
        thin |= {"shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            one.name,
            (one.x, one.y),
            textcoords="offset points",
            xytext=(10, now - was),
            va="center",
            color=one.color,
            fontsize=size,
            annotation_clip=False,
            arrowprops=thin,
            gid=_GID,
        )


def spread(at: Sequence[float], gap: float, top: float) -> list[float]:
    """Heights as near as possible to `at`, in the same order, no two nearer than `gap`.

    They stay between 0 and `top` where there is room.

    >>> spread([50, 51, 10], 10, 100)
    [45.5, 55.5, 10.0]
    >>> spread([0, 0], 10, 100)
    [0.0, 10.0]
    """
    order = np.argsort(at, kind="stable")
    blocks: list[list[float]] = []  # sum and length: neighbours that would overlap share a mean
    for position, index in enumerate(order):
        blocks.append([at[index] - position * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, length = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += length
    lowest = [total / length for total, length in blocks for _ in range(int(length))]
    room = max(top - gap * (len(at) - 1), 0.0)
    heights = [0.0] * len(at)
    for position, index in enumerate(order):
        heights[index] = float(min(max(lowest[position], 0.0), room) + position * gap)
    return heights
