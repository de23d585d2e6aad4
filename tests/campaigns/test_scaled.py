"""Campaigns and agents whose rewards are worth known multiples: told as draws, shown in money."""

import numpy as np
import pytest

import unimodal as um
from unimodal.agents.known_arms import known_records
from unimodal.agents.propensity import propensity
from unimodal.campaigns.simulated_campaign import simulated_campaign

LADDER = um.graphs.from_edges([("9.90", "12.90"), ("12.90", "14.90"), ("14.90", "19.90")])
PRICES = {label: float(label) for label in LADDER.labels}
MONEY = um.Scaled(um.Bernoulli(), by=PRICES)
SOLD = {"9.90": 0.5, "12.90": 0.45, "14.90": 0.3, "19.90": 0.1}


def sell(campaign, visits, seed=0):
    rng = np.random.default_rng(seed)
    for decision in campaign.decide(visits):
        price = next(label for label in SOLD if label == decision.arm)
        campaign.reward(decision.id, float(rng.random() < SOLD[price]))


def test_a_campaign_is_told_sales_and_shows_money(tmp_path):
    file = tmp_path / "prices.db"
    with um.Campaign.open(file, um.UTS(), LADDER, MONEY, seed=1) as campaign:
        for number in range(20):
            sell(campaign, 20, number)
        shown = campaign.agent.arms()
        history = campaign.history().filter(rewarded())
        sales = dict(history.group_by("arm").agg(sold()).iter_rows())
        means = dict(shown.select("arm", "mean").iter_rows())
        assert means == pytest.approx({arm: PRICES[arm] * sales[arm] for arm in means})
        view = um.inspect(campaign)
        worth = sum(PRICES[arm] * reward for arm, reward in rows(history)) / len(history)
        assert float(view.facts["mean reward"]) == pytest.approx(worth, rel=1e-3)
        table = {row["arm"]: row for row in view.neighbourhood.iter_rows(named=True)}
        for arm, row in table.items():
            assert row["mean"] == pytest.approx(means[arm])
            assert row["low"] < row["mean"] < row["high"] <= PRICES[arm]
        timeline = view.timeline(1)
        assert timeline["mean"].item() == pytest.approx(worth)
    assert not um.verify(file).wrong
    with um.Campaign.open(file) as again:  # from the file alone
        assert again.agent.family == MONEY
        assert again.agent.arms().equals(shown)


def rewarded(column="reward"):
    import polars as pl

    return pl.col(column).is_not_null() & (pl.col(column) > 0 if column == "pulls" else True)


def sold():
    import polars as pl

    return pl.col("reward").mean()


def rows(history):
    return history.select("arm", "reward").iter_rows()


def test_factors_are_part_of_a_campaign(tmp_path):
    file = tmp_path / "prices.db"
    in_order = um.Scaled(um.Bernoulli(), by=list(PRICES.values()))
    with um.Campaign.open(file, um.UTS(), LADDER, in_order):
        pass
    for same in (in_order, MONEY):
        with um.Campaign.open(file, um.UTS(), LADDER, same) as campaign:
            assert campaign.agent.family == MONEY
    other = um.Scaled(um.Bernoulli(), by=PRICES | {"9.90": 9.5})
    with pytest.raises(um.UnimodalError, match="is another campaign: its rewards are"):
        um.Campaign.open(file, um.UTS(), LADDER, other)


def test_a_new_price_needs_a_factor(tmp_path):
    edges = [("19.90", "24.90")]
    with um.Campaign.open(tmp_path / "by.db", um.UTS(), LADDER, MONEY) as campaign:
        sell(campaign, 30)
        before = campaign.history()
        with pytest.raises(um.UnimodalError, match=r"got none for '24.90'"):
            campaign.add_edges(edges)
        assert campaign.history().equals(before) and campaign.agent.graph.n_arms == 4
        campaign.retire("9.90")  # and its factor stays, for its history
        sell(campaign, 30)
        assert float(um.inspect(campaign).facts["mean reward"]) > 2
    by_label = um.Scaled(um.Bernoulli(), by=float)
    with um.Campaign.open(tmp_path / "float.db", um.UTS(), LADDER, by_label) as campaign:
        sell(campaign, 30)
        campaign.add_edges(edges)
        told = [decision for decision in campaign.decide(5) if decision.arm == "24.90"]
        campaign.reward(told[0].id, 1.0)
        assert dict(campaign.agent.arms().select("arm", "mean").iter_rows())["24.90"] == 24.9
    assert not um.verify(tmp_path / "float.db").wrong
    with um.Campaign.open(tmp_path / "float.db") as campaign:
        assert dict(campaign.agent.arms().select("arm", "mean").iter_rows())["24.90"] == 24.9


def test_an_agent_goes_on_from_its_file(tmp_path):
    agent, rng = um.Agent(um.UTS(), LADDER, MONEY, seed=4), np.random.default_rng(4)
    for _ in range(100):
        price = agent.ask()
        agent.tell(price, float(rng.random() < SOLD[price]))
    again = um.Agent.load(agent.save(tmp_path / "agent.json"))
    for _ in range(100):
        price = agent.ask()
        assert again.ask() == price
        sale = float(rng.random() < SOLD[price])
        agent.tell(price, sale)
        again.tell(price, sale)
    assert again.arms().equals(agent.arms())


