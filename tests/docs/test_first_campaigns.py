"""What a newcomer copies: README's campaign finds the best price, and every page holds sales back.

A sale comes hours after the visit and a refusal never. Without a time to live nothing but sales is
told, every price seems to sell always, and the dearest wins; told as they happen, sales are ahead
of the refusals. So pages pass a time to live, count silence as no sale, and hold sales back.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import unimodal as um

ROOT = Path(__file__).parents[2]
HOUR, DAYS, VISITORS = 3600, 30, 5  # visitors an hour
LATE = 5.0  # hours from visit to sale, on average
# The share that buys at each price: a visitor brings most at 14.90, and least at 19.90.
BUYS = {"9.90": 0.45, "12.90": 0.41, "14.90": 0.40, "16.90": 0.27, "19.90": 0.12}
BEST, TRIALS = "14.90", 20
CODE = re.compile(r"```(?:python|\{code-cell\} python)\n(.*?)```", re.DOTALL)
PAGES = sorted(
    {ROOT / "README.md", *ROOT.glob("docs/guide/*.md"), *ROOT.glob("docs/tutorials/*.md")}
)


def of_readme(text):
    """What README opens its campaign with, and when its comment says that a sale is told."""
    code = next(block for block in CODE.findall(text) if "Campaign.open(" in block)
    before, _, opened = code.partition("with um.Campaign.open(")
    names = {}
    exec(before, names)
    given = opened.partition(") as campaign:")[0]
    told = re.search(r"campaign\.reward\(.*# sold: tell it (\d+) hours after the visit", opened)
    arguments = eval(f"(lambda *given, **named: (given, named))({given})", names)
    return *arguments, None if told is None else int(told[1])


def play(file, given, named, held_back, seed):
    """The prices that visitors saw; sales are told by README's comment, or as they happen."""
    rng, now, shown, due = np.random.default_rng(seed), 0.0, [], {}
    named = {**named, "seed": seed, "durability": "fast", "clock": lambda: now}
    with um.Campaign.open(file, *given[1:], **named) as campaign:
        for hour in range(24 * DAYS):
            now = float(hour * HOUR)
            sales = due.pop(hour, [])
            if sales:
                campaign.reward(sales, [1.0] * len(sales))
            for decision in campaign.decide(VISITORS):
                shown.append(decision.arm)
                later = min(1 + int(rng.exponential(LATE)), 23)
                if rng.random() < BUYS[decision.arm]:
                    due.setdefault(hour + (held_back or later), []).append(decision.id)
    return shown


def shown_most_at_the_end(folder, given, named, held_back, trials=TRIALS):
    """The price that most of the last 600 visitors saw, in each trial."""
    found = []
    for seed in range(trials):
        shown = play(folder / f"{seed}.db", given, named, held_back, seed)
        found.append(Counter(shown[-600:]).most_common(1)[0][0])
    return found


def test_readmes_campaign_finds_the_best_price(tmp_path):
    """As its comments say: told late, with silence as no sale, in at least 16 of 20 trials.

    Seeds are fixed. Of 150 other trials 0.98 ended at the best price, so that fewer than 16 of 20
    would in one of 10^4 tests; without a time to live hardly any does, see below.
    """
    given, named, held_back = of_readme((ROOT / "README.md").read_text())
    assert held_back is not None and held_back * HOUR < named["time_to_live"]
    assert named["on_expiry"] == "zero"
    found = shown_most_at_the_end(tmp_path, given, named, held_back)
    assert found.count(BEST) >= 16, found


def test_the_play_notices_a_campaign_that_is_told_of_sales_only(tmp_path):
    """What README said before: no time to live, and a sale told when it happens."""
    given, _, _ = of_readme((ROOT / "README.md").read_text())
    found = shown_most_at_the_end(tmp_path, given, {}, None, trials=4)
    assert found.count(BEST) == 0 and "19.90" in found, found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_with_a_campaign_of_prices_passes_a_time_to_live(page):
    """And says that sales are held back, or has the reader go where it is said."""
    text = page.read_text()
    blocks = "\n".join(CODE.findall(text))
    opened = re.findall(r"Campaign\.open\(\s*(?:\"prices\.db\"|\"postgresql|path)[^)]*\)", blocks)
    making = [call for call in opened if "um." in call]
    if not making or "9.90" not in blocks:
        return
    assert '"time_to_live"' in blocks or "time_to_live=" in blocks
    assert 'on_expiry="zero"' in blocks or '"on_expiry": "zero"' in blocks
    assert "old sales back" in text or "delays.md" in text


@pytest.mark.parametrize(
    "page",
    ["README.md", *(f"docs/guide/{name}.md" for name in ("delays", "production", "service"))],
)
def test_it_is_said_in_the_first_place(page):
    """Before the first code of the section that makes a campaign, not in a list behind it."""
    text = (ROOT / page).read_text()
    bold = re.search(r"\*\*[^*]*hold[^*]*back[^*]*\*\*", text, re.IGNORECASE)
    first = re.search(r"```python\n[^`]*(Campaign\.open|um\.Agent)\(|/v1/campaigns -H", text)
    assert bold is not None and bold.start() < first.start()


def test_ladders_are_made_with_line():
    """Pairs of neighbours are what a newcomer should not have to write."""
    written = [
        *ROOT.glob("examples/*.py"),
        *PAGES,
        ROOT / "docs/index.md",
        ROOT / "docs/choosing.md",
    ]
    pairs = re.compile(
        r"from_edges\((?:list\()?(?:zip|pairwise|itertools\.pairwise)\(|from_edges\(\[\("
    )
    assert [path.name for path in written if pairs.search(path.read_text())] == []
