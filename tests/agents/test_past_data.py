"""Agents that begin with past data: how it is given, what it changes, and what is refused."""

import json
import math

import numpy as np
import polars as pl
import pytest

import unimodal as um
from unimodal.agents.known_arms import evidence_sums
from unimodal.agents.saving import state_data
from unimodal.inference.posterior_given_one_peak import raised_by_one_peak

LINE = um.graphs.line(5)
SUMS = {0: (100, 20), 1: (100, 50), 2: (100, 60), 3: (100, 30)}
ROWS = [(arm, float(n < total)) for arm, (count, total) in SUMS.items() for n in range(count)]


def begun(data, policy=None, family=None, graph=LINE, seed=3):
    """An agent that begins with data as they are, unless they say otherwise themselves."""
    data = data if isinstance(data, um.PastData) else um.PastData(data, one_peak=False)
    return um.Agent(policy or um.UTS(), graph, family, seed, data=data)


class PandasLike:
    """What of a pandas table is used: columns by name, whose values are NumPy's."""

    columns = ("arm", "reward", "day")

    def __getitem__(self, name):
        return np.array([row[self.columns.index(name)] for row in ROWS])


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        ROWS[::-1],
        [list(row) for row in ROWS],
        [{"arm": arm, "reward": reward, "day": "Monday"} for arm, reward in ROWS],
        {"arm": [row[0] for row in ROWS], "reward": [row[1] for row in ROWS]},
        pl.DataFrame(ROWS, schema=["arm", "reward"], orient="row"),
        PandasLike(),
        [(arm, *sums) for arm, sums in SUMS.items()],
        [(arm, 50, total / 2) for arm, (_, total) in SUMS.items()] * 2,
        [{"arm": arm, "count": 100.0, "total": total} for arm, (_, total) in SUMS.items()],
        pl.DataFrame({"arm": list(SUMS), "count": [100] * 4, "total": [20, 50, 60, 30]}),
        ((arm, *sums) for arm, sums in SUMS.items()),
        um.PastData(SUMS, one_peak=False),
    ],
)
def test_every_way_to_give_the_same_data_gives_the_same_agent(data):
    assert state_data(begun(data)) == state_data(begun(SUMS))


def test_data_count_as_pulls_and_are_not_swept():
    agent = begun(SUMS)
    assert agent.round == 0 and agent.outstanding == 0
    assert [(agent.ask(), agent.reason) for _ in range(2)] == [(4, "start"), (2, "forced leader")]
    assert agent.leader == 2
    assert agent.past.pulls.tolist() == [100, 100, 100, 100, 0]
    assert agent.past.totals.tolist() == [20, 50, 60, 30, 0] and not agent.past.certify
    agent.tell(2, 1.0)
    table = {row["arm"]: row for row in agent.arms().iter_rows(named=True)}
    assert table[2] == {"arm": 2, "pulls": 101, "mean": 61 / 101, "leads": 1, "past": 100}
    assert "<td>100</td>" in agent._repr_html_()


def test_without_data_there_is_no_column_for_them():
    assert um.Agent(um.UTS(), LINE).arms().columns == ["arm", "pulls", "mean", "leads"]


@pytest.mark.parametrize(
    ("policy", "first"),
    [
        (um.TS(), "contest"),
        (um.OSUB(), "start"),
        (um.KLUCBUB(), "start"),
        (um.ScoutUTS(), "forced leader"),  # a probe of one arm needs no more
        (um.UTS(start="probe(5)"), "start"),
        (um.UTS(start="probe(4)"), "forced leader"),
        (um.UTS(start="literal"), "forced leader"),
    ],
)
def test_every_start_leaves_out_what_is_known(policy, first):
    agent = begun(SUMS, policy)
    arms = [agent.ask()]
    assert agent.reason == first
    arms += [agent.ask()]
    assert agent.reason != "start"
    if first == "start":
        assert arms[0] == 4


def test_an_index_knows_the_data():
    """KL-UCB's bound of an arm with 100 rewards is close to its mean; an unknown one goes first."""
    agent = begun(SUMS, um.KLUCB())
    assert agent.ask() == 4
    for _ in range(30):
        agent.tell(4, 0.0)
    assert agent.ask() == 2


