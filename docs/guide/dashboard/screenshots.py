"""Makes the pictures of this folder: four campaigns of one day, in a real Chromium.

python docs/guide/dashboard/screenshots.py [folder]
"""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

import unimodal as um

PRICES = [f"{price}.90" for price in (7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24)]
BUTTONS = ["square, grey", "square, green", "round, green", "round, blue", "round, grey"]
PAGES = {"campaigns": "/", "campaign": "/campaigns/pricing", "graph": "/campaigns/advertising"}
WIDTHS = {390: 844, 1280: 900, 1920: 1080}
WANTED = [(page, width) for page in ("campaigns", "campaign") for width in WIDTHS]


def play(
    file: Path, graph: um.Graph, mean: Callable[[Any, int], float], rounds: int, **named: Any
) -> None:
    """A campaign whose decisions are spread over the last day; of the last, some are still open."""
    rng, started = np.random.default_rng(4), time.time()
    hours, policy = named.pop("hours", 14), named.pop("policy", um.UTS())
    now = started - hours * 3600
    named |= {"seed": 4, "durability": "fast", "clock": lambda: now}
    with um.Campaign.open(file, policy, graph, **named) as campaign:
        for first in range(0, rounds, 20):
            now = started - hours * 3600 * (1 - first / rounds)
            made = campaign.decide(20)
            told = made if first + 20 < rounds else made[:6]
            rewards = [float(rng.random() < mean(one.arm, one.id)) for one in told]
            campaign.reward([one.id for one in told], rewards)


def make(folder: Path) -> None:
    """Prices, radio rates that change, buttons of which one is far better, people and friends."""
    ladder = um.graphs.line(PRICES)
    by_price = um.Scaled(um.Bernoulli(), by=float)

    def buys(price: str, _: int) -> float:
        return 0.75 / (1 + float(np.exp((float(price) - 13.5) / 1.6)))

    play(folder / "pricing.db", ladder, buys, 10_000, family=by_price)
    rates = um.graphs.line([6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 48.0, 54.0])

    def arrives(rate: float, decision: int) -> float:
        return 0.8 - abs(rate - 30) / 60 - (0.17 if decision > 3_300 else 0.0)

    play(folder / "radio-rates.db", rates, arrives, 6_000, hours=5)
    buttons = um.graphs.line(BUTTONS)
    clicks = dict(zip(BUTTONS, (0.05, 0.12, 0.45, 0.1, 0.04), strict=True))
    named = {"policy": um.UniTT(), "hours": 3}  # which looks for certainty
    play(folder / "checkout-button.db", buttons, lambda arm, _: clicks[arm], 4_000, **named)
    friends = um.graphs.barabasi_albert(300, 2, seed=1)
    steps = friends.distances(0)
    play(folder / "advertising.db", friends, lambda arm, _: 0.3 * 0.5 ** steps[arm], 4_000)


def shoot(page: Page, address: str, path: Path) -> None:
    """One picture, once all that takes longer is found."""
    page.goto(address)
    if "/campaigns/" in address:
        page.wait_for_selector("#certificate table", timeout=60_000)
        expect(page.locator("#why details")).to_have_count(6, timeout=60_000)
        page.locator("#why summary").nth(1).click()
    else:
        expect(page.locator(".meter")).to_have_count(4)
        sought = page.locator("td[data-name=Alarms]").get_by_text("…", exact=True)
        expect(sought).to_have_count(0, timeout=60_000)
    page.wait_for_timeout(500)
    page.screenshot(path=path, full_page=True)


def main() -> None:
    """All of them."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        code = "from unimodal.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", "--store", folder, "--port", "0"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
            contextlib.ExitStack() as stack,
        ):
            stack.callback(server.terminate)
            assert server.stdout is not None
            url = re.findall(r"http://\S+", server.stdout.readline())[0]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                for scheme in ("light", "dark"):
                    more = [("graph", 1280)] if scheme == "light" else [("graph", 390)]
                    for name, width in WANTED + more:
                        size = {"width": width, "height": WIDTHS[width]}
                        page = browser.new_page(viewport=size, color_scheme=scheme)
                        shoot(page, url + PAGES[name], out / f"{name}-{width}-{scheme}.png")
                        page.close()
                browser.close()


if __name__ == "__main__":
    main()
