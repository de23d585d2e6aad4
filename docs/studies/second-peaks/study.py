"""The study of second peaks: `python docs/studies/second-peaks/study.py run` (half a minute)."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unimodal as um
from unimodal.inference.confidence_bounds import bounds
from unimodal.inference.hills import hills
from unimodal.policies import parse
from unimodal.report.page import markdown_table
from unimodal.studies import pages

HERE = Path(__file__).parent
LINE = um.graphs.line(9)
MEANS = {
    "one peak, 0.2 to 0.7": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.6, 0.5, 0.4],
    "plateaus": [0.3, 0.3, 0.5, 0.5, 0.5, 0.7, 0.7, 0.4, 0.4],
    "all equal": [0.5] * 9,
    "two peaks": [0.1, 0.4, 0.8, 0.3, 0.05, 0.3, 0.7, 0.3, 0.1],
}
ONE_PEAK = [name for name in MEANS if name != "two peaks"]
POLICIES = ("UTS", "TS", "KLUCB")
EQUALLY = "all arms equally often"
LOOKS = (30, 100, 300, 1000, 3000)
LONGER = (1000, 3000, 10_000, 30_000)
TRIALS = 300


@dataclass(frozen=True)
class Test(um.studies.BaseSetting):
    """Means, and the rounds after which a second peak is looked for."""

    means: str
    looks: tuple[int, ...]
    horizon: int
    trials: int
    policies: tuple[str, ...] = POLICIES
    graphs: int = 1

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.means}, T = {self.horizon}"

    @classmethod
    def from_data(cls, data):
        """The setting that `to_data` described."""
        return super().from_data({**data, "looks": tuple(data["looks"])})

    def seconds_a_trial(self, policy):
        """So little that all trials are one task: those of equal pulls share a generator."""
        return 0.001

    def measure(self, task):
        """One row per trial: reports by our bounds and by usual ones, and whether bounds failed."""
        means = np.array(MEANS[self.means])
        rows = np.zeros((self.trials, 3), bool)
        for pulls, totals in self.seen(task.policy, means):
            low, high = ours(pulls, totals)
            rows[:, 0] |= reported(low, high)
            rows[:, 1] |= reported(*usual(pulls, totals))
            low, high = ours(pulls, totals, confidence=0.5)
            rows[:, 2] |= ((low > means) | (high < means)).any(axis=1)
        return rows.astype(float)

    def seen(self, policy, means):
        """Pulls and totals of every trial at each look: two arrays, one row per trial."""
        if policy == EQUALLY:
            pulls = np.full((self.trials, 9), self.horizon // 9)
            yield pulls, np.random.default_rng(0).binomial(pulls, means)
            return
        size = {"horizon": self.horizon, "trials": self.trials, "history": True}
        problem, player = um.Problem(LINE, means.tolist()), parse(policy)
        run = um.simulate(problem, player, workers=1, progress=False, **size)[policy]
        for rounds in self.looks:
            pulled = run.arms[:, :rounds, None] == np.arange(9)
            yield pulled.sum(axis=1), (run.rewards[:, :rounds, None] * pulled).sum(axis=1)


class Reports(um.studies.EveryTrial):
    """Whether a trial reported a second peak, and whether a bound failed."""

    columns = ("ours", "usual", "failed")

    def shares(self, *columns, digits):
        """Shares of the trials, in per cent."""
        return [f"{100 * self[column].mean():.{digits}f} %" for column in columns]


def ours(pulls, totals, confidence=0.95):
    """The bounds of second_peaks, for all trials at once."""
    threshold = math.log(9 / (1 - confidence))
    found = bounds(um.Bernoulli(), pulls.ravel(), totals.ravel(), threshold)
    return tuple(end.reshape(pulls.shape) for end in found)


def usual(pulls, totals):
    """Mean ± 1.96 standard errors."""
    n = np.maximum(pulls, 1)
    mean = totals / n
    error = 1.96 * np.sqrt(mean * (1 - mean) / n)
    return np.where(pulls > 0, mean - error, 0.0), np.where(pulls > 0, mean + error, 1.0)


def reported(low, high):
    """In which trials a second peak shows."""
    return np.array([len(list(hills(LINE, *ends))) > 1 for ends in zip(low, high, strict=True)])


ALARMS = [Test(means, LOOKS, LOOKS[-1], TRIALS) for means in ONE_PEAK]
POWER = [Test("two peaks", (t,), t, 100, (*POLICIES, EQUALLY)) for t in LONGER]


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study([*ALARMS, *POWER], Reports).run(folder).save(HERE / pages.DATA)


def alarms(found):
    """One row per means and policy."""
    columns = ("false alarms", "with usual intervals", "50 % bounds failed")
    rows = [
        (setting.means, policy, *one.shares("ours", "usual", "failed", digits=1))
        for setting in ALARMS
        for policy, one in found.of(setting).items()
    ]
    return markdown_table(("means", "pulls chosen by", *columns), rows)


def power(found):
    """How often the second peak is found, by who chose the pulls and how many there were."""
    rows = []
    for setting in POWER:
        cells = [one.shares("ours", digits=0)[0] for one in found.of(setting).values()]
        rows.append((f"{setting.horizon:,}", *cells))
    return markdown_table(("rounds", *POLICIES, EQUALLY), rows)


def render(out):
    """Write the page from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Test, Reports)
    shown = {"alarms": alarms(found), "power": power(found), "trials": TRIALS}
    pages.fill_in(HERE / pages.TEMPLATE, out, made_with=found.made_with, **shown)


if __name__ == "__main__":
    pages.command(run, render, HERE)
