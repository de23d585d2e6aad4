"""The study of past data: `python docs/studies/past-data/study.py run` (ten core-minutes)."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import least_loss
import numpy as np
from matplotlib.figure import Figure

import unimodal as um
from unimodal.policies import parse
from unimodal.report.figures import style
from unimodal.report.page import markdown_table
from unimodal.results.statistics import mean_interval, ratio_interval
from unimodal.studies import pages
from unimodal.studies.sample_intervals import with_spread

HERE = Path(__file__).parent
PRICES = (4.9, 6.9, 8.9, 9.9, 11.9, 12.9, 14.9, 16.9, 19.9, 24.9)  # of examples/pricing.py
MONEY = um.Scaled(um.Bernoulli(), by=float)  # a purchase, worth its price
CENTRES = {"good": 13.0, "stale": 11.0, "wrong": 20.0}  # of the demand when the data were collected
WEIGHTS = (1.0, 0.5, 0.1)
POLICIES = ("PeakUTS", "UTS", "OSUB", "TS", "KLUCB")
CLIMBING = POLICIES[:3]
HORIZON, TRIALS, REWARDS = 1000, 1000, 200
NEAR_THE_BEST = (8.9, 9.9, 11.9)  # the best price and its neighbours


def buyers(centre):
    """The share of visitors who buy, by price."""
    return {price: 0.6 / (1 + np.exp((price - centre) / 3)) for price in PRICES}


def lost_by_price():
    """What showing a price loses on average, against the best one."""
    earned = {price: price * share for price, share in buyers(CENTRES["good"]).items()}
    best = max(earned.values())
    return {price: best - money for price, money in earned.items()}


@dataclass(frozen=True)
class Before(um.studies.BaseSetting):
    """Which data there are from before, what they count, and how they are read."""

    data: str
    weight: float
    policies: tuple[str, ...] = POLICIES
    prices: tuple[float, ...] = PRICES
    one_peak: bool = True
    horizon: int = HORIZON
    graphs: int = 1
    trials: int = TRIALS

    @classmethod
    def from_data(cls, data):
        """The setting that `to_data` described."""
        return super().from_data({**data, "prices": tuple(data["prices"])})

    @property
    def name(self):
        """A name that no other setting has."""
        read = "" if self.one_peak else ", as they are"
        return f"{self.data} data of {len(self.prices)} prices, weight {self.weight:g}{read}"

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        return 0.006

    def measure(self, task):
        """One row per trial: the money lost."""
        seeds = range(task.first, task.last)
        if task.policy in least_loss.PLAYERS:
            shares = [buyers(CENTRES[self.data])[price] for price in self.prices]
            known = (self.prices, shares, REWARDS, self.horizon)
            return least_loss.play(task.policy, seeds, *known)[:, None]
        policy = parse(task.policy)
        return np.array([[self.play(policy, seed)] for seed in seeds])

    def play(self, policy, seed):
        """Play one trial; the data are drawn anew for each."""
        rng = np.random.default_rng([seed, 1])
        shares = buyers(CENTRES[self.data]).items()
        sold = {price: int(rng.binomial(REWARDS, share)) for price, share in shares}
        rows = [(price, REWARDS, sold[price]) for price in self.prices]
        ladder = um.graphs.from_edges(list(pairwise(self.prices)))
        data = um.PastData(rows, weight=self.weight, one_peak=self.one_peak)
        agent = um.Agent(policy, ladder, MONEY, seed, data=data)
        buys, loses, lost = buyers(CENTRES["good"]), lost_by_price(), 0.0
        for coin in np.random.default_rng([seed, 2]).random(self.horizon).tolist():
            price = agent.ask()
            lost += loses[price]
            agent.tell(price, 1.0 if coin < buys[price] else 0.0)
        return lost


class Lost(um.studies.EveryTrial):
    """The money lost in every trial."""

    columns = ("regret",)

    @property
    def regret(self):
        """The money lost in each trial."""
        return self["regret"][0]


COLD = Before("good", 0.0)  # data of no weight are none
SETTINGS = [COLD, *(Before(data, weight) for data in CENTRES for weight in WEIGHTS)]
AS_THEY_ARE = [
    Before(data, weight, CLIMBING, one_peak=False) for data in CENTRES for weight in (1.0, 0.1)
]
NEARBY = [Before("good", weight, ("TS", "UTS"), NEAR_THE_BEST) for weight in (1.0, 0.0)]
# What is lost by those who know more: no policy, so nobody's aim.
LEAST = Before("good", 1.0, (least_loss.TOLD, least_loss.SEES_ALL), NEAR_THE_BEST, trials=6000)
FOLLOWS = Before("good", 1.0, (least_loss.GREEDY,))


def run(folder):
    """Play everything and write data.parquet."""
    played = [*SETTINGS, *AS_THEY_ARE, *NEARBY, LEAST, FOLLOWS]
    um.studies.Study(played, Lost).run(folder).save(HERE / pages.DATA)


def losses(found):
    """Money lost with its interval, one row per kind of data and weight."""
    rows = []
    for setting in SETTINGS:
        what = "none" if setting == COLD else f"{setting.data}, weight {setting.weight:g}"
        of = [found.get(setting, policy).regret for policy in POLICIES]
        rows.append((what, *(with_spread(one) for one in of)))
    return markdown_table(("data", *POLICIES), rows)


def against_cold(found, policy, setting=SETTINGS[1]):
    """The ratio to a cold start, with its interval."""
    return ratio_interval(found.get(setting, policy).regret, found.get(COLD, policy).regret)


def ratios(found):
    """Money lost with data, over that of a cold start."""
    rows = []
    for setting in SETTINGS[1:]:
        cells = [str(against_cold(found, policy, setting)) for policy in POLICIES]
        rows.append((f"{setting.data}, weight {setting.weight:g}", *cells))
    return markdown_table(("lost, times a cold start's", *POLICIES), rows)


def read_or_not(found):
    """Money lost with data read as those of one peak, over that with data as they are."""
    rows = []
    for setting in AS_THEY_ARE:
        read = Before(setting.data, setting.weight)
        cells = [
            str(ratio_interval(found.get(read, one).regret, found.get(setting, one).regret))
            for one in CLIMBING
        ]
        rows.append((f"{setting.data}, weight {setting.weight:g}", *cells))
    return markdown_table(("lost, times that with each price's own mean", *CLIMBING), rows)


def figure(found):
    """Money lost against the weight, one panel per kind of data."""
    drawn = Figure(figsize=(9.2, 3.7), layout="constrained")
    axes = drawn.subplots(1, len(CENTRES), sharey=True)
    weights = (0.0, *reversed(WEIGHTS))
    for ax, data in zip(axes, CENTRES, strict=True):
        for position, policy in enumerate(POLICIES):
            settings = [COLD, *(Before(data, weight) for weight in weights[1:])]
            samples = [found.get(setting, policy).regret for setting in settings]
            mean, low, high = mean_interval(np.transpose(samples))
            look = style(policy, position) | {"capsize": 2, "label": policy}
            ax.errorbar(weights, mean, [mean - low, high - mean], markersize=5, **look)
        ax.set(xlabel="weight of the data (0: none)", xticks=weights, ylim=(0, 1260))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_title(f"{data} data", fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"money lost in {HORIZON:,} visits, 95 % interval")
    axes[0].legend(frameon=False, fontsize=8)
    return drawn


def verdict(found, policy):
    """Whether good data leave less than a third of a cold start's loss, in words."""
    ratio = against_cold(found, policy)
    if ratio.high < 1 / 3:
        return f"{policy}: {ratio}, below a third with its whole interval"
    return f"{policy}: {ratio}, **not** below a third"


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Before, Lost)
    near, near_cold = (found.get(setting, "TS").regret for setting in NEARBY)
    told, sees_all = (found.get(LEAST, player).regret for player in LEAST.policies)
    cold, full, tenth = (
        found.get(setting, "PeakUTS").regret.mean()
        for setting in (COLD, Before("good", 1.0), Before("good", 0.1))
    )
    thirds = {policy: found.get(COLD, policy).regret.mean() / 3 for policy in CLIMBING}
    loses, share = lost_by_price(), buyers(CENTRES["good"])[9.9]
    pages.draw(figure(found), out / "figure.png")
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        measured=f"{HORIZON:,} visits, {TRIALS:,} trials, {REWARDS} rewards from before per price",
        losses=losses(found),
        ratios=ratios(found),
        read_or_not=read_or_not(found),
        verdicts="\n".join(f"  - {verdict(found, policy)}" for policy in POLICIES),
        gaps=[f"{loses[price]:.2f}" for price in NEAR_THE_BEST if loses[price] > 0],
        climbing={
            policy: with_spread(found.get(SETTINGS[1], policy).regret) for policy in CLIMBING
        },
        follows=with_spread(found.get(FOLLOWS, least_loss.GREEDY).regret),
        told=with_spread(told),
        sees_all=with_spread(sees_all),
        least=f"{sees_all.mean():.0f}",
        in_this_world=[f"{lost[0::6].mean():.0f}" for lost in (told, sees_all)],
        in_others=[f"{lost.reshape(-1, 6)[:, 1:5].mean():.0f}" for lost in (told, sees_all)],
        near=with_spread(near),
        near_cold=with_spread(near_cold),
        thirds={policy: f"{third:.0f}" for policy, third in thirds.items()},
        spread=f"{9.9 * np.sqrt(share * (1 - share) / REWARDS):.2f}",
        kept=f"{(cold - tenth) / (cold - full):.0%}".replace("%", " %"),
        rewards=REWARDS,
        visits=f"{HORIZON:,}",
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
