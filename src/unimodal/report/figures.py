"""Figures. One colour and one marker per policy everywhere, legible without colour."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.errors import unknown_name
from unimodal.escape_text import printable
from unimodal.report.curve_labels import CurveEnd, end_of, label_curves
from unimodal.report.tables import MARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which the colour-blind can tell apart; markers do without colour.
STYLES: dict[str, tuple[str, str]] = {
    "UTS": ("#0072B2", "o"),
    "OSUB": ("#D55E00", "s"),
    "TS": ("#009E73", "^"),
    "KLUCB": ("#CC79A7", "D"),
    "ScoutUTS": ("#000000", "X"),
    "IMED": ("#56B4E9", "P"),
    "IMEDUB": ("#E69F00", "v"),
    "KLUCBUB": ("#999999", "p"),
    "NPTS": ("#7A6A00", "<"),
}
# For steps of a quantity, in their order: dark to warm, of the same palette.
STEPS = ("#000000", "#0072B2", "#009E73", "#E69F00", "#D55E00")
_OTHERS = [("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X"), ("#999999", "*")]
_PANELS_IN_A_ROW = 2  # more could not be read on a telephone
_CURVE, _BOUND = "regret", "bound"  # the marks of the lines that `regret` drew
_DASHES = [(0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (2, 2))]


def style(name: str, position: int) -> dict[str, Any]:
    """Colour and marker of a policy; `position` decides for those that have none of their own.

    One with other parameters than the defaults has the colour of its kind, and dashes.

    >>> style("UTS (late rewards)", 0)["color"] == style("UTS", 0)["color"]
    True
    """
    kind, _, parameters = name.partition("(")
    colour, marker = STYLES.get(kind.rstrip(), _OTHERS[position % len(_OTHERS)])
    if not parameters:
        return {"color": colour, "marker": marker}
    own = {"marker": _OTHERS[position % len(_OTHERS)][1], "markerfacecolor": "white"}
    return {"color": colour, "linestyle": _DASHES[position % len(_DASHES)], **own}


def literal(text: object) -> str:
    r"""A name as matplotlib shows it: a dollar begins no formula, a control character is seen.

    >>> print(literal("$x^$"))
    \$x^\$
    """
    return printable(text).replace("$", r"\$")


def marked(name: str, needed: Mapping[str, int] | None) -> str:
    """A name as matplotlib shows it, with a mark if few trials make its mean."""
    return literal(name) + (f" {MARK}" if name in (needed or {}) else "")


def few_trials(needed: Mapping[str, int] | None) -> list[str]:
    """What a picture says of marked policies, a line each."""
    return [
        f"{MARK} {literal(name)}: few large trials make this mean; about {trials:,} would do"
        for name, trials in (needed or {}).items()
    ]


def save(drawn: Any, to: Any, **options: Any) -> None:
    """Write a figure."""
    with _silent_of_glyphs():
        drawn.savefig(to, **options)


@contextlib.contextmanager
def _silent_of_glyphs() -> Iterator[None]:
    """A letter that no font has here is a box in a figure, and not worth a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font")
        yield


def new_axes(width: float, height: float, told: Mapping[str, Any] | None = None) -> Axes:
    """Axes in a figure of their own, so many inches wide and high; notebooks show it.

    Not of pyplot, which keeps every figure alive, wants a screen, and would show it a second time.
    `told` are settings of matplotlib that hold whenever it is drawn. Its letters are whole in a PDF
    (as Type 42 fonts: journals refuse matplotlib's Type 3).
    """
    import matplotlib
    from matplotlib.axes import Axes as PlainAxes
    from matplotlib.figure import Figure

    always: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, **(told or {})}

    class PrintedFigure(Figure):
        def draw(self, renderer: Any) -> None:
            with matplotlib.rc_context(always), _silent_of_glyphs():
                super().draw(renderer)

        def savefig(self, fname: Any, **options: Any) -> None:
            with matplotlib.rc_context(always), _silent_of_glyphs():
                super().savefig(fname, **options)

    class ShownAxes(PlainAxes):
        def _repr_png_(self) -> bytes:  # what a notebook asks of the last line of a cell
            picture = io.BytesIO()
            save(self.figure, picture, format="png", dpi=110)
            return picture.getvalue()

    drawn = PrintedFigure(figsize=(width, height), layout="constrained")
    return drawn.add_subplot(axes_class=ShownAxes)


