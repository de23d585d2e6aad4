"""Whom to show an advertisement first: 4,039 real people and their friendships.

Friends are alike, so the click rate falls with the distance from one unknown best person: by half
with each step. A policy shows the advertisement to one person a round; a click is a reward of 1.
The friendships are real (data/README.md). The click rates are made up; 0.5 % is what display
advertising sees. All policies know the size of the rates: their prior is Beta(1, 1/rate).

    python examples/advertising.py [--quick] [--out DIR]      # 90 s of computing without --quick
"""

from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report import figures
from unimodal.report.curve_labels import end_of, label_curves
from unimodal.results.statistics import Interval, mean_interval, ratio_interval

FRIENDSHIPS = Path(__file__).parent / "data" / "ego-facebook.csv.gz"
RATES = [0.005, 0.1]  # at the peak


def clicks_missed(graph, rate, impressions, peaks):
    """Regret by policy, a row a place of the peak, and that of showing it to anybody at random."""
    policies = [kind(prior=(1, 1 / rate)) for kind in (um.TS, um.UTS, um.ScoutUTS)]
    missed = {policy.name: [] for policy in policies} | {"anybody": []}
    for seed in range(peaks):
        peak = um.problems.random_peak(graph, seed)
        problem = um.Problem(graph, rate * 0.5 ** graph.distances(peak))
        settings = {"horizon": impressions, "trials": 1, "seed": seed}
        settings |= {"checkpoints": 100, "spacing": "linear", "progress": False}
        result = um.simulate(problem, policies, **settings)
        for name, run in result.items():
            missed[name].append(run.regret[0])
        missed["anybody"].append(problem.gaps.mean() * result.rounds)
    return result.rounds, {name: np.array(rows) for name, rows in missed.items()}


def draw(ax, rate, rounds, missed):
    anybody = missed["anybody"].mean(axis=0)
    curves = {name: mean_interval(rows) for name, rows in missed.items() if name != "anybody"}
    figures.regret(ax, rounds, curves, lower_bound=np.nan, scale="linear")
    ax.plot(rounds, anybody, color="0.4", linestyle=(0, (5, 4)), label="at random")
    ax.set(xlabel="impressions", ylabel="clicks missed, mean and 95 % interval")
    ax.set_title(f"click rate {100 * rate:g} % at the peak", fontsize=10, loc="left")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    label_curves(ax, [end_of(line) for line in ax.lines])


def main(quick: bool = False, out: Path = Path()):
    graph = um.graphs.read_edges(FRIENDSHIPS)
    impressions, peaks, say = (
        (1000, 2, "roughly {.value:.3g}".format) if quick else (100_000, 20, str)
    )
    drawn = Figure(figsize=(5.8, 6.6), layout="constrained")
    for ax, rate in zip(drawn.subplots(2, 1), RATES, strict=True):
        rounds, missed = clicks_missed(graph, rate, impressions, peaks)
        draw(ax, rate, rounds, missed)
        top = rate * impressions
        got = {name: Interval(*mean_interval(top - rows[:, -1])) for name, rows in missed.items()}
        ratio = ratio_interval(missed["UTS"][:, -1], missed["TS"][:, -1])
        print(
            f"At a click rate of {100 * rate:g} %, {impressions:,} impressions and {peaks} places "
            f"of the peak, UTS got {say(got['UTS'])} clicks, ScoutUTS {say(got['ScoutUTS'])}, TS "
            f"{say(got['TS'])} and anybody at random {say(got['anybody'])}, of {top:,.0f} to be "
            f"had at the peak; UTS missed {say(ratio)} times what TS missed."
        )
    out.mkdir(parents=True, exist_ok=True)
    drawn.savefig(out / "advertising.png", dpi=130)


if __name__ == "__main__":
    typer.run(main)
