"""Certificates of agents and campaigns: what counts, what is claimed, and what is refused."""

import json
import math

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.agents.certifying import certificate as certificate_of
from unimodal.agents.revision import revised
from unimodal.campaigns.events import Row
from unimodal.campaigns.log_facts import facts_of

LINE = um.graphs.line(5)
PULLS, TOTALS = [60, 190, 400, 180, 50], [12, 76, 300, 90, 5]


def taught(pulls=PULLS, totals=TOTALS, policy=None, graph=LINE, **settings):
    agent = um.Agent(policy or um.UTS(), graph, seed=1, **settings)
    for arm, (count, total) in enumerate(zip(pulls, totals, strict=True)):
        agent.tell([arm] * count, [1.0] * total + [0.0] * (count - total))
    return agent


def evidence(one, other):
    """The smallest M_a·M_b over z, as a logarithm, by another way: (pulls, total) of both."""
    z = np.linspace(other[1] / other[0], one[1] / one[0], 20_001)
    return sum(log_m(z, *data) for data in (one, other)).min()


def log_m(z, pulls, total):
    """The theorem's M: a quarter is kept, three quarters are what the likelihoods say."""
    evidence = um.Bernoulli().log_evidence(z, pulls, total)
    return np.logaddexp(math.log(0.25), math.log(0.75) + evidence)


def least_evidence(pulls=PULLS, totals=TOTALS, arm=2, near=(1, 3)):
    data = list(zip(map(float, pulls), map(float, totals), strict=True))
    return min(evidence(data[arm], data[other]) for other in near)


def test_the_level_is_that_of_the_theorem():
    found = taught().certificate(0.5)
    least = least_evidence()
    assert found.peak == found.leader == 2 and found
    # The search for the smallest product stops a little below it.
    assert -math.log(found.error / 4) == pytest.approx(least, rel=0.01)
    assert -math.log(found.error / 4) <= least + 1e-6
    agent = taught()
    assert agent.certificate(found.level - 1e-9).peak == 2
    not_yet = agent.certificate(found.level + 1e-9)
    assert not_yet.peak is None and not not_yet and set(not_yet.open) <= {1, 3}
    assert "may be better" in str(not_yet)


def test_an_arm_with_a_better_neighbour_is_not_certified():
    found = taught(totals=[12, 76, 300, 144, 5]).certificate(0.5)  # arm 3: 144 of 180
    assert found.leader == 3 and found.peak is None and set(found.open) >= {2}
    assert found.level == 0.0 and found.error == 1.0


def test_without_rewards_nothing_is_certified():
    found = um.Agent(um.UTS(), LINE).certificate()
    assert (found.leader, found.peak, found.among, found.rewards) == (None, None, None, 0)
    assert not found and "no rewards yet" in str(found)


def test_near_ties_are_within_a_tolerance():
    pulls = [3000] * 5
    agent = taught(pulls, [600, 2390, 2400, 1500, 300])
    found = agent.certificate(0.95, tolerance=0.2)
    assert found.peak is None and found.among == (1, 2) and found.open == (1,)
    assert 0 < found.gap <= 0.2 and found
    assert not agent.certificate(0.95, tolerance=found.gap - 1e-6)
    assert agent.certificate(0.95, tolerance=found.gap)
    assert "within the tolerance of 0.2" in str(found)
    far = taught(pulls, [600, 2390, 2400, 2395, 300]).certificate(0.95)
    assert far.among == (1, 2, 3)


def test_what_is_certified_is_the_only_one_that_may_be_the_peak():
    found = taught().certificate()
    assert found.among == (2,) and found.gap == 0.0 and found.more == 0


