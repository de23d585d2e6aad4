"""The study of known multipliers: `python docs/studies/scaled/study.py run` (a core-minute)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial
from unimodal.policies import parse
from unimodal.report.figures import style
from unimodal.report.page import markdown_table
from unimodal.results.statistics import ratio_interval
from unimodal.studies import pages
from unimodal.studies.sample_intervals import with_spread

HERE = Path(__file__).parent
PRICES = np.array([4.9, 6.9, 8.9, 9.9, 11.9, 12.9, 14.9, 16.9, 19.9, 24.9])
LADDER = um.graphs.line(10)
HORIZON, TRIALS = 10_000, 100
POLICIES = ("UTS", "TS", "OSUB")
FAMILIES = {
    "Scaled": um.Scaled(um.Bernoulli(), by=PRICES),
    "Bounded": um.Bounded(0, PRICES[-1]),
}
# The share that buys at each price. Four of each shape, from well sold to hardly sold.
SHARES = (0.9, 0.6, 0.3, 0.1)
SHAPES = {
    "linear": lambda top: np.maximum(1 - PRICES / top, 0),
    "logit": lambda middle: 1 / (1 + np.exp((PRICES - middle) / 3)),
    "exponential": lambda scale: np.exp(-PRICES / scale),
    "constant elasticity, capped": lambda kink: np.minimum(1, (kink / PRICES) ** 2),
    "Weibull": lambda scale: np.exp(-((PRICES / scale) ** 3)),
}
NUMBERS = {
    "linear": (26, 32, 40, 60),
    "logit": (8, 11, 14, 18),
    "exponential": (6, 9, 13, 18),
    "constant elasticity, capped": (6.9, 9.9, 14.9, 19.9),
    "Weibull": (10, 14, 19, 25),
}
CURVES = {
    f"{shape}, {number}": share * SHAPES[shape](number)
    for shape, numbers in NUMBERS.items()
    for share, number in zip(SHARES, numbers, strict=True)
}


@dataclass(frozen=True)
class Demand(um.studies.BaseSetting):
    """A demand curve, and the family of rewards that policies are told."""

    curve: str
    family: str
    policies: tuple[str, ...] = POLICIES
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = TRIALS

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.curve}, {self.family}"

    @property
    def problem(self):
        """Prices on a line, and what a visitor brings at each."""
        return um.Problem(LADDER, PRICES * CURVES[self.curve], FAMILIES[self.family])

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.02

    def measure(self, task):
        """One row per trial: the regret, as a share of what the best price earns."""
        policy = parse(task.policy)
        return np.array([self.play(policy, seed) for seed in range(task.first, task.last)])

    def play(self, policy, seed):
        """Play one trial; both families are told of the same visitors."""
        problem, last = self.problem, np.array([self.horizon])
        drawn = np.random.default_rng(seed).random((self.horizon + 1, len(PRICES))).T
        sold = (drawn < CURVES[self.curve][:, np.newaxis]).astype(np.float64)
        trial = StepTrial(problem, policy, seed, 0, last, False)
        trial.rewards = Tabled(sold if self.family == "Scaled" else PRICES[:, np.newaxis] * sold)
        trial.finish()
        return (trial.output.regret[-1] / (self.horizon * problem.means.max()),)


class Lost(um.studies.EveryTrial):
    """The regret of every trial, as a share of what the best price earns."""

    columns = ("share",)

    @property
    def regret(self):
        """The regret of each trial."""
        return self["share"][0]


def run(folder):
    """Play everything and write data.parquet."""
    settings = [Demand(curve, family) for curve in CURVES for family in FAMILIES]
    assert all(setting.problem.check() for setting in settings)
    um.studies.Study(settings, Lost).run(folder).save(HERE / pages.DATA)


def lost(found, policy, family, curves=tuple(CURVES)):
    """Money lost in each trial, as a share: the mean over demand curves."""
    rows = [found.get(Demand(curve, family), policy).regret for curve in curves]
    return np.mean(rows, axis=0)


def overall(found):
    """One row per policy: money lost with each family over all curves, and the ratio."""
    rows = []
    for policy in POLICIES:
        samples = [100 * lost(found, policy, family) for family in FAMILIES]
        shares = [with_spread(sample) for sample in samples]
        rows.append((policy, *shares, ratio_interval(*samples), wins(found, policy)))
    header = ("policy", *(f"{family}, % lost" for family in FAMILIES), "ratio", "curves won, of 20")
    return markdown_table(header, rows)


def wins(found, policy):
    """On how many curves Scaled lost less, and on how many with the whole interval."""
    ratios = [ratio(found, policy, curve) for curve in CURVES]
    clear = sum(one.high < 1 for one in ratios)
    return f"{sum(one.value < 1 for one in ratios)} ({clear} with the whole interval)"


def ratio(found, policy, curve):
    """What Scaled lost relative to Bounded on one curve."""
    return ratio_interval(*(lost(found, policy, family, [curve]) for family in FAMILIES))


def by_curve(found):
    """One row per curve: its best price, and the ratio of each policy."""
    rows = []
    for curve, sold in CURVES.items():
        best = PRICES[np.argmax(PRICES * sold)]
        rows.append((curve, f"{best:.2f}", *(ratio(found, policy, curve) for policy in POLICIES)))
    return markdown_table(("demand", "best price", *POLICIES), rows)


def figure(found):
    """The curves, and the ratio of UTS on each."""
    drawn = Figure(figsize=(5.8, 6.8), layout="constrained")
    above, below = drawn.subplots(2, 1)
    for number, (curve, sold) in enumerate(CURVES.items()):
        earned = PRICES * sold
        above.plot(PRICES, earned / earned.max(), color="0.6", linewidth=0.8)
        above.plot(PRICES[earned.argmax()], 1, "o", color="0.3", markersize=3)
        for place, policy in enumerate(POLICIES):
            one, look = ratio(found, policy, curve), style(policy, place)
            look = {"color": look["color"], "marker": look.get("marker", "o"), "markersize": 4}
            ends = [[one.value - one.low], [one.high - one.value]]
            look |= {"linestyle": "", "label": policy if number == 0 else None}
            below.errorbar(number + 0.25 * place, one.value, ends, **look)
    above.set(xlabel="price", ylabel="revenue per visitor,\nover that of the best price", ylim=0)
    below.axhline(1, color="0.45", linewidth=0.8)
    below.set(ylabel="regret with Scaled / regret with Bounded", ylim=(0, 1.7))
    below.set_xticks(
        np.arange(5) * 4 + 1.75, [shape.split(",")[0].replace(" ", "\n") for shape in SHAPES]
    )
    below.tick_params(axis="x", labelsize=9, length=0)
    below.legend(frameon=False, fontsize=8, ncols=3, loc="upper left")
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
    return drawn


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Demand, Lost)
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        measured=f"T = {HORIZON:,}, {TRIALS} trials a curve",
        overall=overall(found),
        by_curve=by_curve(found),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
