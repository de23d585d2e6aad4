"""Writes campaigns of policies that forget: python make_forgetting.py FOLDER.

Those here were written by commit b076057, whose snapshots had the room that was not filled as well.
"""

import itertools
import sys
from pathlib import Path

import unimodal as um

POLICIES = {
    "windowed": um.Windowed(um.UTS(), window=90),
    "restarting": um.Restarting(um.UTS(), window=12, rate=1),
}


def make(path, policy):
    clock = map(float, itertools.count())
    given = {"durability": "fast", "clock": lambda: next(clock)}
    with um.Campaign.open(path, policy, um.graphs.line(4), seed=4, **given) as campaign:
        play(campaign, 50, 1.0)
    with um.Campaign.open(path, **given) as campaign:
        campaign.pause(3)
        campaign.add_edges([(3, 4)])
        play(campaign, 50, 0.0)  # a change
        campaign.resume(3)
        play(campaign, 3, 0.0)
    with um.Campaign.open(path, **given) as campaign:
        play(campaign, 5, 1.0)


def play(campaign, rounds, reward):
    for _ in range(rounds):
        campaign.reward(campaign.decide().id, reward)


if __name__ == "__main__":
    for name, policy in POLICIES.items():
        make(Path(sys.argv[1]) / f"{name}-older.db", policy)