def test_a_weight_keeps_the_mean_and_takes_pulls():
    agent = begun(um.PastData(SUMS | {4: (2, 1)}, weight=0.1, one_peak=False))
    assert agent.past.pulls.tolist() == [10, 10, 10, 10, 0]  # 0.2 pulls are none
    assert agent.past.totals.tolist() == [2, 5, 6, 3, 0]
    assert agent.ask() == 4 and agent.reason == "start"


@pytest.mark.parametrize(
    ("weight", "given", "counted"),
    [(0.5, [1, 3, 5, 7], [0, 2, 2, 4]), (0.1, [5, 15, 25, 35], [0, 2, 2, 4]), (0.3, [2], [1])],
)
def test_a_count_that_is_rounded_keeps_its_mean(weight, given, counted):
    """round(weight·n): halves go to the even number; 0.3·2 = 0.6 is one reward."""
    data = um.PastData(
        {arm: (n, n // 2) for arm, n in enumerate(given)}, weight=weight, one_peak=False
    )
    past = begun(data).past
    assert past.pulls[: len(given)].tolist() == counted
    totals = [n // 2 / n * count for n, count in zip(given, counted, strict=True)]
    assert past.totals[: len(given)] == pytest.approx(totals)


VALLEY = {0: (100, 20), 1: (100, 52), 2: (100, 40), 3: (100, 50), 4: (100, 30)}


def totals_of(data, policy=None, graph=LINE, family=None):
    return begun(data, policy, family, graph).past.totals


def test_data_are_read_given_one_peak():
    """Between two arms that look best one cannot be so bad, nor both of them so good."""
    own = totals_of(VALLEY)
    assert own.tolist() == [20, 52, 40, 50, 30]
    agent = um.Agent(um.UTS(), LINE, seed=3, data=VALLEY)
    read = agent.past.totals
    assert read[2] > 42 and read[1] < 51 and read[3] < 49.5
    assert abs(read[0] - 20) < 0.5 and agent.past.pulls.tolist() == [100] * 5
    sums = evidence_sums(agent, LINE)
    assert not sums[0].any() and not sums[1].any()


def test_with_a_weight_they_count_less_and_say_the_same():
    whole, tenth = (
        um.Agent(um.UTS(), LINE, data=um.PastData(VALLEY, weight=w)).past for w in (1, 0.1)
    )
    assert tenth.pulls.tolist() == [10] * 5
    assert tenth.totals == pytest.approx(whole.totals / 10)


@pytest.mark.parametrize(
    ("policy", "graph", "given"),
    [
        (um.TS(), LINE, {}),  # nothing of it is about one peak
        (um.UTS(), um.graphs.star(5), {}),  # one peak says little around a hub
        (um.UTS(), LINE, {"one_peak": False}),
        (um.UTS(), LINE, {"certify": True}),  # a certificate needs the rewards themselves
    ],
)
def test_data_are_taken_as_they_are_elsewhere(policy, graph, given):
    data = um.PastData(VALLEY, **given)
    assert um.Agent(policy, graph, data=data).past.totals.tolist() == [20, 52, 40, 50, 30]


def own_or_read(data, graph=LINE, family=None, policy=None):
    """The totals of the arms, as they are and as they are read."""
    policy = policy or um.UTS()
    return (
        um.Agent(policy, graph, family, data=um.PastData(data, one_peak=one_peak)).past.totals
        for one_peak in (False, True)
    )


@pytest.mark.parametrize("data", [{}, {2: (10, 5)}, {0: (10, 5), 4: (10, 2)}])
def test_one_or_two_arms_always_have_one_peak(data):
    own, read = own_or_read(data)
    assert read.tolist() == own.tolist()


def test_arms_without_data_change_nothing():
    """A line with gaps is read as the line of those that have data."""
    line, wide = um.graphs.line(5), um.graphs.line(50)
    _, read = own_or_read(VALLEY, line)
    _, spread = own_or_read({11 * arm: sums for arm, sums in VALLEY.items()}, wide)
    assert spread[::11].tolist() == read.tolist() and spread.sum() == pytest.approx(read.sum())


def test_the_order_is_that_of_the_line_and_not_of_the_numbers():
    labels = ["c", "a", "e", "b", "d"]
    graph = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")], labels)
    _, read = own_or_read(VALLEY)
    named = {"abcde"[arm]: sums for arm, sums in VALLEY.items()}
    _, other = own_or_read(named, graph)
    assert other[[graph.arm_of(label) for label in "abcde"]] == pytest.approx(read)


def test_known_multipliers_are_read_in_money():
    """Sales are alike, so that money is not: what is told is still the sales."""
    prices = um.graphs.from_edges([(2.0, 3.0), (3.0, 4.0)])
    money = um.Scaled(um.Bernoulli(), by=float)
    one_peak, valley = ({p: (30, n) for p, n in zip((2.0, 3.0, 4.0), sold, strict=True)}
                        for sold in ((20, 20, 20), (27, 12, 15)))  # fmt: skip
    own, read = own_or_read(one_peak, prices, money)
    assert read == pytest.approx(own, abs=0.6)
    own, read = own_or_read(valley, prices, money)
    assert read[1] > own[1] + 0.7 and (read[[0, 2]] < own[[0, 2]]).all()
    by = np.array([2.0, 3.0, 4.0])
    in_money = raised_by_one_peak(money.of_arms(by.tolist()), by, np.full(3, 30.0), own)
    assert read == pytest.approx(own + 30 * in_money / by)


def test_a_line_of_128_arms_with_data_is_read_and_no_longer_one():
    for n_arms, is_read in ((128, True), (129, False)):
        data = {arm: (10, 4 + arm % 2) for arm in range(n_arms)}
        own, read = own_or_read(data, um.graphs.line(n_arms))
        assert (read != own).any() == is_read


@pytest.mark.parametrize(
    ("family", "data"),
    [
        (um.Bernoulli(), {arm: (3, 3) for arm in range(5)}),
        (um.Poisson(), {arm: (3, 0) for arm in range(5)}),
        (um.Bounded(0, 0.1), {arm: (3, 0.3) for arm in range(5)}),
        (um.Bounded(0, 0.1), {arm: (3, 0.3 * (arm % 2)) for arm in range(5)}),
        (um.Gaussian(1.0), {arm: (1, 1e100 * (-1) ** arm) for arm in range(5)}),
        (um.Exponential(), {0: (1, 1.0), 1: (1, 1e-9), 2: (1, 1e9)}),
    ],
    ids=repr,
)
def test_what_is_read_is_what_rewards_can_sum_up_to(family, data, tmp_path):
    """An agent with it can be saved and loaded, and a campaign folds its log."""
    agent = um.Agent(um.PeakUTS(), LINE, family, data=data)
    agent.save(tmp_path / "agent.json")
    assert um.Agent.load(tmp_path / "agent.json").past.totals.tolist() == agent.past.totals.tolist()
    um.Campaign.open(tmp_path / "log.db", um.PeakUTS(), LINE, family, data=data).close()
    assert um.verify(tmp_path / "log.db")


def test_leads_of_peak_uts_begin_with_past_rewards():
    """Its looks are for leaders of which nobody knows much; others count their leads from 0."""
    agents = [um.Agent(policy, LINE, data=VALLEY) for policy in (um.PeakUTS(), um.UTS())]
    assert [agent.arms()["leads"].sum() for agent in agents] == [500, 0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"one_peak": "yes"}, "'one_peak' of past data must be True or False, got 'yes'"),
        ({"one_peak": True, "certify": True}, "leave out 'certify' or 'one_peak'"),
    ],
)
def test_what_one_peak_cannot_be(given, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.PastData(VALLEY, **given)


def test_data_of_no_weight_change_nothing():
    data = um.PastData(ROWS, weight=0)
    assert state_data(begun(data)) == state_data(um.Agent(um.UTS(), LINE, seed=3))
    npts = um.NPTS(), LINE, um.Bounded(), 3
    assert state_data(um.Agent(*npts, data=data)) == state_data(um.Agent(*npts))


def test_bounded_rewards_toss_no_coins():
    """Successes are what coins would give on average, so sums and single rewards are the same."""
    rewards = [(2, 3.0), (2, 4.5), (2, 2.0)]
    agents = [begun(data, family=um.Bounded(2, 6)) for data in (rewards, {2: (3, 9.5)})]
    assert [a._player.state.arms["successes"][2] for a in agents] == [3.5 / 4] * 2
    assert state_data(agents[0]) == state_data(agents[1])
    assert state_data(agents[0])["stream"] == state_data(um.Agent(um.UTS(), LINE, seed=3))["stream"]


def test_the_order_of_rows_does_not_change_a_digit():
    rewards = [(2, 1e16), (2, 1.0), (2, -1e16), (1, 0.1), (1, 0.2), (1, 0.3)]
    one, two = (begun(data, family=um.Gaussian()) for data in (rewards, rewards[::-1]))
    assert one.past.totals[2] == 1.0
    assert state_data(one) == state_data(two)


@pytest.mark.parametrize("policy", [um.OSUB(), um.IMEDUB(), um.UTS()])
def test_an_arm_with_data_is_one_that_was_told_them(policy):
    agent, told = begun(SUMS, policy), um.Agent(policy, LINE, seed=3)
    told.tell(*zip(*ROWS, strict=True))
    assert np.array_equal(agent._player.state.arms, told._player.state.arms)
    assert np.array_equal(agent._player.state.best, told._player.state.best)


def test_npts_keeps_every_reward_from_before():
    data = [(arm, 0.9 if arm == 2 else 0.1) for arm in range(5) for _ in range(40)]
    agent = begun(data, um.NPTS(), um.Bounded())
    assert state_data(agent)["seen"] == data
    assert set(agent.ask(30)) == {2}
    agent.tell(2, 0.5)
    assert state_data(agent)["seen"][-1] == (2, 0.5)


def test_saving_keeps_them_apart(tmp_path):
    agent = begun(um.PastData(SUMS, certify=True))
    agent.tell(agent.ask(), 1.0)
    again = um.Agent.load(agent.save(tmp_path / "agent.json"))
    assert state_data(again) == state_data(agent) and again.past.certify
    assert again.past.pulls.tolist() == agent.past.pulls.tolist()
    assert [again.ask() for _ in range(50)] == [agent.ask() for _ in range(50)]


@pytest.mark.parametrize(
    "arms",
    [
        [],
        [[9, 100, 20.0]],
        [[0, 101, 20.0]],
        [[0, 0, 0.0]],
        [[0, 100, 20.0]] * 2,
        [[0, 100, 200.0]],
        [[0, 50, 45.0]],  # then 50 later rewards would sum up to -25
        [[0, 100, "x"]],
        [[4, 1, 1.0]],
    ],
)
def test_a_saved_agent_whose_past_cannot_be_is_refused(tmp_path, arms):
    path = begun(SUMS).save(tmp_path / "agent.json")
    data = json.loads(path.read_text())
    data["past"]["arms"] = arms
    path.write_text(json.dumps(data))
    with pytest.raises(um.UnimodalError, match=r"Agent\.save wrote"):
        um.Agent.load(path)


def test_evidence_leaves_them_out_unless_they_certify():
    """Two hills from past data alone: reported only if the caller vouches for the data."""
    data = {0: (400, 120), 1: (400, 320), 2: (400, 80), 3: (400, 280), 4: (400, 100)}
    assert not um.second_peaks(begun(data))
    assert um.second_peaks(begun(um.PastData(data, certify=True)))
    agent = begun(data)
    agent.tell(2, 1.0)
    assert [sums.tolist() for sums in evidence_sums(agent, LINE)] == [[0, 0, 1, 0, 0]] * 2
    assert um.second_peaks(agent).best.arm == 2 and um.second_peaks(agent).unpulled == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([(9, 1.0)], "whole number from 0 to 4, got 9"),
        ({"a": (1, 1)}, "whole number from 0 to 4, got 'a'"),
        ([(None, 1.0)], "whole number from 0 to 4, got None"),
        ([(0, 1.0), (1, 0.5)], "must be 0 or 1, got 0.5"),
        ([(0, math.nan)], "between 0 and 1, got nan"),
        ([(0, None)], "between 0 and 1, got None"),
        ({0: (-1, 0)}, "count of past rewards of 0 must be a whole number of at least 0, got -1"),
        ({0: (1.5, 1)}, "at least 0, got 1.5"),
        ({0: (math.nan, 1)}, "at least 0, got nan"),
        ({0: (10**16, 1)}, "at most 1e\\+15"),
        ({0: (10**15, 1), 1: (1, 1)}, "at most 1e\\+15 rewards"),
        ({0: (3, 4)}, r"total of 3 rewards of Bernoulli\(\) must be between 0 and 3, got 4"),
        ({0: (3, -1)}, "between 0 and 3, got -1"),
        ({0: (3, 0.5)}, "must be a whole number, got 0.5"),
        ({0: (0, 1)}, "total of 0 rewards"),
        ({0: (3, math.nan)}, "must be a finite number, got nan"),
        ({0: (3, "1")}, "must be a finite number, got '1'"),
        ({0: 5}, r"pairs \(count, total\), got 5 for 0"),
        ([pl.DataFrame(), pl.DataFrame()], "one table, got 2"),
        (pl.DataFrame({"arm": [0], "reward": [1], "count": [1], "total": [1]}), "got both"),
        (pl.DataFrame({"price": [0], "reward": [1]}), r"got the columns \['price', 'reward'\]"),
        ({"arm": [0, 1], "reward": [1]}, "equally long, got arm 2, reward 1 rows"),
        ({"arm": "ab", "reward": "10"}, "column arm of past data must be a list"),
        ([(0, 1.0), (0, 1, 1.0)], "rows of 2 kinds"),
        ([{"arm": 0, "reward": 1}, {"arm": 0, "count": 1, "total": 1}], "got {'arm'"),
        ([(0,)], r"\(arm, count, total\), got \(0,\)"),
        ([1.0], "got 1.0"),
        ({(0, 1.0)}, "got a set"),
        ("data.csv", "must be a table"),
        (5, "must be a table"),
        (True, "must be a table"),
    ],
)
def test_data_with_a_mistake_are_refused_in_a_sentence(data, words):
    with pytest.raises(um.UnimodalError, match=words):
        begun(data)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"weight": 1.5}, "between 0 and 1, got 1.5"),
        ({"weight": -0.1}, "between 0 and 1, got -0.1"),
        ({"weight": math.nan}, "finite number, got nan"),
        ({"weight": "half"}, "finite number, got 'half'"),
        ({"certify": 1}, "True or False, got 1"),
        ({"certify": True, "weight": 0.5}, "weight of 1, got 0.5"),
    ],
)
def test_a_weight_that_is_none_is_refused(named, words):
    with pytest.raises(um.UnimodalError, match=words):
        um.PastData(SUMS, **named)


