"""A clock that jumps: no decision expires by a bad reading, and time goes on."""

import contextlib
import logging
import sqlite3
import time

import pytest

import unimodal as um
from unimodal.campaigns import clock as clocks
from unimodal.campaigns import verify, writer
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


# The first reading of an opening: nobody knows how long the file was closed.

THEN = 1_700_000_000.0
DAY = 86_400.0


@pytest.mark.parametrize("ahead", [FAR, 29 * DAY, 20 * DAY, DAY + 1])
def test_a_clock_that_is_wrong_at_an_opening_expires_nothing(path, start, reopen, caplog, ahead):
    """At b076057 one opening 20 days ahead expired all, forgot the key and kept that time."""
    with start(clock=lambda: THEN, time_to_live=3600) as campaign:
        made = [*campaign.decide(50), campaign.decide(key="visit 1")]
    for opening in range(2):
        with (
            caplog.at_level(logging.WARNING, "unimodal"),
            reopen(clock=lambda: THEN + ahead + 30 * opening) as campaign,  # noqa: B023
        ):
            assert campaign.expire() == 0 and campaign.outstanding == 51
            assert campaign.decide(key="visit 1") == made[-1]
            (report,) = campaign.reports
            assert report.startswith(f"the clock is {ahead + 30 * opening:,.0f} s ahead at this op")
            assert caplog.messages[-1] == report
        assert um.campaigns.look(path).history()["time"].max() == THEN
    with reopen(clock=lambda: THEN + 60) as campaign:
        assert campaign.reward([one.id for one in made], [1.0] * 51) == [True] * 51
        assert campaign.decide().time == THEN + 60 and campaign.reports == []
    assert verify(path).wrong == []


def test_what_one_opening_has_seen_and_the_next_has_not_is_forgotten(path, start, reopen):
    with start(clock=lambda: THEN, time_to_live=3600) as campaign:
        campaign.decide()
    for now in (THEN + 20 * DAY, THEN + 60, THEN + 20 * DAY + 3600, THEN + 120):
        with reopen(clock=lambda: now) as campaign:  # noqa: B023
            assert campaign.expire() == 0
    assert um.campaigns.look(path).history()["time"].max() == THEN + 120


class Machine:
    """A machine whose clocks and boots are in the hands of a test; processes open a campaign."""

    def __init__(self, monkeypatch):
        self.wall, self.steady, self.boot = THEN, 50.0, "first"
        monkeypatch.setattr(writer, "CampaignClock", self.clock)

    def clock(self, _, **__):
        return CampaignClock(lambda: self.wall, lambda: self.steady, is_system=True, boot=self.boot)

    def tick(self, seconds, jump=0.0):
        self.wall += seconds + jump
        self.steady += seconds

    def restart(self, seconds):
        """Be off for so long."""
        self.wall += seconds
        self.steady, self.boot = 10.0, f"{self.boot}, again"


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


def test_a_later_opening_confirms_what_an_earlier_one_has_seen(path, start, reopen, machine):
    """A minute later, not before; only as far as both have seen it; and what is young stays."""
    with start(time_to_live=3600) as campaign:
        campaign.decide()
    for off, expired in ((20 * DAY, 0), (58.9, 0), (0.0, 1)):  # and a second in each process
        machine.restart(off)
        with reopen() as campaign:
            machine.tick(0.1)
            assert campaign.expire() == expired
            made, reports, outstanding = campaign.decide(), campaign.reports, campaign.outstanding
            machine.tick(0.9)
    assert outstanding == 3 and "since an opening before" in reports[0]
    assert THEN + 20 * DAY <= made.time <= machine.wall
    for off, expired in ((70 * DAY, 0), (300 * DAY, 4)):
        machine.restart(off)
        with reopen() as campaign:
            assert campaign.expire() == expired  # each is a jump of its own
            made = campaign.decide()
    assert made.time < THEN + 91 * DAY
    assert verify(path).wrong == []


def test_an_opening_on_a_machine_that_was_not_started_anew_believes_its_clock(
    start, reopen, machine
):
    """The steady clock has counted while the file was closed; a minute less is a jump."""
    with start(time_to_live=3600) as campaign:
        campaign.decide()
    for _ in range(3):
        machine.tick(30 * DAY, jump=60.0)
        with reopen() as campaign:
            assert campaign.expire() == 1 and campaign.reports == []
            assert campaign.decide().time == machine.wall
        machine.wall -= 60
    machine.tick(7200.0, jump=120.1)  # as believed before, and 60.1 s
    with reopen() as campaign:
        assert campaign.reports[0].startswith("the clock is 60 s ahead at this opening")
        assert campaign.expire() == 1  # two hours have passed, whatever the clock says
    machine.tick(0.0, jump=3 * DAY)
    with reopen() as campaign:
        campaign.decide()
        machine.tick(1.0)
        assert campaign.expire() == 0