def test_the_time_that_is_left_is_right_if_means_stay_as_they_are():
    def after(sweeps):
        totals = [sweeps // 2, 3 * sweeps // 5, sweeps // 2]
        return taught([sweeps] * 3, totals, graph=um.graphs.line(3)).certificate(0.9999)

    found = after(600)
    done = next(sweeps for sweeps in range(600, 6000, 10) if after(sweeps))
    assert done > 1000
    assert found.more == pytest.approx(3 * (done - 600), rel=0.08)


def test_the_belief_is_that_of_the_posterior():
    found = taught(totals=[12, 76, 240, 99, 5]).certificate(0.99)
    rng = np.random.default_rng(0)
    draws = {
        arm: rng.beta(1 + total, 1 + pulls - total, 400_000)
        for arm, pulls, total in ((1, 190, 76), (2, 400, 240), (3, 180, 99))
    }
    best = np.maximum.reduce(list(draws.values()))
    assert sum(found.belief.best.values()) == pytest.approx(1.0, abs=1e-5)
    for arm, drawn in draws.items():
        assert found.belief.best[arm] == pytest.approx((drawn == best).mean(), abs=0.004)
    assert found.belief.expected_loss == pytest.approx((best - draws[2]).mean(), rel=0.03)


# Delays.


def test_rewards_count_up_to_the_oldest_open_decision():
    agent = um.Agent(um.UTS(), um.graphs.line(3), seed=2)
    decisions = agent.decide(60)
    for decision in decisions:
        if decision.id != 40:
            agent.reward(decision.id, float(decision.arm == 1))
    found = agent.certificate()
    assert (found.rewards, found.waiting) == (39, 20)
    assert "20 more wait" in str(found)
    same = um.Agent(um.UTS(), um.graphs.line(3), seed=2)
    for decision in decisions[:39]:
        same.tell(decision.arm, float(decision.arm == 1))
    assert (found.level, found.open) == (same.certificate().level, same.certificate().open)
    agent.reward(40, 0.0)
    assert (agent.certificate().rewards, agent.certificate().waiting) == (60, 0)


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_successes_that_come_first_certify_nothing(kind, tmp_path):
    """Both arms pay 1 in 2, but those of arm 0 are told at once only if they are successes."""
    graph, policy = um.graphs.line(2), um.TS()
    settings = {"family": um.Bernoulli(), "seed": 3, "time_to_live": 10**6}
    if kind == "agent":
        one = um.Agent(policy, graph, **settings)
    else:
        one = um.Campaign.open(tmp_path / "late.db", policy, graph, **settings)
    late = []
    for decision in one.decide(400):
        reward = float(decision.id % 4 < 2)
        if decision.arm == 0 and reward == 0.0:
            late.append(decision.id)
        else:
            one.reward(decision.id, reward)
    found = one.certificate(0.5)
    assert found.rewards < 10 and found.peak is None
    one.reward(late, [0.0] * len(late))
    found = one.certificate(0.5)
    assert found.rewards == 400 and found.waiting == 0 and found.peak is None
    # Counted as they came, they would have certified arm 0.
    naive = taught([200 - len(late), 200], [200 - len(late), 100], graph=graph)
    assert naive.certificate(0.95).peak == 0


@pytest.mark.parametrize("on_expiry", ["zero", "drop"])
@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_an_expiry_is_a_zero_or_an_assumption(kind, on_expiry, tmp_path):
    now = [0.0]
    settings = {"seed": 1, "time_to_live": 5, "on_expiry": on_expiry, "clock": lambda: now[0]}
    make = um.Agent if kind == "agent" else um.Campaign.open
    first = () if kind == "agent" else (tmp_path / "expiring.db",)
    one = make(*first, um.UTS(), LINE, **settings)
    decisions = one.decide(10)
    one.reward(decisions[0].id, 1.0)
    now[0] = 6.0
    one.decide()
    found = one.certificate()
    assert found.rewards == (10 if on_expiry == "zero" else 1)
    assert ("dropped" in str(found)) == (on_expiry == "drop")


def test_a_campaign_certifies_what_its_agent_does(tmp_path):
    rng = np.random.default_rng(0)
    with um.Campaign.open(tmp_path / "same.db", um.UTS(), LINE, seed=4) as campaign:
        agent = um.Agent(um.UTS(), LINE, seed=4)
        for _ in range(5):
            ids = [decision.id for decision in campaign.decide(100)]
            same = agent.decide(100)
            rewards = [float(rng.random() < (0.2, 0.5, 0.9, 0.5, 0.2)[d.arm]) for d in same]
            campaign.reward(ids, rewards)
            agent.reward(ids, rewards)
        found, other = campaign.certificate(0.8), agent.certificate(0.8)
        assert found.to_dict() == other.to_dict()
        assert um.inspect(campaign)
    assert found.rewards == 500 and found.leader == 2


# Arms that are met one by one.


def behind_an_oracle(rounds=1000):
    rng = np.random.default_rng(1)
    agent = um.Agent(um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, seed=1)
    order = []
    for _ in range(rounds):
        arm = agent.ask()
        order.append(arm)
        agent.tell(arm, float(rng.random() < max(0.95 - 0.3 * abs(arm - 2), 0.05)))
    for arm in (1, 3):
        agent.tell([arm] * 100, [1.0] * 60 + [0.0] * 40)
    return agent, order


def test_behind_an_oracle_arms_are_numbered_by_their_first_pull():
    agent, order = behind_an_oracle()
    found = agent.certificate(0.5)
    numbers = {arm: number for number, arm in enumerate(dict.fromkeys(order), 1)}
    table = {row["arm"]: row for row in agent.arms().iter_rows(named=True)}
    data = {
        arm: (float(row["pulls"]), round(row["pulls"] * row["mean"])) for arm, row in table.items()
    }
    assert found.leader == 2
    log_errors = [
        sum(math.log(numbers[arm] * (numbers[arm] + 1)) for arm in (2, other))
        - evidence(data[2], data[other])
        for other in (1, 3)
    ]
    assert math.log(found.error) == pytest.approx(max(log_errors), abs=0.1)


def test_a_saved_agent_certifies_the_same_and_an_older_file_says_what_it_lacks(tmp_path):
    agent, _ = behind_an_oracle(800)
    neighbours = {"graph": lambda x: (x - 1, x + 1)}
    agent.save(tmp_path / "agent.json")
    again = um.Agent.load(tmp_path / "agent.json", **neighbours)
    assert again.certificate(0.5).to_dict() == agent.certificate(0.5).to_dict()
    data = json.loads((tmp_path / "agent.json").read_text())
    del data["first_pulls"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    old = um.Agent.load(tmp_path / "old.json", **neighbours)
    with pytest.raises(um.UnimodalError, match="saved by an earlier version"):
        old.certificate()


def test_an_agent_saved_with_open_decisions(tmp_path):
    agent = um.Agent(um.UTS(), LINE, seed=1)
    for decision in agent.decide(20)[1:]:
        agent.reward(decision.id, 1.0)
    agent.save(tmp_path / "agent.json")
    again = um.Agent.load(tmp_path / "agent.json")
    assert (again.certificate().rewards, again.certificate().waiting) == (0, 19)
    data = json.loads((tmp_path / "agent.json").read_text())
    del data["decisions"]["arms"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    old = um.Agent.load(tmp_path / "old.json")
    with pytest.raises(um.UnimodalError, match="earlier version"):
        old.certificate()
    old.reward(1, 0.0)
    assert old.certificate().rewards == 20


def test_after_a_revision_arms_are_numbered_too(tmp_path):
    with um.Campaign.open(tmp_path / "revised.db", um.TS(), um.graphs.line(3), seed=1) as campaign:
        for _ in range(10):
            decisions = campaign.decide(100)
            campaign.reward([d.id for d in decisions], [float(d.arm == 1) for d in decisions])
        before = campaign.certificate(0.5)
        campaign.add_edges([(2, 3)])
        found = campaign.certificate(0.5)
        order = campaign.history().filter(kind="decide")["arm"].unique(maintain_order=True)
    numbers = {int(arm): number for number, arm in enumerate(order, 1)}
    table = dict(campaign_rows(tmp_path / "revised.db"))
    log_errors = [
        sum(math.log(numbers[arm] * (numbers[arm] + 1)) for arm in (1, other))
        - evidence(table[1], table[other])
        for other in (0, 2)
    ]
    assert before.peak == found.peak == 1
    assert math.log(found.error) == pytest.approx(max(log_errors), abs=0.1)


def campaign_rows(path):
    with um.Campaign.open(path) as campaign:
        for row in campaign.arms().iter_rows(named=True):
            yield row["arm"], (float(row["pulls"]), row["pulls"] * row["mean"])


# Past data, rewards without a decision, and paused arms.


def opened(kind, tmp_path, *settings, **named):
    if kind == "agent":
        return um.Agent(*settings, **named)
    return um.Campaign.open(tmp_path / "one.db", *settings, **named)


DATA = {arm: (pulls, total) for arm, (pulls, total) in enumerate(zip(PULLS, TOTALS, strict=True))}


@pytest.mark.parametrize("kind", ["agent", "campaign"])
@pytest.mark.parametrize("certify", [False, True])
def test_past_data_count_where_the_caller_says_so(kind, certify, tmp_path):
    one = opened(kind, tmp_path, um.UTS(), LINE, seed=1, data=um.PastData(DATA, certify=certify))
    decision = one.decide()
    one.reward(decision.id, 0.0)
    found = one.certificate(0.5)
    assert found.rewards == (sum(PULLS) if certify else 0) + 1
    assert ("past data count" in str(found)) == certify
    assert (found.peak == 2) == certify


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_rewards_without_a_decision_count_where_they_are_told(kind, tmp_path):
    one = opened(kind, tmp_path, um.UTS(), LINE, seed=1)
    for arm, (pulls, total) in DATA.items():
        one.tell([arm] * pulls, [1.0] * total + [0.0] * (pulls - total))
    assert one.certificate(0.5).error == taught().certificate(0.5).error
    first, second = one.decide(2)
    one.tell(0, 1.0)
    one.reward(second.id, 1.0)
    one.tell([1, 1], [1.0, 0.0])
    assert (one.certificate().rewards, one.certificate().waiting) == (sum(PULLS), 4)
    assert one.certificate(0.5).error == taught().certificate(0.5).error
    one.reward(first.id, 1.0)
    assert (one.certificate().rewards, one.certificate().waiting) == (sum(PULLS) + 5, 0)
    third = one.decide()
    one.tell(4, 0.0)  # those of before wait no longer
    assert (one.certificate().rewards, one.certificate().waiting) == (sum(PULLS) + 5, 1)
    one.reward(third.id, 0.0)
    assert (one.certificate().rewards, one.certificate().waiting) == (sum(PULLS) + 7, 0)


def test_what_was_told_behind_an_open_decision_is_saved(tmp_path):
    """A file of before does not have it: there is no certificate until all decisions are closed."""
    agent = um.Agent(um.UTS(), LINE, seed=1)
    open_one = agent.decide()
    agent.tell([0, 1], [1.0, 0.0])
    agent.save(tmp_path / "agent.json")
    again = um.Agent.load(tmp_path / "agent.json")
    assert (again.certificate().rewards, again.certificate().waiting) == (0, 2)
    again = revised(again, um.graphs.revised(again.graph, [], [0]))  # arm 0 is gone
    assert (again.certificate().rewards, again.certificate().waiting) == (0, 2)
    data = json.loads((tmp_path / "agent.json").read_text())
    del data["decisions"]["told"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    old = um.Agent.load(tmp_path / "old.json")
    with pytest.raises(um.UnimodalError, match="in which its rewards came"):
        old.certificate()
    old.reward(open_one.id, 0.0)
    assert old.certificate().rewards == 3
    data["decisions"]["told"] = [[5, 0, 1.0]]  # after decisions that were not made
    (tmp_path / "odd.json").write_text(json.dumps(data))
    with pytest.raises(um.UnimodalError, match="odd"):
        um.Agent.load(tmp_path / "odd.json")


def test_an_old_file_without_rewards_of_no_decision_certifies_as_it_did(tmp_path):
    agent = um.Agent(um.UTS(), LINE, seed=1)
    for decision in agent.decide(6)[1:4]:
        agent.reward(decision.id, 1.0)
    agent.save(tmp_path / "agent.json")
    data = json.loads((tmp_path / "agent.json").read_text())
    del data["decisions"]["told"]
    (tmp_path / "agent.json").write_text(json.dumps(data))
    found = um.Agent.load(tmp_path / "agent.json").certificate()
    assert (found.rewards, found.waiting) == (0, 3)


def test_the_agent_of_a_campaign_sends_to_the_campaign(tmp_path):
    with um.Campaign.open(tmp_path / "c.db", um.UTS(), LINE) as campaign:
        campaign.decide()
        for ask in (campaign.agent.certificate, lambda: um.second_peaks(campaign.agent)):
            with pytest.raises(um.UnimodalError, match="ask the campaign itself"):
                ask()
        assert campaign.certificate().rewards == 0 and not um.second_peaks(campaign)


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_a_paused_arm_is_passed_by_and_arms_are_numbered(kind, tmp_path):
    one = opened(kind, tmp_path, um.TS(), LINE, seed=1)
    for arm in (2, 0, 3, 1, 4):
        pulls, total = DATA[arm]
        one.tell([arm] * pulls, [1.0] * total + [0.0] * (pulls - total))
    one.pause(2)
    found = one.certificate(0.5)
    assert found.leader == 3 and set(found.belief.best) == {1, 3, 4}
    one.resume(2)
    found, numbers = one.certificate(0.5), {2: 1, 0: 2, 3: 3, 1: 4, 4: 5}
    log_errors = [
        math.log(1 * 2) + math.log(numbers[other] * (numbers[other] + 1))
        - evidence(tuple(map(float, DATA[2])), tuple(map(float, DATA[other])))
        for other in (1, 3)
    ]  # fmt: skip
    assert math.log(found.error) == pytest.approx(max(log_errors), abs=0.1)


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_a_paused_arm_is_not_certified_by_past_data_either(kind, tmp_path):
    """Without neighbours left, it had nobody to be told from."""
    one = opened(kind, tmp_path, um.TS(), LINE, seed=1, data=um.PastData(DATA, certify=True))
    one.pause(2)
    found = one.certificate(0.5)
    assert found.leader == 3 and found.peak is None and found.more != 0
    assert found.rewards == sum(PULLS) - PULLS[2]


def test_a_cap_leaves_the_certificate_as_it_was(tmp_path):
    with um.Campaign.open(tmp_path / "capped.db", um.UTS(), LINE, seed=1) as campaign:
        for arm, (pulls, total) in DATA.items():
            campaign.tell([arm] * pulls, [1.0] * total + [0.0] * (pulls - total))
        before = campaign.certificate(0.5)
        campaign.cap(0.2, over=50)
        assert campaign.certificate(0.5) == before
        campaign.pause(0)
        assert campaign.certificate(0.5).error > before.error


def test_the_number_of_an_arm_that_is_gone_is_not_given_again(tmp_path):
    """What costs the least is the price of 1, never tried: it can earn no more than that."""
    ladder = um.graphs.from_edges([("30", "1"), ("30", "2"), ("1", "2")])
    money = um.Scaled(um.Bernoulli(), by=float)
    with um.Campaign.open(tmp_path / "gone.db", um.TS(), ladder, money, seed=1) as campaign:
        campaign.tell(["30"] * 9, [1.0] * 4 + [0.0] * 5)
        campaign.tell("2", 1.0)
        campaign.retire("2")
        found = campaign.certificate(0.5)
    alone = float(log_m(1 / 30, 9.0, 4.0))
    # The arm that is gone keeps number 2: the next one has 3.
    assert math.log(found.error) == pytest.approx(math.log(1 * 2) + math.log(3 * 4) - alone)


# Refused.


def test_policies_that_forget_are_refused():
    agent = um.Agent(um.Windowed(um.UTS(), window=50), LINE)
    with pytest.raises(um.UnimodalError, match="means that do not move, but Windowed"):
        agent.certificate()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"confidence": 1.0}, "'confidence' must lie between 0 and 1, got 1"),
        ({"confidence": 0}, "'confidence'"),
        ({"confidence": "0.9"}, "'confidence'"),
        ({"tolerance": -0.1}, "'tolerance' must be at least 0, got -0.1"),
        ({"tolerance": math.nan}, "'tolerance'"),
    ],
)
def test_numbers_that_are_none(settings, says):
    with pytest.raises(um.UnimodalError, match=says):
        taught().certificate(**settings)


