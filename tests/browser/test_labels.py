"""Labels are text of others: a page shows them, and never runs them."""

import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import unimodal as um
from unimodal.escape_text import printable
from unimodal.service.app import create_app

LABELS = [
    "<img src=x onerror=\"executed.push('img')\">",
    "<script>executed.push('script')</script>",
    "</script><svg onload=executed.push('svg')>",
    '"><b onmouseover=executed.push("attribute")>quote',
    "'); executed.push('string'); ('",
    "javascript:executed.push('link')",
    "{{ 7 * 7 }}${executed.push('template')}",
    "two\nlines\ttab",
    "\x1b[31mred\x1b[0m\x07\nand another line",
    "שלום עולם",
    "\u202egnp.exe",
    "&lt;b&gt;",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A service with a ladder and a star whose labels want to be more than text."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(1)
    graphs = {
        "ladder": list(itertools.pairwise(LABELS)),
        "star": [(LABELS[0], label) for label in LABELS[1:]],
    }
    for name, edges in graphs.items():
        graph = um.graphs.from_edges(edges)
        file = folder / f"{name}.db"
        with um.Campaign.open(file, um.UTS(), graph, seed=1, durability="fast") as campaign:
            made = campaign.decide(100)
            rewards = [float(rng.random() < 0.5) for _ in made]
            campaign.reward([one.id for one in made[:-5]], rewards[:-5])
            campaign.pause(LABELS[2] if name == "star" else LABELS[-1])
    return folder


@pytest.fixture(scope="module")
def url(hostile, running_service):
    with running_service(create_app(hostile, durability="fast")) as address:
        yield address


def nothing_was_run(page):
    assert page.evaluate("() => executed") == []
    assert page.evaluate("() => refusals") == []  # nothing had to be refused: nothing was tried


def test_a_page_shows_labels_and_never_runs_them(open_page, url):
    page = open_page(f"{url}/campaigns/star")
    page.wait_for_selector("#why details")
    page.wait_for_selector("#certificate table")
    for summary in page.locator("#why summary").all():
        summary.click()
    shown = page.locator("#arms tbody th bdi").all_text_contents()
    expected = [printable(label) for label in LABELS]
    assert set(shown) <= {text if len(text) <= 28 else f"{text[:27]}…" for text in expected}
    assert len(shown) == len(LABELS)
    page.locator("#leader-chart").hover()
    page.locator("#arms tbody tr").first.hover()
    page.locator("#arms button").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    nothing_was_run(page)
    own = page.locator("main img, main script, main b[onmouseover], main svg[onload]")
    assert own.count() == 0
    html = page.content()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", html)


def test_the_list_shows_labels_and_never_runs_them(open_page, url):
    page = open_page(url)
    expect(page.locator("#campaigns tbody tr")).to_have_count(2)
    nothing_was_run(page)
    assert page.locator("main img").count() == 0


def test_an_arm_with_any_label_is_paused_as_it_is(open_page, url):
    page = open_page(f"{url}/campaigns/ladder")
    assert page.locator("#arms tbody th bdi").count() == len(LABELS)
    for label in (LABELS[0], LABELS[8]):
        text = printable(label)
        page.get_by_role("button", name=f"Pause {text}", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name=f"Resume {text}", exact=True)).to_be_visible()
    paused = page.request.get(f"{url}/v1/campaigns/ladder").json()["paused"]
    assert set(paused) == {LABELS[0], LABELS[8], LABELS[-1]}
    nothing_was_run(page)


def test_a_script_in_the_page_would_be_refused(open_page, url):
    """The second lock: were HTML of a label ever parsed, the browser would not run it."""
    page = open_page(url)
    page.evaluate(
        """() => {
          const place = document.createElement("div");
          try { place.innerHTML = "<img src=x onerror=executed.push('img')>"; }
          catch { refusals.push("refused"); }
          document.body.append(place);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("() => executed") == []
    assert page.evaluate("() => refusals.length") > 0
    page.evaluate("() => { refusals.length = 0; }")
