"""Past data and told rewards in a campaign: in its log, once, and folded like all else."""

import json
import re
import sqlite3

import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.agents.saving import whole_state
from unimodal.campaigns import look, verify
from unimodal.campaigns.certifying import _by_first_pull
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.campaigns.upkeep.verify import sentence
from unimodal.cli import app
from unimodal.errors import DamagedFile, OtherCampaign
from unimodal.history_analysis.replay.logged_rewards import read
from unimodal.inspection import page
from unimodal.service.campaigns.catalog import FolderCatalog
from unimodal.service.campaigns.followed_logs import FollowedLogs
from unimodal.service.dashboard.arms_shown import arms_shown, known
from unimodal.service.dashboard.campaign_shown import row
from unimodal.service.dashboard.findings import certificate_shown
from unimodal.service.dashboard.log_summary import LogSummary
from unimodal.service.dashboard.watched import Watched

LINE = um.graphs.line(7)
DATA = {0: (40, 4), 2: (40, 20), 3: (40, 30), 4: (40, 16)}
QUICK = {"durability": "fast", "clock": lambda: 0.0}


def change(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
        connection.execute("DELETE FROM snapshots")
    connection.close()


def test_data_are_the_first_event_and_the_state_is_their_fold(path, start, play):
    with start(data=um.PastData(DATA, weight=0.5)) as campaign:
        play(campaign, 40)
        first = campaign.history().row(0, named=True)
        state = whole_state(campaign.agent)
        assert campaign.agent.past.pulls.sum() == 80 and campaign.agent.round == 40
        assert "past" in campaign.arms().columns
    assert (first["kind"], first["seq"]) == ("data", 1) and first["decision"] is None
    written = json.loads(first["data"])
    assert written.pop("counted") == pytest.approx([4.00, 20.00, 29.99, 16.01], abs=0.01)
    assert written == {
        "weight": 0.5,
        "certify": False,
        "columns": ["arm", "count", "total"],
        "rows": [[arm, count, total] for arm, (count, total) in DATA.items()],
        "one_peak": True,
    }
    assert whole_state(look(path).agent) == state
    change(path, "SELECT 1")  # without snapshots: folded from the first event on
    assert whole_state(look(path).agent) == state
    verdict = verify(path)
    assert verdict and verdict.counts["data"] == 1


def test_an_agent_with_the_data_decides_the_same(start, play, value_of):
    agent = um.Agent(um.UTS(), LINE, seed=4, data=DATA, clock=lambda: 0.0)
    with start(data=DATA) as campaign:
        made = play(campaign, 30)
    assert made == [agent.decide() for _ in range(30)]


def test_the_same_data_again_are_fine_in_any_form_and_count_once(path, start, reopen, play):
    with start(data=DATA) as campaign:
        play(campaign, 20)
    rows = [(arm, float(n < total)) for arm, (count, total) in DATA.items() for n in range(count)]
    frame = pl.DataFrame(rows, schema=["arm", "reward"], orient="row").reverse()
    for given in ({}, {"data": DATA}, {"data": frame}, {"data": um.PastData(DATA)}):
        with reopen(**given) as campaign:
            assert campaign.agent.past.pulls.sum() == 160
            assert campaign.arms()["pulls"].sum() == 180
    assert verify(path).counts["data"] == 1


@pytest.mark.parametrize(
    "data",
    [
        {0: (40, 4)},
        DATA | {0: (40, 5)},
        DATA | {5: (1, 0)},
        um.PastData(DATA, weight=0.5),
        um.PastData(DATA, certify=True),
    ],
)
def test_other_data_are_refused_and_change_nothing(path, start, reopen, play, data):
    with start(data=DATA) as campaign:
        play(campaign, 3)
    before = look(path).history()
    with pytest.raises(OtherCampaign, match="it has other past data"):
        reopen(data=data)
    assert look(path).history().equals(before)


def test_data_for_a_file_that_began_without_are_refused(path, start, reopen):
    start().close()
    with pytest.raises(OtherCampaign, match="it has none"):
        reopen(data=DATA)
    assert verify(path)


@pytest.mark.parametrize(
    ("data", "words"), [({9: (1, 1)}, "from 0 to 6, got 9"), ({0: (1, 2)}, "between 0 and 1")]
)
def test_a_mistake_leaves_no_file_behind(path, start, data, words):
    with pytest.raises(um.UnimodalError, match=words):
        start(data=data)
    assert not path.exists()


def test_data_stay_with_their_arms_when_the_graph_changes(path, start, reopen, play):
    graph = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    data = {"a": (10, 1), "b": (20, 15), "d": (10, 2)}
    with start(graph, data=data) as campaign:
        play(campaign, 10)
        campaign.add_edges([("c", "e")])
        campaign.retire("a")
        table = campaign.arms()
        past = dict(zip(table["arm"], table["past"], strict=True))
        assert past["b"] == 20 and past["d"] == 10 and "a" not in past
        play(campaign, 10)
    with reopen(data=data) as campaign:  # compared on the graph that it began with
        assert campaign.agent.past.pulls.sum() == 30
        campaign.retire("d")
        campaign.add_edges([("b", "f")])
    assert verify(path)
    change(path, "SELECT 1")
    assert look(path).agent.past.pulls.sum() == 20


def test_single_rewards_for_npts_are_in_the_log(path):
    data = [(1, 0.25), (0, 0.5), (1, 0.125)]
    with um.Campaign.open(path, um.NPTS(), LINE, um.Bounded(), data=data, **QUICK) as campaign:
        campaign.decide(5)
        written = json.loads(campaign.history()["data"][0])
    assert written["rows"] == [[0, 0.5], [1, 0.125], [1, 0.25]]
    assert written["columns"] == ["arm", "reward"]
    with um.Campaign.open(path, data=data[::-1], **QUICK) as campaign:
        assert campaign.agent.past.pulls.sum() == 3
    assert verify(path)


def test_backups_have_them(path, tmp_path, start, play):
    with start(data=DATA) as campaign:
        play(campaign, 5)
        copy = campaign.backup(tmp_path / "copy.db")
    assert look(copy).agent.past.pulls.sum() == 160 and verify(copy)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE log SET data = '{}' WHERE seq = 1", "event 1 .* must be past data, got '{}'"),
        ("UPDATE log SET data = '[1' WHERE seq = 1", "must be past data"),
        ("UPDATE log SET data = NULL WHERE seq = 1", "with data None"),
        (
            "UPDATE log SET data = replace(data, '40,', '-40,') WHERE seq = 1",
            "cannot be .* got -40",
        ),
        ("UPDATE log SET data = replace(data, 'nted\": [', 'nted\": [1,')", "4 arms .* got 5"),
        ("UPDATE log SET data = replace(data, 'nted\": [', 'nted\": [9')", "cannot have the total"),
        ("UPDATE log SET data = replace(data, 'nted\": [', 'nted\": {')", "must be past data"),
        ("UPDATE log SET data = replace(data, '[0,', '[9,') WHERE seq = 1", "from 0 to 6, got 9"),
        ("UPDATE log SET data = replace(data, '1.0', '7.0') WHERE seq = 1", "must be past data"),
        ("UPDATE log SET kind = 'open' WHERE seq = 1", "makes it decision 1"),
        (
            "UPDATE log SET kind = 'data', data = (SELECT data FROM log WHERE seq = 1) "
            "WHERE seq = 2",
            "event 2 .* which only the first can be",
        ),
    ],
)
def test_data_that_were_changed_by_hand_are_told(path, start, play, statement, words):
    with start(data=DATA) as campaign:
        play(campaign, 3)
    change(path, statement)
    assert re.search(words, verify(path).wrong[0])
    if not words.startswith("makes"):  # other decisions are followed; only `verify` refuses them
        with pytest.raises(DamagedFile):
            look(path)


