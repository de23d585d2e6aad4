"""The study of limits: `python docs/studies/limits/study.py run` (three core-minutes)."""

import itertools
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.agents.revision import revised
from unimodal.policies import parse
from unimodal.report import figures
from unimodal.report.page import markdown_table
from unimodal.results.statistics import interval_of_mean
from unimodal.studies import pages
from unimodal.studies.sample_intervals import error_bars, with_spread

HERE = Path(__file__).parent
POLICY = "UTS"
HORIZON, TRIALS = 10_000, 200
FROM, UNTIL = 2_000, 6_000  # rounds in which an arm is paused
INSERTED = 2_000  # the round before which an arm is inserted
OVER = 100
PRICES = (9.90, 10.90, 11.90, 12.90, 13.90, 14.90, 15.90, 16.90, 17.90, 18.90)
BOUGHT = (0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.50, 0.40, 0.30, 0.20)  # of a price's visitors
NEW, BETTER = 14.40, 0.70  # a price that is not on the ladder
BEST, NEXT = PRICES[5], PRICES[6]

NONE = "no limits"
CAPS = {f"cap {share:g} over {OVER}": share for share in (0.2, 0.1, 0.05)}
PAUSES = {"a neighbour of the best paused": NEXT, "the best paused": BEST}
INSERT, FROM_THE_START = "a better one inserted", "a better one from the start"
CASES = (NONE, *CAPS, *PAUSES, INSERT, FROM_THE_START)


def ladder(prices):
    """The prices in order, each joined to the next."""
    return um.graphs.from_edges(list(itertools.pairwise(prices)))


@dataclass(frozen=True)
class Case(um.studies.BaseSetting):
    """A ladder of ten prices, and what its owner does."""

    case: str
    policies: tuple[str, ...] = (POLICY,)
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = TRIALS

    @property
    def name(self):
        """A name that no other setting has."""
        return self.case

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.2

    def measure(self, task):
        """One row per trial."""
        return np.array([self.play(seed) for seed in range(task.first, task.last)])

    def play(self, seed):
        """Regret against the best arm on offer, decisions that were capped, the busiest rival."""
        bought = dict(zip(PRICES, BOUGHT, strict=True))
        if self.case == FROM_THE_START:
            bought = {price: (bought | {NEW: BETTER})[price] for price in sorted([*PRICES, NEW])}
        agent = um.Agent(parse(POLICY), ladder(list(bought)), um.Bernoulli(), seed)
        if self.case in CAPS:
            agent.cap(CAPS[self.case], over=OVER)
        best, lost, capped, busiest = max(bought.values()), 0.0, 0, 0
        recent, counts = deque(), Counter()
        for number, coin in enumerate(np.random.default_rng(seed).random(self.horizon).tolist()):
            if self.case in PAUSES and number in (FROM, UNTIL):
                (agent.pause if number == FROM else agent.resume)(PAUSES[self.case])
                offered = [price for price in PRICES if price not in agent.paused]
                best = max(bought[price] for price in offered)
            if self.case == INSERT and number == INSERTED:
                between = [(BEST, NEW), (PRICES[4], NEW)]
                graph = um.graphs.revised(agent.graph, between, remove=[(PRICES[4], BEST)])
                agent, bought = revised(agent, graph), bought | {NEW: BETTER}
                best = BETTER
            decision = agent.decide()
            arm = decision.arm
            lost += best - bought[arm]
            capped += decision.reason == "cap"
            recent.append(arm if arm != decision.leader and decision.leader is not None else None)
            counts[recent[-1]] += 1
            if len(recent) > OVER:
                counts[recent.popleft()] -= 1
            if recent[-1] is not None:
                busiest = max(busiest, counts[arm])
            agent.reward(decision.id, 1.0 if coin < bought[arm] else 0.0)
        return lost, capped, busiest


class Lost(um.studies.EveryTrial):
    """The regret of every trial, how many decisions were capped, and the busiest rival."""

    columns = ("regret", "capped", "busiest")


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study([Case(case) for case in CASES], Lost).run(folder).save(HERE / pages.DATA)


def table(found, cases):
    """One row per case: regret, against that without limits, capped decisions, busiest rival."""
    (free,) = found.of(Case(NONE)).values()
    rows = []
    for case in cases:
        (one,) = found.of(Case(case)).values()
        regret = with_spread(one["regret"][0])
        more = with_spread(one["regret"][0] - free["regret"][0])  # of the same seeds
        capped = f"{one['capped'][0].mean():,.0f}"
        busiest = f"{np.median(one['busiest'][0]):.0f}"
        rows.append((case, regret, more if case in CAPS else "–", capped, busiest))
    columns = ("regret", "more than without", "decisions capped", f"busiest rival in {OVER}")
    return markdown_table(("limit", *columns), rows)


def figure(found):
    """Regret of each case, with its interval."""
    drawn = Figure(figsize=(5.8, 3.4), layout="constrained")
    ax = drawn.subplots()
    for place, case in enumerate(CASES):
        (one,) = found.of(Case(case)).values()
        mean = interval_of_mean(one["regret"][0])
        colour = "0.2" if case == NONE else figures.STYLES["UTS"][0]
        look = {"fmt": "o", "color": colour, "capsize": 3, "markersize": 5}
        ax.errorbar(mean.value, -place, xerr=error_bars([mean]), **look)
    ax.set_yticks([-place for place in range(len(CASES))], CASES)
    ax.set_xlim(left=0)
    ax.set_xlabel(f"regret after {HORIZON:,} rounds\nagainst the best arm on offer, 95 % interval")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", alpha=0.3)
    return drawn


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Case, Lost)
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        measured=f"T = {HORIZON:,}, {TRIALS} trials of {POLICY}",
        lost=f"{(UNTIL - FROM) * (BOUGHT[5] - BOUGHT[6]):,.0f}",
        table=table(found, CASES),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
