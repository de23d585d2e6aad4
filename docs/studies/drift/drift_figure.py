"""The figure of the page on drift."""

import numpy as np
from drift_settings import EVERY, HORIZON, MEMORIES, TITLES
from matplotlib.figure import Figure

from unimodal.report.figures import STEPS as SHADES  # from fast to slow
from unimodal.report.figures import STYLES

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
    """Above: UTS by window, one curve per speed. Below: policies at their best, by speed."""
    drawn = Figure(figsize=(10.5, 6.8), layout="constrained")
    axes = drawn.subplots(2, 3, sharey=True)
    for (above, below), (kind, title) in zip(axes.T, TITLES.items(), strict=True):
        by_window(above, found, kind)
        by_speed(below, found, kind)
        above.set_title(title, fontsize=10, loc="left")
        for ax in (above, below):
            ax.set(xscale="log", yscale="log", ylim=(100, 16_000))
            ax.set_yticks(
                [100, 300, 1000, 3000, 10_000], ["100", "300", "1,000", "3,000", "10,000"]
            )
            ax.minorticks_off()
            ax.spines[["top", "right"]].set_visible(False)
        ticks = [50, 200, 800, 3200]
        above.set_xticks([*ticks, PLAIN], [*(f"{tick:,}" for tick in ticks), "plain"])
        below.set_xticks(EVERY, [f"{every:,}" for every in EVERY])
    for row in axes:
        row[0].set_ylabel(f"regret after {HORIZON:,} rounds")
    small = {"frameon": False, "fontsize": 8, "loc": "lower left"}
    axes[0, 2].legend(
        title="the peak moves every", title_fontsize=8, ncols=2, alignment="left", **small
    )
    axes[1, 2].legend(**small)
    return drawn


def by_window(ax, found, kind):
    """Regret of UTS against its window; a triangle marks the best, a dot at the right is plain."""
    for every, shade in zip(EVERY, SHADES, strict=True):
        ends = [found.interval(kind, every, "UTS", "windowed", size) for size in MEMORIES]
        mean, reach = [one.value for one in ends], [one.half_width for one in ends]
        ax.errorbar(MEMORIES, mean, reach, color=shade, label=f"{every:,} rounds", **THIN)
        least = int(np.argmin(mean))
        ax.plot(MEMORIES[least], mean[least], marker="v", markersize=7, color=shade)
        plain = found.interval(kind, every, "UTS", "plain", 0)
        dot = {"marker": "o", "markersize": 4, "color": shade}
        ax.errorbar([PLAIN], [plain.value], [plain.half_width], **dot, **THIN)
    ax.set_xlabel("window of UTS")


def by_speed(ax, found, kind):
    """Regret against the time between moves, with the best size of each version."""
    for label, (base, way, dashes) in LINES.items():
        lines = [(kind, every, base, way) for every in EVERY]
        ends = [found.interval(*line, found.best(*line)) for line in lines]
        colour, marker = STYLES[base]
        look = {"color": colour, "marker": marker, "markersize": 5, "linestyle": dashes}
        if dashes != "-":
            look["markerfacecolor"] = "white"
        mean, reach = [one.value for one in ends], [one.half_width for one in ends]
        ax.errorbar(EVERY, mean, reach, label=label, **look, **THIN)
    guess = [found.at_random[kind, every] for every in EVERY]
    ax.plot(EVERY, guess, color="0.6", linewidth=1, label="arms at random")
    ax.set_xlabel("rounds between moves of the peak")