def rewritten(path, change_data):
    """Write the first event anew, and leave out the snapshots."""
    with sqlite3.connect(path) as connection:
        (text,) = connection.execute("SELECT data FROM log WHERE seq = 1").fetchone()
        data = change_data(json.loads(text))
        connection.execute("UPDATE log SET data = ? WHERE seq = 1", [json.dumps(data)])
        connection.execute("DELETE FROM snapshots")
    connection.close()


def test_what_was_read_when_the_log_began_is_not_computed_again(path, start, reopen):
    """Another machine may compute another last digit; the log has the digits that count."""
    start(data=DATA).close()
    rewritten(path, lambda data: {**data, "counted": [3.0, 20.5, 29.5, 17.5]})
    with reopen(data=DATA) as campaign:
        assert campaign.agent.past.totals[[0, 2, 3, 4]].tolist() == [3.0, 20.5, 29.5, 17.5]


@pytest.mark.parametrize("policy", [um.UTS(), um.PeakUTS()])
def test_logs_from_before_one_peak_was_read_fold_as_they_did(path, reopen, policy):
    um.Campaign.open(path, policy, LINE, **QUICK, data=DATA).close()
    before = ("weight", "certify", "columns", "rows")
    rewritten(path, lambda data: {key: data[key] for key in before})
    for given in ({}, {"data": DATA}):
        with reopen(**given) as campaign:
            arms = campaign.agent._player.state.arms
            assert arms["total"][list(DATA)].tolist() == [total for _, total in DATA.values()]
            assert arms["leads"].sum() == 0


