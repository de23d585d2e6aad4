"""Quick Betas: what is taken for granted of a pair of normals holds, and the draws are Betas."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import integrate, stats

from unimodal.kernels.compile import jit
from unimodal.kernels.quick_beta import (
    FEWEST,
    LIMIT,
    PAIRS,
    SHARE,
    SURE,
    _share,
    _signed,
    _spare,
    beta_looked_at,
    is_sure,
    log_kept,
    new_gammas,
    new_pairs,
    sure_beta,
    take_pairs,
    update_gammas,
)
from unimodal.kernels.random import stream

WITHIN = np.linspace(-LIMIT, LIMIT, 201)
GROWTH = np.linspace(1.0, 1.0 + SHARE, 5)


@jit
def _updated(gammas, a, b):
    update_gammas(gammas[0], a, b)


def gammas_of(a, b):
    gammas = new_gammas(1)
    _updated(gammas, float(a), float(b))
    return gammas


def least_kept(fewest):
    """The smallest log of a probability to be kept, over a grid of parameters and normals."""
    shapes = [fewest, 1.3 * fewest, 3.0 * fewest, 1e2 * fewest, 1e6 * fewest]
    found = 0.0
    for d in shapes:
        c = 1.0 / math.sqrt(9.0 * d)
        found = min(found, *(log_kept(d * g, c, x) for g, x in itertools.product(GROWTH, WITHIN)))
    return found


@pytest.mark.parametrize("grade", [0, 1])
def test_a_sure_pair_is_kept_whatever_the_beta(grade):
    """Both gammas at their worst; with parameters that are 1 % smaller it would not be so."""
    assert 2.0 * least_kept(FEWEST[grade]) >= math.log(SURE[grade] / 256.0)
    assert 2.0 * least_kept(0.99 * FEWEST[grade]) < math.log(SURE[grade] / 256.0)


def test_nothing_is_kept_with_more_than_certainty():
    """Over all normals there are, also where c has waited for d to grow; c 1 % smaller fails."""
    far = np.linspace(-9.0, 9.0, 361)
    for d, growth in itertools.product([60.5, 555.0, 1e4, 1e8], GROWTH):
        c = 1.0 / math.sqrt(9.0 * d)
        assert max(log_kept(d * growth, c, x) for x in far) <= 0.0
        assert max(log_kept(d * growth, 0.99 * c, x) for x in far) > 0.0


@pytest.mark.parametrize("d", [60.0, 600.0, 1e6])
def test_the_probability_to_be_kept_is_that_of_the_gamma(d):
    """The normal's density times it, over the gamma's density of d·(1 + c·x)³, is constant."""
    c = 1.002 / math.sqrt(9.0 * d)
    x = np.linspace(-4.0, 4.0, 41)
    value = d * (1.0 + c * x) ** 3
    slope = 3.0 * d * c * (1.0 + c * x) ** 2
    kept = np.array([log_kept(d, c, each) for each in x])
    ratio = stats.norm.logpdf(x) + kept - stats.gamma.logpdf(value, d + 1.0 / 3.0) - np.log(slope)
    assert np.ptp(ratio) < 1e-9 * max(d, 1e3)


@jit
def _draw(rng, gammas, pairs, out, looked):
    for number in range(len(out)):
        place = take_pairs(rng, pairs, 1)
        if is_sure(gammas[0], pairs, place):
            out[number] = sure_beta(gammas[0], pairs, place)
        else:
            looked[0] += 1
            out[number] = beta_looked_at(rng, gammas[0], pairs, place)


def draws(gammas, number=60_000, seed=3):
    """Draws, and how many of them were made of pairs that are not sure."""
    out, looked = np.empty(number), np.zeros(1, dtype=np.int64)
    _draw(stream(seed, 0, 0), gammas, new_pairs(), out, looked)
    return out, looked[0] / number


BETAS = [(61.0, 61.0), (61.0, 5000.0), (600.0, 556.0), (2000.0, 18000.0), (1e6, 9e6)]


@pytest.mark.parametrize(
    ("a", "b"), [*BETAS[:3], *(pytest.param(*each, marks=pytest.mark.full) for each in BETAS[3:])]
)
def test_draws_are_betas(a, b):
    """Kolmogorov and Smirnov's test with 60,000 draws; a false alarm in 1 of 1000 seeds each."""
    found, looked = draws(gammas_of(a, b))
    assert stats.kstest(found, stats.beta(a, b).cdf).pvalue > 1e-3
    sure = SURE[int(min(a, b) < FEWEST[0] + 1 / 3)] / 256.0
    assert looked == pytest.approx(1.0 - sure, abs=0.005)  # and those in the normal's tail


