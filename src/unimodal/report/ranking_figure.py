"""A picture of many policies on one problem: how regret grew, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unimodal.report.curve_labels import end_of, label_curves
from unimodal.report.figures import few_trials, marked, style


class Standing(NamedTuple):
    """How a policy did: its mean regret at each round shown, and its regret at the last."""

    curve: Any
    mean: float
    low: float  # the ends of the mean's interval
    high: float
    median: float
    most: float  # the 99 % quantile
    worst: float
    needed: int | None = None  # so many samples would do, where few make the mean


def standings(rounds: Any, policies: Mapping[str, Standing], styles: Mapping[str, int]) -> Any:
    """Curves on the left; on the right one row per policy.

    `styles` gives each name the position that `style` asks for, so that it looks the same in
    pictures with another order.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator

    drawn = Figure(figsize=(10.5, 3.9), layout="constrained")
    curves, rows = drawn.subplots(1, 2, width_ratios=(1.15, 1))
    needed = {name: one.needed for name, one in policies.items() if one.needed is not None}
    late = np.asarray(rounds) >= min(10, rounds[-1])
    for row, (name, one) in enumerate(policies.items()):
        look = style(name, styles[name])
        every = (row % 4, max(int(late.sum()) // 5, 1))  # not all markers at the same rounds
        shown = {"linewidth": 1.4, "markersize": 4.5, "label": marked(name, needed), **look}
        curves.plot(np.asarray(rounds)[late], np.asarray(one.curve)[late], markevery=every, **shown)
        mark = {key: value for key, value in look.items() if key != "linestyle"}
        rows.plot([one.median, one.worst], [row, row], color="0.8", linewidth=1, zorder=1)
        if np.isfinite(one.low):
            ends = [max(one.low, one.mean / 10), one.high]  # a log axis has no room for less
            rows.plot(ends, [row, row], color=look["color"], linewidth=2.4)
        rows.plot(one.mean, row, markersize=6.5, **mark)
        rows.plot(one.median, row, marker="|", markersize=9, color="0.2", linestyle="none")
        rows.plot(one.most, row, marker="|", markersize=6, color="0.45", linestyle="none")
        rows.plot(one.worst, row, marker="x", markersize=4.5, color="0.45", linestyle="none")
    curves.set_xscale("log")
    curves.set_yscale("log")
    curves.set_xlabel("round t")
    curves.set_ylabel("mean regret $R_t$")
    curves.set_xlim(right=rounds[-1])
    label_curves(curves, [end_of(line) for line in curves.lines], scale=0.8)
    rows.set_xscale("log")
    rows.set_yticks(range(len(policies)), [marked(name, needed) for name in policies])
    rows.invert_yaxis()
    rows.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    rows.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    legend = "final regret: mean ± 95 %, | median, small | 99 %, × worst trial"
    rows.set_xlabel("\n".join([legend, *few_trials(needed)]), loc="right")
    for ax in (curves, rows):
        ax.minorticks_off()  # on log axes there would be more of them than of all else
        ax.spines[["top", "right"]].set_visible(False)
    return drawn
