"""MINTS against its definition: every way to pool, a convex optimiser, and the law of the draw."""

import itertools
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import chisquare

import unimodal as um
from unimodal.agents.revision import revised
from unimodal.graphs import revised as revised_graph
from unimodal.graphs.build import lay_out
from unimodal.kernels.compile import record
from unimodal.policies import from_data, parse, to_data
from unimodal.policies.index import contest
from unimodal.policies.mints import along, place_probabilities, weigh_places
from unimodal.policies.state import ARM

FAMILIES = [
    um.Bernoulli(),
    um.Gaussian(0.7),
    um.Poisson(),
    um.Exponential(),
    um.Bounded(-1, 3),
    um.Scaled(um.Bernoulli(), by=4.0),
]
SHUFFLED = um.graphs.from_edges([("c", "e"), ("d", "a"), ("e", "b"), ("a", "c")])  # d a c e b


def loss(family, pulls, totals, fitted):
    """What the log-likelihood loses with these means, arm by arm."""
    told = family.told
    return sum(
        n * told.divergence(s / n, m) for n, s, m in zip(pulls, totals, fitted, strict=True) if n
    )


def least_loss(family, pulls, totals, peak):
    """The least of it over all ways to cut the arms into pools whose means have this peak.

    The best means are the means of such pools. An arm without rewards has any mean, so that it is
    left out.
    """
    seen, best = np.flatnonzero(pulls), math.inf
    for cuts in itertools.product([False, True], repeat=max(len(seen) - 1, 0)):
        pools = np.concatenate([[0], np.cumsum(cuts)]).astype(int)[: len(seen)]
        means = np.bincount(pools, totals[seen]) / np.bincount(pools, pulls[seen])
        steps, fitted = np.diff(means[pools]), np.full(len(pulls), np.nan)
        fitted[seen] = means[pools]
        rises = steps[seen[1:] <= peak]
        falls = steps[seen[:-1] >= peak]
        # Beside a peak without rewards nothing joins the arms on its two sides.
        if (rises >= 0).all() and (falls <= 0).all():
            best = min(best, loss(family, pulls, totals, fitted))
    return best


def records(pulls, totals):
    arms = np.zeros(len(pulls), ARM)
    arms["pulls"], arms["total"], arms["factor"] = pulls, totals, 1.0
    return arms


def rewards(family, rng, n_arms):
    """Random numbers of rewards, some of them 0, and their sums."""
    pulls = rng.integers(1, 8, n_arms) * (rng.random(n_arms) < 0.8)
    low, high = max(family.told.low, -1.0), min(family.told.high, 2.0)
    centres = rng.uniform(low, high, n_arms)
    draws = [
        rng.uniform(low + 0.5 * (centre - low), high - 0.5 * (high - centre), n)
        for n, centre in zip(pulls, centres, strict=True)
    ]
    if family.told.two_valued or isinstance(family, um.Poisson):
        draws = [np.round(draw) for draw in draws]
    return pulls, np.array([draw.sum() for draw in draws])


class Limited(list):
    """Pools that may be read so often: a walk without an end fails, and does not stall."""

    left = 1000

    def __getitem__(self, place):
        self.left -= 1
        assert self.left > 0, "pools are walked over without an end"
        return super().__getitem__(place)


def test_each_walk_over_pools_ends_with_the_best_means():
    """As plain Python, and first in this file, since compiled code cannot be stopped.

    The third arm is worse than its neighbours: with the peak there, it joins the better side first.
    """
    pulls, totals = np.array([2, 3, 4, 5, 1]), np.array([1.0, 3.0, 1.0, 4.0, 0.0])
    arms = [SimpleNamespace(pulls=n, total=s) for n, s in zip(pulls, totals, strict=True)]
    pools = Limited(SimpleNamespace(below=0, fitted=0.0) for _ in range(12))
    weigh_places(record(um.Bernoulli()), arms, np.arange(5), pools)
    losses = np.array([least_loss(um.Bernoulli(), pulls, totals, peak) for peak in range(5)])
    assert [pools[place].weight for place in range(5)] == pytest.approx(
        np.exp(losses.min() - losses), rel=1e-12
    )
    assert pools.left > 800


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_places_weigh_what_the_best_means_with_that_peak_lose(family):
    rng, uneven = np.random.default_rng(5), 0
    for _ in range(60):
        n_arms = int(rng.integers(1, 8))
        pulls, totals = rewards(family, rng, n_arms)
        found = place_probabilities(record(family), records(pulls, totals), np.arange(n_arms))
        losses = np.array([least_loss(family, pulls, totals, peak) for peak in range(n_arms)])
        weights = np.exp(losses.min() - losses)
        assert found == pytest.approx(weights / weights.sum(), rel=1e-9, abs=1e-300)
        uneven += found.max() > 1.1 * found.min()
    assert uneven > 20


