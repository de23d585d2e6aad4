"""`um.inspect` and `unimodal inspect`."""

import itertools
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.campaigns import Reading
from unimodal.campaigns.events import Decided
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.cli import app
from unimodal.inspection import timeline
from unimodal.report import campaign_figures, figures

NASTY = ["<b>&", "[/red]", "c" * 40, "d", "e"]


@pytest.fixture(scope="module")
def campaign():
    graph = um.graphs.from_edges(list(itertools.pairwise(NASTY)))
    problem = um.problems.by_distance(graph, peak="[/red]", high=0.8, low=0.1)
    return simulated_campaign(um.UTS(), problem, rounds=2000, seed=2)


def test_the_neighbourhood_is_that_of_the_leader(campaign):
    view = um.inspect(campaign)
    table = view.neighbourhood
    assert view.label == campaign.agent.leader == "[/red]"
    assert set(table["arm"]) == {"<b>&", "[/red]", "c" * 40} and table["arm"][0] == view.label
    known = {row["arm"]: row for row in campaign.agent.arms().iter_rows(named=True)}
    for row in table.iter_rows(named=True):
        assert row["pulls"] == known[row["arm"]]["pulls"]
        assert row["low"] < row["mean"] < row["high"]


def test_around_another_arm_and_around_none(campaign):
    assert um.inspect(campaign, around="e").neighbourhood["arm"].to_list() == ["e", "d"]
    with pytest.raises(um.UnimodalError, match="must be one of this campaign's, such as <b>&"):
        um.inspect(campaign, around="f")


def test_where_nobody_leads_the_most_pulled_arm_is_shown():
    campaign = simulated_campaign(um.TS(), um.problems.triangular(5), rounds=500)
    view = um.inspect(campaign)
    assert view.label == "2" and "nobody leads" in view.why
    assert timeline.path(view.history) == (0, [])
    assert "Nobody led" in view.html()


def test_the_page_is_whole_and_escapes_labels(campaign):
    page = um.inspect(campaign).html()
    assert "&lt;b&gt;&amp;" in page and "<b>&<" not in page
    assert "://" not in page.replace("http://www.w3.org", "")  # nothing is fetched
    start = page.index("<svg viewBox")
    picture = ElementTree.fromstring(page[start : page.index("</svg>", start) + 6])
    assert len(picture.findall(".//{*}circle")) == 5


def test_parts_hold_all_events_and_stay_few(campaign):
    view = um.inspect(campaign)
    for bins in (1, 12, 60):
        parts = view.timeline(bins)
        assert parts.height == bins and parts["decisions"].sum() == 2000
        assert parts["until"][-1] == 2000
        total = (parts["mean"] * parts["rewards"]).sum()
        assert total == pytest.approx(view.history["reward"].sum())
    names, shares = timeline.shares(view.history, 12)
    assert shares.shape == (len(names), 12)
    assert shares.sum(axis=0) == pytest.approx(np.ones(12))


def test_a_million_events_are_cut_into_the_same_few_parts(campaign):
    rows = um.inspect(campaign).history
    made = rows["decision"].max()
    copies = [rows.with_columns(decision=pl.col("decision") + made * n) for n in range(250)]
    long = pl.concat(copies).with_columns(seq=pl.int_range(pl.len()))
    assert long.height == 1_000_000
    view = um.View(campaign.agent, um.inspect(campaign).graph, long, 1, "a test")
    assert view.timeline(60).height == 60
    assert len(view.html()) < 400_000


def test_who_passed_by_is_left_out_of_the_path():
    leaders = ["a"] * 500 + ["b"] * 3 + ["a"] * 100 + ["c"] * 400
    history = pl.DataFrame({"seq": range(len(leaders)), "leader": leaders})
    assert timeline.path(history) == (3, ["a", "c"])
    names, shares = timeline.shares(history, 2, most=2)
    assert names == ["a", "c", "1 others"] and shares.sum() == pytest.approx(2.0)


def test_tuples_are_written_as_the_log_writes_them():
    graph = um.graphs.from_edges([((0, 0), (0, 1)), ((0, 1), (0, 2))])
    campaign = simulated_campaign(um.UTS(), um.Problem(graph, [0.1, 0.5, 0.9]), rounds=200)
    view = um.inspect(campaign)
    assert view.label == "[0, 2]" == view.timeline(1)["leader"].item()
    for written in ((0, 1), "(0, 1)", "[0, 1]"):
        assert um.inspect(campaign, around=written).label == "[0, 1]"


