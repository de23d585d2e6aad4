"""The settings of the study of PeakUTS. A change of this file plays all of them again."""

import time
from dataclasses import dataclass

import numpy as np

import unimodal as um
from unimodal.engines.engine_choice import trial_class
from unimodal.policies import parse
from unimodal.policies.state import LEADER
from unimodal.studies.reproduce.setting import Setting as PaperSetting

CONFINED = "TS that knows N⁺"  # of the peak: what nobody can have
HORIZONS = (10**3, 10**4, 10**5, 10**6)


@dataclass(frozen=True)
class Peaked(um.studies.BaseSetting):
    """A kind of graph and means, the policies on it, and how often.

    `density` is one of Table 2's, with its graphs, peaks and means; or a graph as text. `means` is
    "by distance", or one of those below that are no function of the distance.
    """

    density: str
    n_arms: int
    means: str
    policies: tuple[str, ...]
    horizon: int
    graphs: int
    trials: int  # on each graph
    purpose: str = "regret"  # two settings may differ by what they are for

    @property
    def name(self):
        """A name that no other setting has."""
        return f"{self.density}, K = {self.n_arms}, {self.means}, {self.purpose}"

    @property
    def paper(self):
        """The setting of Table 2 with these graphs."""
        return PaperSetting("Table 2", self.n_arms, self.density, (), 1, 1, 1)

    def seed(self, graph):
        """The seed of one of the graphs."""
        return self.paper.seed(graph)

    def problem(self, graph):
        """The problem on one of the graphs."""
        seed = self.seed(graph)
        if self.means == "by distance" and ":" not in self.density:
            return self.paper.problem(graph)
        made = um.graphs.parse(self.density, seed)
        return um.Problem(made, MEANS[self.means](made, np.random.default_rng(seed)))

    def seconds_a_trial(self, policy):
        """About how long a trial takes."""
        dense = {"1": 0.1, "1/2": 0.15}.get(self.density, 0.01)
        return dense if self.n_arms == 1000 else 0.01

    def measure(self, task):
        """One row per trial: regrets at the horizons, whether the peak leads, milliseconds."""
        problem, policy = self.problem(task.graph), task.policy
        if policy == CONFINED:
            near = problem.graph.near(int(problem.means.argmax()))
            problem, policy = um.Problem(um.graphs.complete(len(near)), problem.means[near]), "TS"
        chosen, peak = parse(policy), int(problem.means.argmax())
        rounds = np.array([one for one in HORIZONS if one <= self.horizon])
        kind = trial_class("auto", problem, chosen, self.horizon, False)
        rows = np.zeros((task.last - task.first, len(HORIZONS) + 2))  # 0 beyond the horizon
        for row, number in zip(rows, range(task.first, task.last), strict=True):
            trial = kind(problem, chosen, self.seed(task.graph), number, rounds, False)
            began = time.thread_time()
            trial.finish()
            row[: len(rounds)] = trial.output.regret
            leads = int(trial.state.notes[LEADER]) == peak
            row[len(HORIZONS) :] = leads, 1000 * (time.thread_time() - began)
        return np.round(rows, 1)  # as they are stored


class Raced(um.studies.EveryTrial):
    """Every trial: its regrets, whether the peak leads in the end, and its milliseconds."""

    columns = ("at 10^3", "at 10^4", "at 10^5", "at 10^6", "arrived", "milliseconds")

    def at(self, horizon):
        """The regrets at a horizon, graphs × trials."""
        return self[self.columns[HORIZONS.index(horizon)]]


def by_distance(graph, rng):
    """The paper's means with a random peak."""
    return um.problems.by_distance(graph, int(rng.integers(graph.n_arms))).means


def random_climb(graph, rng):
    """The peak first, then each time a random arm beside those before it, each lower by as much."""
    order, beside = [int(rng.integers(graph.n_arms))], set()
    while len(order) < graph.n_arms:
        beside |= set(graph.neighbors(order[-1]).tolist())
        beside -= set(order)
        order.append(sorted(beside)[rng.integers(len(beside))])
    means = np.empty(graph.n_arms)
    means[order] = np.linspace(0.9, 0.1, graph.n_arms)
    return means


def flat_side(graph, rng):
    """On a line: up from 0.1 to 0.9 on one side, and down to 0.8 on the other."""
    n = graph.n_arms
    peak = int(rng.integers(n // 4, 3 * n // 4))
    means = np.concatenate([np.linspace(0.1, 0.9, peak + 1), np.linspace(0.9, 0.8, n - peak)[1:]])
    return means if rng.integers(2) else means[::-1].copy()


def plateau(graph, rng):
    """The paper's means, but those at distances 1 to 5 from the peak are all the same."""
    peak = int(rng.integers(graph.n_arms))
    means, steps = by_distance_from(graph, peak), graph.distances(peak)
    means[(steps >= 1) & (steps <= 5)] = means[steps == 5].max()
    return means


def by_distance_from(graph, peak):
    """The paper's means with this peak."""
    return um.problems.by_distance(graph, peak).means.copy()


def needle(graph, rng):
    """All means are 0.5, but that of the peak, which is 0.9."""
    means = np.full(graph.n_arms, 0.5)
    means[rng.integers(graph.n_arms)] = 0.9
    return means


MEANS = {
    "by distance": by_distance,
    "random climb": random_climb,
    "one flat side": flat_side,
    "plateau": plateau,
    "needle": needle,
}
