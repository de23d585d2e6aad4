"""The one random generator of the package: xoshiro256++ in an array that any kernel can take.

A stream is a `uint64` array of five words: four of state (Blackman and Vigna 2021) and one key
for draws that depend on a counter instead of on the past. Engines and agents use the same code,
because a NumPy Generator costs 24 µs to hand to a kernel. Every function also works from Python.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from unimodal.errors import whole_number
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.densities import log_poisson

SPLITMIX = np.uint64(0x9E3779B97F4A7C15)  # the step of its counter
MOST = 1e30  # the largest mean of a Poisson number: 10¹⁵ rounds of one of 10¹⁵
# What a stream is for: the last word of its spawn key.
POLICY, REWARDS, GRAPH, MEANS = 0, 1, 2, 3


def stream(seed: int, trial: int, purpose: int) -> Any:
    """The stream of one trial for one purpose; it depends on nothing else.

    >>> stream(0, trial=3, purpose=REWARDS)[0] == stream(0, trial=3, purpose=REWARDS)[0]
    np.True_
    """
    for number, what in ((seed, "seed"), (trial, "trial"), (purpose, "purpose")):
        whole_number(number, f"the '{what}' of a stream", 0)
    words = np.random.SeedSequence(seed, spawn_key=(trial, purpose)).generate_state(5, np.uint64)
    return cache_aligned(words)


@jit
def bits(rng):
    """64 random bits."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    mixed = s0 + s3
    result = ((mixed << np.uint64(23)) | (mixed >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    rng[1] = s1 ^ s2
    rng[0] = s0 ^ s3
    rng[2] = s2 ^ shifted
    rng[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result


@jit
def uniform(rng):
    """A number in [0, 1) with 53 random bits.

    >>> 0.0 <= uniform(stream(0, 0, POLICY)) < 1.0
    True
    """
    return float(bits(rng) >> np.uint64(11)) * 2.0**-53


@jit
def randint(rng, n):
    """A whole number from 0 to n - 1, without bias; -1 where there is none."""
    if not n >= 1:
        return np.int64(-1)
    limit = np.uint64(n)
    reject = (np.uint64(0) - limit) % limit  # 2^64 mod n values would be too many
    draw = bits(rng)
    while draw < reject:
        draw = bits(rng)
    return np.int64(draw % limit)


@jit
def shuffle(rng, items):
    """Shuffle an array in place (Fisher and Yates)."""
    for last in range(len(items) - 1, 0, -1):
        other = randint(rng, last + 1)
        items[last], items[other] = items[other], items[last]


@inner
def splitmix(x):
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): x, x + SPLITMIX, … are a stream."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def counted(rng, counter, purpose):
    """64 bits that depend on the stream's key, a counter and a purpose, never on the past.

    Ties are broken by these, so that an engine that skips rounds does not shift them.
    """
    x = splitmix(rng[4] + np.uint64(counter) * SPLITMIX)
    return splitmix(x + (np.uint64(purpose) + np.uint64(1)) * np.uint64(0xD1B54A32D192ED03))


@jit
def exponential(rng):
    """A standard exponential."""
    return -math.log(1.0 - uniform(rng))


def _ziggurat(layers: int = 256) -> tuple[Any, Any, Any]:
    """Edges of equal-area layers under exp(-x²/2) (Marsaglia and Tsang 2000; Doornik 2005)."""
    tail = 3.6541528853610088
    area = tail * math.exp(-0.5 * tail**2) + math.sqrt(math.pi / 2) * math.erfc(tail / math.sqrt(2))
    x = np.empty(layers + 1)
    x[0] = area * math.exp(0.5 * tail * tail)  # the base layer, as wide as if it were a box
    x[1] = tail
    for i in range(2, layers):
        x[i] = math.sqrt(-2.0 * math.log(area / x[i - 1] + math.exp(-0.5 * x[i - 1] ** 2)))
    x[layers] = 0.0
    return x, x[1:] / x[:-1], np.exp(-0.5 * x * x)


EDGE, INSIDE, HEIGHT = _ziggurat()


@jit
def normal(rng):
    """A standard normal, by the ziggurat: one word and one multiplication in 99 % of the cases."""
    while True:
        word = bits(rng)
        layer = np.int64(word & np.uint64(255))
        # The top 53 bits, as a number in [-1, 1); the layer comes from the lowest 8 of the rest.
        u = float(word >> np.uint64(11)) * 2.0**-52 - 1.0
        if abs(u) < INSIDE[layer]:
            return u * EDGE[layer]
        x = from_outside(rng, layer, u)
        if x == x:
            return x


@inner
def from_outside(rng, layer, u):
    """The normal of a point outside of what surely lies below the density; NaN if it is above."""
    if layer == 0:
        return _normal_tail(rng, u < 0.0)
    x = u * EDGE[layer]
    low, high = HEIGHT[layer], HEIGHT[layer + 1]
    return x if low + uniform(rng) * (high - low) < math.exp(-0.5 * x * x) else math.nan


@inner
def _normal_tail(rng, negative):
    """A normal beyond the base layer (Marsaglia 1964)."""
    edge = EDGE[1]
    while True:
        x = exponential(rng) / edge
        if 2.0 * exponential(rng) > x * x:
            return -edge - x if negative else edge + x


@partial(jit, inline=True)
def gamma(rng, shape):
    """A gamma with unit rate; a shape below 1 comes from the one above it by a power.

    Not a number for a shape that is not positive.
    """
    if shape >= 1.0:
        return _gamma_from_one(rng, shape)
    if not shape > 0.0:
        return math.nan
    return _gamma_from_one(rng, shape + 1.0) * (1.0 - uniform(rng)) ** (1.0 / shape)


@partial(inner, inline=True)
def _gamma_from_one(rng, shape):
    """A gamma of shape 1 or more (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(rng)
        if u < 1.0 - 0.0331 * x * x * x * x:
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@jit
def beta(rng, a, b):
    """A Beta, as the share of one gamma in two; not a number unless a and b are positive."""
    x, y = gamma(rng, a), gamma(rng, b)
    if x + y == 0.0:
        # Both round to 0, where a and b are tiny. How much farther down they are, -log x and -log y
        # from there on, are exponentials with rates a and b, which have no memory.
        odds = (exponential(rng) * a - exponential(rng) * b) / (a * b)
        return 1.0 / (1.0 + math.exp(-odds))
    return x / (x + y)


@jit
def poisson(rng, mean):
    """A Poisson number: by products for small means, by Hörmann's PTRS (1993) for others.

    Not a number for a mean that is negative, not a number, or beyond `MOST`; rounded where floats
    do not hold every whole number.
    """
    if not 0.0 <= mean <= MOST:
        return math.nan
    if mean < 10.0:
        floor, product, count = math.exp(-mean), uniform(rng), 0
        while product > floor:
            product *= uniform(rng)
            count += 1
        return float(count)
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform(rng) - 0.5
        v = 1.0 - uniform(rng)
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = (2.0 * a / us + b) * u + mean + 0.43
        if abs(k) < 2.0**53:  # beyond that floats are whole, and some more than 64 bits
            k = float(math.floor(k))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        accept = math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if accept <= log_poisson(k, mean, 1.0):
            return k