@pytest.mark.parametrize("family", [um.Bernoulli(), um.Gaussian(0.7)], ids=str)
def test_an_optimiser_finds_no_better_means(family):
    rng, n_arms = np.random.default_rng(8), 5
    for _ in range(4):
        pulls = rng.integers(1, 12, n_arms)
        totals = np.array([float(rng.binomial(n, 0.5)) for n in pulls])
        found = place_probabilities(record(family), records(pulls, totals), np.arange(n_arms))
        losses = []
        for peak in range(n_arms):
            signs = np.where(np.arange(n_arms - 1) < peak, 1.0, -1.0)
            rising = np.diff(np.eye(n_arms), axis=0) * signs[:, np.newaxis]

            def lost(means, pulls=pulls, totals=totals):
                return loss(family, pulls, totals, np.clip(means, 1e-9, 1 - 1e-9))

            start = np.full(n_arms, totals.sum() / pulls.sum())
            limits = LinearConstraint(rising, 0, np.inf)
            box = [(1e-9, 1 - 1e-9)] * n_arms
            losses.append(minimize(lost, start, method="SLSQP", constraints=limits, bounds=box).fun)
        weights = np.exp(min(losses) - np.array(losses))
        assert found == pytest.approx(weights / weights.sum(), rel=2e-3, abs=1e-5)


def test_by_hand():
    """0, 0 at arm 1 and 1, 1 at arm 2: a peak at 0 or 1 means 1/2 for both, and 2⁻⁴."""
    found = place_probabilities(
        record(um.Bernoulli()), records([0, 2, 2, 0], [0.0, 0.0, 2.0, 0.0]), np.arange(4)
    )
    assert found.tolist() == pytest.approx([1 / 34, 1 / 34, 16 / 34, 16 / 34])


def test_many_rewards_do_not_lose_digits():
    """Means of 10⁶ with a deviation of 1: losses are small differences of large numbers."""
    pulls = np.array([10**6, 10**6, 10**6])
    means = np.array([1e6, 1e6 - 0.001, 1e6 - 0.002])
    found = place_probabilities(
        record(um.Gaussian(1.0)), records(pulls, means * pulls), np.arange(3)
    )
    lost = np.array([0.0, 0.25, 1.0])  # n·(step/2)²/2 for each of two arms; then for all three
    assert found == pytest.approx(np.exp(-lost) / np.exp(-lost).sum(), rel=1e-5)


def prepared(policy, graph, pulls, totals):
    player = um.Agent(policy, graph, seed=2)._player
    player.state.arms["pulls"], player.state.arms["total"] = pulls, totals
    return player


@pytest.mark.parametrize("pulls", [[0, 0, 0, 0, 0], [4, 2, 0, 3, 1]], ids=["none", "some"])
def test_places_are_drawn_by_their_weights(pulls):
    """A χ² test: it fails for 1 in 1,000 seeds; a weight that is off by a tenth, for all but 1."""
    totals, n = np.minimum([1.0, 2.0, 0.0, 2.0, 0.0], pulls), 40_000
    player = prepared(um.MINTS(), um.graphs.line(5), pulls, totals)
    near = player.view.arena.near
    drawn = [
        contest(player.index, player.family_record, player.state, near, -1, 1) for _ in range(n)
    ]
    expected = [least_loss(um.Bernoulli(), np.array(pulls), totals, peak) for peak in range(5)]
    weights = np.exp(-np.array(expected))
    counts = np.bincount(drawn, minlength=5)
    assert chisquare(counts, n * weights / weights.sum()).pvalue > 0.001


