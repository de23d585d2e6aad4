"""Figures at the width of a paper's column or page, and other views of regrets than its curves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from unimodal.errors import UnimodalError, real_number, unknown_name
from unimodal.report import figures
from unimodal.report.curve_labels import end_of, label_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches, as the styles of 2024 set them. A plain "column" or "page" fits into all of them.
WIDTHS = {
    "column": 3.25,
    "page": 5.5,
    "neurips": 5.5,
    "icml column": 3.25,
    "icml page": 6.75,
    "ieee column": 3.5,
    "ieee page": 7.16,
}
NARROWEST, WIDEST = 2.0, 40.0
_SHAPE = 0.66  # height by width
_NARROW = 4.0  # inches: below it letters have 7 points, above it 9, as captions do
_DASHED: dict[str, Any] = {"color": "0.4", "linestyle": (0, (5, 4)), "linewidth": 1}


def width_of(size: Any) -> float:
    """The width in inches that a size asks for.

    >>> width_of("column"), width_of(4)
    (3.25, 4.0)
    """
    if isinstance(size, str):
        if size not in WIDTHS:
            raise unknown_name("size", size, WIDTHS)
        return WIDTHS[size]
    width = real_number(size, "the 'size' of a figure")
    if not NARROWEST <= width <= WIDEST:
        raise UnimodalError(
            f"the 'size' of a figure must be from {NARROWEST} to {WIDEST:g} inches, or one of "
            f"{', '.join(WIDTHS)}, got {size!r}."
        )
    return width


def settings(size: Any, font: str | None) -> dict[str, Any]:
    """What matplotlib must be told to draw at a size, with a font.

    >>> settings("column", None)["font.size"]
    7.0
    """
    points = 7.0 if width_of(size) < _NARROW else 9.0
    told: dict[str, Any] = {"font.size": points, "axes.linewidth": 0.6}
    told |= {"xtick.major.width": 0.6, "ytick.major.width": 0.6, "axes.labelsize": points}
    if font is not None:
        told["font.family"] = _known(font)
        told["mathtext.fontset"] = (
            "stix" if "serif" in font.lower().split("-")[:1] else "dejavusans"
        )
    return told


def _known(font: Any) -> str:
    """The font, if there is one of this name."""
    from matplotlib import font_manager

    general = ("serif", "sans-serif", "monospace")
    known = sorted({one.name for one in font_manager.fontManager.ttflist})
    if not isinstance(font, str) or font not in (*general, *known):
        raise unknown_name("font on this machine", font, (*general, *known))
    return font


@contextmanager
def new_axes(size: Any, font: str | None) -> Iterator[Axes]:
    """Axes in a figure of this size; what is drawn meanwhile has its letters."""
    import matplotlib

    width, told = width_of(size), settings(size, font)
    with matplotlib.rc_context(cast(Any, told)):
        ax = figures.new_axes(width, _SHAPE * width, told)
        yield ax
        if width < _NARROW:
            for line in ax.lines:
                line.set_markersize(0.7 * line.get_markersize())
                line.set_linewidth(0.75 * line.get_linewidth())
        _fit_x_label(ax, width, float(told["font.size"]))


def _fit_x_label(ax: Axes, width: float, points: float) -> None:
    """Break the lines below the picture where they are wider than it."""
    most = int(width * 72 / (0.5 * points))
    lines = [part for line in ax.get_xlabel().split("\n") for part in textwrap.wrap(line, most)]
    ax.set_xlabel("\n".join(lines))


def log_log(
    ax: Axes,
    rounds: Any,
    curves: Mapping[str, tuple[Any, Any, Any]],
    lower_bound: float,
    needed: Mapping[str, int] | None = None,
) -> Axes:
    """Regret and round both on logarithmic axes, where a power of t is a straight line."""
    means = np.concatenate([mean[mean > 0] for mean, *_ in curves.values()])
    if not len(means) or means.max() < 2 * means.min():  # there is nothing to see on such axes
        return figures.regret(ax, rounds, curves, lower_bound, "log", needed)
    figures.regret(ax, rounds, curves, np.nan, "log", needed)
    late = np.asarray(rounds) >= 2  # log 1 = 0 lies nowhere on such an axis
    if np.isfinite(lower_bound) and lower_bound > 0 and late.any():
        (bound,) = ax.plot(rounds[late], lower_bound * np.log(rounds[late]), **_DASHED)
        bound.set_label("c(μ) log t")
    ax.set_yscale("log")
    ax.set_ylim(means.min(), None)
    return _labelled(ax)


def ratio(
    ax: Axes,
    rounds: Any,
    curves: Mapping[str, tuple[Any, Any, Any]],
    lower_bound: float,
    needed: Mapping[str, int] | None = None,
) -> Axes:
    """Regret divided by c(μ)·log t, and a line at 1; from round 2 on."""
    if not (np.isfinite(lower_bound) and lower_bound > 0):
        raise UnimodalError(
            "a plot of kind 'ratio' divides by c(μ) of Theorem 1, which is no positive number "
            f"here ({lower_bound:g}): take another kind."
        )
    late = np.asarray(rounds) >= 2
    if not late.any():
        raise UnimodalError("a plot of kind 'ratio' begins with round 2: take a longer horizon.")
    bound = lower_bound * np.log(rounds[late])
    shares = {name: tuple(part[late] / bound for part in each) for name, each in curves.items()}
    figures.regret(ax, rounds[late], shares, np.nan, "log", needed)
    ax.axhline(1, **_DASHED)
    ax.set_ylabel("$R_t$ / (c(μ) log t)")
    return ax


def tail(
    ax: Axes,
    finals: Mapping[str, Any],
    bound_at_end: float,
    needed: Mapping[str, int] | None = None,
) -> Axes:
    """The share of trials whose regret is larger than x, and c(μ)·log T as a dashed line."""
    for position, (name, values) in enumerate(finals.items()):
        ordered = np.sort(values)
        share = 1 - np.arange(1, len(ordered) + 1) / len(ordered)
        # From 1 down, and no further than 1/n: 0 lies nowhere on such an axis.
        x, y = np.append(ordered[0], ordered), np.append(1.0, share)
        y[-1] = 1 / len(ordered)
        look = figures.style(name, position) | {"markevery": [len(x) - 1], "markersize": 4.5}
        look["label"] = figures.marked(name, needed)
        ax.step(x, y, where="post", linewidth=1.4, **look)
    if np.isfinite(bound_at_end) and bound_at_end > 0:
        ax.axvline(bound_at_end, label="c(μ) log T", **_DASHED)
    ax.set_yscale("log")
    _, highest = ax.get_ylim()
    ax.set_ylim(None, max(highest, 1.3))
    ax.set_xlabel("\n".join(["regret x of a trial", *figures.few_trials(needed)]))
    ax.set_ylabel("share above x")
    ax.spines[["top", "right"]].set_visible(False)
    beside: Any = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    ax.legend(frameon=False, **beside)  # for all curves end at one height
    return ax


def _labelled(ax: Axes) -> Axes:
    """The names again, where the ends of curves are now."""
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    label_curves(ax, [end_of(line) for line in lines])
    return ax
