"""What one simulated run of a replay earns, and how many decisions of a log waited at a time."""

import polars as pl

import unimodal as um
from unimodal.history_analysis.replay.estimate import play_once
from unimodal.history_analysis.replay.logged_rewards import most_waiting


def test_a_run_earns_money_where_rewards_have_factors():
    """Everybody buys: a pull earns its price, 5 or 10."""
    prices = um.Scaled(um.Bernoulli(), by=[5.0, 10.0])
    world = um.Problem(um.graphs.line(2), [5.0, 10.0], prices)
    earned, pulls = play_once(world, um.UTS(), 60, seed=1, number=0)
    assert pulls.sum() == 60 and pulls.all()
    assert earned == 5 * pulls[0] + 10 * pulls[1]


def test_a_decision_that_expired_waits_no_more():
    kinds = ["decide", "expire", "decide", "expire", "decide", "reward"]
    assert most_waiting(pl.DataFrame({"kind": kinds})) == 1
