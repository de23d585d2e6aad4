"""Which price to show, when purchases come hours later and refusals never do.

Ten prices on a ladder: the dearer, the fewer buy, so revenue has one peak. A decision without a
purchase after a day counts as no revenue. Told at once, purchases are ahead of refusals and
every price looks better than it is, a dear one most; so we also hold them back until the day is
nearly over. The file survives a crash; leave `clock` out to go by the machine's.

    python examples/pricing.py [--quick] [--out DIR]          # 60 s of computing without --quick
"""

import tempfile
from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report import figures
from unimodal.results.statistics import mean_interval, ratio_interval

PRICES = np.array([4.9, 6.9, 8.9, 9.9, 11.9, 12.9, 14.9, 16.9, 19.9, 24.9])
BUYERS = 0.6 / (1 + np.exp((PRICES - 13) / 3))  # the share that buys, which no policy sees
REVENUE = PRICES * BUYERS  # a visitor
LADDER = um.graphs.line(PRICES.tolist())
MONEY = um.Scaled(um.Bernoulli(), by=float)  # a purchase, worth its price
HOUR, DAY, VISITS = 3600, 86400, 20  # visits an hour
# Who decides, and whether purchases are held back.
RUNS = {"TS (told at once)": (um.TS(), False), "UTS (told at once)": (um.UTS(), False)}
RUNS |= {"TS": (um.TS(), True), "UTS": (um.UTS(), True)}


def lost_by_hour(policy, held_back, days, seed, file):
    """Money lost so far against the best price, after every hour."""
    rng, now, shown = np.random.default_rng(seed), 0, []
    to_tell = [[] for _ in range(24 * days + 24)]  # purchases, by the hour when they are told
    settings = {"time_to_live": DAY, "on_expiry": "zero", "seed": seed, "durability": "fast"}
    with um.Campaign.open(file, policy, LADDER, MONEY, clock=lambda: now, **settings) as campaign:
        for hour in range(24 * days):
            now = hour * HOUR
            for decision in to_tell[hour]:
                campaign.reward(decision, 1.0)
            for decision in campaign.decide(VISITS):
                shown.append(LADDER.arm_of(decision.arm))
                later = 23 if held_back else min(1 + int(rng.exponential(5)), 23)  # hours
                if rng.random() < BUYERS[shown[-1]]:
                    to_tell[hour + later].append(decision.id)
    return np.cumsum((REVENUE.max() - REVENUE)[shown])[VISITS - 1 :: VISITS]


def main(quick: bool = False, out: Path = Path()):
    days, trials, say = (3, 2, "roughly {.value:.3g}".format) if quick else (30, 20, str)
    lost = {}
    for name, (policy, held_back) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            files = [(seed, f"{folder}/{seed}.db") for seed in range(trials)]
            lost[name] = np.array([lost_by_hour(policy, held_back, days, *f) for f in files])
    drawn = Figure(figsize=(5.8, 6.8), layout="constrained")
    above, below = drawn.subplots(2, 1, height_ratios=(1, 1.7))
    above.plot(PRICES, REVENUE, "o-", color="0.35", markersize=4)
    above.set(xlabel="price", ylabel="revenue per visitor\n(no policy sees it)", ylim=0)
    above.spines[["top", "right"]].set_visible(False)
    curves = {name: mean_interval(rows) for name, rows in lost.items()}
    figures.regret(below, np.arange(1, 24 * days + 1) / 24, curves, np.nan, "linear")
    below.set(xlabel="day", ylabel="money lost, mean and 95 % interval")
    below.set_title("purchases held back for a day, or told at once", fontsize=10, loc="left")
    hasty_ts, hasty_uts, ts, uts = (rows[:, -1] for rows in lost.values())
    print(
        f"After {days} days and {24 * days * VISITS:,} visitors, {trials} trials, UTS lost "
        f"{say(ratio_interval(uts, ts))} times the money that TS lost with purchases held back for "
        f"a day, and {say(ratio_interval(hasty_uts, hasty_ts))} times with purchases told at once."
    )
    out.mkdir(parents=True, exist_ok=True)
    drawn.savefig(out / "pricing.png", dpi=130)


if __name__ == "__main__":
    typer.run(main)
