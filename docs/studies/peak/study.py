"""The study of PeakUTS: `python docs/studies/peak/study.py run [folder]`.

It resumes after an interruption if it is given a folder.
"""

import dataclasses
import math
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

HERE = Path(__file__).parent
ELSEWHERE = "elsewhere.parquet"
OURS, SWEPT, SCOUT, IMEDUB = POLICIES = ("PeakUTS", "UTS", "ScoutUTS", "IMEDUB")
HORIZONS = (10**3, 10**4, 10**5)
TRIALS, OF_1000_ARMS = 40, 2  # on each of ten graphs
OTHER_GRAPHS = {"grid 10 x 10": "grid:10x10", "Barabási–Albert, m = 2, K = 1000": "ba:1000:2"}
# What was asked at T = 10⁵: at most so much of the regret of ScoutUTS.
ASKED = {(1000, "log(K)/K"): 0.70, (100, "line"): 0.75}
ASKED_ELSEWHERE = {"grid 10 x 10": 0.80, "Barabási–Albert, m = 2, K = 1000": 0.80}


def table_2():
    """The settings of Table 2 with these policies."""
    for one in settings(FULL):
        if one.experiment == "Table 2":
            trials = OF_1000_ARMS if one.n_arms == 1000 else TRIALS
            yield dataclasses.replace(one, policies=POLICIES, trials=trials)


def elsewhere():
    """Two graphs that Table 2 does not have."""
    for name, graph in OTHER_GRAPHS.items():
        trials = OF_1000_ARMS if "1000" in graph else TRIALS
        yield um.studies.Setting(name, graph, "by distance", POLICIES, 10**5, 10, trials)


def run(folder):
    """Play everything and write data.parquet and elsewhere.parquet."""
    study = um.studies.Study(list(table_2()), findings.Finding)
    study.run(folder / "table-2", watch=watching).save(HERE / pages.DATA)
    um.studies.Study(list(elsewhere())).run(folder / "elsewhere").save(HERE / ELSEWHERE)


def by_place(found):
    """The findings of each policy, by size and density."""
    places = dict.fromkeys((one.setting.n_arms, one.setting.density) for one in found.all)
    return {
        place: {policy: found.at("Table 2", *place, policy) for policy in POLICIES}
        for place in places
    }


def table(places):
    """One row per setting: means, ratios and worst trials at T = 10⁵."""
    rows = [
        (
            *place,
            *(f"{ones[policy].final.mean():,.1f}" for policy in POLICIES),
            ratio(ones[OURS], ones[SWEPT]),
            ratio(ones[OURS], ones[SCOUT]),
            ", ".join(f"{ones[policy].final.max():,.0f}" for policy in (OURS, SWEPT, SCOUT)),
        )
        for place, ones in places.items()
    ]
    columns = ("K", "p", *POLICIES, "/UTS", "/ScoutUTS", "worst: PeakUTS, UTS, ScoutUTS")
    return markdown_table(columns, rows)


def against_the_best(places):
    """By place and horizon: the mean regret over that of the best of the three others."""
    found = {}
    for place, ones in places.items():
        at = np.searchsorted(ones[OURS].rounds, HORIZONS)
        means = {policy: ones[policy].curves.mean(axis=0)[at] for policy in POLICIES}
        found[place] = means[OURS] / np.min([means[p] for p in POLICIES if p != OURS], axis=0)
    return found


def horizons_table(places):
    """One row per setting: the regret over that of the best other policy, at each horizon."""
    rows = [
        (*place, *(f"{value:.2f}" for value in values))
        for place, values in against_the_best(places).items()
    ]
    return markdown_table(("K", "p", *(f"T = {horizon:,}" for horizon in HORIZONS)), rows)


def verdict(met, what):
    """A verdict in a word, and the number."""
    return f"{'**met**' if met else '**missed**'}, {what}"


def verdicts(places, others):
    """What was asked of it, and what came of it."""
    for place, limit in ASKED.items():
        found = ratio(places[place][OURS], places[place][SCOUT])
        where = f"K = {place[0]}, {place[1] if place[1] == 'line' else f'p = {place[1]}'}"
        yield f"at most {limit:.2f} of ScoutUTS at {where}", verdict(found.value <= limit, found)
    for name, limit in ASKED_ELSEWHERE.items():
        ones = others[name]
        found = ratio(ones[OURS], ones[SCOUT])
        yield f"at most {limit:.2f} of ScoutUTS, {name}", verdict(found.value <= limit, found)
    below = sum(ratio(ones[OURS], ones[SWEPT]).value < 1 for ones in places.values())
    yield "below swept UTS in at least 20 of 24 settings", verdict(below >= 20, f"in {below}")
    best = against_the_best(places)
    for sizes, limit in ((range(10, 1001), 1.05), ((5,), 1.10)):
        chosen = {place: values for place, values in best.items() if place[0] in sizes}
        worst = max(chosen, key=lambda place: chosen[place].max())
        above = sum(int((values > limit).sum()) for values in chosen.values())
        what = (
            f"in {3 * len(chosen) - above} of {3 * len(chosen)} pairs of a setting and a horizon; "
            f"the highest is {chosen[worst].max():.2f}, at K = {worst[0]}, p = {worst[1]}, "
            f"T = {HORIZONS[int(chosen[worst].argmax())]:,}"
        )
        arms = "K = 5" if limit > 1.05 else "K ≥ 10"
        asked = f"at most {limit:.2f} of the best of the others at each horizon, {arms}"
        yield asked, verdict(not above, what)


def figure(places):
    """The ratio to swept UTS against the number of arms, one line per density."""
    drawn = Figure(figsize=(7, 3.6), layout="constrained")
    axes = drawn.subplots()
    for density, marker in zip(DENSITIES, "osD^", strict=True):
        sizes = sorted(k for k, p in places if p == density)
        shown = [ratio(places[k, density][OURS], places[k, density][SWEPT]) for k in sizes]
        heights, reach = [one.value for one in shown], [one.half_width for one in shown]
        name = density if density == "line" else f"p = {density}"
        lines = axes.errorbar(sizes, heights, reach, marker=marker, capsize=3)
        axes.annotate(
            name, (sizes[-1], heights[-1]), xytext=(8, 0), textcoords="offset points",
            va="center", color=lines[0].get_color(), fontsize=8,
        )  # fmt: skip
    axes.axhline(1, color="0.5", linewidth=1, linestyle="--")
    axes.set(xscale="log", xlabel="arms K", ylabel="regret relative to swept UTS", ylim=(0, 1.3))
    axes.set_xlim(4, 2600)
    axes.spines[["top", "right"]].set_visible(False)
    return drawn


def render(out):
    """Write the page and its figure from the stored data."""
    found = findings.load(HERE / pages.DATA)
    others = um.studies.load(HERE / ELSEWHERE)
    named = {setting.name: ones for setting, ones in others.complete().items()}
    places = by_place(found)
    pages.draw(figure(places), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        table=table(places),
        horizons=horizons_table(places),
        elsewhere=markdown_table(
            ("graph", *POLICIES),
            [(name, *(ones[p].over_graphs for p in POLICIES)) for name, ones in named.items()],
        ),
        verdicts=list(verdicts(places, named)),
        trials=10 * TRIALS,
        few_trials=10 * OF_1000_ARMS,
        looks=2 * math.ceil(math.log2(100)),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