def regret(
    ax: Axes | None,
    rounds: Any,
    curves: Mapping[str, tuple[Any, Any, Any]],
    lower_bound: float,
    scale: str = "log",
    needed: Mapping[str, int] | None = None,
) -> Axes:
    """Regret curves with bands, and c(μ)·log t as a dashed line.

    `needed` names the policies whose mean few trials make, with how many would do: they are marked,
    and a line below says so.
    """
    if scale not in ("log", "linear"):
        raise unknown_name("scale", scale, ("log", "linear"))
    ax = new_axes(5.8, 3.9) if ax is None else ax
    handles = ax.get_legend_handles_labels()[0]  # of who gave the axes
    theirs: list[Any] = [line for line in handles if line.get_gid() != _CURVE]
    for position, (name, (mean, low, high)) in enumerate(curves.items()):
        look: dict[str, Any] = {"label": marked(name, needed), "linewidth": 1.6, "markersize": 4.5}
        look |= style(name, position) | {"gid": _CURVE}
        every = max(len(rounds) // 10, 1)
        ax.plot(rounds, mean, markevery=every, **look)
        if np.isfinite(low).all():
            ax.fill_between(rounds, low, high, color=look["color"], alpha=0.18, linewidth=0)
    if np.isfinite(lower_bound):
        bound = lower_bound * np.log(np.maximum(rounds, 1))
        dashed: dict[str, Any] = {"color": "0.4", "linestyle": (0, (5, 4)), "linewidth": 1}
        ax.plot(rounds, bound, gid=_BOUND, **dashed)
    ax.set_xscale(scale)
    if len(rounds) > 1:
        ax.set_xlim(rounds[0] if scale == "log" else 0, rounds[-1])
    ax.set_ylim(bottom=0)
    _, *earlier = ax.get_xlabel().split("\n")
    ax.set_xlabel("\n".join(["round t", *earlier, *few_trials(needed)]))
    ax.set_ylabel("regret $R_t$, mean and 95 % interval")
    _fit_y_label(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ends = [end_of(line) for line in ax.lines if line.get_gid() == _CURVE]
    bounds = [end_of(line) for line in ax.lines if line.get_gid() == _BOUND]
    label_curves(ax, [*ends, *(end._replace(name="c(μ) log t") for end in bounds)])
    if theirs:
        ax.legend(theirs, [line.get_label() for line in theirs], frameon=False, loc="upper left")
    return ax


def _fit_y_label(ax: Axes) -> None:
    """Break the label at its comma where it is longer than the axis; or end it there."""
    from matplotlib.textpath import TextPath

    label, room = ax.yaxis.label, ax.get_window_extent().height * 72 / ax.figure.dpi
    first, _, rest = label.get_text().partition(", ")

    def fits(text: str) -> bool:
        size = float(label.get_fontsize())
        return bool(TextPath((0, 0), text, size=size).get_extents().width <= room)

    if not fits(f"{first}, {rest}"):
        label.set_text(f"{first},\n{rest}" if fits(rest) else first)


def with_ratio(
    title: str,
    rounds: Any,
    curves: Mapping[str, tuple[Any, Any, Any]],
    lower_bound: float,
    upper_curve: Any,
    needed: Mapping[str, int] | None = None,
) -> Any:
    """Regret above, with Theorem 1's line and Theorem 2's curve; R_t/(c(μ)·log t) below.

    `needed` is as of `regret`.
    """
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(5.8, 5.8), layout="constrained")
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    regret(above, rounds, curves, lower_bound, needed=needed)
    limit = above.get_ylim()[1]
    above.plot(rounds, upper_curve, color="0.45", linestyle=":", linewidth=1)
    above.set_ylim(0, limit)
    above.set_title(literal(title), fontsize="medium", loc="left")
    above.set_xlabel("")
    late = np.asarray(rounds) >= 10
    lines: list[Any] = []
    for position, (name, (mean, _, _)) in enumerate(curves.items()):
        share = mean[late] / (lower_bound * np.log(np.asarray(rounds)[late]))
        look = {"linewidth": 1.4, "color": style(name, position)["color"]}
        look["label"] = marked(name, needed)
        lines += below.plot(np.asarray(rounds)[late], share, **look)
    below.axhline(1, color="0.45", linestyle=(0, (5, 4)), linewidth=1)
    below.set_yscale("log")
    below.set_ylabel("$R_t$ / (c(μ) log t)", fontsize=9)
    below.set_xlabel("\n".join(["round t", *few_trials(needed)]))
    below.spines[["top", "right"]].set_visible(False)
    label_curves(below, [end_of(line) for line in lines])
    return drawn


def small_multiples(
    panels: Mapping[str, Mapping[str, tuple[Any, Any]]],
    x_label: str,
    y_label: str,
    reported: Mapping[str, Mapping[str, tuple[Any, Any]]] | None = None,
) -> Any:
    """One panel per family of graphs, one line per policy: ours filled, the paper's hollow."""
    from matplotlib.figure import Figure

    rows = math.ceil(len(panels) / _PANELS_IN_A_ROW)
    columns = min(len(panels), _PANELS_IN_A_ROW)
    drawn = Figure(figsize=(3.1 * columns, 2.4 * rows), layout="constrained")
    axes = drawn.subplots(rows, columns, sharey=True, squeeze=False)
    ends: list[list[CurveEnd]] = []
    for ax, (title, curves) in zip(axes.flat, panels.items(), strict=False):
        theirs = (reported or {}).get(title, {})
        lines: list[Any] = []
        for position, (name, (x, y)) in enumerate(curves.items()):
            look = style(name, position)
            lines += ax.plot(x, y, label=literal(name), linewidth=1.4, markersize=5, **look)
            if name in theirs:
                hollow = {**look, "markerfacecolor": "none", "linestyle": ":"}
                ax.plot(*theirs[name], linewidth=0.9, markersize=8, alpha=0.8, **hollow)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(literal(title), fontsize="medium", loc="left")
        ax.set_xlabel(x_label)
        ax.spines[["top", "right"]].set_visible(False)
        ends.append([end_of(line) for line in lines if len(line.get_xdata())])
    for ax, here in zip(axes.flat, ends, strict=False):  # now that the common limits are known
        label_curves(ax, here)
    for ax in axes[:, 0]:
        ax.set_ylabel(y_label)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    return drawn
