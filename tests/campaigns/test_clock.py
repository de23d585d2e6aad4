"""A clock that jumps: no decision expires by a bad reading, and time goes on."""

import logging
import time

import pytest

import unimodal as um
from unimodal.campaigns import clock as clocks
from unimodal.campaigns import verify
from unimodal.campaigns.clock import CampaignClock

FAR = 4e9  # seconds: the year 2096


def test_one_bad_reading_expires_nothing(path, start, caplog):
    """At ac7e735 it expired every open decision, and then time stood still until that reading."""
    now = [1_700_000_000.0]
    with start(clock=lambda: now[0], time_to_live=3600) as campaign:
        first = campaign.decide()
        now[0] = FAR
        with caplog.at_level(logging.WARNING, "unimodal"):
            second = campaign.decide()
        assert campaign.outstanding == 2 and second.time == first.time
        assert campaign.reports == [
            "the clock is 2,300,000,000 s ahead at once: this is believed if it lasts for 60 s."
        ]
        assert caplog.messages == campaign.reports
        now[0] = 1_700_000_060.0
        assert campaign.decide().time == now[0]
        assert campaign.reward([1, 2], [1.0, 0.0]) == [True, True]
        now[0] += 3600
        assert campaign.expire() == 1
        assert campaign.history()["time"].max() == now[0]
    assert verify(path).wrong == []


def test_a_bad_reading_at_an_opening_expires_nothing(path, start, reopen):
    now = [1_700_000_000.0]
    with start(clock=lambda: now[0], time_to_live=3600) as campaign:
        campaign.decide()
    with reopen(clock=lambda: FAR) as campaign:
        assert campaign.outstanding == 1
    with reopen(clock=lambda: 1_700_000_000.0 + 20 * 86_400) as campaign:  # three weeks later
        assert campaign.expire() == 1
    assert verify(path).wrong == []


class Clocks:
    """The system's clock and a steady one, both in the hands of a test."""

    def __init__(self, monkeypatch):
        self.wall, self.steady = 1000.0, 50.0
        monkeypatch.setattr(time, "time", lambda: self.wall)
        self.keeper = CampaignClock(time.time, lambda: self.steady)

    def tick(self, seconds, jump=0.0):
        """Let time pass, the clock be set, and read it."""
        self.wall += seconds + jump
        self.steady += seconds
        return self.keeper()


@pytest.fixture
def system(monkeypatch):
    clocks = Clocks(monkeypatch)
    assert clocks.keeper() == 1000.0
    return clocks


def test_the_system_clock_is_followed(system):
    assert [system.tick(1.0), system.tick(100_000.0), system.tick(0.5, jump=59.0)] == [
        *(1001.0, 101_001.0, 101_060.5),
    ]
    assert not system.keeper.reports


def test_the_system_clock_set_ahead_is_believed_when_it_lasts(system):
    """Meanwhile time passes as the steady clock says."""
    assert system.tick(1.0, jump=61.0) == 1001.0
    assert system.tick(59.5) == 1060.5
    assert system.tick(0.5) == 1122.0
    assert system.tick(1.0) == 1123.0
    assert [report[:17] for report in system.keeper.reports] == [
        "the clock is 61 s",
        "the clock has sta",
    ]


def test_a_jump_that_is_taken_back_leaves_nothing(system):
    assert system.tick(1.0, jump=5000.0) == 1001.0
    assert system.tick(30.0, jump=-5000.0) == 1031.0
    assert system.tick(40.0, jump=5000.0) == 1071.0  # a second one is looked at for as long
    assert system.tick(59.0) == 1130.0
    assert system.tick(2.0) == 6132.0
    assert len(system.keeper.reports) == 3


def test_the_system_clock_set_back_does_not_stop_the_time(system):
    assert system.tick(1.0, jump=-500.0) == 1001.0
    assert system.tick(100.0) == 1101.0
    assert system.tick(1.0, jump=520.0) == 1122.0
    assert system.keeper.reports[0] == "the clock is 500 s behind: times do not go back."


def test_a_small_step_back_is_waited_for(system):
    assert system.tick(1.0, jump=-10.0) == 1000.0
    assert system.tick(8.0) == 1000.0
    assert system.tick(5.0) == 1004.0
    assert not system.keeper.reports


def test_times_of_others_are_followed(system):
    system.keeper.follow(1500.0)
    assert system.tick(1.0) == 1501.0
    system.keeper.follow(1100.0)
    assert system.tick(1.0) == 1502.0


def test_a_clock_that_is_none_is_refused_in_a_sentence(path, start):
    for wrong in (float("nan"), "noon", None):
        with pytest.raises(um.UnimodalError, match="finite number of seconds"):
            start(clock=lambda wrong=wrong: wrong)


def test_the_steady_clock_counts_seconds():
    before = clocks.steady()
    assert 0.0 <= clocks.steady() - before < 60.0
