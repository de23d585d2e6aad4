"""The number of successes among many trials, and how far one gets before too many failures."""

from __future__ import annotations

import math

import numpy as np

from unimodal.kernels.compile import inner, jit
from unimodal.kernels.densities import log_binomial
from unimodal.kernels.random import uniform


@jit
def binomial(rng, n, p):
    """How many of n independent trials succeed."""
    if p > 0.5:
        return n - _binomial_to_half(rng, n, 1.0 - p)
    return _binomial_to_half(rng, n, p)


@inner
def _binomial_to_half(rng, n, p):
    """For p ≤ 1/2: waiting times where few succeed, or else Hörmann's BTRS (1993)."""
    if p <= 0.0 or n <= 0:
        return 0
    if n * p < 12.0:
        # Each step adds a geometric number of failures and the success after them.
        log_q, passed, count = math.log1p(-p), 0.0, 0
        while True:
            passed += math.floor(math.log(1.0 - uniform(rng)) / log_q) + 1.0
            if passed > n:
                return count
            count += 1
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    at_mode = math.nan
    while True:
        u = uniform(rng) - 0.5
        v = 1.0 - uniform(rng)
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + centre)
        if us >= 0.07 and v <= v_r:
            return np.int64(k)
        if k < 0.0 or k > n:
            continue
        if at_mode != at_mode:
            at_mode = _log_chance(math.floor((n + 1) * p), n, p)
        accept = math.log(v * alpha / (a / (us * us) + b))
        if accept <= _log_chance(k, n, p) - at_mode:
            return np.int64(k)


@inner
def _log_chance(k, n, p):
    return log_binomial(float(k), float(n - k), p)


@jit
def trials_until(rng, n, p, k):
    """(trials, successes) of n trials that end early with the (k + 1)-th failure.

    The successes of all n come first, in one draw; only if there were too many failures are they
    dealt out one by one, which is the same law. What lies beyond the end is forgotten: the end
    depends on what came before it alone, so fresh trials may follow.
    """
    successes = binomial(rng, n, p)
    failures = n - successes
    if failures <= k:
        return n, successes
    left, done = n, 0
    while True:
        left -= 1
        if uniform(rng) * (left + 1) < failures:
            failures -= 1
            if n - left - done == k + 1:
                return n - left, done
        else:
            done += 1
