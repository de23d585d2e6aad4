"""What an owner is told without asking, and when."""

import json
import logging
import math
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.campaigns.alarms import _look_ups
from unimodal.campaigns.events import Row
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.cli import app
from unimodal.inference.change import find_change

QUICK = {"durability": "fast"}
LINE = um.graphs.line(5)


def ticking():
    """A clock of which each reading is a second later."""
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    return clock


def fill(campaign, mean_of, rounds, seed=0, told=lambda number: True):
    rng = np.random.default_rng(seed)
    for number in range(rounds):
        decision = campaign.decide()
        if told(number):
            campaign.reward(decision.id, float(rng.random() < mean_of(decision.arm, number)))


def kinds(campaign, **named):
    return [alarm.kind for alarm in campaign.alarms(**named)]


@pytest.fixture
def opened(path):
    def start(policy=um.UTS(), graph=LINE, **named):  # noqa: B008
        return um.Campaign.open(path, policy, graph, clock=ticking(), **QUICK, **named)

    return start


WEEK, HOUR = 7 * 86_400, 3_600


def shop(path, hours, visitors, sold, told_after, lives=WEEK):
    """A campaign whose clock is moved by the hour; `sold(number)` says who is told, and when."""
    now, due = 0.0, []
    named = {"time_to_live": lives, "on_expiry": "zero", "clock": lambda: now}
    with um.Campaign.open(path, um.UTS(), LINE, **named, **QUICK) as campaign:
        for hour in range(hours):
            now = hour * HOUR
            for at, number in [one for one in due if one[0] <= hour]:
                campaign.reward(number, 1.0)
                due.remove((at, number))
            for decision in campaign.decide(visitors):
                if sold(decision.id):
                    due.append((hour + told_after, decision.id))
        return [alarm for alarm in campaign.alarms() if alarm.kind == "waiting"]


@pytest.mark.parametrize("first_sale", [None, 3])
def test_with_a_time_to_live_nothing_is_late_before_it_is_over(path, first_sale):
    """300 and more visitors on the first days of seven to live, and one sale or none so far."""
    assert shop(path, 24, 20, lambda number: number == first_sale, 1) == []


def test_sales_that_are_held_back_or_rare_raise_no_alarm(path):
    """Two in a hundred buy, and all is told in the last hour of a day to live; ten days of it."""
    lives = 24 * HOUR
    assert shop(path, 240, 10, lambda number: number % 50 == 0, 23, lives) == []


def test_rewards_that_end_are_noticed_once_their_time_is_over(path):
    """A tenth buy until decision 500, then nobody is told any more: two days later it shows."""
    (alarm,) = shop(path, 96, 20, lambda n: n % 10 == 0 and n <= 500, 2, 24 * HOUR)
    assert alarm.decision == 501 and "(10 % before had one)" in str(alarm)
    assert "whose time is over" in str(alarm)


def test_a_campaign_that_was_never_told_anything_is_noticed(path):
    assert shop(path, 48, 40, lambda number: False, 1, 24 * HOUR) == []  # 920 have expired
    path.unlink()
    (alarm,) = shop(path, 60, 40, lambda number: False, 1, 24 * HOUR)
    assert alarm.decision == 1 and "none ever had one" in str(alarm)


def test_a_sound_campaign_has_no_alarms(path, opened):
    with opened() as campaign:
        assert campaign.alarms() == []
        fill(campaign, lambda arm, _: 0.8 - 0.1 * abs(arm - 2), 600)
        assert campaign.alarms() == []
        decisions = campaign.decide(90)  # they wait, but not for long
        assert campaign.alarms() == []
        campaign.reward(decisions[0].id, 1.0)
    assert um.alarms(path) == []


class Uniform(um.Policy):
    """Any arm, so that valleys are seen."""

    def scope(self, graph):
        return um.EveryArm()

    def choose(self, arms, near, leader, clock, rng):
        return near[um.random.randint(rng, len(near))]


def test_a_second_peak(opened):
    with opened(Uniform()) as campaign:
        fill(campaign, lambda arm, _: (0.8, 0.05, 0.05, 0.05, 0.7)[arm], 700)
        (alarm,) = campaign.alarms(confidence=0.95)
    assert (alarm.kind, alarm.arm, alarm.confidence) == ("second peak", 4, 0.95)
    assert "at 95 % confidence: around 4 (mean 0." in str(alarm)
    assert alarm.facts["best"] == 0 and 0.7 < alarm.facts["best_mean"] < 0.9
    assert 0.6 < alarm.facts["mean"] < 0.8