def test_it_is_shown_on_a_notebook_and_as_data():
    found = taught().certificate()
    assert json.loads(json.dumps(found.to_dict()))["peak"] == 2
    html = found._repr_html_()
    assert "the peak" in html and "worse" in html
    assert certificate_of(taught(), 0.95, None) == found


def test_a_reward_counts_with_its_decision_and_not_if_that_is_in_an_archive():
    rows = [
        (11, "reward", 1, "b", 0.25),  # of a decision before the history
        (12, "decide", 2, "a", None),
        (13, "decide", 3, "b", None),
        (14, "reward", 3, "b", 0.5),
        (15, "reward", 2, "a", 1.0),
        (16, "tell", None, "c", 0.75),
        (17, "decide", 4, "c", None),  # open: from here on nothing counts
        (18, "decide", 5, "a", None),
        (19, "reward", 5, "a", 0.125),
    ]
    history, arm_of = of_rows(rows), {"a": 0, "b": 1, "c": 2}
    for log in (history, history.with_columns(arm=pl.col("arm").cast(pl.Categorical))):
        facts = facts_of(log)
        assert facts.start.seq == 10 and facts.counted == 3
        pulls, totals = facts.counted_sums(arm_of)
        assert (pulls.tolist(), totals.tolist()) == ([1, 1, 1], [1.0, 0.5, 0.75])
        pulls, totals = facts.waiting_sums(arm_of)  # that of decision 1 waits for nothing
        assert (pulls.tolist(), totals.tolist(), facts.waiting) == ([1, 0, 0], [0.125, 0, 0], 1)
        assert facts.late_pulls(arm_of).tolist() == [0, 1, 1]  # of three, the later two
    assert facts_of(history[:1]).counted == 0