def test_leads_of_peak_uts_begin_with_the_data(path):
    data = um.PastData(DATA, weight=0.5)
    with um.Campaign.open(path, um.PeakUTS(), LINE, **QUICK, data=data) as campaign:
        leads = campaign.agent._player.state.arms["leads"]
        assert leads.tolist() == [20, 0, 20, 20, 20, 0, 0]
        forced = next(d for d in campaign.decide(30) if d.reason == "forced leader")
        assert "before, past rewards included." in str(campaign.explain(forced.id))
    assert look(path).agent._player.state.arms["leads"].sum() == 110


def test_data_without_rows_are_none_and_can_be_opened_again(path, start, reopen):
    start(data={}).close()
    change(path, "SELECT 1")
    with reopen(data={}) as campaign:
        assert not campaign.agent.past.pulls.any()
    assert verify(path)


@pytest.mark.parametrize(
    "other", [{"certify": True}, {"one_peak": False}, {"one_peak": None}, {"counted": [-1.0] * 4}]
)
def test_totals_that_data_cannot_count_with_are_told(path, start, other):
    start(data=DATA).close()
    rewritten(path, lambda data: {**data, **other})
    assert not verify(path)


def file_format(path):
    with sqlite3.connect(path) as connection:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("data", "tells", "expected"), [(None, 0, 2), (DATA, 0, 3), (None, 1, 3), (None, 30, 3)]
)
def test_older_versions_refuse_a_file_with_events_that_they_do_not_know(
    path, start, reopen, play, data, tells, expected
):
    """They read format 2 only; behind a snapshot they would not meet the event."""
    with start(data=data) as campaign:
        play(campaign, 30)
        assert file_format(path) == (3 if data else 2)
        for _ in range(tells):
            campaign.tell(3, 1.0)
        assert file_format(path) == expected
    assert verify(path)
    with reopen() as campaign:
        play(campaign, 1)
    assert file_format(path) == expected


# Rewards that are told without a decision.


def test_told_rewards_are_learnt_logged_and_folded(path, start, reopen, play, pulls):
    with start() as campaign:
        play(campaign, 10)
        before = pulls(campaign)
        campaign.tell(3, 1.0)
        campaign.tell([3, 5], [0.0, 1.0])
        after = pulls(campaign)
        assert after[3] == before.get(3, 0) + 2 and after[5] == before.get(5, 0) + 1
        play(campaign, 10)
        state = whole_state(campaign.agent)
        log = campaign.history().filter(pl.col("kind") == "tell")
        assert campaign.agent.round == 20 and campaign.outstanding == 0
    assert log.select("arm", "reward", "decision").rows() == [
        ("3", 1.0, None),
        ("3", 0.0, None),
        ("5", 1.0, None),
    ]
    change(path, "SELECT 1")
    assert whole_state(look(path).agent) == state
    verdict = verify(path)
    assert verdict and "told without a decision: 3)" in sentence(verdict)
    with reopen() as campaign:
        assert pulls(campaign)[3] >= 2


def test_told_rewards_are_seen_by_another_process(path, start, reopen, pulls):
    """Two handles on one file: each learns what the other was told, and decides the same."""
    with start() as one, reopen() as two:
        for _ in range(25):  # enough to be taken for alone, and then not to be
            one.tell(3, 1.0)
        two.tell(5, 0.0)
        one.tell(5, 1.0)
        assert pulls(one) == pulls(two) == {3: 25, 5: 2}


@pytest.mark.parametrize(
    ("arm", "reward", "words"),
    [
        (9, 1.0, "from 0 to 6, got 9"),
        (3, 0.5, "must be 0 or 1"),
        (3, None, "between 0 and 1"),
        ([3, 4], [1.0, 2.0], "between 0 and 1, got 2.0"),
        ([3, 4], [1.0], "as many arms as rewards"),
        (3, [1.0, 0.0], "got 3 for a batch"),
    ],
)
def test_a_told_reward_with_a_mistake_is_refused_as_a_whole(path, start, arm, reward, words):
    with start() as campaign:
        campaign.decide()
        before = whole_state(campaign.agent)
        with pytest.raises(um.UnimodalError, match=words):
            campaign.tell(arm, reward)
        assert whole_state(campaign.agent) == before
        assert "tell" not in campaign.history()["kind"].to_list()
    assert verify(path)


