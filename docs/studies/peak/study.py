"""The study of PeakUTS: `python docs/studies/peak/study.py run [folder]`.

It takes about 140 core-minutes, and resumes after an interruption if it is given a folder.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from peaked_settings import CONFINED, HORIZONS, Peaked, Raced

import unimodal as um
from unimodal.report.page import markdown_table
from unimodal.results.statistics import ratio_interval
from unimodal.studies import pages
from unimodal.studies.reproduce.paper_numbers import DENSITIES, SIZES
from unimodal.studies.sample_intervals import error_bars, with_spread

HERE = Path(__file__).parent
OURS, SWEPT, SCOUT, IMEDUB = OTHERS = ("PeakUTS", "UTS", "ScoutUTS", "IMEDUB")
POLICIES = (*OTHERS, CONFINED)
PROBED = "UTS(start='probe(8)')"  # which needs no sweep of a large graph
OPTIMISTIC = "UTS(period=2, prior=(1, 0.001))"  # a draw from Beta(1 + successes, failures), nearly
RIVALS = ("UTS(period=2)", "UTS(period=4)", OPTIMISTIC)
GRAPHS, TRIALS, OF_1000_ARMS, OF_OTHERS, OF_RIVALS, OF_LARGE = 10, 1000, 100, 100, 20, 30
OF_TAILS = dict.fromkeys((20, 50, 100), 10_000)  # by the arms of a line
ER_100 = "er:100:0.0461"  # log(K)/K
RIVALS_MEET = (("line", 20), ("line", 50), ("line", 100), ("log(K)/K", 100), ("log(K)/K", 1000))
LARGE = {"line:5000": 5000, "grid:70x70": 4900, "ba:10000:2": 10_000}


def settings():
    """All settings: Table 2's and others, more policies, large graphs, other means, tails."""
    for density in DENSITIES:
        for size in SIZES:
            trials = OF_1000_ARMS if size == 1000 else TRIALS
            yield Peaked(density, size, "by distance", POLICIES, 10**6, GRAPHS, trials)
    yield Peaked("grid:10x10", 100, "by distance", POLICIES, 10**6, GRAPHS, TRIALS)
    yield Peaked("ba:1000:2", 1000, "by distance", POLICIES, 10**6, GRAPHS, OF_1000_ARMS)
    for density, size in RIVALS_MEET:
        policies = (*OTHERS, *RIVALS, *(("MINTS",) if density == "line" else ()))
        yield Peaked(
            density, size, "by distance", policies, 10**5, GRAPHS, OF_RIVALS, "other policies"
        )
    for graph, size in LARGE.items():
        policies = (OURS, SWEPT, PROBED, SCOUT)
        yield Peaked(graph, size, "by distance", policies, 10**5, GRAPHS, OF_LARGE, "large graph")
    for graph in ("line:100", "grid:10x10", ER_100):
        yield Peaked(graph, 100, "random climb", OTHERS, 10**5, GRAPHS, OF_OTHERS)
    for means in ("one flat side", "plateau", "needle"):
        yield Peaked("line:100", 100, means, OTHERS, 10**5, GRAPHS, OF_OTHERS)
    for size, trials in OF_TAILS.items():
        both = (OURS, SWEPT)
        yield Peaked("line", size, "by distance", both, 10**5, GRAPHS, trials, "tails")


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study(list(settings()), Raced).run(folder).save(HERE / pages.DATA)


# Lines that were asked, at T = 10⁵: at most so much of the regret of ScoutUTS.
ASKED = {
    "log(K)/K, K = 1000": 0.70,
    "line, K = 100": 0.75,
    "grid:10x10, K = 100": 0.80,
    "ba:1000:2, K = 1000": 0.80,
}
BEST_ASKED = {5: 1.10}  # of the best other policy, by size
OF_THE_BEST = 1.05
CLIMBS_ASKED, TAILS_ASKED = 1.15, 0.60
WORST = 1000  # one trial of so many is among the worst


def ratio(over, under, horizon, lines=1):
    """The ratio of mean regrets over graphs; simultaneous for so many lines."""
    means = (one.at(horizon).mean(axis=1) for one in (over, under))
    return ratio_interval(*means, 1 - 0.05 / lines)


def named(found):
    """Outcomes of all policies by setting, in the order of the settings."""
    return {setting: found.complete()[setting] for setting in settings()}


def place(setting):
    """Where a setting is, in words."""
    return f"{setting.density}, K = {setting.n_arms}"


def is_table_2(setting):
    """Whether it is one of the 24 settings of Table 2."""
    return setting.density in DENSITIES and setting.purpose == "regret"


