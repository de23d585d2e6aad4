"""What each kind of plot of a result shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from unimodal.errors import unknown_name
from unimodal.report import figures, paper_figures
from unimodal.results import statistics as analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("regret", "log-log", "ratio", "tail")
_PLAIN = (5.8, 3.9)  # inches


def draw(result: Any, ax: Axes | None, kind: str, scale: str) -> Axes:
    """Draw a `Result` on axes, or on new ones."""
    if scale not in ("log", "linear"):
        raise unknown_name("scale", scale, ("log", "linear"))
    marked = {name: result.regret(name).few for name in result}
    needed = {name: few.needed for name, few in marked.items() if few}
    bound = result.problem.lower_bound
    ax = figures.new_axes(*_PLAIN) if ax is None else ax
    if kind == "tail":
        finals = {name: run.regret[:, -1] for name, run in result.items()}
        return paper_figures.tail(ax, finals, bound * math.log(result.horizon), needed)
    curves = {name: analysis.mean_interval(run.regret) for name, run in result.items()}
    if kind == "log-log":
        return paper_figures.log_log(ax, result.rounds, curves, bound, needed)
    if kind == "ratio":
        return paper_figures.ratio(ax, result.rounds, curves, bound, needed)
    return figures.regret(ax, result.rounds, curves, bound, scale, needed)
