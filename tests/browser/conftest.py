"""What tests of the dashboard share: a real Chromium, and a real server on a real socket."""

import asyncio
import gc
import itertools
import os
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np
import pytest
from playwright.sync_api import sync_playwright

import unimodal as um
from tests.service.running_server import running
from unimodal.service.app import create_app
from unimodal.service.security import token_file, tokens

PRICES = ["9.90", "10.90", "12.90", "14.90", "19.90"]
BOUGHT = dict(zip(PRICES, (0.3, 0.5, 0.7, 0.5, 0.3), strict=True))
# Whatever a page would have run or was refused to run.
_WATCH = """
window.executed = [];
window.refusals = [];
addEventListener("securitypolicyviolation", (e) => refusals.push(e.violatedDirective));
addEventListener("error", (e) => refusals.push("error: " + e.message));
addEventListener("unhandledrejection", (e) => refusals.push("rejected: " + e.reason));
"""


def _chromium():
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


@pytest.fixture(scope="module")
def chromium():
    """A browser; without one these tests skip, unless the environment says that there is one.

    It is closed with the tests of a file: while it is open the main thread has a running event
    loop, with which tests of other folders in this process would fail.
    """
    path = _chromium()
    if path is None:
        how = "there is no chromium: `apt-get install chromium` gets one"
        if os.environ.get("UNIMODAL_REQUIRE_BROWSER") == "1":
            pytest.fail(how)
        pytest.skip(how)
    threads = set(threading.enumerate())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
    gc.collect()  # which finds sockets and pipes that nobody has closed
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()
    assert set(threading.enumerate()) <= threads


@pytest.fixture
def open_page(chromium):
    """A function that opens a page in a context of its own; all are closed at the end."""
    contexts = []

    def opened(url, width=1280, ready=True):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme="light"
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.goto(url)
        if ready and "/campaigns/" in url:
            page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    refused = [context.pages[0].evaluate("() => refusals") for context in contexts]
    for context in contexts:
        context.close()
    assert not any(refused)


@pytest.fixture(scope="module")
def prices(chromium, url):
    """A page of a campaign for those tests that only look."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(10_000)
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.goto(f"{url}/campaigns/prices")
    page.wait_for_selector("#why details")
    page.wait_for_selector("#certificate table")
    yield page
    refused = page.evaluate("() => refusals")
    context.close()
    assert refused == []


@pytest.fixture(scope="session")
def running_service():
    return running


def play(file, rounds=300, labels=PRICES, means=BOUGHT, late=7):
    """A campaign on a ladder: of the last decisions, some have no reward yet."""
    rng = np.random.default_rng(1)
    ladder = um.graphs.from_edges(list(itertools.pairwise(labels)))
    with um.Campaign.open(file, um.UTS(), ladder, seed=1, durability="fast") as campaign:
        for first in range(0, rounds, 20):
            made = campaign.decide(20)
            told = made[: rounds - late - first]
            rewards = [float(rng.random() < means[one.arm]) for one in told]
            campaign.reward([one.id for one in told], rewards)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A folder of two campaigns."""
    folder = tmp_path_factory.mktemp("campaigns")
    play(folder / "prices.db")
    rng = np.random.default_rng(2)
    with um.Campaign.open(
        folder / "rates.db", um.UTS(), um.graphs.grid(4, 4), seed=2, durability="fast"
    ) as campaign:
        made = campaign.decide(200)
        campaign.reward([one.id for one in made], [float(rng.random() < 0.5) for _ in made])
    return folder


@pytest.fixture(scope="session")
def with_past(tmp_path_factory):
    """A campaign that past data lead: by new rewards only, another arm has the best mean."""
    file = tmp_path_factory.mktemp("past") / "season.db"
    data = um.PastData({"9.90": (400, 120), "14.90": (400, 130), "18.90": (400, 160)})
    ladder, money = (
        um.graphs.from_edges([("9.90", "14.90"), ("14.90", "18.90")]),
        um.Scaled(um.Bernoulli(), by=float),
    )
    named = {"data": data, "seed": 1, "durability": "fast"}
    with um.Campaign.open(file, um.PeakUTS(), ladder, money, **named) as campaign:
        campaign.tell(["9.90"] * 5, [1.0] * 5)
        campaign.decide()
    return file


@pytest.fixture(scope="module")
def url(store):
    """A service without tokens."""
    with running(create_app(store, durability="fast")) as address:
        yield address


class Own(NamedTuple):
    """A service with tokens: its address, tokens by role, a client, and the folder."""

    url: str
    secret: dict[str, str]
    http: httpx.Client
    folder: Path


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A service with tokens."""
    tmp_path = tmp_path_factory.mktemp("guarded")
    for name in ("prices", "live"):
        play(tmp_path / f"{name}.db", 60)
    made = {role: tokens.make(role, [role]) for role in ("admin", "read")}
    token_file.write(tmp_path / "tokens.json", [kept for _, kept in made.values()])
    secret = {role: text for role, (text, _) in made.items()}
    app = create_app(tmp_path, tmp_path / "tokens.json", durability="fast")
    headers = {"Authorization": f"Bearer {secret['admin']}"}
    with running(app) as address, httpx.Client(base_url=address, headers=headers) as http:
        yield Own(address, secret, http, tmp_path)
