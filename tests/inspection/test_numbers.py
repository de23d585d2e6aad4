"""What a view tells of a campaign whose every reward is known, in its tables and its picture."""

import dataclasses
import io
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from scipy import stats

import unimodal as um
from unimodal.campaigns import Reading
from unimodal.cli import inspect_output as command
from unimodal.inspection import graph_picture as picture
from unimodal.inspection import page
from unimodal.inspection.graph_layout import around
from unimodal.report import page as pages

# Pulls and wins of a star's arms: the middle 0 and its leaves 1 … 4; the last is never pulled.
PULLS, WINS = (40, 31, 100, 2, 0), (20, 3, 90, 2, 0)
KINDS = ["decide"] * 9 + ["reward"] * 4 + ["expire"] * 2
LEADERS = ["1", "1", "2", "1", "2", "2", None, None, None] + [None] * 6
REWARDS = [None] * 9 + [1.0, 0.0, 1.0, 1.0] + [None] * 2


@pytest.fixture(scope="module")
def view():
    """The agent has its rewards; the log is another one, to be read off."""
    agent = um.Agent(um.TS(), um.graphs.star(5))
    for arm, (pulls, wins) in enumerate(zip(PULLS, WINS, strict=True)):
        for number in range(pulls):
            agent.tell(arm, float(number < wins))
    history = pl.DataFrame(
        {
            "seq": range(15),
            "time": np.arange(15.0) * 3600,
            "kind": KINDS,
            "leader": LEADERS,
            "reward": REWARDS,
        }
    )
    return um.View(agent, agent.graph, history, 0, "a test")


def test_the_neighbourhood_has_the_middle_first_and_then_the_most_pulled(view):
    """Posteriors are Beta(1 + wins, 1 + losses)."""
    table = view.neighbourhood
    assert table["arm"].to_list() == ["0", "2", "1", "3", "4"]
    assert table["pulls"].to_list() == [40, 100, 31, 2, 0]
    assert table["mean"].to_list()[:4] == pytest.approx([0.5, 0.9, 3 / 31, 1.0])
    assert math.isnan(table["mean"][4])
    for row, arm in enumerate((0, 2, 1, 3, 4)):
        belief = stats.beta(1 + WINS[arm], 1 + PULLS[arm] - WINS[arm])
        assert (table["low"][row], table["high"][row]) == pytest.approx(belief.ppf([0.025, 0.975]))


def test_the_facts_are_counted_from_the_log(view):
    assert view.facts == {
        "policy": "TS",
        "decisions": "9",
        "rewards": "4",
        "waiting": "3",
        "expired": "2",
        "mean reward": "0.75",
        "arms": "5",
    }


def test_rows_as_people_read_them(view):
    middle, best, *_, never = page.near_rows(view)
    low, high = stats.beta(91, 11).ppf([0.025, 0.975])
    assert best[:4] == ("2", "100", "0.9", f"{low:.4g} … {high:.4g}")
    assert middle[:3] == ("0", "40", "0.5") and never[:3] == ("4", "0", "–")
    assert view.timeline().height == 12
    first, second, third = page.time_rows(view, 3)
    assert first == ("5", "1970-01-01 00:00", "1", "60 %", "0", "–")
    assert second == ("9", "1970-01-01 05:00", "2", "100 %", "1", "1")
    assert third == ("9", "1970-01-01 10:00", "–", "–", "3", "0.6667")
    assert page.span(view) == "From 1970-01-01 00:00 to 1970-01-01 14:00 (UTC)."
    assert page.path_sentence(view) == (
        "The lead changed 3 times; who held it for at least 1 % of the rounds, in order: "
        "1 → 2 → 1 → 2."
    )
    assert page.hidden(list(range(70)), 60) == (
        "10 more neighbours with fewer pulls are not listed."
    )
    assert page.hidden(list(range(60)), 60) == ""