@pytest.mark.parametrize(
    ("family", "total", "words"),
    [
        (um.Poisson(), 2.5, "must be a whole number, got 2.5"),
        (um.Poisson(), -1, "between 0 and"),
        (um.Exponential(), -1, "between 0 and"),
        (um.Gaussian(), 1e200, "between -"),
        (um.Bounded(2, 6), 5.0, "between 6 and 18, got 5.0"),
        (um.Scaled(um.Bernoulli(), by=9.0), 1.5, "must be a whole number, got 1.5"),
        (um.Scaled(um.Bernoulli(), by=9.0), 9.0, "between 0 and 3, got 9.0"),  # money: not told
    ],
)
def test_a_total_that_the_family_cannot_have_is_refused(family, total, words):
    with pytest.raises(um.UnimodalError, match=words):
        begun({0: (3, total)}, family=family)


def test_a_total_may_be_rounded():
    agent = begun({0: (3, 14.9 + 14.9 + 14.9)}, family=um.Bounded(0, 14.9))
    assert agent.past.totals[0] <= 3 * 14.9


@pytest.mark.parametrize(
    ("policy", "family", "data", "words"),
    [
        (um.Windowed(um.UTS(), window=9), None, SUMS, "forgets"),
        (um.NPTS(), um.Bounded(), SUMS, "every single reward"),
        (um.NPTS(), um.Bounded(), um.PastData(ROWS, weight=0.5), "every single reward"),
    ],
)
def test_policies_that_cannot_take_them_say_so(policy, family, data, words):
    with pytest.raises(um.UnimodalError, match=words):
        begun(data, policy, family)


def test_graphs_that_are_looked_up_cannot_take_them():
    with pytest.raises(um.UnimodalError, match="root=…"):
        um.Agent(um.ScoutUTS(), lambda arm: (arm - 1, arm + 1), root=0, data=SUMS)


def test_data_after_the_first_round_are_refused_and_change_nothing():
    agent = um.Agent(um.UTS(), LINE)
    agent.ask()
    before = state_data(agent)
    with pytest.raises(um.UnimodalError, match="before the first round"):
        agent.begin_with(um.PastData(SUMS))
    assert state_data(agent) == before
