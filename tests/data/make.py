"""Writes a small campaign with everything in its log that a version knows: python make.py FILE."""

import itertools
import sys

import unimodal as um

LADDER = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90"), ("14.90", "16.90")])


def play(campaign, rounds):
    for turn in range(rounds):
        decision = campaign.decide()
        if turn % 9:
            campaign.reward(decision.id, float(decision.id * 7919 % 10 < 4))


def make(path):
    clock = map(float, itertools.count())
    given = {"seed": 3, "time_to_live": 500, "clock": lambda: next(clock)}
    with um.Campaign.open(path, um.UTS(), LADDER, data={"9.90": (4, 1.0)}, **given) as campaign:
        play(campaign, 30)
        campaign.add_edges([("16.90", "19.90")])
        campaign.tell("19.90", 1.0)
        campaign.pause("9.90")
        play(campaign, 20)
        campaign.decide(2, **({"key": "visit 17"} if hasattr(um.campaigns, "copy") else {}))


if __name__ == "__main__":
    make(sys.argv[1])
