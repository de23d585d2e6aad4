"""How little can be lost: players who know more than any policy does.

Two are told what the three best prices earn, but not which price earns what. Three worlds are
equally likely for them: in each, another of the three prices is best, and earnings have one peak.
They show what loses least by all that they know. One also sees a reward of every price at every
visit, so that what is shown teaches nothing: no policy loses less, on average over the worlds.
"""

import itertools

import numpy as np

TOLD, SEES_ALL, GREEDY = "told", "told, sees all", "greedy"
PLAYERS = (TOLD, SEES_ALL, GREEDY)


def play(player, seeds, prices, shares, rewards, horizon):
    """The money lost in each trial; the rewards from before are drawn anew for each."""
    prices, shares = np.array(prices), np.array(shares)
    before = [np.random.default_rng([seed, 1]) for seed in seeds]
    coins = np.stack([np.random.default_rng([s, 2]).random((horizon, len(prices))) for s in seeds])
    if player == GREEDY:
        sold = np.stack([rng.binomial(rewards, shares) for rng in before])
        return greedy(prices, shares, sold.astype(float), rewards, coins)
    earned = worlds(prices * shares)
    world = np.array([_place(seed, earned) for seed in seeds])
    likely = earned / prices  # the shares that buy, one row per world
    sold = np.stack(
        [rng.binomial(rewards, likely[w]) for rng, w in zip(before, world, strict=True)]
    )
    return told(earned, likely, world, sold, rewards, coins, player == SEES_ALL)


def worlds(earned):
    """The orders of three earnings with one peak, two for a peak in the middle."""
    orders = itertools.permutations(earned)
    return np.array([order for order in orders if order[1] > min(order[0], order[2])])


def _weights(earned):
    """The probability of each world: a third for each place of the peak."""
    peak = earned.argmax(axis=1)
    return 1 / (3 * np.bincount(peak)[peak])


def _place(seed, earned):
    """The world of a trial; six trials in a row have each as often as is likely."""
    return np.repeat(np.arange(len(earned)), np.rint(6 * _weights(earned)).astype(int))[seed % 6]


def told(earned, likely, world, sold, rewards, coins, sees_all):
    """What is lost by showing, visit by visit, what loses least by the posterior of worlds."""
    loses = earned.max(axis=1, keepdims=True) - earned
    bought, refused = np.log(likely), np.log1p(-likely)
    logs = np.log(_weights(earned)) + sold @ bought.T + (rewards - sold) @ refused.T
    each, lost = np.arange(len(world)), np.zeros(len(world))
    for now in np.moveaxis(coins, 1, 0):
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        shown = (posterior @ loses).argmin(axis=1)
        lost += loses[world, shown]
        buys = now < likely[world]
        if sees_all:
            logs += buys @ bought.T + ~buys @ refused.T
        else:
            logs += np.where(buys[each, shown], bought[:, shown], refused[:, shown]).T
    return lost


def greedy(prices, shares, sold, rewards, coins):
    """What is lost by showing the price with the best mean, which never tries another one."""
    loses = (prices * shares).max() - prices * shares
    counts, each, lost = (
        np.full(sold.shape, float(rewards)),
        np.arange(len(sold)),
        np.zeros(len(sold)),
    )
    for now in np.moveaxis(coins, 1, 0):
        shown = (prices * sold / counts).argmax(axis=1)
        lost += loses[shown]
        sold[each, shown] += now[each, shown] < shares[shown]
        counts[each, shown] += 1
    return lost