def test_of_a_long_path_the_beginning_and_the_end_are_shown(view):
    """Twenty leaders: the first three and the last eight; of twelve all."""
    for leaders, shown in ((20, "0 → 1 → 2 → … → 12 → 13 → 14 → 15 → 16 → 17 → 18 → 19"), (12, "")):
        history = pl.DataFrame({"seq": range(leaders), "leader": list(map(str, range(leaders)))})
        sentence = page.path_sentence(dataclasses.replace(view, history=history))
        assert sentence.endswith(f": {shown or ' → '.join(map(str, range(12)))}.")
        assert f"changed {leaders - 1} times" in sentence


def test_the_page_has_the_table_of_the_neighbourhood_and_says_what_is_drawn(view):
    html = view.html()
    head = "".join(
        f"<th>{name}</th>" for name in ("arm", "pulls", "mean", "95 % interval", "rounds led")
    )
    row = "".join(f"<td>{cell}</td>" for cell in page.near_rows(view)[1])
    assert f"<tr>{head}</tr></thead><tbody>" in html and f"<tr>{row}</tr>" in html
    assert "Arms one step away from 0 (a test, with the thick edge)" in html
    assert "Mean reward of each part of the log" in html and "Who led: the darker" in html
    agent = um.Agent(um.TS(), um.graphs.line(5))
    line = um.View(agent, agent.graph, view.history, 2, "a test")
    assert "Arms up to 2 steps away from 2" in line.html()


def test_the_larger_the_more_pulls_and_the_darker_the_higher_the_mean(view):
    """Radii from 7 to 24 by the root of the share of pulls.

    Arms 0, 1 and 2 have 30 pulls or more and set the scale; arm 3, which is beyond it, is as dark
    as the best.
    """
    svg = pages.page("graph.svg.j2", picture=picture.draw(view))
    groups = ElementTree.fromstring(svg).findall(".//{*}g[{*}circle]")
    circles = {g.find("{*}title").text.split(":")[0]: g.find("{*}circle").attrib for g in groups}
    for arm, pulls in enumerate(PULLS):
        radius = 7 + 17 * math.sqrt(pulls / 100)
        assert float(circles[str(arm)]["r"]) == pytest.approx(radius, abs=0.06)
    fills = {arm: circle["fill"] for arm, circle in circles.items()}
    assert fills["2"] == fills["3"] == "#00204d" and fills["1"] == "#fdea45"
    assert fills["4"] == "white" and "stroke-dasharray" in circles["4"]
    assert "stroke-dasharray" not in circles["3"]
    place = (0.5 - 3 / 31) / (0.9 - 3 / 31) * 6  # 3.01: next to the fourth of seven colours
    near = [(4 - place) * 0x7C + (place - 3) * 0x57, (4 - place) * 0x7B + (place - 3) * 0x5D]
    assert fills["0"].startswith("#" + "".join(f"{round(part):02x}" for part in near))
    assert circles["0"]["stroke-width"] == "4"  # the middle


def test_the_terminal_has_fifteen_rows_and_says_how_many_more():
    """The middle of a star and 14 of its 19 leaves; of a smaller one all, and none is missing."""
    for arms, missing in ((20, "5 more neighbours with fewer pulls are not listed."), (15, "more")):
        campaign = Reading(Path("none"), um.Agent(um.UTS(), um.graphs.star(arms)), [])
        text = io.StringIO()
        command.show(campaign, None, "0", Console(file=text, width=120))
        assert (missing in text.getvalue()) == (arms > 15)
        assert "Around 0 (you asked for it)" in text.getvalue()
        assert "Over time" not in text.getvalue()  # nothing has happened


def test_an_edge_for_each_leaf(view):
    layout = around(view.graph, view.centre, view.records["pulls"])
    assert len(layout.places) == 5 and layout.rings == 1
    assert len(picture.draw(view).edges) == 4
    assert layout.edges == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert not layout.thinned and layout.left_out == 0
