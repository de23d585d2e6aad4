"""The dashboard in a real Chromium: what is shown, that it lives, who may change what."""

import re

import pytest
from playwright.sync_api import expect

from unimodal.service.app import create_app


def sign_in(page, token):
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def texts(page, selector):
    return [text.strip() for text in page.locator(selector).all_text_contents()]


def test_all_campaigns_at_a_glance(open_page, url):
    page = open_page(url)
    expect(page.locator("#campaigns tbody tr")).to_have_count(2)
    row = page.locator("tr", has_text="prices")
    expect(row.locator("[data-name=Leader]")).to_have_text("12.90")
    expect(row.get_by_role("rowheader")).to_contain_text("300 decisions")
    expect(row.locator("[data-name='Decisions today']")).to_contain_text("per hour")
    expect(row.locator("[data-name='Reward rate']")).to_contain_text("0.6")
    expect(row.locator("[data-name=Alarms]")).to_have_text("none")  # looked for meanwhile
    expect(row.locator("[data-name=Certainty]")).to_have_text(re.compile(r"%|none yet"))
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("prices")


def test_a_ladder_is_drawn_in_its_order_with_what_is_known_of_each_rung(prices, url):
    page = prices
    assert texts(page, "#arms tbody th bdi") == ["19.90", "14.90", "12.90", "10.90", "9.90"]
    told = page.request.get(f"{url}/v1/campaigns/prices/arms").json()["arms"]
    for arm in told:
        row = page.locator("#arms tbody tr", has=page.get_by_text(arm["arm"], exact=True))
        assert row.locator("td.number").nth(1).text_content() == str(arm["pulls"])
        said = row.locator("svg.whisker").get_attribute("aria-label")
        assert said.startswith(f"{arm['arm']}: {arm['pulls']} pulls, mean {arm['mean']:.4g}")
    expect(page.locator("#arms tr.centre .badge")).to_have_text("leader")
    expect(page.locator("#figures .tile", has_text="Outstanding")).to_contain_text("7")
    expect(page.locator("#waiting")).to_contain_text("7 wait for their reward")
    expect(page.locator("#certificate .verdict")).to_contain_text("293 rewards")


def test_past_data_are_shown_apart_and_one_arm_leads(open_page, running_service, with_past):
    """The tile names the leader; the certificate, by new rewards only, says whose mean is best."""
    app = create_app(with_past.parent, durability="fast")
    with running_service(app) as address:
        page = open_page(f"{address}/campaigns/season")
        page.wait_for_selector("#certificate table")
        expect(page.locator("#figures .tile", has_text="Leader")).to_contain_text("18.90")
        certainty = page.locator("#figures .tile", has_text="Certainty")
        expect(certainty).to_contain_text("none yet")
        expect(certainty).to_contain_text("by new rewards only")
        verdict = page.locator("#certificate .verdict")
        expect(verdict).to_contain_text("9.90 has the best mean, by new rewards only")
        expect(page.locator("#certificate li").first).to_contain_text("cannot be told from 9.90")
        assert "leads" not in page.locator("#certificate").text_content()
        assert texts(page, "#arms thead th.number") == ["mean", "pulls", "past", "led"]
        cheapest = page.locator("#arms tbody tr", has=page.get_by_text("9.90", exact=True))
        assert texts(cheapest, "td.number")[1:] == ["5", "400", "0"]
        page.goto(address)
        row = page.locator("tr", has_text="season")
        expect(row.locator("[data-name=Leader]")).to_have_text("18.90")
        expect(row.locator("[data-name=Certainty]")).to_contain_text("none yet")


def test_the_last_decisions_say_why(prices, url):
    page = prices
    first = page.locator("#why details").first
    expect(first).to_contain_text("#300")
    told = page.request.get(f"{url}/v1/campaigns/prices/decisions/300/explanation").json()
    expect(first.locator(".because")).to_have_text(told["because"])
    first.locator("summary").press("Enter")
    expect(first.locator("tbody tr")).to_have_count(len(told["competitors"]))