def means_table(found):
    """One row per setting: means and ratios at T = 10⁵."""
    rows = [
        (
            setting.n_arms,
            setting.density,
            *(mean_over_graphs(ones[policy]) for policy in POLICIES),
            ratio(ones[OURS], ones[SWEPT], 10**5),
            ratio(ones[OURS], ones[SCOUT], 10**5),
        )
        for setting, ones in found.items()
        if CONFINED in setting.policies
    ]
    return markdown_table(("K", "p", *POLICIES, "/UTS", "/ScoutUTS"), rows)


def spread_table(found):
    """One row per setting: median, 99 % quantile and worst trial of each policy at T = 10⁵."""
    rows = []
    for setting, ones in found.items():
        if CONFINED in setting.policies:
            cells = [spread(ones[policy].at(10**5)) for policy in OTHERS]
            rows.append((setting.n_arms, setting.density, *cells))
    return markdown_table(("K", "p", *OTHERS), rows)


def spread(regrets):
    """Median, 99 % quantile and maximum in one cell."""
    return ", ".join(f"{one:,.0f}" for one in (*np.quantile(regrets, (0.5, 0.99)), regrets.max()))


def against_the_best(ones):
    """At each horizon: the mean regret over that of the best of the three others, and who it is."""
    for horizon in HORIZONS:
        means = {policy: ones[policy].at(horizon).mean() for policy in OTHERS if policy != OURS}
        best = min(means, key=means.get)
        yield horizon, best, ones[OURS].at(horizon).mean() / means[best]


def horizons_table(found):
    """One row per setting: the regret over that of the best other policy, at each horizon."""
    rows = [
        (
            setting.n_arms,
            setting.density,
            *(f"{value:.2f} ({best})" for _, best, value in against_the_best(ones)),
        )
        for setting, ones in found.items()
        if is_table_2(setting)
    ]
    return markdown_table(("K", "p", *(f"T = {horizon:,}" for horizon in HORIZONS)), rows)


def rivals_table(found):
    """One row per setting, one column per policy: mean regrets where other policies are met."""
    names = (*OTHERS, *RIVALS, "MINTS")
    rows = [
        (
            setting.n_arms,
            setting.density,
            *(mean_over_graphs(ones[name]) if name in ones else "" for name in names),
        )
        for setting, ones in found.items()
        if setting.purpose == "other policies"
    ]
    shown = ("optimistic" if name == OPTIMISTIC else name for name in names)
    return markdown_table(("K", "p", *shown), rows)


def large_table(found):
    """One row per large graph."""
    names = (OURS, SWEPT, PROBED, SCOUT)
    rows = [
        (setting.density, *(mean_over_graphs(ones[name]) for name in names))
        for setting, ones in found.items()
        if setting.purpose == "large graph"
    ]
    return markdown_table(("graph", *names), rows)


def mean_over_graphs(one):
    """The mean regret at T = 10⁵ with its 95 % interval over graphs, and its quantiles."""
    return with_spread(one.at(10**5).mean(axis=1), trials=one.at(10**5))


def worst_mean(regrets):
    """The mean of the worst trials."""
    worst = regrets.shape[-1] // WORST
    return np.sort(np.partition(regrets, -worst, axis=-1)[..., -worst:], axis=-1).mean(axis=-1)


