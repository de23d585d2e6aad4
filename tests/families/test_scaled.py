"""Known multiples of rewards: in money what the inner family is in draws, arm by arm."""

import json
import math

import numpy as np
import pytest
from scipy import special, stats

import unimodal as um
from unimodal import families
from unimodal.families.family import earned, of_arm, posterior, told
from unimodal.families.leaping import NO_HAT, hat, is_sure, outlook, under_hat
from unimodal.families.posteriors import cdf, interval, quantile
from unimodal.families.unsaturated_scale import (
    TOP,
    distance,
    is_sharp,
    linear_form,
    mean_level,
    upper_level,
)
from unimodal.inference.confidence_bounds import bounds
from unimodal.kernels.compile import record
from unimodal.kernels.random import POLICY, stream
from unimodal.policies.state import ARM, set_factors, set_prior

LADDER = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90"), ("14.90", "19.90")])
PRICES = {label: float(label) for label in LADDER.labels}
MONEY = um.Scaled(um.Bernoulli(), by=PRICES)
INNER = [
    um.Bernoulli(),
    um.Poisson(),
    um.Exponential(),
    um.Gaussian(2.0),
    um.Bounded(1.0, 3.0),
    um.Bounded(-1.0, 2.0),
]
OTHERS = [*INNER[1:4], INNER[5]]
# Each costs a second to compile.
every_inner = pytest.mark.parametrize(
    "inner",
    [*INNER[:1], INNER[4], *(pytest.param(inner, marks=pytest.mark.full) for inner in OTHERS)],
    ids=repr,
)


def arms_of(family, pulls, totals, labels=LADDER.labels):
    """Records of arms with so many rewards."""
    arms = np.zeros(len(pulls), dtype=ARM)
    set_prior(arms, family, None)
    set_factors(arms, family, labels)
    arms["pulls"], arms["total"] = pulls, totals
    return arms


def test_the_divergence_is_that_of_what_is_told():
    arm = MONEY.of_arm("12.90")
    p, q = 4.0 / 12.9, 6.0 / 12.9
    by_scipy = special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q)
    assert arm.divergence(4.0, 6.0) == pytest.approx(by_scipy, rel=1e-12)
    assert arm.divergence(4.0, 12.9) == arm.divergence(4.0, 13.0) == math.inf
    assert arm.divergence(12.9, 12.9) == 0.0 and arm.divergence(12.9, 13.0) == math.inf


@every_inner
def test_one_arm_is_its_inner_family_in_money(inner):
    arm, (low, high) = um.Scaled(inner, by={"a": 2.5, "b": 7.0}).of_arm("a"), (1.2, 1.8)
    assert arm.divergence(2.5, 2.5) == 0.0
    if inner.high > high:
        assert arm.divergence(2.5 * low, 2.5 * high) == pytest.approx(inner.divergence(low, high))
        assert arm.upper(2.5 * low, 0.3) == pytest.approx(2.5 * inner.upper(low, 0.3))
        drawn = [f.sample(m, stream(1, 0, 0)) for f, m in ((arm, 2.5 * low), (inner, low))]
        assert drawn[0] == pytest.approx(drawn[1])  # what is told, not a product


def test_the_upper_root_ends_at_the_price():
    arm = MONEY.of_arm("9.90")
    assert arm.upper(4.0, 1e6) == pytest.approx(9.9, rel=1e-12) and arm.upper(4.0, 1e6) <= 9.9
    assert arm.upper(4.0, 0.0) == pytest.approx(4.0) and arm.upper(9.9, 1.0) == 9.9


def test_the_posterior_is_a_beta_in_money():
    arms = arms_of(MONEY, [10, 20, 30, 0], [4, 5, 6, 0])
    for row, label in enumerate(PRICES):
        law = stats.beta(1 + arms["total"][row], 1 + arms["pulls"][row] - arms["total"][row])
        price, level = PRICES[label], 0.3 * PRICES[label]
        assert cdf(MONEY, arms[row : row + 1], level)[0] == pytest.approx(law.cdf(0.3))
        assert quantile(MONEY, arms, 0.7)[row] == pytest.approx(price * law.ppf(0.7))
        rng = stream(row, 0, POLICY)
        drawn = [posterior(record(MONEY), arms[row], rng) for _ in range(1000)]
        # A false alarm in 1 of 1,000 choices of seeds, over the four.
        assert stats.kstest(np.array(drawn) / price, law.cdf).pvalue > 0.001 / 4
    low, high = interval(MONEY, arms)
    assert (high[3], low[3]) == pytest.approx((0.975 * 19.9, 0.025 * 19.9))