def test_charts_have_ink(prices, url):
    page = prices
    for chart in ("#reward-chart", "#leader-chart"):
        expect(page.locator(f"{chart} canvas")).to_be_visible()
        inked = page.evaluate(
            """(place) => {
              const canvas = document.querySelector(place + " canvas");
              const { width, height } = canvas;
              const seen = canvas.getContext("2d").getImageData(0, 0, width, height).data;
              let inked = 0;
              for (let i = 0; i < seen.length; i += 4) {
                inked += seen[i + 3] > 20 && seen[i + 2] > seen[i] + 40; // blue, or its band
              }
              return inked;
            }""",
            chart,
        )
        assert inked > 3_000, chart


def test_another_graph_is_drawn_as_a_picture(open_page, url):
    page = open_page(f"{url}/campaigns/rates")
    expect(page.locator("svg.graph-picture circle")).to_have_count(16)
    expect(page.locator("svg.graph-picture circle.centre")).to_have_count(1)


def test_a_page_lives(open_page, own):
    url, secret, http, _ = own
    page = open_page(f"{url}/campaigns/live", ready=False)
    sign_in(page, secret["read"])
    decisions = page.locator("#figures .tile", has_text="Decisions today")
    expect(decisions).to_contain_text("60 in all")
    expect(page.locator("#live-text")).to_have_text("live")
    made = http.post("/v1/campaigns/live/decisions", json={"n": 40}).json()["decisions"]
    expect(decisions).to_contain_text("100 in all", timeout=10_000)  # nobody has reloaded
    rewards = [{"decision": one["id"], "reward": 1.0} for one in made]
    http.post("/v1/campaigns/live/rewards", json={"rewards": rewards})
    expect(page.locator("#waiting")).to_contain_text("7 wait", timeout=10_000)


def test_signing_in_and_out(open_page, own):
    url, secret, *_ = own
    page = open_page(f"{url}/campaigns/prices", ready=False)
    assert page.url == f"{url}/sign-in?then=/campaigns/prices"
    sign_in(page, "um_000000000000_" + 43 * "x")
    expect(page.get_by_role("alert")).to_contain_text("does not know this token")
    sign_in(page, secret["read"])
    page.wait_for_url(f"{url}/campaigns/prices")
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    page.wait_for_selector("body[data-ready]")
    assert page.get_by_role("button", name="Pause").count() == 0  # a reader changes nothing
    assert page.locator("#end, #insert, #ask").count() == 0
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{url}/sign-in")
    page.goto(f"{url}/campaigns/prices")
    assert "/sign-in" in page.url


def test_an_admin_pauses_inserts_and_ends_after_being_asked(open_page, own):
    url, secret, http, _ = own
    page = open_page(f"{url}/campaigns/prices", ready=False)
    sign_in(page, secret["admin"])
    dialog = page.get_by_role("dialog")

    def campaign():
        return http.get("/v1/campaigns/prices").json()

    page.get_by_role("button", name="Pause 9.90").click()
    dialog.get_by_role("button", name="Cancel").click()
    assert campaign()["paused"] == []
    page.get_by_role("button", name="Pause 9.90").click()
    dialog.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume 9.90")).to_be_visible()
    assert campaign()["paused"] == ["9.90"]

    page.get_by_role("button", name="Insert an arm").click()
    dialog.get_by_label("Label of the new arm").fill("12.90")
    dialog.get_by_label("Between").select_option(label="12.90 and 14.90")
    dialog.get_by_role("button", name="Insert").click()
    expect(dialog.get_by_role("alert")).to_contain_text("must be new")  # and the dialog stays
    dialog.get_by_label("Label of the new arm").fill("13.90")
    dialog.get_by_label("Label of the new arm").press("Enter")
    expect(page.locator("#arms tbody th bdi")).to_have_count(6)
    assert texts(page, "#arms tbody th bdi")[1:4] == ["14.90", "13.90", "12.90"]

    page.get_by_role("button", name="End the campaign").click()
    dialog.get_by_role("button", name="End it").click()
    expect(page.locator("#ended")).to_be_visible()
    assert campaign()["ended"] is True
    page.get_by_role("button", name="Let it decide again").click()
    dialog.get_by_role("button", name="Let it decide").click()
    expect(page.locator("#ended")).to_be_hidden()


