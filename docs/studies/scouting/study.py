"""The study of ScoutUTS: `python docs/studies/scouting/study.py run [folder]` (8 core-minutes)."""

import dataclasses
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report.page import markdown_table
from unimodal.studies import pages, ratio
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce.live_view import watching
from unimodal.studies.reproduce.paper_numbers import DENSITIES
from unimodal.studies.reproduce.settings import FULL, settings
from unimodal.studies.sample_intervals import error_bars

HERE = Path(__file__).parent
REPRODUCTION = HERE.parent / "reproduction" / "findings.parquet"
SWEPT, OURS = "UTS", "ScoutUTS"
HORIZONS = (10**3, 10**4, 10**5)


def run(folder):
    """Play the settings of Table 2 with ScoutUTS and write data.parquet."""
    table_2 = [setting for setting in settings(FULL) if setting.experiment == "Table 2"]
    plan = [dataclasses.replace(setting, policies=(OURS,)) for setting in table_2]
    study = um.studies.Study(plan, findings.Finding)
    study.run(folder, watch=watching).save(HERE / pages.DATA)


def pairs(found, swept):
    """By size and density: the finding of ScoutUTS, and that of UTS with a sweep."""
    places = [(one.setting.n_arms, one.setting.density) for one in found.all]
    return {
        place: (one, swept.at("Table 2", *place, SWEPT))
        for place, one in zip(places, found.all, strict=True)
    }


def table(both):
    """One row per setting."""
    rows = [
        (
            *place,
            other.with_spread,
            one.with_spread,
            ratio(one, other),
            f"{other.final.max():,.0f}, {one.final.max():,.0f}",
        )
        for place, (one, other) in both.items()
    ]
    columns = ("K", "p", "UTS with a sweep", "ScoutUTS", "ratio", "worst: UTS, ScoutUTS")
    return markdown_table(columns, rows)


def said(met):
    """A verdict in a word."""
    return "**met**" if met else "**missed**"


def verdicts(both, ratios):
    """What was asked of ScoutUTS, and what came of it, for the template."""
    values = np.array([one.value for one in ratios.values()])
    worst = {place: one.final.max() / other.final.max() for place, (one, other) in both.items()}
    high = max(ratios, key=lambda place: ratios[place].value)
    tail = max(worst, key=lambda place: worst[place])
    below, target = (values < 1).sum(), ratios[1000, "log(K)/K"]
    return {
        "largest": f"{said(values.max() <= 1.15)}, the largest is {ratios[high]}",
        "largest_at": f"K = {high[0]}, p = {high[1]}",
        "below": f"{said(below >= 16)}, in {below}",
        "clearly": sum(one.high < 1 for one in ratios.values()),
        "target": f"{said(target.value <= 0.4)}, {target}",
        "tail": said(not any(one > 2 for one in worst.values())),
        "tail_ratio": f"{worst[tail]:.2f} (K = {tail[0]}, p = {tail[1]})",
    }


def sooner(both):
    """How it does at shorter horizons, in words."""
    columns = []
    for one, other in both.values():
        at = np.searchsorted(one.rounds, HORIZONS)
        columns.append((one.curves.mean(axis=0) / other.curves.mean(axis=0))[at])
    return "; ".join(
        f"at T = {horizon:,} it is below swept UTS in {(column < 1).sum()} settings, and at most "
        f"{column.max():.2f} times as high"
        for horizon, column in zip(HORIZONS, np.array(columns).T, strict=True)
    )


def figure(ratios):
    """The ratio against the number of arms, one line per density."""
    drawn = Figure(figsize=(7, 3.6), layout="constrained")
    axes = drawn.subplots()
    for density, marker in zip(DENSITIES, "osD^", strict=True):
        sizes = sorted(k for k, p in ratios if p == density)
        shown = [ratios[k, density] for k in sizes]
        heights, reach = [one.value for one in shown], error_bars(shown)
        axes.errorbar(sizes, heights, reach, marker=marker, capsize=3, label=f"p = {density}")
    axes.axhline(1, color="0.5", linewidth=1, linestyle="--")
    axes.set(xscale="log", xlabel="arms K", ylabel="regret relative to swept UTS", ylim=(0, 1.6))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return drawn


def render(out):
    """Write the page and its figure from data.parquet and the findings of the reproduction."""
    found, swept = findings.load(HERE / pages.DATA), findings.load(REPRODUCTION)
    both = pairs(found, swept)
    ratios = {place: ratio(*pair) for place, pair in both.items()}
    behind = [f"K = {k}, p = {p} ({one})" for (k, p), one in ratios.items() if one.value > 1]
    pages.draw(figure(ratios), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        table=table(both),
        behind="; ".join(behind),
        sooner=sooner(both),
        made_with=found.made_with,
        **verdicts(both, ratios),
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