def test_draws_while_parameters_grow():
    """The c are kept as long as they hold, and the law is that of the present parameters."""
    gammas = gammas_of(20000.0, 30000.0)
    c = gammas["success_c"][0]
    _updated(gammas, 20002.0, 30003.0)
    assert gammas["success_c"][0] == c
    assert stats.kstest(draws(gammas)[0], stats.beta(20002.0, 30003.0).cdf).pvalue > 1e-3
    _updated(gammas, 20003.0, 30003.0)
    assert gammas["success_c"][0] < c


@pytest.mark.parametrize("field", ["success_c", "success_d"])
def test_planted_faults_are_reported(field):
    """A c that is too large by 10 %, and the shape for d: by the same test."""
    gammas = gammas_of(*BETAS[0])
    gammas[field] += 0.1 * gammas[field] if field == "success_c" else 1.0 / 3.0
    assert stats.kstest(draws(gammas)[0], stats.beta(*BETAS[0]).cdf).pvalue < 1e-3


def test_small_parameters_are_not_quick():
    for a, b, grade in [(60.0, 1e4, -1), (61.0, 1e4, 1), (1e4, 555.0, 1), (1e4, 556.0, 0)]:
        gammas = gammas_of(a, b)
        assert gammas["grade"][0] == grade
        assert np.isnan(gammas["success_c"][0]) == (grade < 0)


@jit
def _take_all(rng, pairs):
    take_pairs(rng, pairs, PAIRS)


def test_normals_of_the_pairs():
    """All of a refill's pairs are normals, sure or not; a false alarm in 1 of 1000 seeds."""
    pairs, rng, x, y, beyond = new_pairs(), stream(5, 0, 0), [], [], 0
    for _ in range(2000):
        _take_all(rng, pairs)
        x.append(pairs.any_x.copy())
        y.append(pairs.y.copy())
        for grade in range(2):
            seen = pairs.x[grade * PAIRS : (grade + 1) * PAIRS]
            assert np.array_equal(seen[seen == seen], pairs.any_x[seen == seen])
            is_within = (np.abs(pairs.any_x) <= LIMIT) & (np.abs(pairs.y) <= LIMIT)
            spare = _spare(pairs.words[:PAIRS], pairs.words[PAIRS:])
            assert np.array_equal(seen == seen, is_within & (spare < SURE[grade]))
            beyond += np.count_nonzero(~is_within)
    assert beyond > 100  # of either normal: such pairs are never sure
    x, y = np.concatenate(x), np.concatenate(y)
    assert stats.kstest(x, "norm").pvalue > 1e-3 and stats.kstest(y, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x, y)[0, 1]) < 4.0 / math.sqrt(len(x))
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4.0 / math.sqrt(len(x))


@pytest.mark.parametrize("d", [60.5, 555.0, 1e6])
@pytest.mark.parametrize("wider", [1.0, 1.0 + SHARE])
def test_the_log_of_the_probability_to_be_kept_has_its_digits(d, wider):
    """Against 60 digits, on both sides of where the series begins; the series leaves out t¹⁰."""
    c = math.sqrt(wider) / math.sqrt(9.0 * d)
    steps = {0.001, 0.004, 0.012, 0.0199, 0.0201, 0.05, 0.15}
    for t in (sign * step for sign in (-1.0, 1.0) for step in steps):
        x = t / c
        with localcontext() as context:
            context.prec = 60
            big_d, big_c, big_x = Decimal(d), Decimal(c), Decimal(x)
            big_t = big_c * big_x
            rest = (1 + big_t).ln() - big_t + big_t**2 / 2 - big_t**3 / 3
            expected = 3 * big_d * rest - (9 * big_d * big_c**2 - 1) * big_x**2 / 2
        rounding = 1e-15 * d * t * t  # of 9dc² - 1, and of terms of the size of t²
        assert log_kept(d, c, x) == pytest.approx(float(expected), rel=2e-8, abs=rounding)


@pytest.mark.parametrize("d", [2.0, 60.5, 555.0, 1e5])
@pytest.mark.parametrize("wider", [1.0, 1.0 + SHARE])
def test_as_many_normals_are_kept_as_the_gamma_says(d, wider):
    """By integration: x = 0 is kept surely, so its density among what is kept tells how many are.

    And what is kept has the gamma's mean, which no constant in the acceptance would change.
    """
    c, shape = wider / math.sqrt(9.0 * d), d + 1.0 / 3.0

    def kept(x):
        return math.exp(log_kept(d, c, x)) * stats.norm.pdf(x)

    share = integrate.quad(kept, -12.0, 12.0, epsabs=1e-13, limit=200)[0]
    log_gamma = (shape - 1.0) * math.log(d) - d - math.lgamma(shape)
    rounding = 1e-15 * d * math.log(d)
    expected = stats.norm.pdf(0.0) / (3.0 * d * c) * math.exp(-log_gamma)
    assert share == pytest.approx(expected, rel=1e-9 + 10 * rounding)
    mean = integrate.quad(lambda x: d * (1.0 + c * x) ** 3 * kept(x), -12.0, 12.0, limit=200)[0]
    assert mean / share == pytest.approx(shape, rel=1e-9)


