"""The figure of the page on drift."""

import numpy as np
from drift_settings import EVERY, HORIZON, MEMORIES, TITLES
from matplotlib.figure import Figure

from unimodal.report.curve_labels import CurveEnd, label_curves
from unimodal.report.figures import STEPS as SHADES  # from fast to slow
from unimodal.report.figures import STYLES
from unimodal.studies.sample_intervals import error_bars

PLAIN = 2.6 * MEMORIES[-1]  # where "plain" stands on the axis of windows
# What is drawn by speed: policy, version, dashes.
LINES = {
    "UTS, windowed": ("UTS", "windowed", "-"),
    "OSUB, windowed": ("OSUB", "windowed", "-"),
    "TS, windowed": ("TS", "windowed", "-"),
    "KLUCB, plain": ("KLUCB", "plain", "-"),
    "UTS, restarting": ("UTS", "restarting", "--"),
    "UTS, plain": ("UTS", "plain", ":"),
}
THIN = {"capsize": 2, "linewidth": 1.5, "elinewidth": 0.8}


def figure(found):
    """One row per kind of change. Left: UTS by window and speed. Right: policies at their best."""
    drawn = Figure(figsize=(9.2, 9.6), layout="constrained")
    axes = drawn.subplots(len(TITLES), 2)
    for (left, right), (kind, title) in zip(axes, TITLES.items(), strict=True):
        left.set_title(f"{title}: UTS by window", fontsize=10, loc="left")
        right.set_title(f"{title}: best window", fontsize=10, loc="left")
        for ax in (left, right):
            ax.set(xscale="log", yscale="log", ylim=(100, 16_000))
            ax.set_yticks(
                [100, 300, 1000, 3000, 10_000], ["100", "300", "1,000", "3,000", "10,000"]
            )
            ax.minorticks_off()
            ax.spines[["top", "right"]].set_visible(False)
        label_curves(left, by_window(left, found, kind))
        label_curves(right, by_speed(right, found, kind))
        ticks = [50, 200, 800, 3200]
        left.set_xticks([*ticks, PLAIN], [*(f"{tick:,}" for tick in ticks), "plain"])
        right.set_xticks(EVERY, [f"{every:,}" for every in EVERY])
        left.set_ylabel(f"regret after {HORIZON:,} rounds")
    axes[-1, 0].set_xlabel("window of UTS, rounds")
    axes[-1, 1].set_xlabel("rounds between moves of the peak")
    return drawn


def by_window(ax, found, kind):
    """Regret of UTS against its window; a triangle marks the best, a dot at the right is plain."""
    ends = []
    for every, shade in zip(EVERY, SHADES, strict=True):
        inside = [found.interval(kind, every, "UTS", "windowed", size) for size in MEMORIES]
        mean, reach = [one.value for one in inside], error_bars(inside)
        ax.errorbar(MEMORIES, mean, reach, color=shade, **THIN)
        least = int(np.argmin(mean))
        ax.plot(MEMORIES[least], mean[least], marker="v", markersize=7, color=shade)
        plain = found.interval(kind, every, "UTS", "plain", 0)
        dot = {"marker": "o", "markersize": 4, "color": shade}
        ax.errorbar([PLAIN], [plain.value], error_bars([plain]), **dot, **THIN)
        ends.append(CurveEnd(f"moves every {every:,}", PLAIN, plain.value, shade))
    return ends


def by_speed(ax, found, kind):
    """Regret against the time between moves, with the best size of each version."""
    ends = []
    for label, (base, way, dashes) in LINES.items():
        lines = [(kind, every, base, way) for every in EVERY]
        inside = [found.interval(*line, found.best(*line)) for line in lines]
        colour, marker = STYLES[base]
        look = {"color": colour, "marker": marker, "markersize": 5, "linestyle": dashes}
        if dashes != "-":
            look["markerfacecolor"] = "white"
        mean, reach = [one.value for one in inside], error_bars(inside)
        ax.errorbar(EVERY, mean, reach, **look, **THIN)
        ends.append(CurveEnd(label, EVERY[-1], mean[-1], colour))
    guess = [found.at_random[kind, every] for every in EVERY]
    ax.plot(EVERY, guess, color="0.5", linewidth=1)
    return [*ends, CurveEnd("arms at random", EVERY[-1], guess[-1], "0.4")]
