"""docs/continuous.md and its figure, from continuous.in.md: python docs/continuous.py (100 s)."""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report.figures import style

DOCS = Path(__file__).parent
HORIZONS = [10**3, 10**4, 10**5, 10**6]
TRIALS = 2  # of each of the intervals
PEAKS = np.random.default_rng(0).uniform(0.2, 0.8, 20)
# What the peak looks like: (α, C) of the mean 0.9 - C·|x - peak|^α on [0, 1].
SHAPES = {"a corner": (1, 1.0), "a smooth top": (2, 1.2)}


def intervals(alpha, slope):
    """One interval for each place of the peak."""

    def mean_around(peak):
        return lambda x: 0.9 - slope * abs(x - peak) ** alpha

    return [um.Interval(0, 1, mean=mean_around(peak)) for peak in PEAKS]


def regrets(alpha, slope):
    """Everybody at every horizon, told the truth about the peak."""
    settings = {"slope": slope, "smoothness": alpha, "trials": TRIALS, "workers": 1}
    return um.regret_by_horizon(intervals(alpha, slope), HORIZONS, **settings)


def told_wrong(alpha, slope, told):
    """Regret at T = 10⁵ of UTS and LSE that are told another shape, and how often LSE is lost."""
    table = um.regret_by_horizon(
        intervals(alpha, slope),
        [10**5],
        slope=SHAPES[told][1],
        smoothness=SHAPES[told][0],
        policies=[um.UTS()],
        trials=TRIALS,
        workers=1,
    )
    search = um.LSE(slope=SHAPES[told][1], smoothness=SHAPES[told][0])
    found = [
        um.narrow(one, search, horizon=10**7, trials=TRIALS) for one in intervals(alpha, slope)
    ]
    lost = [~((f.low <= f.interval.peak) & (f.interval.peak <= f.high)) for f in found]
    uts, lse = table["mean"].to_list()
    return f"{uts:,.0f} ({table['points'][0]} points) | {lse:,.0f} | {100 * np.mean(lost):.0f} %"


def picture(tables):
    """Regret relative to √(T log T), a panel a shape, with the shape in a corner of it."""
    drawn = Figure(figsize=(9.2, 3.9), layout="constrained")
    axes = drawn.subplots(1, len(tables), sharey=True)
    for ax, (shape, table) in zip(axes, tables.items(), strict=True):
        for position, name in enumerate(dict.fromkeys(table["method"])):
            rows = table.filter(table["method"] == name)
            scale = rows["mean"] / rows["relative"]
            look = style(name, position)
            label = name if name == "LSE" else f"{name} on the grid"
            ends = [(rows["mean"] - rows["low"]) / scale, (rows["high"] - rows["mean"]) / scale]
            look |= {"yerr": ends, "capsize": 2, "markersize": 5, "label": label}
            ax.errorbar(rows["horizon"], rows["relative"], **look)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set(ylim=(0.1, 30), yticks=[0.1, 1, 10], yticklabels=["0.1", "1", "10"])
        ax.set_xlabel("horizon T")
        ax.set_title(f"the peak is {shape}", fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        alpha, slope = SHAPES[shape]
        inset = ax.inset_axes((0.71, 0.47, 0.27, 0.2))
        x = np.linspace(0, 1, 201)
        inset.plot(x, 0.9 - slope * abs(x - 0.4) ** alpha, color="0.35", linewidth=1.2)
        inset.set(xticks=[], yticks=[], xlabel="arm x", ylabel="mean")
        inset.xaxis.label.set(size=7, color="0.35")
        inset.yaxis.label.set(size=7, color="0.35")
        inset.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("regret / √(T log T), 95 % interval")
    axes[0].legend(frameon=False, loc="upper left", ncols=3, fontsize=8, columnspacing=1.2)
    return drawn


def markdown_table(table):
    """Rows by horizon, a column a method."""
    lines = ["| T | points | the grid's part | UTS | OSUB | LSE |", "|---|---|---|---|---|---|"]
    for horizon in HORIZONS:
        rows = {row["method"]: row for row in table.to_dicts() if row["horizon"] == horizon}
        cells = [
            f"{row['mean']:,.0f} ± {(row['high'] - row['low']) / 2:,.0f} ({row['relative']:.2f})"
            for row in rows.values()
        ]
        power = f"10{str(len(str(horizon)) - 1).translate(str.maketrans('3456', '³⁴⁵⁶'))}"
        uts = rows["UTS"]
        lines.append(f"| {power} | {uts['points']} | {uts['grid']:,.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


began = time.perf_counter()
tables = {shape: regrets(*truth) for shape, truth in SHAPES.items()}
picture(tables).savefig(DOCS / "images" / "continuous.png", dpi=130)
wrong = [
    f"| {shape} | {told} | {told_wrong(*truth, told)} |"
    for shape, truth in SHAPES.items()
    for told in SHAPES
]
parts = {
    "runs": f"{len(PEAKS)} places of the peak, {TRIALS} trials each",
    "corner": markdown_table(tables["a corner"]),
    "smooth": markdown_table(tables["a smooth top"]),
    "wrong": "\n".join(wrong),
}
page = (DOCS / "continuous.in.md").read_text(encoding="utf-8").format(**parts)
(DOCS / "continuous.md").write_text(page, encoding="utf-8")
print(f"docs/continuous.md, in {time.perf_counter() - began:.0f} s")
