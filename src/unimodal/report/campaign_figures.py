"""Pictures of campaigns: what was earned, who led, what others would have earned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.report.figures import literal, new_axes, style
from unimodal.report.tables import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def earnings(
    ax: Axes | None, rows: Mapping[str, tuple[float, float, float, float]], earned: float
) -> Axes:
    """One row per policy: expected reward, interval, and the share that rests on a prior."""
    ax = new_axes(5.8, 1.3 + 0.42 * len(rows)) if ax is None else ax
    for row, (name, (mean, low, high, on_prior)) in enumerate(rows.items()):
        look = style(name.removesuffix(" (the log)"), row)
        mark = {key: value for key, value in look.items() if key != "linestyle"}
        ax.plot([low, high], [row, row], color=look["color"], linewidth=2.2)
        ax.plot(mean, row, markersize=7, **mark)
        if on_prior >= 0.01:
            note = f"{100 * on_prior:.0f} % on prior"
            ax.annotate(
                note,
                (high, row),
                textcoords="offset points",
                xytext=(6, -3),
                color="0.4",
                fontsize=8,
            )
    ax.axvline(earned, color="0.45", linestyle=(0, (5, 4)), linewidth=1)
    ax.set_yticks(range(len(rows)), [literal(name) for name in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.margins(x=0.12)
    ax.set_xlabel("sum of rewards: mean and 95 % interval; dashed, what the log earned")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def reward_over_time(until: Any, mean: Any, spread: Any, count: Any) -> Any:
    """The mean reward of each part of a log and its 95 % interval, against decisions so far."""
    ax, drawn = _axes(until)
    centre = np.asarray(mean, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = 1.96 * np.asarray(spread, dtype=np.float64) / np.sqrt(np.asarray(count))
    middle = _middles(until)
    ax.fill_between(middle, centre - half, centre + half, color="#0072B2", alpha=0.18, linewidth=0)
    marker = "o" if len(middle) <= 2 else None
    ax.plot(middle, centre, color="#0072B2", linewidth=1.6, marker=marker)
    ax.set_ylabel("mean reward")
    return drawn


def leaders_over_time(until: Any, names: Sequence[str], shares: Any) -> Any:
    """Who led when: one row per leader, the darker the more rounds of that part it led."""
    ax, drawn = _axes(until)
    edges = np.concatenate([[0], until])
    rows = np.arange(len(names) + 1) - 0.5
    ax.pcolormesh(edges, rows, shares, cmap="Blues", vmin=0, vmax=1, edgecolors="face")
    ax.set_yticks(range(len(names)), [literal(shortened(name, 14)) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_ylabel("leader")
    return drawn


def _axes(until: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    drawn = Figure(figsize=(5.4, 3.2), layout="constrained")
    ax = drawn.subplots()
    ax.set_xlim(0, until[-1])
    ax.set_xlabel("decisions")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.locator_params(axis="x", nbins=5, integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax, drawn


def _middles(until: Any) -> Any:
    edges = np.concatenate([[0], until]).astype(np.float64)
    return 0.5 * (edges[1:] + edges[:-1])
