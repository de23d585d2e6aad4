"""Bits, whole numbers, orders and lots: what the generator gives before any law is laid on it."""

import itertools

import numpy as np
import pytest
from scipy import stats

from unimodal.kernels import random
from unimodal.kernels.random import (
    GRAPH,
    MEANS,
    POLICY,
    REWARDS,
    bits,
    counted,
    randint,
    shuffle,
    stream,
)

# Each p-value below is uniform under the right law, so a test fails for 1 seed in 10,000.
ALARM = 1e-4
MASK = 2**64 - 1


def xoshiro256pp(state):
    """Blackman and Vigna's reference, word for word, in plain whole numbers."""

    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    s = [int(word) for word in state]
    while True:
        yield (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)


@pytest.mark.parametrize("seed", [0, 1, 2**100])
def test_bits_are_those_of_the_reference_implementation(seed):
    rng = stream(seed, 3, POLICY)
    expected = list(itertools.islice(xoshiro256pp(rng[:4]), 1000))
    assert [int(bits(rng)) for _ in range(1000)] == expected


def test_bits_are_the_published_ones():
    rng = np.array([1, 2, 3, 4, 0], dtype=np.uint64)
    published = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    assert [int(bits(rng)) for _ in range(5)] == published  # the test vector of Rust's rand_xoshiro


def test_drawing_leaves_the_key_of_lots_alone():
    rng = stream(0, 0, POLICY)
    key = rng[4]
    for _ in range(10):
        bits(rng)
    assert rng[4] == key


def test_a_stream_is_numpys_seed_sequence_spawned_by_trial_and_purpose():
    expected = np.random.SeedSequence(5, spawn_key=(3, REWARDS)).generate_state(5, np.uint64)
    assert stream(5, 3, REWARDS).tolist() == expected.tolist()
    assert (POLICY, REWARDS, GRAPH, MEANS) == (0, 1, 2, 3)  # or seeds would mean something else


def test_streams_differ_by_seed_by_trial_and_by_purpose():
    keys = itertools.product([0, 1, 2, 2**64], [0, 1, 2, 1000], [POLICY, REWARDS, GRAPH])
    words = [word for key in keys for word in stream(*key).tolist()]
    assert len(set(words)) == 4 * 4 * 3 * 5


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_below_gives_each_number_as_often_as_the_others(n):
    """Chi-square on 20,000 draws; fails for 1 seed in 10,000."""
    rng = stream(n, 0, POLICY)
    draws = np.array([randint(rng, n) for _ in range(20_000)])
    counts = np.bincount(draws, minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > ALARM


def test_below_has_no_bias_where_a_plain_remainder_would():
    """Two thirds of the numbers below 3·2^61 are below 2^62; a remainder would put 3/4 there.

    Exact binomial test on 10,000 draws: fails for 1 seed in 10,000, and sees the bias surely.
    """
    rng = stream(0, 0, POLICY)
    low = sum(randint(rng, 3 * 2**61) < 2**62 for _ in range(10_000))
    assert stats.binomtest(low, 10_000, 2 / 3).pvalue > ALARM


def test_shuffle_makes_every_order_equally_likely():
    """Chi-square over the 3! orders, 12,000 shuffles; fails for 1 seed in 10,000."""
    rng = stream(1, 0, POLICY)
    orders = {order: 0 for order in itertools.permutations(range(3))}
    for _ in range(12_000):
        items = np.arange(3)
        shuffle(rng, items)
        orders[tuple(items.tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > ALARM


@pytest.mark.parametrize("length", [0, 1, 2, 50])
def test_shuffle_loses_nothing(length):
    items = np.arange(length)
    shuffle(stream(2, 0, POLICY), items)
    assert sorted(items.tolist()) == list(range(length))
    assert length < 50 or items.tolist() != list(range(length))


def test_counted_depends_on_key_counter_and_purpose_and_on_nothing_else():
    streams = [stream(seed, 0, POLICY) for seed in range(3)]
    triples = list(itertools.product(range(3), [0, 1, 2, 10**12], [0, 1, 2, 10**6]))
    first = [int(counted(streams[key], now, arm)) for key, now, arm in triples]
    for rng in streams:
        bits(rng)  # the past
    again = [int(counted(streams[key], now, arm)) for key, now, arm in triples]
    assert first == again
    assert len(set(first)) == len(triples)


@pytest.fixture(scope="module")
def lots():
    """Lots of 6 arms in 20,000 rounds."""
    rng = stream(3, 0, POLICY)
    table = [[int(counted(rng, now, arm)) for arm in range(6)] for now in range(20_000)]
    return np.array(table, dtype=np.uint64)


@pytest.mark.parametrize("shift", [0, 29, 58])
def test_counted_is_uniform_in_its_low_middle_and_high_bits(lots, shift):
    """Chi-square over 64 values of 6 bits; fails for 1 seed in 10,000."""
    cells = (lots.ravel() >> np.uint64(shift)) & np.uint64(63)
    assert stats.chisquare(np.bincount(cells.astype(np.int64))).pvalue > ALARM


def test_every_tied_arm_wins_equally_often_and_each_round_anew(lots):
    """The highest lot of 6, and the same with the next round; each fails for 1 seed in 10,000."""
    winners = lots.argmax(axis=1)
    assert stats.chisquare(np.bincount(winners)).pvalue > ALARM
    pairs = np.bincount(6 * winners[:-1] + winners[1:], minlength=36)
    assert stats.chi2_contingency(pairs.reshape(6, 6)).pvalue > ALARM


def test_the_public_module_of_random_numbers_is_this_one():
    import unimodal

    assert unimodal.random is random