def told_by_arm(one, seed):
    """Rewards of the middle arm come at once if they are 0, and those of the others if they are 1.

    They pay .49 .50 .49; what is held back has not come yet.
    """
    rng = np.random.default_rng(seed)
    for decision in one.decide(400):
        reward = float(rng.random() < (0.49, 0.50, 0.49)[decision.arm])
        if reward == float(decision.arm != 1):
            one.reward(decision.id, reward)


@pytest.mark.parametrize("kind", ["agent", "campaign"])
@pytest.mark.parametrize("seed", range(3))
def test_an_order_of_arrival_that_depends_on_the_arm_shows_no_second_peak(path, kind, seed):
    """Counted as they come, means .49 .50 .49 show as 1 0 1: an alarm at 99 % in every run."""
    settings = {"seed": seed, "time_to_live": 10**6}
    if kind == "agent":
        agent = um.Agent(um.TS(), um.graphs.line(3), **settings)
        told_by_arm(agent, seed)
        assert not um.second_peaks(agent, confidence=0.99)
        return
    with um.Campaign.open(path, um.TS(), um.graphs.line(3), **settings) as campaign:
        told_by_arm(campaign, seed)
        found = [campaign.alarms(), um.alarms(campaign), um.alarms(path)]
        found.append(um.inspect(campaign).alarms)
        assert not [alarm for each in found for alarm in each if alarm.kind == "second peak"]
        assert not um.second_peaks(campaign)


def test_a_second_peak_counts_what_the_certificate_counts(path):
    """An alarm that shows in the rewards of closed decisions shows again when they are closed."""
    means = (0.95, 0.05, 0.95)
    with um.Campaign.open(path, um.TS(), um.graphs.line(3), seed=1) as campaign:
        waiting, *others = campaign.decide(300)
        for decision in others:
            campaign.reward(decision.id, float(decision.id % 20 < 20 * means[decision.arm]))
        assert campaign.alarms() == [] and not um.second_peaks(campaign)
        assert campaign.certificate().waiting == 299
        campaign.reward(waiting.id, 1.0)
        assert [alarm.kind for alarm in campaign.alarms()] == ["second peak"]
        found = um.second_peaks(campaign)
        agent_says = um.second_peaks(campaign.agent)  # nothing is open: the agent may be asked
        assert found == agent_says and len(found) == 1


@pytest.mark.parametrize("is_open", [False, True])
def test_a_second_peak_after_compaction(path, is_open):
    """What came before counts, unless a decision of before is open: then only the log's rewards."""
    means = (0.95, 0.05, 0.95)
    with um.Campaign.open(path, um.TS(), um.graphs.line(3), seed=1) as campaign:
        first, *others = campaign.decide(300)
        for decision in others:
            campaign.reward(decision.id, float(decision.id % 20 < 20 * means[decision.arm]))
        if not is_open:
            campaign.reward(first.id, 1.0)
    um.campaigns.compact(path)
    with um.Campaign.open(path) as campaign:
        for decision in campaign.decide(10)[:-1]:
            campaign.reward(decision.id, float(means[decision.arm] > 0.5))
        found = um.second_peaks(campaign)
        assert [alarm.kind for alarm in campaign.alarms()] == ["second peak"] * (not is_open)
        assert bool(found) != is_open
        if is_open:
            assert campaign.certificate().rewards == 9  # as if the campaign had begun there
            campaign.reward(first.id, 1.0)
            assert um.second_peaks(campaign)


@pytest.mark.parametrize("policy", [um.UTS(), um.TS()], ids=repr)
def test_a_change_of_the_leader_s_rewards(opened, policy):
    """From 0.8 to 0.4; with UTS the leader, with TS the arm with the most rewards."""
    with opened(policy) as campaign:
        fill(campaign, lambda arm, number: (0.4, 0.8)[number < 400] * (arm == 2), 800)
        (alarm,) = campaign.alarms()
        events = campaign.history().filter(kind="decide", decision=alarm.decision)
    assert (alarm.kind, alarm.arm) == ("change", 2) and 330 < alarm.decision < 470
    assert alarm.since == events["time"].item() and "have changed" in alarm.sentence
    before, after, half = (alarm.facts[name] for name in ("before", "after", "half"))
    assert before > after and half >= 16  # rewards of 0 and 1, so that sums are whole
    assert (before * half) % 1 == (after * half) % 1 == 0
    assert f"was {before:.4g} in the {half:,} before" in str(alarm) and f"{after:.4g}" in str(alarm)
    assert "facts" not in alarm.to_dict()