def test_propensities_are_those_of_draws_in_money():
    agent = um.Agent(um.UTS(), LADDER, MONEY, seed=1)
    for price, sales in (("9.90", 5), ("12.90", 4), ("14.90", 3), ("19.90", 2)):
        agent.tell([price] * 10, [1.0] * sales + [0.0] * (10 - sales))
    arms = agent._player.state.arms
    found = [propensity(agent.policy, agent.family, arms, range(4), arm) for arm in range(4)]
    rng = np.random.default_rng(1)
    sales = np.array([5, 4, 3, 2])
    drawn = np.array(list(PRICES.values())) * rng.beta(1 + sales, 11 - sales, (100_000, 4))
    share = np.bincount(drawn.argmax(axis=1), minlength=4) / 1e5
    assert sum(found) == pytest.approx(1.0, abs=1e-5)
    assert found == pytest.approx(share, abs=0.01)  # six standard errors


def test_arms_that_draw_nothing_but_their_top_tie_only_with_equal_prices():
    """NPTS before any failure: the highest price wins, by lot if there are two."""
    labels = ("a", "b", "c", "d")
    graph = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    money = um.Scaled(um.Bernoulli(), by=dict(zip(labels, (5, 9, 9, 5), strict=True)))
    agent = um.Agent(um.NPTS(), graph, money, seed=1)
    law = (agent.policy, agent.family, agent._player.state.arms, range(4))
    assert [propensity(*law, arm) for arm in range(4)] == pytest.approx([0, 0.5, 0.5, 0], abs=1e-6)
    assert {agent.ask() for _ in range(20)} == {"b", "c"}


@pytest.mark.parametrize("leaves", [8, 200])
def test_behind_a_neighbour_function_arms_are_met_with_their_factors(leaves):
    """A star; of 200 leaves there are more than there is room for at first."""
    by = {arm: 1.0 + arm for arm in range(leaves + 1)}
    money = um.Scaled(um.Bernoulli(), by=by)

    def near(arm):
        return range(1, leaves + 1) if arm == 0 else [0]

    agent = um.Agent(um.UTS(start="literal"), near, money, root=0, seed=1)
    few = known_records(agent, um.graphs.line(3))["factor"].tolist()
    assert few == [1.0, 2.0, 3.0] and agent.known_arms == 1
    for _ in range(60):
        agent.tell(agent.ask(), 1.0)
    shown = dict(agent.arms().filter(rewarded("pulls")).select("arm", "mean").iter_rows())
    assert len(shown) > 1 and shown == {arm: by[arm] for arm in shown}
    wider = um.graphs.line(leaves + 1)  # of which it has met some, or may have forgotten some
    assert known_records(agent, wider)["factor"].tolist() == list(by.values())
    narrow = um.Agent(um.UTS(start="literal"), near, um.Scaled(um.Bernoulli(), by={0: 1.0}), root=0)
    with pytest.raises(um.UnimodalError, match="got none for"):
        for _ in range(3):
            narrow.tell(narrow.ask(), 1.0)


def test_a_campaign_behind_a_neighbour_function(tmp_path):
    """Labels are the factors; a root without one is refused before there is a file."""

    def near(price):
        return [other for other in (price - 1, price + 1) if 1 <= other <= 9]

    money, policy = um.Scaled(um.Bernoulli(), by=float), um.UTS(start="probe(3)")
    with um.Campaign.open(tmp_path / "a.db", policy, near, money, root=5, seed=1) as campaign:
        for _ in range(150):
            decision = campaign.decide()
            campaign.reward(decision.id, 1.0)
        assert campaign.agent.leader == 9
    with um.Campaign.open(tmp_path / "a.db", graph=near) as campaign:
        shown = campaign.agent.arms()
        assert dict(shown.select("arm", "mean").iter_rows())[9] == 9.0
    view = um.inspect(tmp_path / "a.db")
    assert float(view.facts["mean reward"]) > 5
    every = range(view.graph.n_arms)
    shown = {float(row["arm"]): row for row in view.table(every).iter_rows(named=True)}
    for price, row in shown.items():  # the posterior after n sales and no refusal
        assert row["high"] == pytest.approx(price * 0.975 ** (1 / (row["pulls"] + 1)))
    with pytest.raises(um.UnimodalError, match="got none for 5"):
        other = um.Scaled(um.Bernoulli(), by={4: 4.0})
        um.Campaign.open(tmp_path / "b.db", policy, near, other, root=5)
    assert not (tmp_path / "b.db").exists()


def test_a_campaign_is_replayed_in_money():
    means = {label: PRICES[label] * SOLD[label] for label in PRICES}
    campaign = simulated_campaign(um.UTS(), um.Problem(LADDER, means, MONEY), 400, seed=1)
    found = um.replay(campaign, [], draws=20, one_peak=False, progress=False)
    sales = dict(campaign.agent.arms().select("arm", "mean").iter_rows())
    pulls = dict(campaign.agent.arms().select("arm", "pulls").iter_rows())
    assert found.earned == pytest.approx(sum(sales[arm] * pulls[arm] for arm in sales))
    low, high = found.estimates[0].interval
    assert low < 400 * max(means.values()) and high > 400 * min(means.values()) and high < 3500
    with pytest.raises(um.UnimodalError, match="pass one_peak=False"):
        um.replay(campaign, [], progress=False)