def test_with_the_keyboard_alone(open_page, url):
    page = open_page(f"{url}/campaigns/prices")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Insert an arm")).to_be_focused()
    assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_label("Label of the new arm")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Insert an arm")).to_be_focused()


def test_everything_that_can_be_operated_has_a_name(prices):
    nameless = prices.evaluate(
        """() => [...document.querySelectorAll("main button, a, progress, [role=img]")]
          .filter((e) => !e.closest("dialog"))
          .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
            || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.parametrize("path", ["/", "/campaigns/rates"])
def test_no_page_is_wider_than_its_window(open_page, url, path):
    page = open_page(url + path)
    page.wait_for_selector("#why details" if "campaigns" in path else "tbody tr")
    for width in (390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(50)  # charts follow
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, width


def test_a_ladder_is_not_wider_than_its_window(prices):
    for width in (390, 768, 1920, 1280):
        prices.set_viewport_size({"width": width, "height": 900})
        prices.wait_for_timeout(50)
        wide = prices.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, width


def test_dark_and_light_by_the_system_and_by_choice(open_page, url):
    page = open_page(url)

    def ground():
        return sum(
            int(part)
            for part in re.findall(
                r"\d+", page.evaluate("() => getComputedStyle(document.body).backgroundColor")
            )
        )

    assert ground() > 600
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert ground() < 150
    page.get_by_role("button", name="Change between light and dark").click()
    assert ground() > 600
    page.reload()
    assert ground() > 600  # the choice is kept


def look(page, hidden):
    """As when somebody turns to another tab, or comes back."""
    page.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_a_page_that_nobody_looks_at_holds_no_connection(open_page, url):
    """A browser has six of them per host: the seventh tab would wait for ever."""
    page, ended = open_page(url), []
    page.on("requestfailed", lambda request: ended.append(request.url))
    expect(page.locator("#live-text")).to_have_text("live")
    look(page, hidden=True)
    expect(page.locator("#live-text")).to_have_text("resting")
    page.wait_for_timeout(50)
    assert ended == [f"{url}/dashboard/events"]
    look(page, hidden=False)
    expect(page.locator("#live-text")).to_have_text("live")


def test_a_service_that_is_away_is_told_of_until_it_is_back(open_page, url):
    page = open_page(url)
    expect(page.locator("#campaigns tbody tr")).to_have_count(2)
    page.route("**/dashboard/campaigns", lambda route: route.abort())
    look(page, hidden=False)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.locator("#campaigns tbody tr")).to_have_count(2)  # what it knew
    page.unroute("**/dashboard/campaigns")
    look(page, hidden=False)
    expect(page.locator("#problem")).to_be_hidden()


def test_a_campaign_without_decisions_and_one_that_cannot_be_read(open_page, own):
    url, secret, http, folder = own
    graph = {"generator": "line:3"}
    assert http.post("/v1/campaigns", json={"name": "new", "graph": graph}).status_code == 201
    page = open_page(f"{url}/campaigns/new", ready=False)
    sign_in(page, secret["read"])
    expect(page.locator("#why")).to_have_text("There are no decisions yet.")
    expect(page.locator("#reward-note")).to_have_text("No rewards have come yet.")
    expect(page.locator("#reward-chart")).to_be_hidden()
    expect(page.locator("#certificate")).to_contain_text("there are no rewards yet")
    (folder / "broken.db").write_bytes(b"no database" * 100)
    page.goto(f"{url}/campaigns/broken")
    expect(page.get_by_role("alert")).to_contain_text("broken.db")
    expect(page.locator("#sections")).to_be_hidden()
    (folder / "broken.db").unlink()