def test_rewards_count_in_the_order_of_decisions_up_to_the_oldest_open_one(opened):
    """Successes come at once and failures late: nothing has changed, and no alarm is raised."""
    with opened() as campaign:
        rng, failures = np.random.default_rng(1), []
        for _ in range(1500):
            decision = campaign.decide()
            if rng.random() < 0.7 * (decision.arm == 2):
                campaign.reward(decision.id, 1.0)
            else:
                failures.append(decision.id)
            if len(failures) > 60:
                campaign.reward(failures.pop(0), 0.0)
        assert "change" not in kinds(campaign)
        as_told = campaign.history().filter(arm="2", kind="reward")["reward"].to_numpy()
        assert find_change(um.Bernoulli(), as_told, 0.99, 5) is not None


def test_look_ups_that_fail(opened):
    broken = set()

    def neighbours(arm):
        if arm in broken:
            raise ConnectionError("down")
        return [arm - 1, arm + 1]

    with opened(None, um.Oracle(neighbours, root=0, retries=0)) as campaign:
        fill(campaign, lambda arm, _: 0.5, 40)
        assert campaign.alarms() == []
        broken.update(range(-1000, 1000))
        fill(campaign, lambda arm, _: 0.9 if arm > 3 else 0.1, 80)
        (alarm,) = campaign.alarms()
    assert alarm.kind == "look-ups" and "could not be answered" in str(alarm)
    assert alarm.since is not None and isinstance(alarm.arm, int)


def test_no_rewards_come_any_more(opened):
    with opened() as campaign:
        campaign.decide(99)
        assert campaign.alarms() == []
        campaign.decide(1)
        (alarm,) = campaign.alarms()
        assert (alarm.kind, alarm.decision) == ("waiting", 1) and "last 100 decisions" in str(alarm)
        assert alarm.facts == {"why": "no reward", "run": 100, "longest": 0}
        campaign.reward(1, 1.0)
        assert campaign.alarms() == []  # the longest run before was 100
        campaign.decide(299)
        assert campaign.alarms() == []
        campaign.decide(1)
        (alarm,) = campaign.alarms()
        assert alarm.decision == 101 and "(at most 100 before)" in str(alarm)


def test_decisions_that_pile_up(opened):
    with opened() as campaign:
        fill(campaign, lambda arm, _: 0.5, 500, told=lambda number: number % 12 > 0)
        assert campaign.alarms() == []  # 1 in 12 is fewer than 1 in 10
        fill(campaign, lambda arm, _: 0.5, 300, told=lambda number: number % 4 > 0)
        (alarm,) = campaign.alarms()
    assert (alarm.kind, alarm.decision) == ("waiting", 1)
    assert "have none, although of 100 rewards 99 come within one decision" in str(alarm)


@pytest.mark.parametrize(("lag", "late"), [(0, 100), (9, 100), (12, 130)])
def test_twenty_pile_up_once_the_last_of_them_is_late(opened, lag, late):
    """Decisions 1 to 20 get no reward, each other one when `lag` more were made: at 20 + late."""
    with opened() as campaign:
        for number in range(1, 20 + late):
            campaign.decide()
            if number - lag > 20:
                campaign.reward(number - lag, 0.0)
        assert "waiting" not in kinds(campaign)
        campaign.decide()
        assert kinds(campaign) == ["waiting"]
        (alarm,) = campaign.alarms()
    within = f"{lag + 1} decisions" if lag else "one decision"
    assert alarm.decision == 1 and "20 of the first 20 have none" in str(alarm)
    assert f"of 100 rewards 99 come within {within}:" in str(alarm)


@pytest.mark.parametrize(
    ("made", "failed", "is_told"),
    [
        (2, 2, False),
        (3, 3, True),
        (30, 2, False),
        (30, 3, True),
        (31, 3, False),
        (100, 9, False),
        (100, 10, True),
        (101, 10, False),
        (101, 11, True),
    ],
)
def test_look_ups_fail_where_three_and_a_tenth_of_those_made_do(made, failed, is_told):
    """The first ones fail; of 101, the very first does not count any more."""
    data = [json.dumps([number, None if number < failed else [1]]) for number in range(made)]
    facts = LogFacts()
    facts.take([Row(n + 1, float(n), "look-up", arm=n, data=data[n]) for n in range(made)])
    told = [str(alarm) for alarm in _look_ups(facts)]
    assert len(told) == is_told
    assert not told or f"{min(failed, 10)} of the last {min(made, 100)} could not" in told[0]