@every_inner
def test_tails_are_those_of_what_is_told(inner):
    family = um.Scaled(inner, by={"a": 2.5, "b": 7.0})
    made, arm = record(family), arms_of(family, [9], [18 if inner.high > 2 else 5], ["a"])[0]
    centre, spread = outlook(record(inner), arm)
    assert outlook(made, arm) == pytest.approx((2.5 * centre, 2.5 * spread))
    for above, level in ((True, centre + spread), (False, centre - spread)):
        expected = hat(record(inner), arm, 0, level, above)
        assert hat(made, arm, 0, 2.5 * level, above) == pytest.approx(expected)
        one, two = stream(1, 0, 0), stream(1, 0, 0)
        for _ in range(20):
            drawn = under_hat(made, arm, 2.5 * level, expected[1], above, one)
            inner_draw = under_hat(record(inner), arm, level, expected[1], above, two)
            assert drawn == pytest.approx(2.5 * inner_draw, nan_ok=True)
    assert (earned(made, arm, 2.0), told(made, arm, 5.0)) == (5.0, 2.0)
    if math.isfinite(inner.high):  # no draw lies above the arm's top: it waits for ever
        assert hat(made, arm, 0, 2.5 * inner.high, True) == (0.0, 0.0)
        assert hat(made, arm, 0, 6.9, True)[0] <= hat(made, arm, 0, 2.5 * level, True)[0]


def test_only_the_highest_price_is_sure_to_win():
    arms = arms_of(MONEY, [3, 3, 3, 3], [3, 3, 3, 3])
    arms["prior_b"] = 1e-320  # no failure, in the prior either
    assert [bool(is_sure(record(MONEY), arm)) for arm in arms] == [False, False, False, True]
    assert hat(record(MONEY), arms[0], 0, 9.0, True) == NO_HAT


@every_inner
def test_levels_compare_arms_in_money(inner):
    """A level is the inner one of money/largest factor: equal amounts have equal levels."""
    family, rng = um.Scaled(inner, by=dict(enumerate((1.0, 2.5, 7.0)))), np.random.default_rng(1)
    made = record(family)
    high, low = min(inner.high, 3.0), max(inner.low, 0.2)
    shown = []
    for _ in range(200):
        arm, pulls = int(rng.integers(3)), int(rng.integers(1, 50))
        factor = (1.0, 2.5, 7.0)[arm]
        mean = min(max(float(np.round(rng.uniform(low, high) * pulls) / pulls), inner.low), high)
        own, total = of_arm(made, arms_of(family, [pulls], [0], [arm])[0]), mean * pulls
        level = upper_level(own, float(pulls), total, 2.0)
        bound = factor * inner.upper(mean, 2.0 / pulls)
        shown.append((bound, level))
        shown.append((factor * mean, mean_level(own, float(pulls), total)))
        if mean < inner.high and is_sharp(own, level):
            assert distance(own, float(pulls), total, level) == pytest.approx(2.0, rel=1e-6)
            assert distance(own, float(pulls), total, level) == pytest.approx(
                pulls * family.of_arm(arm).divergence(factor * mean, bound), rel=1e-6
            )
            assert linear_form(own, level)[0] == pytest.approx(bound / factor, rel=1e-6)
        if math.isfinite(inner.high) and arm < 2:
            assert distance(own, float(pulls), total, 20.0) == math.inf
    shown.sort()
    money, levels = np.array(shown).T
    apart = np.diff(money) > 1e-9
    assert (np.diff(levels)[apart] > 0).all()
    assert linear_form(made, 1.0)[0] == -math.inf  # none holds for all arms


def test_a_level_that_has_lost_its_digits_is_not_waited_for():
    arm = of_arm(record(MONEY), arms_of(MONEY, [5], [5], ["9.90"])[0])
    top = -math.log1p(-9.9 / 19.9)
    assert mean_level(arm, 5.0, 5.0) == pytest.approx(top)
    assert is_sharp(arm, 0.9 * top) and not is_sharp(arm, top * (1 - 1e-12))
    assert is_sharp(arm, 1.1 * top)  # out of reach, which is certain
    highest = of_arm(record(MONEY), arms_of(MONEY, [5], [5], ["19.90"])[0])
    assert mean_level(highest, 5.0, 5.0) == TOP and is_sharp(highest, 30.0)


def test_an_arm_at_its_top_is_at_no_distance_from_what_it_earns():
    """Whatever the rounding: 3 of 3 at 5 earn as much as 20 of 36 at 9, and 10 of 28 at 14."""
    family = um.Scaled(um.Bernoulli(), by={"a": 5.0, "b": 9.0, "c": 14.0})
    sure, fair, highest = (
        of_arm(record(family), arms_of(family, [1], [0], [label])[0]) for label in "abc"
    )
    for level in (mean_level(fair, 36.0, 20.0), mean_level(highest, 28.0, 10.0)):
        assert distance(sure, 3.0, 3.0, level) == 0.0
        assert distance(sure, 3.0, 3.0, level * (1 + 1e-12)) == math.inf