def test_npts_learns_told_rewards_one_by_one(path):
    with um.Campaign.open(path, um.NPTS(), LINE, um.Bounded(), **QUICK) as campaign:
        campaign.tell([1, 2, 1], [0.5, 0.25, 0.75])
        campaign.decide(3)
        campaign.tell(0, 0.125)
    change(path, "SELECT 1")
    assert verify(path)
    assert whole_state(look(path).agent)["seen"] == [(1, 0.5), (2, 0.25), (1, 0.75), (0, 0.125)]


def neighbours(arm):
    return [arm - 1, arm + 1]


def test_behind_a_neighbour_function_arms_that_were_met_can_be_told_of(path):
    with um.Campaign.open(path, graph=neighbours, root=0, **QUICK) as campaign:
        met = campaign.decide().arm
        campaign.tell(met, 1.0)
        campaign.decide(3)
        with pytest.raises(um.UnimodalError, match="has not met an arm"):
            campaign.tell(999, 1.0)
    assert verify(path)
    change(path, "SELECT 1")
    assert look(path).agent.arms()["pulls"].sum() == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("reward = 0.5", "must be 0 or 1, got 0.5"),
        ("reward = NULL", "with reward None"),
        ("arm = 9", "tells a reward of arm 9, which there is not"),
        ("arm = '3'", "tells a reward of arm '3', which there is not"),
        ("arm = NULL", "with arm None"),
        ("decision = 1", "with decision 1"),
        ("near = 1", "with near 1"),
        ("data = ''", "with data ''"),
    ],
)
def test_a_told_reward_that_was_changed_by_hand_is_told(path, start, reopen, values, words):
    with start() as campaign:
        campaign.tell(3, 1.0)
    change(path, f"UPDATE log SET {values} WHERE kind = 'tell'")
    assert words in verify(path).wrong[0]
    with pytest.raises(DamagedFile, match="event 2 of"):
        reopen()


def test_a_told_reward_of_nobody_before_a_snapshot_is_told_by_readers(path, start):
    with start() as campaign:
        campaign.tell(3, 1.0)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE log SET arm = 99 WHERE kind = 'tell'")
    connection.close()
    with pytest.raises(DamagedFile, match="events of an arm '99', which its graph never had"):
        look(path)


def test_readers_count_them_apart(start, play):
    with start(data=DATA) as campaign:
        play(campaign, 200)
        campaign.tell([3, 3], [1.0, 1.0])
        facts = um.inspect(campaign).facts
        found = read(campaign)
    assert facts["decisions"] == facts["rewards"] == "200"
    assert facts["told without a decision"] == "2" and facts["pulls from past data"] == "160"
    assert found.rounds == 200
    assert (
        "2 rewards that were told without a decision and past data that count as 160 pulls are "
        "left out: no candidate begins with them." in found.notes
    )


# A year of visitors at three prices, and five new sales at the cheapest.
PRICES, LAST_YEAR = (
    um.graphs.from_edges([("9.90", "14.90"), ("14.90", "18.90")]),
    {
        "9.90": (400, 120),
        "14.90": (400, 130),
        "18.90": (400, 160),
    },
)


def led_by_past(path, told=5, **data):
    """A campaign whose leader comes from past data, and its best mean from new rewards."""
    money, data = um.Scaled(um.Bernoulli(), by=float), um.PastData(LAST_YEAR, **data)
    campaign = um.Campaign.open(path, um.PeakUTS(), PRICES, money, data=data, seed=1, **QUICK)
    campaign.tell(["9.90"] * told, [1.0] * told)
    campaign.decide()
    return campaign