def of_rows(rows):
    """A table of numbers, kinds, decisions, arms and rewards."""
    decided = {"reason": "contest", "near": 1}
    names = ("seq", "kind", "decision", "arm", "reward")
    events = [Row(time=float(row[0]), **dict(zip(names, row, strict=True))) for row in rows]
    return pl.DataFrame(
        [event._replace(**decided) if event.kind == "decide" else event for event in events],
        Row._fields,
        orient="row",
        infer_schema_length=None,
    )


# Expiries that make rewards of no family.


OF_NO_FAMILY = [um.Gaussian(), um.Poisson(), um.Exponential(), um.Scaled(um.Poisson(), by=2.0)]


@pytest.mark.parametrize("family", OF_NO_FAMILY, ids=repr)
def test_an_expiry_as_zero_takes_rewards_that_may_be_zero_instead(family, tmp_path):
    settings = {"family": family, "time_to_live": 5, "on_expiry": "zero"}
    for make in (
        lambda: um.Agent(um.UTS(), LINE, **settings),
        lambda: um.Campaign.open(tmp_path / "c.db", um.UTS(), LINE, **settings),
        lambda: um.Campaign.open(
            tmp_path / "c.db", um.ScoutUTS(), lambda x: (x - 1, x + 1), root=0, **settings
        ),
    ):
        with pytest.raises(um.UnimodalError, match=r"Bernoulli or Bounded, got .*Bounded\(a, b\)"):
            make()
    assert not (tmp_path / "c.db").exists()
    um.Agent(um.UTS(), LINE, **{**settings, "on_expiry": "drop"})
    for fitting in (um.Bernoulli(), um.Bounded(0, 9), um.Scaled(um.Bounded(-1, 1), by=2.0)):
        um.Agent(um.UTS(), LINE, **{**settings, "family": fitting})