def test_where_nothing_can_be_told_there_is_no_alarm():
    """Policies that forget, and a family without evidence."""
    problem = um.problems.triangular(5)
    assert um.alarms(simulated_campaign(um.Windowed(um.UTS(), 20), problem, rounds=60)) == []
    assert um.alarms(simulated_campaign(um.TS(), problem, rounds=60, seed=2)) == []


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, "x", float("nan"), None, True])
def test_a_confidence_lies_between_0_and_1(start, confidence):
    with start() as campaign:
        for call in (campaign.alarms, lambda it: campaign.watch(print, confidence=it)):
            with pytest.raises(um.UnimodalError, match="the 'confidence' of alarms must"):
                call(confidence)


# Shown.


def test_alarms_are_shown(path, start):
    with start(um.graphs.from_edges([("<b>", "y"), ("y", "z")])) as campaign:
        campaign.decide(120)
        view = um.inspect(campaign)
        assert "Alarm: No reward has come for the last 120 decisions" in str(view)
        assert "<h2>Alarms</h2>" in view.html() and "No reward has come" in view.html()
        campaign.reward(list(range(1, 121)), [0.0] * 120)
        assert "Alarm" not in um.inspect(campaign).html()
        campaign.decide(400)
    shown = CliRunner().invoke(app, ["inspect", str(path)])
    assert shown.exit_code == 0 and "Alarm (waiting): No reward has come" in shown.output


def test_words_of_others_in_an_alarm_stay_text():
    view = um.inspect(simulated_campaign(um.UTS(), um.problems.triangular(3), rounds=20))
    view.__dict__["alarms"] = [um.Alarm("change", "<script>\x1b[31m")]
    assert "<script>\x1b" not in view.html() and "&lt;script&gt;\\x1b[31m" in view.html()
    assert "\x1b" not in str(view)


# Told.


def test_each_alarm_is_told_once_outside_of_calls(start):
    with start() as campaign:
        seen, told = [], threading.Event()

        def tell(alarm):
            seen.append((alarm.kind, campaign.outstanding))  # a call: none is under way here
            told.set()

        campaign.watch(tell, every=0.02)
        assert not told.wait(0.1)
        campaign.decide(150)
        assert told.wait(20)
        watch = campaign._watch
        watch.look_once()
        assert seen == [("waiting", 150)]
        campaign.reward(1, 1.0)
        watch.look_once()
        campaign.decide(500)
        told.clear()
        assert told.wait(20) and len(seen) == 2  # gone, and there again
    assert not watch._thread.is_alive()


def test_a_function_that_fails_disturbs_nobody(start, caplog):
    tried = threading.Event()

    def fail(alarm):
        tried.set()
        raise RuntimeError("the pager is broken")

    with caplog.at_level(logging.ERROR, "unimodal"), start() as campaign:
        campaign.decide(150)
        campaign.watch(fail, every=0.02)
        assert tried.wait(20)
        assert campaign.decide().id == 151
    assert "the pager is broken" in caplog.text and "watches a campaign failed" in caplog.text


def test_it_may_close_the_campaign_itself_and_be_replaced(start):
    campaign, closed = start(), threading.Event()
    campaign.decide(150)
    campaign.watch(lambda alarm: None, every=0.02)
    first = campaign._watch

    def close(alarm):
        campaign.close()
        closed.set()

    campaign.watch(close, every=0.02)
    assert closed.wait(20) and not first._thread.is_alive()
    with pytest.raises(um.UnimodalError):
        campaign.decide()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((5, 1), "watch needs a function that takes an alarm, got 5"),
        ((print, 0), "the 'every' of watch must"),
        ((print, "x"), "the 'every' of watch must"),
        ((print, math.inf), "the 'every' of watch must"),
    ],
)
def test_what_watch_refuses(start, given, words):
    with start() as campaign, pytest.raises(um.UnimodalError, match=words):
        campaign.watch(given[0], every=given[1])


def test_alarms_may_be_asked_for_while_others_decide(start):
    """Everybody goes on: what is looked at is the file at one moment."""
    with start() as campaign:
        stop, errors = threading.Event(), []

        def decide():
            while not stop.is_set():
                campaign.reward(campaign.decide().id, 1.0)

        def look():
            try:
                for _ in range(4):
                    campaign.alarms()
                    um.inspect(campaign).alarms  # noqa: B018
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=decide)]
        reader = threading.Thread(target=look)
        for thread in (*threads, reader):
            thread.start()
        reader.join()
        stop.set()
        for thread in threads:
            thread.join()
        assert errors == []