def test_a_certificate_says_that_it_goes_by_new_rewards_only(path):
    """*Leads* is said of the campaign's leader alone; of the certificate's arm, its mean."""
    with led_by_past(path) as campaign:
        assert campaign.agent.leader == "18.90"
        found = campaign.certificate()
        assert found.leader == "9.90" and found.rewards == 5 and found.past == 1200
        words = str(found)
        assert "9.90 has the best mean, by new rewards only, but 14.90 may be better" in words
        assert "Past data, as 1,200 rewards, do not count here." in words
        assert "Posterior with past data, not part of the certificate: below 0.1 %" in words
        assert "lead" not in words and "lead" not in found._repr_html_()
        assert "9.90" in campaign.certificate(tolerance=1e9).__str__()
    shown = CliRunner().invoke(app, ["certify", str(path)])
    assert "best mean, by new rewards only" in " ".join(shown.output.split())
    assert "best mean" in shown.output and "leads" not in shown.output


def test_without_past_data_or_where_they_count_nothing_is_new_only(tmp_path):
    with led_by_past(tmp_path / "counted.db", certify=True, weight=1.0) as campaign:
        found = campaign.certificate()
        assert found.past == 0 and found.leader == campaign.agent.leader == "18.90"
        assert "only" not in str(found) and "do not count" not in str(found)
    money = um.Scaled(um.Bernoulli(), by=float)
    agent = um.Agent(um.PeakUTS(), PRICES, money, seed=1)
    agent.tell("9.90", 1.0)
    assert "9.90 has the best mean, but" in str(agent.certificate())
    agent = um.Agent(um.PeakUTS(), PRICES, money, data=um.PastData(LAST_YEAR), seed=1)
    agent.tell("9.90", 1.0)
    assert "9.90 has the best mean, by new rewards only, but" in str(agent.certificate())


@pytest.mark.parametrize("counts", [True, False])
def test_arms_are_numbered_by_their_first_pull_and_past_ones_count_where_they_do(start, counts):
    """A changed graph shares the probability of an error by these numbers."""
    with start(data=um.PastData({6: (5, 2.0)}, certify=counts)) as campaign:
        for arm in (3, 6, 2):
            campaign.tell(arm, 1.0)
        arm_of = {str(n): n for n in range(7)}
        found = campaign._followed(lambda agent, log: _by_first_pull(agent, log, arm_of))
    expected = {6: 1, 3: 2, 2: 3} if counts else {3: 1, 6: 2, 2: 3}
    assert found.numbers.tolist() == [expected.get(arm, 0) for arm in range(7)]


def test_past_pulls_are_shown_apart_and_are_no_rounds_led(path):
    with led_by_past(path) as campaign:
        for decision in campaign.decide(3):
            campaign.reward(decision.id, 0.0)
        view = um.inspect(campaign)
        rows = {row["arm"]: row for row in view.table(range(3)).iter_rows(named=True)}
        assert [rows[arm]["past"] for arm in PRICES.labels] == [400, 400, 400]
        assert rows["9.90"]["pulls"] == 405 and rows["9.90"]["leads"] == 0
        assert sum(row["leads"] for row in rows.values()) == 4
        columns, table = page.near_columns(view), {row[0]: row for row in page.near_rows(view)}
        assert columns[:3] == ("arm", "pulls", "past pulls")
        assert table["18.90"][2] == "400" and int(table["18.90"][1]) <= 4
        assert "9.90: 5 pulls and 400 from past data, mean" in str(um.inspect(campaign, "9.90"))
        drawn = arms_shown(known(campaign.agent))["arms"]
        assert [(arm["pulls"], arm["past"]) for arm in drawn][:1] == [(405, 400)]
        assert sum(arm["leads"] for arm in drawn) == 4
    plain = um.inspect(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=50))
    assert "past" not in plain.table([0]).columns and "past pulls" not in page.near_columns(plain)


def test_the_dashboard_tells_of_the_leader_what_is_certified_of_the_leader(path):
    with led_by_past(path, told=30) as campaign:
        campaign.reward(1, 0.0)  # whose decision the following would wait for
        campaign.tell(["14.90"] * 30, [0.0] * 30)
        view = um.inspect(campaign)
    assert view.certificate.level > 0  # of 9.90, which does not lead
    shown = certificate_shown(view.agent, view.certificate)
    assert (shown["arm"], shown["is_leader"], shown["level"]) == ("9.90", False, 0.0)
    assert shown["past"] == 1200
    one = Watched("prices", FollowedLogs(FolderCatalog(path.parent), LogSummary).of("prices"))
    one.findings.certificate = shown | {"certified": True}
    assert row(one, False)["certified"] is False and row(one, False)["level"] == 0.0
    agree = um.inspect(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=300))
    told = certificate_shown(agree.agent, agree.certificate)
    assert told["is_leader"] and told["level"] == agree.certificate.level and told["past"] == 0
