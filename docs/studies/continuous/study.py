"""The study of continuous arms: `python docs/studies/continuous/study.py run` (a core-minute)."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.policies import parse
from unimodal.report.curve_labels import CurveEnd, label_curves
from unimodal.report.figures import style
from unimodal.report.page import markdown_table
from unimodal.results.statistics import interval_of_mean
from unimodal.studies import pages
from unimodal.studies.sample_intervals import error_bars, with_spread

HERE = Path(__file__).parent
HORIZONS = (10**3, 10**4, 10**5, 10**6)
PEAKS = np.random.default_rng(0).uniform(0.2, 0.8, 20)
TRIALS = 2  # for each place of the peak
# What the peak looks like: (α, C) of the mean 0.9 - C·|x - peak|^α on [0, 1].
SHAPES = {"a corner": (1, 1.0), "a smooth top": (2, 1.2)}
METHODS = ("UTS", "OSUB", "LSE")


@dataclass(frozen=True)
class Search(um.studies.BaseSetting):
    """A shape of the peak, the shape that the methods are told, and a horizon."""

    shape: str
    told: str
    horizon: int
    policies: tuple[str, ...] = METHODS
    graphs: int = len(PEAKS)  # places of the peak
    trials: int = TRIALS

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.shape}, told {self.told}, T = {self.horizon}"

    def interval(self, place):
        """The interval with one of the places of the peak."""
        (alpha, slope), peak = SHAPES[self.shape], PEAKS[place]
        return um.Interval(0, 1, mean=lambda x: 0.9 - slope * abs(x - peak) ** alpha)

    def grid(self, place):
        """The line that the policies play on."""
        interval, (alpha, slope) = self.interval(place), SHAPES[self.told]
        return interval.discretise(interval.points_for(self.horizon, alpha, slope))

    def measure(self, task):
        """One row per trial: regret; whether LSE has lost the peak; points and cost of the grid."""
        interval = self.interval(task.graph)
        size = {"horizon": self.horizon, "trials": task.last, "seed": 0, "checkpoints": 1}
        if task.policy == "LSE":
            alpha, slope = SHAPES[self.told]
            found = um.narrow(interval, um.LSE(slope=slope, smoothness=alpha), **size)
            lost = (interval.peak < found.low) | (found.high < interval.peak)
            rows = [
                (regret, out, 0, 0) for regret, out in zip(found.regret[:, -1], lost, strict=True)
            ]
        else:
            policy, grid = parse(task.policy), self.grid(task.graph)
            result = um.simulate(grid, policy, workers=1, progress=False, **size)
            missed = self.horizon * (interval.best_mean - grid.means.max())
            regrets = interval.regret(result)[policy.name][:, -1]
            rows = [(regret, 0, grid.graph.n_arms, missed) for regret in regrets]
        return np.array(rows, dtype=float)[task.first :]


class Regret(um.studies.EveryTrial):
    """The regret of every trial, whether LSE has lost the peak, and what the grid was."""

    columns = ("regret", "lost", "points", "missed")

    @property
    def mean(self):
        """The mean with its 95 % interval over places of the peak."""
        return interval_of_mean(self["regret"].mean(axis=1))

    @property
    def shown(self):
        """The mean in a cell, with the quantiles of all trials."""
        return with_spread(self["regret"].mean(axis=1), ",.0f", self["regret"])


TRUE = [Search(shape, shape, horizon) for shape in SHAPES for horizon in HORIZONS]
WRONG = [Search(shape, told, 10**5, ("UTS", "LSE")) for shape in SHAPES for told in SHAPES]
LONG = [Search(shape, told, 10**7, ("LSE",)) for shape in SHAPES for told in SHAPES]


def run(folder):
    """Play everything and write data.parquet."""
    settings = [*TRUE, *(one for one in WRONG if one.shape != one.told), *LONG]
    um.studies.Study(settings, Regret).run(folder).save(HERE / pages.DATA)


def scale(horizon):
    """The order of the regret: √(T log T)."""
    return math.sqrt(horizon * math.log(horizon))


def regrets(found, shape):
    """One row per horizon and one column per method."""
    rows = []
    for setting in TRUE:
        if setting.shape == shape:
            uts = found.get(setting, "UTS")
            points, missed = uts["points"].max(), uts["missed"].mean()
            power = str(len(str(setting.horizon)) - 1).translate(str.maketrans("3456", "³⁴⁵⁶"))
            cells = []
            for one in found.of(setting).values():
                cells.append(f"{one.shown} ({one.mean.value / scale(setting.horizon):.2f})")
            rows.append((f"10{power}", f"{points:.0f}", f"{missed:,.0f}", *cells))
    return markdown_table(("T", "points", "the grid's part", *METHODS), rows)


def told_wrong(found):
    """Regret of UTS and LSE that are told another shape, and how often LSE loses the peak."""
    rows = []
    for short, long in zip(WRONG, LONG, strict=True):
        if short.shape == short.told:
            short = Search(short.shape, short.told, short.horizon)
        uts, lse = (found.get(short, name) for name in ("UTS", "LSE"))
        lost = 100 * found.get(long, "LSE")["lost"].mean()
        on_grid = f"{uts.shown} ({uts['points'].max():.0f} points)"
        rows.append((short.shape, short.told, on_grid, lse.shown, f"{lost:.0f} %"))
    return markdown_table(
        ("the peak is", "they are told", "UTS", "LSE", "LSE has lost the peak"), rows
    )


def figure(found):
    """Regret relative to √(T log T), one panel per shape, with the shape in a corner of it."""
    drawn = Figure(figsize=(5.8, 6.4), layout="constrained")
    axes = drawn.subplots(len(SHAPES), 1, sharex=True)
    for ax, (shape, (alpha, slope)) in zip(axes, SHAPES.items(), strict=True):
        settings = [setting for setting in TRUE if setting.shape == shape]
        ends = []
        for position, name in enumerate(METHODS):
            means = [found.get(setting, name).mean for setting in settings]
            scales = [scale(setting.horizon) for setting in settings]
            heights = [one.value / s for one, s in zip(means, scales, strict=True)]
            reach = error_bars(means) / np.array(scales)
            label = name if name == "LSE" else f"{name} on the grid"
            look = style(name, position) | {"capsize": 2, "markersize": 5}
            ax.errorbar(HORIZONS, heights, reach, **look)
            ends.append(CurveEnd(label, HORIZONS[-1], heights[-1], look["color"]))
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set(ylim=(0.1, 30), yticks=[0.1, 1, 10], yticklabels=["0.1", "1", "10"])
        ax.set_ylabel("regret / √(T log T), 95 % interval")
        label_curves(ax, ends)
        ax.set_title(f"the peak is {shape}", fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        inset = ax.inset_axes((0.71, 0.47, 0.27, 0.2))
        x = np.linspace(0, 1, 201)
        inset.plot(x, 0.9 - slope * abs(x - 0.4) ** alpha, color="0.35", linewidth=1.2)
        inset.set(xticks=[], yticks=[], xlabel="arm x", ylabel="mean")
        inset.xaxis.label.set(size=7, color="0.35")
        inset.yaxis.label.set(size=7, color="0.35")
        inset.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("horizon T, rounds")
    return drawn


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Search, Regret)
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        runs=f"{len(PEAKS)} places of the peak, {TRIALS} trials each",
        corner=regrets(found, "a corner"),
        smooth=regrets(found, "a smooth top"),
        wrong=told_wrong(found),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