def test_evidence_is_that_of_what_is_told():
    arms = MONEY.of_arms(LADDER.labels)
    assert arms.low.tolist() == [0, 0, 0, 0] and arms.high.tolist() == list(PRICES.values())
    found = arms.log_evidence(np.full(4, 6.0), np.full(4, 50.0), np.full(4, 20.0))
    expected = [um.Bernoulli().log_evidence(6 / price, 50.0, 20.0) for price in PRICES.values()]
    assert found == pytest.approx(np.array(expected))
    # Out of an arm's reach: ruled out by the factor alone, without a reward.
    assert arms.log_evidence(13.0, 0.0, 0.0).tolist() == [math.inf, math.inf, 0.0, 0.0]
    # Exactly: the expectation of M over five rewards is 1.
    wins = np.arange(6.0)
    m = np.exp(MONEY.of_arms(["14.90"]).log_evidence(4.0, 5.0, wins))
    assert (stats.binom(5, 4 / 14.9).pmf(wins) * m).sum() == pytest.approx(1.0, abs=1e-12)


def test_bounds_are_in_money():
    low, high = bounds(MONEY.of_arms(LADDER.labels), [0, 100, 100, 9], [0, 50, 20, 9], math.log(20))
    inner_low, inner_high = bounds(um.Bernoulli(), [0, 100, 100, 9], [0, 50, 20, 9], math.log(20))
    prices = np.array(list(PRICES.values()))
    assert low == pytest.approx(prices * inner_low)
    assert high == pytest.approx(prices * inner_high)
    assert high[3] == 19.9


def test_an_arm_that_cannot_be_best_has_no_term_in_the_lower_bound():
    """The price 4.90 cannot earn 5: nothing need be known of it."""
    prices = um.graphs.line(3)
    money = um.Scaled(um.Bernoulli(), by=[4.90, 10.0, 20.0])
    bound = um.Problem(prices, [4.5, 5.0, 3.0], money).lower_bound
    assert bound == pytest.approx(2.0 / um.Bernoulli().divergence(0.15, 0.25))
    at_its_top = um.Scaled(um.Bernoulli(), by=[5.0, 10.0, 20.0])
    assert um.Problem(prices, [4.5, 5.0, 3.0], at_its_top).lower_bound == pytest.approx(bound)


def test_second_peaks_are_found_in_money():
    """Conversion falls all the way; revenue has a valley in the middle."""
    totals = {"9.90": 420, "12.90": 120, "14.90": 270, "19.90": 60}
    found = um.second_peaks(LADDER, [600] * 4, [totals[x] for x in LADDER.labels], family=MONEY)
    assert found.best.arm == "9.90" and [peak.arm for peak in found] == ["14.90"]
    assert found.best.mean == pytest.approx(9.9 * 0.7) and found.best.low < 9.9 * 0.7
    assert not um.second_peaks(LADDER, [600] * 4, [420, 230, 190, 60], family=MONEY)


# As data


@pytest.mark.parametrize(
    "by", [PRICES, [1, 2.0, 3, 4], float, 2.5, {("a", 1): 2.0, 3: 4.0}], ids=repr
)
def test_it_is_data(by):
    family = um.Scaled(um.Bounded(0, 2), by=by)
    saved = json.loads(json.dumps(families.to_data(family)))
    assert families.from_data(saved) == family and hash(family) == hash(families.from_data(saved))
    assert um.Scaled(family.inner, by=family.by) == family


def test_it_prints_as_it_is_made():
    assert repr(MONEY.of_arm("9.90")) == "Scaled(Bernoulli(), by=9.9)"
    assert repr(um.Scaled(um.Poisson(), by=float)) == "Scaled(Poisson(), by=float)"
    assert repr(um.Scaled(um.Poisson(), by={"a": 2})) == "Scaled(Poisson(), by={'a': 2.0})"
    assert repr(um.Scaled(um.Poisson(), by=range(1, 20))).endswith("3.0, … 16 more])")


def test_factors_in_order_are_those_of_the_labels():
    assert um.Scaled(um.Bernoulli(), by=list(PRICES.values())).on(LADDER) == MONEY
    assert um.Scaled(um.Bernoulli(), by=float).factors(["9.90", 3]).tolist() == [9.9, 3.0]


