"""The study of identification: `python docs/studies/identification/study.py run [folder]`."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fixed_allocation import Fixed

import unimodal as um
from unimodal.engines.engine_choice import trial_class
from unimodal.policies import parse
from unimodal.report.page import markdown_table
from unimodal.results.statistics import ratio_interval, share_interval
from unimodal.results.stopping import NOBODY, PeakTest, next_look
from unimodal.studies import pages
from unimodal.studies.sample_intervals import with_spread

HERE = Path(__file__).parent
ERRORS = (0.05, 1e-2, 1e-3, 1e-6, 1e-12)
LINES = {0.1: 0.1, 0.05: 0.5}  # the step between neighbours, and the lowest mean; the peak has 0.9
SHARES = (0.36, 0.40, 0.44, 0.48, 0.52)  # of the peak, that were tried
REGRET = ("UTS", "ScoutUTS", "TS")
FAR = 10**12
TRIALS, TUNING, SMALL = 1000, 200, 100


def line(step):
    """The line of 17 with its peak of 0.9 in the middle and falling by `step` from arm to arm."""
    return um.problems.triangular(17, high=0.9, low=LINES[step])


@dataclass(frozen=True)
class Certifying(um.studies.BaseSetting):
    """A line, the policies on it, and the errors that are asked for, one after the other."""

    name: str
    step: float
    policies: tuple[str, ...]
    trials: int
    seed: int
    errors: int = len(ERRORS)  # the first so many of ERRORS
    horizon: int = FAR
    graphs: int = 1

    def seconds_a_trial(self, policy):
        """About."""
        return 0.05 if self.errors == 1 else 0.25

    def measure(self, task):
        """One row per trial: for each error, the round of the end, and 1 if right, 0 if wrong."""
        policy = player(task.policy)
        return np.array([self.play(policy, trial) for trial in range(task.first, task.last)])

    def play(self, policy, number):
        """The ends of a trial; the policy knows none of the errors, so that one trial has all."""
        problem, rounds = line(self.step), np.array([self.horizon])
        kind = trial_class("auto", problem, policy, self.horizon, False)
        trial = kind(problem, policy, self.seed, number, rounds, False)
        look, ends = 1, np.zeros((len(ERRORS), 2))
        for place, error in enumerate(ERRORS[: self.errors]):
            test = PeakTest(problem, um.Certified(1 - error))
            while True:
                while trial.round < look:
                    trial.advance(look, look)
                found = test.certified(trial.state.arms["pulls"], trial.state.arms["total"])
                if found != NOBODY or look == self.horizon:
                    break
                look = min(next_look(look), self.horizon)
            ends[place] = look, -1 if found == NOBODY else found == problem.best_arm
        return ends.ravel()


def player(text):
    """A policy from its name."""
    return Fixed(share=float(text.split()[1])) if text.startswith("fixed") else parse(text)


class Ends(um.studies.EveryTrial):
    """When each trial ended, and how: 1 right, 0 wrong, -1 not at all."""

    columns = tuple(f"{what} {error:g}" for error in ERRORS for what in ("round", "end"))

    def rounds(self, error):
        """The rounds in which trials ended."""
        return self[f"round {error:g}"].ravel()

    def ends(self, error):
        """How they ended."""
        return self[f"end {error:g}"].ravel()


def tuning(step):
    """What the shares of the fixed allocation are chosen by."""
    fixed = tuple(f"fixed {share:.2f}" for share in SHARES)
    return Certifying(f"shares, step {step}", step, fixed, TUNING, seed=1, errors=1)


def power(step, fixed):
    """UniTT beside the best fixed allocation, on other trials than those it was chosen by."""
    return Certifying(f"power, step {step}", step, ("UniTT", fixed), TRIALS, seed=2, errors=1)


def series(step):
    """One error after the other."""
    return Certifying(f"errors, step {step}", step, ("UniTT", *REGRET), SMALL, seed=3)


def chosen(found, step):
    """The fixed allocation with the fewest rewards in the trials for tuning."""
    outcomes = found.of(tuning(step))
    return min(outcomes, key=lambda name: outcomes[name].rounds(0.05).mean())


def run(folder):
    """Play everything and write data.parquet."""
    tuned = um.studies.Study([tuning(step) for step in LINES], Ends).run(folder)
    played = [power(step, chosen(tuned, step)) for step in LINES]
    settings = [*(tuning(step) for step in LINES), *played, *(series(step) for step in LINES)]
    um.studies.Study(settings, Ends).run(folder).save(HERE / pages.DATA)


def shown(values):
    """A mean and its interval in a cell."""
    return with_spread(values, ",.0f")


def errors_of(outcome, error):
    """The share of wrong certificates in a cell."""
    ends = outcome.ends(error)
    wrong = share_interval(int((ends == 0).sum()), len(ends))
    return f"{100 * wrong.value:.2g} % (at most {100 * wrong.high:.2g} %)"


def ratio(found, step):
    """Rewards under UniTT relative to those under the best fixed allocation."""
    pair = found.of(power(step, chosen(found, step))).values()
    return ratio_interval(*(outcome.rounds(0.05) for outcome in pair))


def powers(found):
    """One row per line: rewards until certified, and their ratio."""
    rows = []
    for step in LINES:
        fixed = chosen(found, step)
        ours, best = found.of(power(step, fixed)).values()
        rewards = [shown(one.rounds(0.05)) for one in (ours, best)]
        bound = line(step).identification_bound * math.log(1 / 0.05)
        cells = (fixed.split()[1], f"{ratio(found, step)}", errors_of(ours, 0.05), f"{bound:,.0f}")
        rows.append((f"{step:g}", *rewards, *cells))
    columns = ("step", "UniTT", "best fixed allocation", "its share for the peak", "ratio")
    return markdown_table((*columns, "UniTT wrong", "T*·log(1/δ)"), rows)


def tried(found):
    """What each share took in the trials for tuning."""
    rows = [
        (f"{step:g}", *(shown(one.rounds(0.05)) for one in found.of(tuning(step)).values()))
        for step in LINES
    ]
    return markdown_table(("step", *(f"{share:.2f}" for share in SHARES)), rows)


def ratios(found, step):
    """One row per error: mean rewards relative to T*·log(1/δ), by policy."""
    outcomes, rows = found.of(series(step)), []
    for error in ERRORS[1:]:
        bound = line(step).identification_bound * math.log(1 / error)
        cells = []
        for outcome in outcomes.values():
            open_share = (outcome.ends(error) < 0).mean()
            relative = outcome.rounds(error) / bound
            if open_share:
                median = np.median(relative)
                at_least = f"median {median:.3g}" if open_share < 0.5 else f"> {FAR / bound:.1g}"
                cells.append(f"{at_least} ({100 * open_share:.0f} % not finished)")
            else:
                cells.append(with_spread(relative))
        rows.append((f"{error:g}", f"{bound:,.0f}", *cells))
    return markdown_table(("δ", "T*·log(1/δ)", *outcomes), rows)


def rounds_of_uts(found, step=0.1):
    """The median of the rounds that UTS takes for each error that all trials reach."""
    uts = found.of(series(step))["UTS"]
    reached = [error for error in ERRORS if (uts.ends(error) >= 0).all()]
    return ", ".join(
        f"{np.median(uts.rounds(error)):,.0f} rounds for δ = {error:g}" for error in reached
    )


def wrong(found):
    """How many of all certificates were wrong."""
    ends = np.concatenate(
        [
            outcome.ends(error)
            for step in LINES
            for outcome in found.of(series(step)).values()
            for error in ERRORS[1:]
        ]
    )
    return f"{(ends == 0).sum():,.0f} of {(ends >= 0).sum():,}"


def render(out):
    """Write the page from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Certifying, Ends)
    shown_there = {
        "powers": powers(found),
        "tried": tried(found),
        **{f"ratios_{number}": ratios(found, step) for number, step in enumerate(LINES)},
        "worst": f"{max(ratio(found, step).high for step in LINES):.2f}",
        "wrong": wrong(found),
        "uts_rounds": rounds_of_uts(found),
        "trials": f"{TRIALS:,}",
        "tuning": TUNING,
        "small": SMALL,
        "shares": len(SHARES),
        "allocation": ", ".join(
            f"{line(step).identification_allocation[8]:.2f} at step {step:g}" for step in LINES
        ),
    }
    pages.fill_in(HERE / pages.TEMPLATE, out, made_with=found.made_with, **shown_there)


if __name__ == "__main__":
    pages.command(run, render, HERE)
