"""Betas with large parameters at a third of the cost: two normals that are kept nearly always.

A Beta is the share of one gamma in two, and a gamma of shape a is d·(1 + c·x)³ for a normal x, kept
with probability exp(h(x)), where d = a - 1/3 (Marsaglia and Tsang 2000). With t = c·x,

    h(x) = x²/2 + 3d·(log(1 + t) - t - t² - t³/3) = 3d·R(t) - (9dc² - 1)·x²/2

where R(t) = log(1 + t) - t + t²/2 - t³/3 has the slope -t³/(1 + t). So h ≤ 0 for every c with
9dc² ≥ 1, not only for 1/√(9d): c may stay as it is while d grows. And h is smallest at the ends of
|x| ≤ LIMIT, at the lower one, where it falls as d grows. So if d was FEWEST or more when c was set,
and has grown by no more than SHARE since, a pair of normals within LIMIT is kept with probability
SURE or more: a uniform below SURE keeps it, whatever it is, and whatever the Beta. Whether that is
so is settled when many pairs are drawn at once, and the rest is arithmetic. The other pairs are
looked at one by one. There are two grades: parameters that are not so large ask for a lower SURE.
docs/decisions/0017-near-ties.md has the measurements.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import inner, jit, outlined
from unimodal.kernels.random import (
    EDGE,
    INSIDE,
    SPLITMIX,
    bits,
    from_outside,
    normal,
    splitmix,
    uniform,
)

LIMIT = float(EDGE[1])  # where the tail of the ziggurat begins
SHARE = 2.0**-13
# By grade, the better one first. SURE is in parts of 256, since eight bits tell whether one is.
FEWEST = (555.0, 60.5)
SURE = (254, 240)
PAIRS = 128  # drawn at once

# What is kept of an arm's Beta(a, b): d and c of both gammas, and up to which d the c hold.
TWO_GAMMAS = np.dtype(
    [
        ("success_d", np.float64),
        ("success_c", np.float64),
        ("failure_d", np.float64),
        ("failure_c", np.float64),
        ("success_most", np.float64),
        ("failure_most", np.float64),
        ("grade", np.int64),  # -1: none, not quick
        ("padding", np.float64),  # to the width of a cache line
    ],
    align=True,
)


class NormalPairs(NamedTuple):
    """Pairs of normals, drawn in advance from the stream of the policy."""

    words: Any  # (2·PAIRS,): the random bits they are made of
    x: Any  # (2·PAIRS,), by grade: NaN where the pair is not sure to be kept
    y: Any  # (PAIRS,)
    any_x: Any  # (PAIRS,): the same, sure or not
    place: Any  # (1,): the next pair


def new_pairs() -> NormalPairs:
    """No pairs yet: they are drawn when one is asked for."""
    words, x, y = np.zeros(2 * PAIRS, dtype=np.uint64), np.zeros(2 * PAIRS), np.zeros(PAIRS)
    place = np.full(1, PAIRS, dtype=np.int64)
    return NormalPairs(*(cache_aligned(part) for part in (words, x, y, y, place)))


def new_gammas(arms: int) -> Any:
    """Records for so many arms, none of which is quick yet."""
    gammas = cache_aligned(np.zeros(arms, dtype=TWO_GAMMAS))
    gammas["success_c"] = gammas["failure_c"] = math.nan
    gammas["grade"] = -1
    return gammas


@inner
def update_gammas(gammas, a, b):
    """Note that the parameters of a Beta have become a and b; they only grow."""
    gammas.success_d, gammas.failure_d = a - 1.0 / 3.0, b - 1.0 / 3.0
    if gammas.success_d > gammas.success_most or gammas.failure_d > gammas.failure_most:
        _set_scales(gammas)


@inner
def _set_scales(gammas):
    fewest = min(gammas.success_d, gammas.failure_d)
    gammas.grade = 0 if fewest >= FEWEST[0] else (1 if fewest >= FEWEST[1] else -1)
    gammas.success_c, gammas.success_most = _scale(gammas.success_d, gammas.grade)
    gammas.failure_c, gammas.failure_most = _scale(gammas.failure_d, gammas.grade)


@inner
def _scale(d, grade):
    """(c, the largest d that it holds for); NaN where the Beta is not quick."""
    if grade < 0:
        return math.nan, max(d, FEWEST[1] - 1.0)
    return 1.0 / math.sqrt(9.0 * d), d * (1.0 + SHARE)


@inner
def take_pairs(rng, pairs, number):
    """Where the next so many pairs stand, at most `PAIRS`."""
    place = pairs.place[0]
    if place + number > PAIRS:
        _refill(rng, pairs)
        place = 0
    pairs.place[0] = place + number
    return place


@partial(inner, inline=True)
def sure_beta(gammas, pairs, place):
    """A draw made of a sure pair; NaN if the pair is not sure or the Beta not quick."""
    return _share(gammas, _sure_x(gammas, pairs, place), pairs.y[place])


@partial(inner, inline=True)
def is_sure(gammas, pairs, place):
    """Whether a pair is sure to be kept for this Beta, which is quick."""
    x = _sure_x(gammas, pairs, place)
    return x == x


@partial(inner, inline=True)
def _sure_x(gammas, pairs, place):
    return pairs.x[place + (PAIRS if gammas.grade == 1 else 0)]


@partial(inner, inline=True)
def _share(gammas, x, y):
    """The share of the one gamma in both, for a pair of normals that is kept."""
    one, other = 1.0 + gammas.success_c * x, 1.0 + gammas.failure_c * y
    one = gammas.success_d * (one * one * one)
    return one / (one + gammas.failure_d * (other * other * other))


@outlined
def _refill(rng, pairs):
    """Draw pairs, with the bits of one word of the stream: SplitMix64 from there on."""
    words, x, y, any_x = pairs.words, pairs.x, pairs.y, pairs.any_x
    begin = bits(rng)
    # Loops without branches, and unsigned places, so that the compiler draws several at once.
    for place in range(np.uint64(2 * PAIRS)):
        words[place] = splitmix(begin + place * SPLITMIX)
    for place in range(np.uint64(PAIRS)):
        one, other = words[place], words[place + np.uint64(PAIRS)]
        u, v = _signed(one), _signed(other)
        layer, other_layer = one & np.uint64(255), other & np.uint64(255)
        is_inside = (abs(u) < INSIDE[layer]) & (abs(v) < INSIDE[other_layer])
        spare = _spare(one, other)
        any_x[place] = drawn = u * EDGE[layer] if is_inside else math.nan
        x[place] = drawn if spare < np.uint64(SURE[0]) else math.nan
        x[place + np.uint64(PAIRS)] = drawn if spare < np.uint64(SURE[1]) else math.nan
        y[place] = v * EDGE[other_layer]
    for place in range(PAIRS):
        if any_x[place] != any_x[place]:
            _finish(rng, pairs, place)


@inner
def _finish(rng, pairs, place):
    """Draw what the two words of a pair leave open."""
    one, other = pairs.words[place], pairs.words[place + PAIRS]
    x, y = _from_word(rng, one), _from_word(rng, other)
    pairs.any_x[place], pairs.y[place] = x, y
    for grade in range(2):
        if _spare(one, other) < np.uint64(SURE[grade]) and abs(x) <= LIMIT and abs(y) <= LIMIT:
            pairs.x[place + PAIRS * grade] = x


@inner
def _signed(word):
    """The top 52 bits, as a number in [-1, 1); the layer of the ziggurat has the lowest 8."""
    return float(np.int64(word >> np.uint64(12))) * 2.0**-51 - 1.0


@inner
def _spare(one, other):
    """Eight bits of two words that nothing else is made of."""
    return ((one >> np.uint64(4)) & np.uint64(0xF0)) | ((other >> np.uint64(8)) & np.uint64(0x0F))


@outlined
def beta_looked_at(rng, gammas, pairs, place):
    """A draw made of a pair that is not sure, if it is kept, or else of other ones."""
    x, y = pairs.any_x[place], pairs.y[place]
    spare = _spare(pairs.words[place], pairs.words[place + PAIRS])
    while True:
        u = (float(np.int64(spare)) + 1.0 - uniform(rng)) / 256.0
        kept = log_kept(gammas.success_d, gammas.success_c, x)
        if math.log(u) <= kept + log_kept(gammas.failure_d, gammas.failure_c, y):
            return _share(gammas, x, y)
        x, y, spare = normal(rng), normal(rng), bits(rng) >> np.uint64(56)


@inner
def _from_word(rng, word):
    """The normal that begins with this word."""
    layer, u = np.int64(word & np.uint64(255)), _signed(word)
    x = u * EDGE[layer] if abs(u) < INSIDE[layer] else from_outside(rng, layer, u)
    return x if x == x else normal(rng)


@jit
def log_kept(d, c, x):
    """The log of the probability that the gamma of a normal x is kept: h(x) above."""
    t = c * x
    if not t > -1.0:
        return -math.inf
    if abs(t) < 0.02:  # the series, where the terms of the other form cancel
        rest = t**4 * (-1 / 4 + t * (1 / 5 - t * (1 / 6 - t * (1 / 7 - t * (1 / 8 - t / 9)))))
    else:
        rest = math.log1p(t) - t * (1.0 - t * (0.5 - t / 3.0))
    return 3.0 * d * rest - 0.5 * (9.0 * d * c * c - 1.0) * x * x