def test_the_order_is_that_of_the_line_and_not_of_the_labels():
    assert [SHUFFLED.label_of(arm) for arm in along(SHUFFLED)] in (list("daceb"), list("becad"))
    assert np.unique(np.diff(along(SHUFFLED))).size > 1  # arms are numbered otherwise
    data = {"d": (3, 0.0), "a": (3, 1.0), "c": (3, 3.0), "e": (3, 2.0), "b": (3, 0.0)}
    shares = {}
    for graph in (SHUFFLED, um.graphs.from_edges(itertools.pairwise("daceb"))):
        agent = um.Agent(um.MINTS(), graph)
        for label, (pulls, total) in data.items():
            agent.tell([label] * pulls, [1.0] * int(total) + [0.0] * int(pulls - total))
        arena, arms = agent._player.view.arena, agent._player.state.arms
        found = place_probabilities(record(um.Bernoulli()), arms, arena.near)
        for arm, share in zip(arena.near, found, strict=True):
            shares.setdefault(graph.label_of(arm), []).append(share)
    assert all(one == pytest.approx(other) for one, other in shares.values())


def test_paused_arms_leave_a_line_in_its_order():
    agent = um.Agent(um.MINTS(), SHUFFLED, seed=1)
    agent.pause("c")
    near = agent._player.view.arena.near.tolist()
    assert [SHUFFLED.label_of(arm) for arm in near] in (list("daeb"), list("bead"))
    assert "c" not in agent.ask(50)
    agent.pause("d", "a", "e")
    assert set(agent.ask(20)) == {"b"}
    agent.resume("c")
    assert set(agent.ask(50)) == {"b", "c"}


RING = um.graphs.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])


@pytest.mark.parametrize(
    "graph", [um.graphs.grid(3, 3), um.graphs.star(5), RING, um.graphs.complete(3)], ids=str
)
def test_what_is_no_line_is_refused(graph):
    sentence = r"^MINTS needs the arms of a line, such as .*, got Graph\(.*: use UTS or .*\.$"
    problem = um.problems.by_distance(graph, 0)
    with pytest.raises(um.UnimodalError, match=sentence):
        um.simulate(problem, um.MINTS(), horizon=10, trials=1, progress=False)
    with pytest.raises(um.UnimodalError, match=sentence):
        um.Agent(um.MINTS(), graph)
    with pytest.raises(um.UnimodalError, match="compares all arms"):
        um.Agent(um.MINTS(), lambda arm: [arm - 1, arm + 1], root=0)


def test_a_line_beside_a_ring_is_none():
    path_and_ring = np.array([(0, 1), (1, 2), (3, 4), (4, 5), (5, 3)])
    assert along(lay_out(6, *path_and_ring.T, {"kind": "edges"}, None)) is None


def test_a_line_may_grow_but_not_become_a_ring(tmp_path):
    agent = um.Agent(um.MINTS(), um.graphs.from_edges(itertools.pairwise("abcd")), seed=3)
    agent.tell(["b", "c"], [1.0, 0.0])
    longer = revised(agent, revised_graph(agent.graph, [("d", "e")], ()))
    assert longer.graph.n_arms == 5 and set(longer.ask(200)) == set("abcde")
    with pytest.raises(um.UnimodalError, match="needs the arms of a line"):
        revised(agent, revised_graph(agent.graph, [("d", "a")], ()))
    with um.Campaign.open(tmp_path / "one.db", um.MINTS(), agent.graph) as campaign:
        with pytest.raises(um.UnimodalError, match="needs the arms of a line"):
            campaign.add_edges([("d", "a")])
        assert campaign.decide().arm in "abcd"
    assert um.verify(tmp_path / "one.db")