def test_the_steady_clock_of_another_boot_says_nothing(start, reopen, machine):
    """Here it has counted for longer than before, as on a machine that a file was moved to."""
    with start(time_to_live=3600) as campaign:
        campaign.decide()
    machine.restart(0.0)
    machine.tick(0.0, jump=20 * DAY)
    machine.steady = 40 * DAY
    with reopen() as campaign:
        assert campaign.expire() == 0 and "ahead at this opening" in campaign.reports[0]


@pytest.mark.parametrize("off", [0.0, DAY - 1.0])
def test_processes_that_live_for_a_second_once_a_day_expire_what_is_due(
    path, start, reopen, machine, off
):
    """Also where the machine is off in between: then each opening confirms the one before."""
    with start(time_to_live=3600) as campaign:
        campaign.decide()
    outstanding = []
    for _ in range(6):
        machine.tick(DAY - 1.0 - off)
        if off:
            machine.restart(off)
        with reopen() as campaign:
            campaign.expire()
            campaign.decide()
            machine.tick(1.0)
            outstanding.append(campaign.outstanding)
    assert outstanding == ([2, 1, 1, 1, 1, 1] if off else [1] * 6)
    assert verify(path).wrong == []


def test_processes_with_a_clock_of_their_own_expire_what_is_due(path, start, reopen):
    with start(clock=lambda: THEN, time_to_live=3600) as campaign:
        campaign.decide()
    outstanding = []
    for day in range(1, 5):
        with reopen(clock=lambda: THEN + day * (DAY + 1)) as campaign:  # noqa: B023
            campaign.expire()
            campaign.decide()
            outstanding.append(campaign.outstanding)
    assert outstanding == [2, 1, 1, 1]


def test_a_minute_in_one_process_confirms_a_jump_and_spares_what_is_young(
    path, start, reopen, machine
):
    """What was decided in that minute got the time from before: it is not old by that."""
    with start(time_to_live=3600, key_lifetime=3600) as campaign:
        campaign.decide(3)
    machine.restart(DAY)
    with reopen(key_lifetime=3600) as campaign:
        machine.tick(30.0)
        young = campaign.decide(2, key="visit 1")
        assert campaign.outstanding == 5 and young[0].time == THEN + 30.0
        machine.tick(29.9)
        assert campaign.expire() == 0
        machine.tick(0.1)
        assert campaign.expire() == 3
        assert [report[:23] for report in campaign.reports] == [
            "the clock is 86,400 s a",
            "the clock has stayed 86",
        ]
        machine.tick(1800.0)
        assert campaign.decide(2, key="visit 1") == young
        assert campaign.reward(young[0].id, 1.0)
    machine.tick(600.0)
    with reopen() as campaign:  # the store has kept which are young
        assert campaign.expire() == 0
        machine.tick(1200.0)
        assert campaign.expire() == 1
        made = campaign.decide()
        assert made.time == machine.wall
        machine.tick(3599.0)
        assert campaign.expire() == 0
        machine.tick(1.0)
        assert campaign.expire() == 1
    assert verify(path).wrong == []


@pytest.mark.parametrize(
    "kept",
    [
        *("null", "3", "[]", "{}", '{"seen": "noon"}', '{"seen": 1e999}', '{"else": 1}'),
        *('{"boot": "first", "steadily": null}', '{"boot": "first", "late": [1]}'),
        '{"boot": "first", "steadily": -1e12, "time": 1e12}',  # time does not pass the clock
    ],
)
def test_what_is_kept_of_a_clock_and_cannot_be_is_as_none(path, start, reopen, machine, kept):
    with start(time_to_live=3600) as campaign:
        campaign.decide()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE settings SET value = ? WHERE key = 'clock'", (kept,))
    with reopen() as campaign:
        assert campaign.decide().time == THEN


def test_the_clock_of_a_server_is_believed_at_an_opening():
    clock = CampaignClock(lambda: THEN, is_system=True, is_trusted=True, boot="first")
    clock.follow(THEN - 400 * DAY)
    assert clock() == THEN and not clock.reports and clock.to_keep is None


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