def tail_ratio(ones):
    """Of the means of the worst trials; the interval by 1,000 resamples of all trials."""
    ours, swept = (ones[policy].at(10**5).ravel() for policy in (OURS, SWEPT))
    rng, drawn = np.random.default_rng(0), []
    for _ in range(1000):
        picked = [rng.choice(one, len(one)) for one in (ours, swept)]
        drawn.append(worst_mean(picked[0]) / worst_mean(picked[1]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return worst_mean(ours), worst_mean(swept), worst_mean(ours) / worst_mean(swept), low, high


def tails(found):
    """What `tail_ratio` says of each line."""
    return {s: tail_ratio(ones) for s, ones in found.items() if s.purpose == "tails"}


def tails_table(worst):
    """One row per line: the mean of the worst trials."""
    rows = [
        (
            setting.n_arms,
            f"{GRAPHS * setting.trials:,}",
            f"{ours:,.0f}",
            f"{swept:,.0f}",
            f"{value:.2f} ({low:.2f} to {high:.2f})",
        )
        for setting, (ours, swept, value, low, high) in worst.items()
    ]
    return markdown_table(
        ("arms of the line", "trials", OURS, SWEPT, "ratio, and its 95 % interval"), rows
    )


def others_table(found):
    """One row per setting whose means are no function of the distance."""
    rows = []
    for setting, ones in found.items():
        if setting.means != "by distance":
            cells = [
                f"{mean_over_graphs(ones[p])} ({ones[p]['arrived'].mean():.0%})" for p in OTHERS
            ]
            versus = ratio(ones[OURS], ones[SWEPT], 10**5)
            rows.append((setting.means, setting.density, *cells, versus))
    return markdown_table(("means", "graph", *OTHERS, "PeakUTS/UTS"), rows)


def verdict(met, missed, what):
    """A verdict in a word, and the number."""
    word = "**met**" if met else "**missed**" if missed else "**open**"
    return f"{word}, {what}"


def verdicts(found, worst):
    """What was asked of it, and what came of it."""
    by_place = {place(s): ones for s, ones in found.items() if CONFINED in s.policies}
    for where, limit in ASKED.items():
        one = ratio(by_place[where][OURS], by_place[where][SCOUT], 10**5, len(ASKED))
        asked = f"at most {limit:.2f} of ScoutUTS at T = 10⁵, {where}"
        yield asked, verdict(one.value <= limit, one.low > limit, one)
    table = {setting: ones for setting, ones in found.items() if is_table_2(setting)}
    below = sum(ratio(ones[OURS], ones[SWEPT], 10**5).value < 1 for ones in table.values())
    yield (
        "below swept UTS in at least 20 of 24 settings",
        verdict(below >= 20, below < 20, f"in {below}"),
    )
    yield from horizon_verdicts(table)
    for setting, (*_, value, low, high) in worst.items():
        asked = f"worst {1 / WORST:.1%} at most {TAILS_ASKED} of UTS's, line of {setting.n_arms}"
        came = f"{value:.2f} ({low:.2f} to {high:.2f})"
        yield asked, verdict(high <= TAILS_ASKED, low > TAILS_ASKED, came)
    for setting, ones in found.items():
        if setting.means in ("random climb", "one flat side"):
            one = ratio(ones[OURS], ones[SWEPT], 10**5, 4)
            asked = f"at most {CLIMBS_ASKED} of UTS at T = 10⁵, {setting.means}, {setting.density}"
            yield asked, verdict(one.value <= CLIMBS_ASKED, one.low > CLIMBS_ASKED, one)


def horizon_verdicts(table):
    """Against the best of the others: one verdict for 5 arms, and one for more."""
    for is_five, arms in ((False, "K ≥ 10"), (True, "K = 5")):
        limit = BEST_ASKED[5] if is_five else OF_THE_BEST
        chosen = {s: ones for s, ones in table.items() if (s.n_arms == 5) == is_five}
        pairs, above, missed = len(chosen) * len(HORIZONS), [], 0
        for setting, ones in chosen.items():
            for horizon, best, value in against_the_best(ones):
                if value > limit:
                    above.append(f"{place(setting)}, T = {horizon:,}: {value:.2f}")
                    missed += ratio(ones[OURS], ones[best], horizon, pairs).low > limit
        what = f"in {pairs - len(above)} of {pairs} pairs of a setting and a horizon"
        if above:
            what += f" ({missed} of the others missed by their intervals): {'; '.join(above)}"
        asked = f"at most {limit:.2f} of the best of the others at each horizon, {arms}"
        yield asked, verdict(not above, missed > 0, what)


def figure(found):
    """The ratio to swept UTS against the number of arms, one line per density."""
    drawn = Figure(figsize=(7, 3.6), layout="constrained")
    axes = drawn.subplots()
    table = {(s.n_arms, s.density): ones for s, ones in found.items() if is_table_2(s)}
    for density, marker in zip(DENSITIES, "osD^", strict=True):
        shown = [ratio(table[k, density][OURS], table[k, density][SWEPT], 10**5) for k in SIZES]
        heights, reach = [one.value for one in shown], error_bars(shown)
        name = density if density == "line" else f"p = {density}"
        lines = axes.errorbar(SIZES, heights, reach, marker=marker, capsize=3)
        axes.annotate(
            name, (SIZES[-1], heights[-1]), xytext=(8, 0), textcoords="offset points",
            va="center", color=lines[0].get_color(), fontsize=8,
        )  # fmt: skip
    axes.axhline(1, color="0.5", linewidth=1, linestyle="--")
    axes.set(xscale="log", xlabel="arms K", ylabel="regret relative to swept UTS", ylim=(0, 1.3))
    axes.set_xlim(4, 2600)
    axes.spines[["top", "right"]].set_visible(False)
    return drawn


def render(out):
    """Write the page and its figure from the stored data."""
    stored = um.studies.load(HERE / pages.DATA, Peaked, Raced)
    found = named(stored)
    worst = tails(found)
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        means=means_table(found),
        spreads=spread_table(found),
        horizons=horizons_table(found),
        tails=tails_table(worst),
        others=others_table(found),
        rivals=rivals_table(found),
        large=large_table(found),
        verdicts=list(verdicts(found, worst)),
        trials=GRAPHS * TRIALS,
        few_trials=GRAPHS * OF_1000_ARMS,
        other_trials=GRAPHS * OF_OTHERS,
        rival_trials=GRAPHS * OF_RIVALS,
        large_trials=GRAPHS * OF_LARGE,
        made_with=stored.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