def test_factors_that_differ_are_refused():
    family = um.Scaled(um.Bernoulli(), by=[1.0, 2.0, 3.0])
    with pytest.raises(um.UnimodalError, match=r"must all be worth the same, got Scaled\(.*\.$"):
        um.Agent(um.MINTS(), um.graphs.line(3), family)
    for wrapped in (um.Windowed(um.MINTS(), 5), um.MINTS()):
        with pytest.raises(um.UnimodalError, match="must all be worth the same"):
            um.simulate(
                um.Problem(um.graphs.line(3), [0.1, 0.5, 0.2], family),
                wrapped,
                horizon=5,
                trials=1,
                progress=False,
            )


@pytest.mark.parametrize(
    "policy",
    [um.Windowed(um.MINTS(), 60), um.Discounted(um.MINTS(), 0.98), um.Restarting(um.MINTS())],
    ids=str,
)
def test_it_can_forget(policy):
    moving = um.problems.drifting_line(5, 600, 1 / 300)
    run = um.simulate(moving, policy, horizon=600, trials=3, progress=False)[policy.name]
    assert (run.pulls.sum(axis=1) == 600).all() and (run.pulls > 0).all()


class Triangle(um.Family):
    """Rewards of a user's own, with a divergence that is squared distance."""

    def draw(self, mean, rng):
        return mean + um.random.uniform(rng) - 0.5

    def divergence(self, p, q):
        return 6.0 * (p - q) ** 2


class NoDivergence(um.Family):
    """Of which nobody knows how far apart two means are."""

    def draw(self, mean, rng):
        return mean


def test_families_of_ones_own():
    problem = um.Problem(um.graphs.line(4), [0.0, 0.5, 1.0, 0.5], Triangle())
    run = um.simulate(problem, um.MINTS(), horizon=200, trials=2, progress=False)["MINTS"]
    assert (run.pulls.argmax(axis=1) == 2).all()
    bare = um.Problem(um.graphs.line(4), [0.0, 0.5, 1.0, 0.5], NoDivergence())
    with pytest.raises(um.UnimodalError, match="must have a method divergence"):
        um.simulate(bare, um.MINTS(), horizon=20, trials=1, progress=False)


def test_far_arms_are_left_alone():
    """On a line of 17 nearly all rewards go to the peak and its neighbours."""
    pulls = um.simulate(
        um.problems.triangular(17), um.MINTS(), horizon=3000, trials=10, progress=False
    )["MINTS"].pulls
    assert (pulls[:, 7:10].sum(axis=1) > 2500).all()
    assert (pulls.argmax(axis=1) == 8).all()


def test_propensities_are_shares_and_are_told():
    agent = um.Agent(um.MINTS(), um.graphs.line(4), seed=1)
    agent.tell([1, 1, 2, 2], [0, 0, 1, 1])
    for _ in range(20):
        decision = agent.decide(propensity=True)
        share = 16 / 34 if decision.arm > 1 else 1 / 34
        assert decision.propensity == pytest.approx(share)
        assert (decision.reason, decision.leader, decision.near) == ("contest", None, 4)


def test_a_campaign_explains_what_was_drawn(tmp_path):
    with um.Campaign.open(tmp_path / "one.db", um.MINTS(), um.graphs.line(4)) as campaign:
        for reward in (1.0, 0.0, 1.0):
            campaign.reward(campaign.decide().id, reward)
        decision = campaign.decide(propensity=True)
        found = campaign.explain(decision.id)
    assert found.value_name == "probability"
    shares = {one.arm: one.value for one in found.competitors}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares[decision.arm] == pytest.approx(decision.propensity)
    assert f"{decision.arm!r} won the contest: it was drawn from 4 (probability 0." in str(found)


def test_an_agent_with_past_data_draws_by_it():
    agent = um.Agent(
        um.MINTS(), um.graphs.line(3), data={0: (50, 5.0), 1: (50, 45.0), 2: (50, 5.0)}
    )
    assert set(agent.ask(100)) == {1}


def test_as_text_and_data():
    assert parse("mints") == um.MINTS() and not um.MINTS().parameters()
    assert from_data(json.loads(json.dumps(to_data(um.MINTS())))) == um.MINTS()