@pytest.mark.parametrize("bit", range(64))
def test_every_bit_of_a_pair_is_of_one_use(bit):
    """The layer has the lowest 8, the spare ones the next 4, the number the other 52."""
    word, none = np.uint64(1 << bit), np.uint64(0)
    assert (_signed(word) != -1.0) == (bit >= 12)
    one, other = int(_spare(word, none)), int(_spare(none, word))
    assert (one, other) == ((1 << (bit - 4), 1 << (bit - 8)) if 8 <= bit < 12 else (0, 0))


def _words_with_spare(spare):
    return np.uint64((spare >> 4) << 8), np.uint64((spare & 0x0F) << 8)


def _stream_that_begins_with(uniform, seed=0):
    """A stream of xoshiro256++ whose first uniform is this one: with s₀ = 0 it is s₃, rotated."""
    word, rng = int(uniform * 2.0**53) << 11, stream(seed, 0, 0)
    rng[0], rng[3] = 0, ((word >> 23) | (word << 41)) & (2**64 - 1)
    return rng


def _looked_at(gammas, pair, spare, rng):
    pairs = new_pairs()
    pairs.any_x[0], pairs.y[0] = pair
    pairs.words[0], pairs.words[PAIRS] = _words_with_spare(spare)
    return beta_looked_at(rng, gammas.view(np.recarray)[0], pairs, 0)


@pytest.mark.parametrize("pair", [(-3.6, -3.5), (-3.6, 0.4), (0.3, -3.5), (-5.0, 1.0), (3.5, -4.5)])
@pytest.mark.parametrize("shapes", [(62.0, 75.0), (70.0, 700.0), (560.0, 590.0)], ids=str)
def test_a_pair_that_is_looked_at_is_kept_exactly_as_often_as_it_should(pair, shapes):
    """Its spare bits and a uniform are one uniform, of which the probability is the threshold."""
    gammas = gammas_of(*shapes)
    one = gammas.view(np.recarray)[0]
    kept = log_kept(one.success_d, one.success_c, pair[0])
    kept = math.exp(kept + log_kept(one.failure_d, one.failure_c, pair[1]))
    spare = math.floor(256.0 * kept)  # with fewer it is kept, and with more it is not
    share, least = _share(one, *pair), spare + 1.0 - 256.0 * kept  # the uniform counts downwards
    for uniform, number in ((0.0, spare - 1), (1.0 - 1e-9, spare - 1), (least + 1e-6, spare)):
        if uniform < 1.0:
            assert _looked_at(gammas, pair, number, _stream_that_begins_with(uniform)) == share
    for uniform, number in ((least - 1e-6, spare), (1.0 - 1e-9, spare + 1)):
        if uniform > 0.0 and number < 256:
            assert _looked_at(gammas, pair, number, _stream_that_begins_with(uniform)) != share


@jit
def _draw_after_a_pair_that_is_not_kept(rng, gammas, pairs, out):
    for number in range(len(out)):
        out[number] = beta_looked_at(rng, gammas[0], pairs, 0)


@pytest.mark.parametrize("spare", [0, 255])
def test_after_a_pair_that_is_not_kept_all_is_drawn_anew(spare):
    """Small parameters, of which many are not kept; a false alarm in 1 of 1000 seeds each.

    With the spare bits of before, 255 would keep hardly any but those near the middle.
    """
    gammas, a, b = new_gammas(1), 1.2, 1.5
    for name, shape in (("success", a), ("failure", b)):
        gammas[f"{name}_d"] = d = shape - 1.0 / 3.0
        gammas[f"{name}_c"] = 1.0 / math.sqrt(9.0 * d)
    pairs, out = new_pairs(), np.empty(20_000)
    pairs.any_x[0] = -4.0  # 1 + c·x is negative
    pairs.words[0], pairs.words[PAIRS] = _words_with_spare(spare)
    _draw_after_a_pair_that_is_not_kept(stream(7, 0, 0), gammas, pairs, out)
    assert stats.kstest(out, stats.beta(a, b).cdf).pvalue > 1e-3