def test_arms_that_were_forgotten_were_met_all_the_same():
    oracle = um.Oracle(lambda arm: [arm - 1, arm + 1], root=0, cache=2)
    agent = um.Agent(graph=oracle)
    agent.ask(5)
    facts = um.inspect(Reading(Path("none"), agent, [])).facts
    assert int(facts["arms met"]) == agent.known_arms > 10


def test_a_campaign_in_which_nothing_happened():
    agent = um.Agent(um.UTS(), um.graphs.line(4))
    view = um.inspect(Reading(Path("none"), agent, []))
    assert "Nothing has happened yet" in view.html() and "decisions 0" in str(view)


def test_a_first_decision_without_a_reward_has_no_picture_of_rewards():
    agent, events = um.Agent(um.UTS(), um.graphs.line(4)), []
    agent.recorder = lambda _, *what: events.append(Decided.recorded(1, *what).row())
    agent.decide()
    view = um.inspect(Reading(Path("none"), agent, events))
    assert view.why.startswith("no rewards yet") and "Mean reward of each part" not in view.html()


def test_the_page_of_one_decision_has_no_empty_plot():
    problem = um.problems.triangular(5)
    one, two = (simulated_campaign(um.UTS(), problem, rounds=rounds) for rounds in (1, 2))
    assert "<figure" not in um.inspect(one).html().split("</svg>", 1)[1]
    assert "<figure" in um.inspect(two).html().split("</svg>", 1)[1]


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["9.90", "12.90", "102.90", "14.90"], ["9.90", "12.90", "14.90", "102.90"]),
        (["dear", "fair", "cheap", "free"], ["dear", "fair", "cheap", "free"]),
    ],
)
def test_leaders_stand_in_the_order_of_their_numbers_or_of_the_graph(labels, order, monkeypatch):
    """And not in that of their first lead."""
    graph = um.graphs.from_edges(list(itertools.pairwise(labels)))
    campaign = simulated_campaign(um.UTS(), um.Problem(graph, [0.2, 0.4, 0.6, 0.8]), rounds=400)
    view, shown = um.inspect(campaign), []
    monkeypatch.setattr(
        campaign_figures,
        "leaders_over_time",
        lambda until, names, shares: shown.append((names, shares)) or figures.new_axes(2, 2).figure,
    )
    view.html()
    (names, shares), (before, unsorted) = (
        shown[0],
        timeline.shares(view.history, shown[0][1].shape[1]),
    )
    assert names == [label for label in order if label in names] and len(names) > 2
    for name, row in zip(names, shares, strict=True):
        assert (row == unsorted[before.index(name)]).all()


@pytest.mark.parametrize("far", [1.7e18, -1e15, 1e300])
def test_a_clock_that_no_calendar_has_is_shown_in_seconds(far):
    agent, events = um.Agent(um.UTS(), um.graphs.line(4), clock=lambda: far), []
    agent.recorder = lambda _, *what: events.append(Decided.recorded(1, *what).row())
    agent.decide()
    assert f"{far:.6g} s" in um.inspect(Reading(Path("none"), agent, events)).html()


def test_labels_in_a_crowd_differ_and_are_not_cut_off():
    names = [f"customer-{number:04d}-eu" for number in range(45)]
    graph = um.graphs.from_edges([(names[0], name) for name in names[1:]])
    problem = um.Problem(graph, [0.8] + [0.3] * 44)
    page = um.inspect(simulated_campaign(um.UTS(), problem, rounds=300), around=names[0]).html()
    start = page.index("<svg viewBox")
    picture = ElementTree.fromstring(page[start : page.index("</svg>", start) + 6])
    texts = [text for text in picture.findall(".//{*}g/{*}text") if "…" in (text.text or "")]
    assert len({text.text for text in texts}) == 45
    wide = 7 * 12  # twelve letters of 12 px
    for text in texts:
        at, anchor = float(text.attrib["x"]), text.attrib["text-anchor"]
        left = at - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        assert left >= 0 and left + wide <= 640