# Bad input: one sentence each


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ({"9.90": 0}, "the factor of arm '9.90' of Scaled must be .* greater than 0, got 0"),
        ([1, -2], "the factor of arm 1 of Scaled must be .* greater than 0, got -2"),
        ([1, math.nan], "the factor of arm 1 of Scaled"),
        ([1, math.inf], "the factor of arm 1 of Scaled"),
        ([1, 1e60], "between 1e-50 and 1e\\+50"),
        ({"a": "cheap"}, "the factor of arm 'a' of Scaled"),
        ({}, "must have a factor for every arm"),
        ([], "must have a factor for every arm"),
        ({1.0, 2.0}, "set"),
        (str, "a mapping, a sequence, float or a number"),
        ("prices", "a mapping, a sequence, float or a number"),
        (-1.0, "greater than 0"),
    ],
)
def test_factors_that_are_none(by, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Scaled(um.Bernoulli(), by=by)


class Own(um.Bernoulli):
    def draw(self, mean, rng):
        return 1.0


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (MONEY, "must not be Scaled itself: multiply the two factors"),
        (um.Bounded(-2, 0), "rewards above 0"),
        (Own(), "must be one of Bernoulli, "),
        (um.Bounded(0, 1, lambda mean, rng: mean), "draw by itself"),
        ("bernoulli", "must be one of Bernoulli, "),
    ],
    ids=["scaled", "not positive", "own", "own draw", "text"],
)
def test_inner_families_that_do_not_fit(inner, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.Scaled(inner, by=2.0)


LESS = {label: price for label, price in PRICES.items() if label != "14.90"}


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (LESS, "got none for '14.90' .*: add it, or use by=float"),
        (PRICES | {"24.90": 24.9}, "got one for '24.90': no arm of this graph is called '24.90'"),
        ([1, 2, 3], "for each of the 4 arms, got 3"),
    ],
)
def test_factors_must_be_for_the_arms_of_the_graph(by, words, tmp_path):
    family = um.Scaled(um.Bernoulli(), by=by)
    with pytest.raises(um.UnimodalError, match=words):
        um.Problem(LADDER, [1, 2, 3, 1], family)
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent(um.UTS(), LADDER, family)
    with pytest.raises(um.UnimodalError, match=words):
        um.Campaign.open(tmp_path / "new.db", um.UTS(), LADDER, family)
    assert not (tmp_path / "new.db").exists()


def test_other_mistakes_are_sentences():
    with pytest.raises(um.UnimodalError, match="float\\('dear'\\), the factor of an arm"):
        um.Scaled(um.Bernoulli(), by=float).factors(["dear"])
    with pytest.raises(um.UnimodalError, match=r"between 0 and 9.9, got 10.0"):
        um.Problem(LADDER, [10.0, 11, 12, 13], MONEY)
    with pytest.raises(um.UnimodalError, match=r"got 9.9.*is the draw, not the product"):
        MONEY.check_reward(9.9)
    for ask in (MONEY.divergence, MONEY.upper):
        with pytest.raises(um.UnimodalError, match=r"family.of_arm\(label\)"):
            ask(1.0, 2.0)
    with pytest.raises(um.UnimodalError, match=r"between 0 and 9.9, got 12"):
        MONEY.of_arm("9.90").divergence(12, 3)
    with pytest.raises(um.UnimodalError, match="where a graph is known by look-up"):
        um.Agent(None, lambda x: (x - 1, x + 1), um.Scaled(um.Bernoulli(), by=[1, 2]), root=3)
    with pytest.raises(um.UnimodalError, match="NPTS must be told rewards of 0 and 1"):
        um.NPTS().index_for(um.Scaled(um.Bounded(), by=2.0))


def test_an_informative_prior_counts_in_money():
    """Arm 0 sells more often by its prior, arm 2 earns more: it leads, in trials and in agents."""
    money = um.Scaled(um.Bernoulli(), by=[1.0, 2.0, 4.0])
    policy = um.UTS(prior=((60, 40), (30, 70), (40, 60)))
    problem = um.Problem(um.graphs.line(3), [0.6, 0.6, 1.6], money)
    run = um.simulate(problem, policy, horizon=1, trials=20, history=True, checkpoints=1)
    agent = um.Agent(policy, um.graphs.line(3), money, seed=0)
    assert set(run[policy.name].arms.ravel().tolist()) == {2} and agent.ask() == 2


def test_past_data_are_what_was_told():
    told = {0: (100, 30), 1: (100, 30.5)}
    agent = um.Agent(
        um.UTS(), um.graphs.line(2), um.Scaled(um.Bounded(0.0, 2.0), by=[1.0, 3.0]), data=told
    )
    assert agent._player.state.arms["successes"].tolist() == [15.0, 15.25]
    assert agent.arms().sort("arm")["mean"].to_list() == pytest.approx([0.3, 0.915])
