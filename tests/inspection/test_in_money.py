"""A campaign with known multipliers: people read money, tests go by what was told."""

import numpy as np
import pytest

import unimodal as um
from unimodal.campaigns.certifying import certificate

LADDER = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90")])
BUYS = {"9.90": 0.5, "12.90": 0.45, "14.90": 0.2}


def sold(campaign, chances, rounds):
    rng = np.random.default_rng(2)
    for _ in range(rounds // 100):
        decisions = campaign.decide(100)
        told = [float(rng.random() < chances[d.arm]) for d in decisions]
        campaign.reward([d.id for d in decisions], told)


@pytest.fixture
def campaign(tmp_path):
    money = um.Scaled(um.Bernoulli(), by=float)
    with um.Campaign.open(tmp_path / "money.db", um.UTS(), LADDER, money, seed=1) as campaign:
        yield campaign


def test_the_certificate_and_the_alarms_go_by_what_was_told(campaign):
    sold(campaign, BUYS, 1500)
    view = um.inspect(campaign)
    assert view.certificate.to_dict() == certificate(campaign).to_dict()
    assert view.certificate.to_dict() == campaign.certificate().to_dict()
    assert view.alarms == campaign.alarms() == []  # in money, every reward would be a change
    earned = (campaign.arms()["pulls"] * campaign.arms()["mean"]).sum()
    assert view.earned["reward"].sum() == pytest.approx(earned)
    page = view.html()
    assert "Is it the peak?" in page and str(view.certificate).split("\n")[0] in page


def test_a_change_is_told_in_money(campaign):
    sold(campaign, {"9.90": 0.1, "12.90": 0.9, "14.90": 0.1}, 1500)
    sold(campaign, {"9.90": 0.01, "12.90": 0.2, "14.90": 0.01}, 500)
    (alarm,) = [alarm for alarm in campaign.alarms() if alarm.kind == "change"]
    assert "mean was 1" in alarm.sentence  # 0.9 of 12.90 is 11.61
