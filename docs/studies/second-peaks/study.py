"""docs/second-peaks.md, from second-peaks.in.md: python docs/second_peaks.py (half a minute)."""

import math
from pathlib import Path

import numpy as np

import unimodal as um
from unimodal.inference.confidence_bounds import bounds
from unimodal.inference.hills import hills

DOCS = Path(__file__).parent
LINE = um.graphs.line(9)
ONE = {
    "one peak, 0.2 to 0.7": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.6, 0.5, 0.4],
    "plateaus": [0.3, 0.3, 0.5, 0.5, 0.5, 0.7, 0.7, 0.4, 0.4],
    "all equal": [0.5] * 9,
}
TWO = [0.1, 0.4, 0.8, 0.3, 0.05, 0.3, 0.7, 0.3, 0.1]
POLICIES = [um.UTS(), um.TS(), um.KLUCB()]
LOOKS = (30, 100, 300, 1000, 3000)
TRIALS = 300


def after(run, rounds):
    """Pulls and totals of every trial after so many rounds: two arrays, a row a trial."""
    arms, rewards = run.arms[:, :rounds], run.rewards[:, :rounds]
    pulls = np.stack([(arms == arm).sum(axis=1) for arm in range(9)], axis=1)
    totals = np.stack([(rewards * (arms == arm)).sum(axis=1) for arm in range(9)], axis=1)
    return pulls, totals


def usual(pulls, totals):
    """Mean ± 1.96 standard errors."""
    n = np.maximum(pulls, 1)
    mean = totals / n
    error = 1.96 * np.sqrt(mean * (1 - mean) / n)
    return np.where(pulls > 0, mean - error, 0.0), np.where(pulls > 0, mean + error, 1.0)


def ours(pulls, totals, confidence=0.95):
    """The bounds of second_peaks, for all trials at once."""
    threshold = math.log(9 / (1 - confidence))
    found = bounds(um.Bernoulli(), pulls.ravel(), totals.ravel(), threshold)
    return tuple(end.reshape(pulls.shape) for end in found)


def reported(low, high):
    """In which trials a second peak shows."""
    return np.array([len(list(hills(LINE, *ends))) > 1 for ends in zip(low, high, strict=True)])


def false_alarms(means):
    """A row a policy: in how many trials a second peak was reported, at any look; bounds failed."""
    settings = {"horizon": LOOKS[-1], "trials": TRIALS, "history": True, "progress": False}
    result = um.simulate(um.Problem(LINE, means), POLICIES, workers=1, **settings)
    rows = []
    for name, run in result.items():
        alarms = {"ours": np.zeros(TRIALS, bool), "usual": np.zeros(TRIALS, bool)}
        failed = np.zeros(TRIALS, bool)
        for rounds in LOOKS:
            data = after(run, rounds)
            low, high = ours(*data)
            alarms["ours"] |= reported(low, high)
            alarms["usual"] |= reported(*usual(*data))
            low, high = ours(*data, confidence=0.5)
            failed |= ((low > means) | (high < means)).any(axis=1)
        shares = [alarms["ours"].mean(), alarms["usual"].mean(), failed.mean()]
        rows.append(f"{name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares))
    return rows


def power(trials=100):
    """How often the second peak of TWO is found, by who chose the pulls and how many there were."""
    rows = []
    for horizon in (1000, 3000, 10_000, 30_000):
        settings = {"horizon": horizon, "trials": trials, "history": True, "progress": False}
        result = um.simulate(um.Problem(LINE, TWO), POLICIES, workers=1, **settings)
        shares = [reported(*ours(*after(run, horizon))).mean() for run in result.values()]
        each = np.full((trials, 9), horizon // 9)
        totals = np.random.default_rng(0).binomial(each, TWO)
        shares.append(reported(*ours(each, totals)).mean())
        rows.append(f"| {horizon:,} | " + " | ".join(f"{100 * s:.0f} %" for s in shares) + " |")
    return "\n".join(rows)


alarms = [f"| {name} | {row} |" for name, means in ONE.items() for row in false_alarms(means)]
parts = {"alarms": "\n".join(alarms), "power": power(), "trials": TRIALS}
text = (DOCS / "second-peaks.in.md").read_text(encoding="utf-8").format(**parts)
(DOCS / "second-peaks.md").write_text(text, encoding="utf-8")