def of_before(kind, tmp_path, monkeypatch, expiries=3):
    """An agent or campaign whose Poisson rewards expire as zero, made when that was taken."""
    now = [0.0]
    settings = {"seed": 1, "time_to_live": 5, "on_expiry": "zero", "family": um.Poisson()}
    with monkeypatch.context() as before:
        before.setattr(um.Poisson, "takes_zeros", True)
        one = opened(kind, tmp_path, um.UTS(), LINE, **settings, clock=lambda: now[0])
        for decision in one.decide(300)[expiries:]:
            one.reward(decision.id, 9.0 * (decision.arm == 2))
        now[0] = 6.0
        one.expire()
    return one


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_a_certificate_of_before_says_why_it_cannot_tell(kind, tmp_path, monkeypatch):
    one = of_before(kind, tmp_path, monkeypatch)
    if kind == "agent":
        one.save(tmp_path / "agent.json")
        one = um.Agent.load(tmp_path / "agent.json")  # it opens
    else:
        one.close()
        (path,) = tmp_path.glob("*.db")
        one = um.Campaign.open(path, on_expiry="zero")
    found = one.certificate(0.5)
    assert (found.obstacle, found.peak, found.among, found.gap) == (
        "expired as zero",
        None,
        None,
        math.inf,
    )
    assert not found and found.error == 1.0 and found.more is None and found.leader == 2
    assert not one.certificate(0.5, tolerance=100.0)
    assert "Nothing can be certified: expired decisions count as 0" in str(found)
    assert found.to_dict()["obstacle"] == "expired as zero"
    with pytest.raises(um.UnimodalError, match="second peaks cannot be told here: expired"):
        um.second_peaks(one)
    if kind == "campaign":
        assert [alarm.kind for alarm in one.alarms()] == ["cannot tell"]
        view = um.inspect(one)
        assert view.certificate == one.certificate() and "Nothing can be certified" in view.html()
        assert "Neither a second peak nor a change can be told" in str(view)
        assert one.decide().id == 301
        one.close()