def test_the_picture_has_no_empty_half():
    """The leader at a corner: below and to the left of it there is nothing to leave room for."""
    problem = um.problems.by_distance(um.graphs.grid(4, 4), peak=0, high=0.9, low=0.1)
    page = um.inspect(simulated_campaign(um.UTS(), problem, rounds=300), around=0).html()
    start = page.index("<svg viewBox")
    picture = ElementTree.fromstring(page[start : page.index("</svg>", start) + 6])
    height = float(picture.attrib["viewBox"].split()[3])
    ends = [float(circle.attrib["cy"]) for circle in picture.findall(".//{*}circle")]
    assert min(ends) < 60 and max(ends) > height - 120


@pytest.mark.filterwarnings("error")
def test_letters_that_matplotlib_has_no_font_for_are_left_to_the_browser():
    graph = um.graphs.from_edges([("東京", "🦄"), ("🦄", "京都")])
    page = um.inspect(
        simulated_campaign(um.UTS(), um.Problem(graph, [0.9, 0.5, 0.4]), rounds=60)
    ).html()
    assert page.count("東京") > 2


def test_expiries_that_count_as_zero_are_in_the_means(tmp_path):
    """Only successes are told: without the zeros every mean reward would be 1."""
    clock = itertools.count()
    options = {"time_to_live": 3, "on_expiry": "zero", "clock": lambda: next(clock)}
    with um.Campaign.open(tmp_path / "a.db", um.UTS(), um.graphs.line(3), **options) as campaign:
        for number in range(90):
            decision = campaign.decide()
            if number % 3 == 0:
                campaign.reward(decision.id, 1.0)
        view, waiting = um.inspect(campaign), campaign.outstanding
    assert view.facts["rewards"] == "30" and view.facts["expired, as 0"] == str(60 - waiting)
    assert float(view.facts["mean reward"]) == pytest.approx(30 / (90 - waiting), abs=1e-3)
    assert view.timeline(1)["mean"].item() == pytest.approx(30 / (90 - waiting))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("campaign") / "ads.db"
    graph = um.graphs.from_edges(list(itertools.pairwise(NASTY)))
    with um.Campaign.open(path, um.UTS(), graph, durability="fast") as campaign:
        for _ in range(60):
            made = campaign.decide(5)
            campaign.reward([one.id for one in made], [float(one.arm == "d") for one in made])
    return path


def test_a_file_can_be_looked_at_by_its_path(file):
    before = file.read_bytes()
    assert str(um.inspect(file)) == str(um.inspect(str(file))) and um.inspect(file).history.height
    assert file.read_bytes() == before


@pytest.mark.parametrize("wrong", [None, 5, um.Agent(um.UTS(), um.graphs.line(3)), um.Campaign])
def test_what_is_no_campaign_gets_a_sentence(wrong):
    for call in (um.inspect, lambda it: um.replay(it, um.TS())):
        with pytest.raises(um.UnimodalError, match=r"must be a campaign, .* or the path of its"):
            call(wrong)


@pytest.mark.parametrize("bins", [0, -1, None, "a", 1.5])
def test_a_wrong_number_of_parts_gets_a_sentence(campaign, bins):
    with pytest.raises(um.UnimodalError, match="'bins' of a timeline must be a whole number"):
        um.inspect(campaign).timeline(bins)


@pytest.mark.parametrize("options", [(), ("--around", "e")], ids=["leader", "around"])
def test_the_command(file, options, tmp_path):
    page = tmp_path / "page.html"
    before = file.read_bytes()
    shown = CliRunner().invoke(app, ["inspect", str(file), "--html", str(page), *options])
    assert shown.exit_code == 0, shown.exception
    for words in ("95 % interval", "Over time", "The lead changed", "page.html"):
        assert words in shown.output
    assert page.read_text().startswith("<!doctype html>")
    assert file.read_bytes() == before  # looking changes nothing


def test_the_interval_of_bounded_rewards_contains_the_mean_beside_it():
    family = um.Bounded(0, 20)
    problem = um.problems.triangular(7, high=family.high, low=family.low, family=family)
    for seed in range(20):
        campaign = simulated_campaign(um.UTS(), problem, rounds=40, seed=seed)
        table = um.inspect(campaign).table(range(7)).filter(pl.col("pulls") > 0)
        assert (table["low"] <= table["mean"]).all() and (table["mean"] <= table["high"]).all()
