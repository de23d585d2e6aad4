"""The number of rewards that being sure of the peak takes, against searches that know less."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import unimodal as um

line = um.graphs.line
SCALED = um.Scaled(um.Bernoulli(), by=[5, 10, 20])


def least_cost(problem, shares, b):
    """f_b(w) of docs/theory/identification.md, by SciPy."""
    a, label = problem.best_arm, problem.graph.label_of
    families = [problem.family.of_arm(label(int(arm))) for arm in (a, b)]
    highest = np.broadcast_to(problem.family.of_arms(problem.graph.labels).high, len(shares))[b]

    def cost(z):
        pairs = zip(families, (a, b), strict=True)
        return sum(shares[arm] * f.divergence(problem.means[arm], z) for f, arm in pairs)

    ends = (problem.means[b], min(problem.means[a], highest))
    return minimize_scalar(cost, ends, bounds=ends, method="bounded", options={"xatol": 1e-10}).fun


def value(problem, shares):
    return min(least_cost(problem, shares, b) for b in problem.graph.neighbors(problem.best_arm))


@pytest.mark.parametrize(
    ("means", "family"),
    [
        ([0.1, 0.5, 0.4, 0.2], um.Bernoulli()),
        ([0.0, 1.0, 0.2], um.Bernoulli()),
        ([0.5, 0.9, 0.85], um.Bounded(0, 2)),
        ([1.0, 4.0, 3.0], um.Poisson()),
        ([1.0, 4.0, 3.0], um.Exponential()),
        ([4.0, 9.0, 5.0], SCALED),  # the first cannot reach 9
    ],
    ids=str,
)
def test_the_bound_is_the_value_of_the_game(means, family):
    problem = um.Problem(line(len(means)), means, family)
    shares, bound = problem.identification_allocation, problem.identification_bound
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert value(problem, shares) == pytest.approx(1 / bound, rel=1e-5)
    # The game is concave in the shares: no step in any direction is better.
    for one, other in itertools.permutations(range(len(means)), 2):
        moved = shares.copy()
        step = min(0.01, moved[one])
        moved[one], moved[other] = moved[one] - step, moved[other] + step
        assert value(problem, moved) < 1 / bound + 1e-9


def test_two_gaussian_arms_have_a_formula():
    problem = um.Problem(line(2), [0.3, 0.5], um.Gaussian(sigma=0.7))
    assert problem.identification_bound == pytest.approx(8 * 0.49 / 0.04)
    assert problem.identification_allocation.tolist() == pytest.approx([0.5, 0.5], abs=1e-4)


GRAPHS = {
    "line": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 1), (0, 2), (0, 3)],
    "cycle": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "complete": list(itertools.combinations(range(4), 2)),
    "triangle with a tail": [(0, 1), (1, 2), (2, 0), (2, 3)],
}


def every_climb(graph, peak):
    """Every way to give each arm but the peak a better neighbour, such that all climb to it."""
    others = [arm for arm in range(graph.n_arms) if arm != peak]
    for chosen in itertools.product(*(graph.neighbors(arm).tolist() for arm in others)):
        better = dict(zip(others, chosen, strict=True))
        reached = {peak}
        for _ in others:
            reached |= {arm for arm in others if better[arm] in reached}
        if len(reached) == graph.n_arms:
            yield better


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_closest_means_with_another_peak_change_only_the_peak_and_a_neighbour(name, seed):
    """The lemma, against all means with another peak: Gaussian, so a small quadratic program."""
    rng, graph = np.random.default_rng(seed), um.graphs.from_edges(GRAPHS[name])
    problem = None
    while problem is None or not problem.check():
        problem = um.Problem(graph, rng.random(4).tolist(), um.Gaussian())
    shares = rng.dirichlet(np.full(4, 0.6))
    found = math.inf
    for peak in set(range(4)) - {problem.best_arm}:
        for better in every_climb(graph, peak):
            climbs = [
                {"type": "ineq", "fun": lambda x, a=arm, b=above: x[b] - x[a]}
                for arm, above in better.items()
            ]
            cost = minimize(
                lambda x: float(shares @ (x - problem.means) ** 2) / 2,
                problem.means,
                constraints=climbs,
                method="SLSQP",
                options={"ftol": 1e-12},
            )
            found = min(found, cost.fun)
    assert value(problem, shares) == pytest.approx(found, rel=1e-4, abs=1e-8)


def test_only_neighbours_of_the_peak_get_rewards():
    shares = um.problems.triangular(9).identification_allocation
    assert np.flatnonzero(shares).tolist() == [3, 4, 5]


def test_a_neighbour_as_good_as_the_peak_takes_for_ever():
    assert um.Problem(line(3), [0.5, 0.5, 0.2]).identification_bound == math.inf


def test_two_peaks_have_no_bound():
    with pytest.raises(um.UnimodalError, match=r"one peak, but the means are not unimodal.*\.$"):
        _ = um.Problem(line(4), [0.5, 0.1, 0.2, 0.9]).identification_bound


def test_means_that_move_have_none():
    moving = um.problems.jumping_peak(um.graphs.line(5), horizon=100, every=10)
    assert math.isnan(moving.identification_bound)


@pytest.mark.parametrize("ratio", [2.0, 1e3, 1e6])
def test_two_exponential_arms_however_far_apart(ratio):
    """1/T* = kl(1, z) where both arms are as far from z: (ratio - 1)/z = log(ratio)."""
    problem = um.Problem(um.graphs.line(2), [1.0, ratio], um.Exponential())
    z = (ratio - 1) / math.log(ratio)
    expected = 1 / (1 / z - 1 + math.log(z))
    assert problem.identification_bound == pytest.approx(expected, rel=1e-9)