@pytest.mark.parametrize("kind", ["agent", "campaign"])
def test_while_nothing_has_expired_a_certificate_of_before_holds(kind, tmp_path, monkeypatch):
    one = of_before(kind, tmp_path, monkeypatch, expiries=0)
    found = one.certificate(0.5)
    assert found.obstacle is None and found.peak == 2 and found.rewards == 300
    assert not um.second_peaks(one)


def test_a_certificate_says_of_each_sentence_what_it_is_about():
    """So that a page can leave one out without knowing its words."""
    agent = um.Agent(um.UTS(), um.graphs.line(3), seed=1)
    for decision in agent.decide(9)[1:]:
        agent.reward(decision.id, 1.0)
    agent.tell(1, 1.0)  # behind an open decision
    found = agent.certificate()
    about = [fact for fact, _ in found.sentences()]
    assert about == ["verdict", "waiting"] and found.waiting == 9
    assert found.sentences()[1][1].startswith("9 more wait")
    assert str(found) == "\n".join(text for _, text in found.sentences())


def test_a_gap_that_nothing_bounds_is_said_in_words():
    """Gaussian means have no top: an arm without rewards may be above by any amount."""
    agent = um.Agent(um.UTS(), um.graphs.line(3), um.Gaussian(1.0), seed=1)
    for _ in range(5):
        agent.tell(1, 1.0)
    found = agent.certificate(tolerance=0.1)
    assert found.gap == math.inf and not found
    assert "inf" not in str(found).replace("information", "")
    assert "how far its mean is above the mean of 1 cannot be told yet." in str(found)
    assert "not yet within the tolerance of 0.1" in str(found)


def test_a_reward_of_an_archived_decision_closes_no_other():
    facts = facts_of(of_rows([(11, "decide", 2, "a", None), (12, "reward", 1, "b", 1.0)]))
    assert (facts.counted, facts.waiting, facts.still_open().tolist()) == (0, 0, [1])
