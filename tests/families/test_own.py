"""A user's own family: plain and compiled, in engines, agents and campaigns, and its files."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unimodal as um
from unimodal import families
from unimodal.engines.capability import why_not_leap
from unimodal.families.family import draw, posterior
from unimodal.families.posteriors import interval
from unimodal.inference.confidence_bounds import bounds
from unimodal.kernels.random import REWARDS, stream

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "your-own-family.md"
GRAPH = um.graphs.line(5)
MEANS = [0.5, 1.0, 2.0, 1.0, 0.5]


def geometric(is_compiled):
    class Geometric(um.Family):
        """The number of failures before a success, times a known scale."""

        compiled = is_compiled
        low = 0.0
        scale: float = 1.0

        def draw(self, mean, rng):
            return self.scale * math.floor(
                um.random.exponential(rng) / math.log1p(self.scale / mean)
            )

        def divergence(self, p, q):
            p, q = p / self.scale, q / self.scale
            found = (1.0 + p) * math.log((1.0 + q) / (1.0 + p))
            return max(found + p * math.log(p / q), 0.0) if p > 0.0 else found

        def posterior(self, arm, rng):
            failures = arm.prior_b + arm.total / self.scale
            chance = um.random.beta(rng, arm.prior_a + arm.pulls, failures)
            return self.scale * (1.0 - chance) / chance

    return Geometric


Plain, Fast = geometric(False), geometric(True)


@pytest.mark.parametrize(
    "policy", [um.UTS(), pytest.param(um.OSUB(), marks=pytest.mark.full)], ids=str
)
def test_plain_and_compiled_do_the_same(policy):
    plain, fast = (
        um.simulate(um.Problem(GRAPH, MEANS, made(2.0)), policy, horizon=500, trials=2, seed=1)
        for made in (Plain, Fast)
    )
    assert (plain[policy.name].regret == fast[policy.name].regret).all()
    assert (plain[policy.name].pulls.argmax(axis=1) == 2).all()


def test_a_plain_policy_plays_a_plain_family():
    class Greedy(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return near[np.argmax(arms.total[near] / np.maximum(arms.pulls[near], 1))]

    run = um.simulate(um.Problem(GRAPH, MEANS, Plain()), Greedy(), horizon=50, trials=1)["Greedy"]
    assert run.pulls.sum() == 50


def test_parameters_are_fields_and_numbers_of_self():
    family = Fast(scale=3.0)
    assert repr(family) == "Geometric(scale=3.0)"
    assert family == Fast(3.0) != Fast()
    rng = stream(1, 0, REWARDS)
    rewards = np.array([family.sample(2.0, rng) for _ in range(200)])
    assert (rewards % 3.0 == 0.0).all() and rewards.max() > 0.0


@pytest.mark.parametrize("made", [Plain, Fast], ids=["plain", "compiled"])
def test_upper_is_found_from_the_divergence_to_the_last_digit(made):
    family = made()
    assert family.upper(1.0, 0.0) == 1.0
    for mean, budget in ((0.0, 0.5), (0.3, 1e-6), (5.0, 2.0)):
        found = family.upper(mean, budget)
        assert family.divergence(mean, found) <= budget
        assert family.divergence(mean, np.nextafter(found, math.inf)) > budget * (1 - 1e-12)


def test_upper_ends_at_the_top_or_at_the_largest_number():
    class Ranged(um.Family):
        low, high = -1.0, 2.0

        def draw(self, mean, rng):
            return mean

        def divergence(self, p, q):
            return (p - q) ** 2

    class Flat(Ranged):
        high = math.inf

        def divergence(self, p, q):
            return min(abs(p - q), 1.0)

    assert Ranged().upper(0.0, 1.0) == pytest.approx(1.0)
    assert Ranged().upper(0.0, 9.0) == Ranged().upper(2.0, 9.0) == 2.0
    assert Flat().upper(0.0, 2.0) >= families.family.LARGEST


def test_means_and_rewards_are_checked():
    for value in (-1.0, math.nan):
        with pytest.raises(um.UnimodalError, match=r"a mean of Geometric\(scale=1.0\) must be"):
            um.Problem(GRAPH, [1, 1, 2, 1, value], Fast())
        with pytest.raises(um.UnimodalError, match=r"a mean of Geometric\(scale=1.0\) must be"):
            Fast().divergence(value, 1.0)
    with pytest.raises(um.UnimodalError, match="a finite number of at least 0"):
        um.Agent(um.OSUB(), GRAPH, Fast()).tell(0, -1.0)


def test_what_is_missing_is_said_before_the_first_round():
    class Bare(um.Family):
        def draw(self, mean, rng):
            return mean

    class Ruled(Bare):
        def divergence(self, p, q):
            return abs(p - q)

    problem = um.Problem(GRAPH, MEANS, Bare())
    with pytest.raises(um.UnimodalError, match=r"Bare must have a method divergence\(self, p, q\)"):
        um.simulate(problem, um.OSUB(), horizon=100, trials=1)
    with pytest.raises(um.UnimodalError, match=r"Bare must have a method divergence\(self, p, q\)"):
        problem.lower_bound  # noqa: B018
    with pytest.raises(um.UnimodalError, match=r"Ruled must have a method posterior\(self, arm"):
        um.Agent(um.UTS(), GRAPH, Ruled())


def test_what_is_not_given_is_refused_or_none():
    family = Plain()
    with pytest.raises(um.UnimodalError, match=r"bounds on means.*define log_evidence"):
        bounds(family, [3], [2.0], 1.0)
    agent = um.Agent(um.TS(), GRAPH, family)
    for _ in range(5):
        agent.tell(agent.ask(), 1.0)
    with pytest.raises(um.UnimodalError, match=r"posteriors.*define posterior_quantile"):
        interval(family, agent._player.state.arms)
    assert agent.decide(propensity=True).propensity is None


def test_an_overridden_method_takes_what_followed_from_it_along():
    """A subclass of one of ours keeps neither bounds nor distributions of what it changed."""

    class Wide(um.Bernoulli):
        compiled = True

        def divergence(self, p, q):
            return 0.1 * (p - q) ** 2

    class Bold(um.Gaussian):
        def posterior(self, arm, rng):
            return 1.0

    class Uneven(um.Poisson):
        def draw(self, mean, rng):
            return 2.0 * mean if um.random.uniform(rng) < 0.5 else 0.0

    assert Wide().upper(0.5, 0.001) == pytest.approx(0.6)
    means, settings = [0.1, 0.2, 0.9, 0.2, 0.1], {"horizon": 300, "trials": 4}
    wide, usual = (
        um.simulate(um.Problem(GRAPH, means, family), um.OSUB(), **settings)["OSUB"].pulls[:, 1]
        for family in (Wide(), um.Bernoulli())
    )
    assert wide.min() > 2 * usual.max()  # by its own divergence, nothing is ruled out soon
    with pytest.raises(um.UnimodalError, match="posteriors are known"):
        interval(Bold(), np.zeros(1))
    assert um.Gaussian in posterior.registry and um.Poisson in draw.registry
    with pytest.raises(um.UnimodalError, match="bounds on means"):
        bounds(Uneven(), [3], [2.0], 1.0)
    assert "Uneven draws rewards in a way of your own" in why_not_leap(
        um.UTS(), um.Problem(GRAPH, MEANS, Uneven())
    )


def test_files_hold_the_name_and_the_parameters(tmp_path):
    family = Fast(2.0)
    data = json.loads(json.dumps(families.to_data(family)))
    assert data == {"family": "geometric", "own": "Geometric", "scale": 2.0}
    assert families.from_data(data, family) is family
    assert families.from_data(data, Fast(3.0)) == type(families.from_data(data))(2.0)
    with pytest.raises(um.UnimodalError, match=r"family of your own, Unseen: define or import it"):
        families.from_data(data | {"own": "Unseen"})
    problem = um.Problem(GRAPH, MEANS, family)
    assert um.Problem.from_data(problem.to_data()).family.scale == 2.0


def test_a_campaign_goes_on_with_it(tmp_path):
    """Passed again at every opening, or just defined; another one is refused."""
    path = tmp_path / "own.db"
    for opening in range(3):
        family = {"family": Fast(2.0)} if opening < 2 else {}
        with um.Campaign.open(path, um.UTS(), GRAPH, seed=3, **family) as campaign:
            for _ in range(4):
                decision = campaign.decide()
                campaign.reward(decision.id, 2.0)
            assert decision.id == 4 * (opening + 1)
    with pytest.raises(um.UnimodalError, match=r"geometric\(own='Geometric', scale=2.0\), not"):
        um.Campaign.open(path, family=Fast(1.0))
    assert not um.verify(path).wrong
    table = um.inspect(path).neighbourhood  # without a distribution there are no intervals
    assert table["low"].is_nan().all() and table["high"].is_nan().all()


def test_agents_and_results_are_loaded_with_it(tmp_path):
    agent = um.Agent(um.UTS(), GRAPH, Fast(2.0))
    agent.tell(agent.ask(), 4.0)
    assert um.Agent.load(agent.save(tmp_path / "agent.json")).family.scale == 2.0
    result = um.simulate(um.Problem(GRAPH, MEANS, Fast(2.0)), um.UTS(), horizon=100, trials=1)
    assert um.load(result.save(tmp_path / "result.parquet")).problem.family.scale == 2.0


def test_families_do_without_scipys_special_functions_until_they_are_asked():
    """They take 0.1 s to import, and no simulation needs them."""
    code = "import sys, unimodal.families; sys.exit('scipy.special' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.full
def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    code = "\n".join(blocks)
    assert "check_family" in code
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
