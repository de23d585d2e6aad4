"""What late sales cost a shop, by what a policy makes of them: counts, holds back, weighs.

    python docs/studies/delays/late.py --trials 200 --only "exponential" FOLDER

It plays the settings whose names contain `--only` and prints a row for each. What is finished stays
in FOLDER, so that it goes on after an interruption. All of them at 200 trials are 2.5 × 10⁹ rounds.
"""

import argparse
import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unimodal as um
from unimodal.policies import parse
from unimodal.report.page import markdown_table

DAYS, VISITORS, LIVES = 40, 160.0, 7.0
HORIZON = int(DAYS * VISITORS)
POLICIES = ("PeakUTS", "UTS", "TS", "OSUB")
RULES = ("count", "hold", "weigh")
INSTANT = "instant"  # sale and refusal are known at once: what the others are compared with
WITHIN_THE_HOUR = 1 / 24


def shop(demand, share, arms):
    """Prices on a line, of which the best sells to this share of visitors."""
    prices = np.arange(1, arms + 1) * 10.0 / arms
    sold = 1 / (1 + np.exp(1.2 * (prices - 5))) if demand == "logit" else 1 - prices / 11
    best = int(np.argmax(sold * prices))
    shares = np.minimum(sold * share / sold[best], 1.0)
    graph = um.graphs.line([f"{price:.3f}" for price in prices])
    return um.Problem(graph, shares * prices, um.Scaled(um.Bernoulli(), by=list(prices)))


def delays(law, mean, arms):
    """How late sales come; two kinds of customers buy within the hour, or after days."""
    if law == "two kinds":
        rng = np.random.default_rng(1)
        soon = rng.uniform(0, WITHIN_THE_HOUR, 50_000)
        later = rng.exponential(2 * mean - WITHIN_THE_HOUR / 2, 50_000)
        return um.delays.Sample(np.concatenate([soon, later]))
    if law == "dearer later":  # the dearest three times as late as the cheapest
        return um.delays.Exponential(mean=(mean * np.geomspace(1, 3, arms)).tolist())
    return (um.delays.Exponential if law == "exponential" else um.delays.LogNormal)(mean=mean)


@dataclass(frozen=True)
class LateShop(um.studies.BaseSetting):
    """A shop, how late its sales come, and what is made of it."""

    demand: str
    share: float
    law: str
    mean: float
    arms: int
    late: str
    policies: tuple[str, ...] = POLICIES
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = 200

    @property
    def name(self):
        """A name that no other setting has."""
        delay = f"{self.law} {self.mean:g} days"
        return f"{self.demand}, {self.arms} prices, {self.share:g} buy, {delay}, {self.late}"

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.02

    def measure(self, task):
        """One row per trial: the share of the best price's revenue that was lost."""
        problem = shop(self.demand, self.share, self.arms)
        late, best = {}, problem.means.max()
        if self.late != INSTANT:
            delay = delays(self.law, self.mean, self.arms)
            late = {"delay": delay, "time_to_live": LIVES, "late": self.late, "visitors": VISITORS}
            best = (problem.means * delay.share_within(LIVES, problem.graph)).max()
        engine = "auto" if late else "step"
        options = {"horizon": HORIZON, "checkpoints": [HORIZON], "engine": engine, "workers": 1}
        options |= {"trials": 1, "progress": False, **late}
        policy, found = parse(task.policy), []
        for seed in range(task.first, task.last):
            run = um.simulate(problem, policy, seed=seed, **options)[policy.name]
            found.append(run.regret[0, -1])
        return np.array(found)[:, None] / (HORIZON * best)


class Lost(um.studies.EveryTrial):
    """The share of the best price's revenue that each trial lost."""

    columns = ("lost",)


def settings(trials):
    """The grid of the question, and delays that differ between prices."""
    laws = [(law, mean) for law in ("exponential", "lognormal") for mean in (0.1, 1.0, 3.0)]
    laws += [(law, mean) for law in ("two kinds", "dearer later") for mean in (1.0, 3.0)]
    shops = itertools.product(("logit", "linear"), (0.02, 0.1, 0.5), laws, (10, 30))
    return [
        LateShop(demand, share, law, mean, arms, late, trials=trials)
        for demand, share, (law, mean), arms in shops
        for late in (INSTANT, *RULES)
    ]


def ratio(lost, instant):
    """How often the loss is that of instant outcomes, with its 95 % interval."""
    value = lost.mean() / instant.mean()
    spread = math.hypot(*(x.std() / x.mean() / math.sqrt(len(x)) for x in (lost, instant)))
    return f"{value:.2f} ± {1.96 * value * spread:.2f}"


def table(found, played):
    """One row per shop and policy; what is lost with instant outcomes, and how often that."""
    of = {setting.name: setting for setting in played}
    rows = []
    for setting in played:
        if setting.late != INSTANT:
            continue
        stem = setting.name.removesuffix(INSTANT)
        for policy in POLICIES:
            instant = found.get(setting, policy)["lost"][0]
            cells = [ratio(found.get(of[stem + r], policy)["lost"][0], instant) for r in RULES]
            rows.append((stem.strip(", "), policy, f"{100 * instant.mean():.1f} %", *cells))
    return markdown_table(("shop", "policy", "lost if instant", *RULES), rows)


def main():
    """Play what was asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="keeps the finished work")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--only", default="", help="part of the names of the settings")
    chosen = parser.parse_args()
    played = [one for one in settings(chosen.trials) if chosen.only in one.name]
    print(table(um.studies.Study(played, Lost).run(chosen.folder), played))


if __name__ == "__main__":
    main()
