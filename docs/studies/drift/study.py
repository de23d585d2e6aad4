"""The study of drift: `python docs/studies/drift/study.py run [folder]` (12 core-minutes)."""

import math
from pathlib import Path

import numpy as np
from drift_figure import figure
from drift_settings import (
    BASES,
    EVERY,
    HORIZON,
    KINDS,
    MEMORIES,
    SIZES,
    SPEEDS,
    TITLES,
    WAYS,
    Dynamic,
    Found,
    Speed,
)

import unimodal as um
from unimodal.report.page import markdown_table
from unimodal.results.statistics import ratio_interval
from unimodal.studies import pages
from unimodal.studies.sample_intervals import with_spread

HERE = Path(__file__).parent


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study(SPEEDS, Dynamic).run(folder).save(HERE / pages.DATA)


def shown(found, *key):
    """A regret and its interval in a cell."""
    return with_spread(found.regret[key], ",.0f")


def named(base, way, size):
    """A version in words."""
    if way == "plain":
        return f"{base}, plain"
    return f"{way.capitalize()} {base}, {'memory' if way == 'discounted' else 'window'} {size:,}"


def sized(found, *line):
    """The best size, in brackets those that are as good, and the regret: two cells."""
    size, others = found.best(*line), found.as_good(*line)
    also = f" ({others[0]:,} to {others[-1]:,})" if len(others) > 1 else ""
    return f"**{size:,}**{also}", shown(found, *line, size)


def advice(found, kind):
    """What to take, by speed."""
    rows = []
    for every in EVERY:
        top = found.winner(kind, every)
        cells = [
            *sized(found, kind, every, "UTS", "windowed"),
            *sized(found, kind, every, "UTS", "discounted"),
            named(*top),
            shown(found, kind, every, *top),
            shown(found, kind, every, "UTS", "plain", 0),
            f"{found.at_random[kind, every]:,.0f}",
        ]
        rows.append((f"{every:,}", *cells))
    versions = ("window of UTS", "regret", "memory of Discounted UTS", "regret")
    others = ("best of all", "regret", "plain UTS", "arms at random")
    return markdown_table(("moves every", *versions, *others), rows)


def price(found, kind, window):
    """The regret of UTS with window(every) relative to that of the best window, at worst."""
    prices = []
    for every in EVERY:
        line = (kind, every, "UTS", "windowed")
        taken = min(MEMORIES, key=lambda size: abs(math.log(size / window(every))))
        prices.append(found.regret[*line, taken].mean() / found.at_best(*line).mean())
    return max(prices)


def root_rule(every):
    """The rule of thumb of the page: 13·√n."""
    return 13 * math.sqrt(every)


def one_window(found, kind):
    """The window of UTS that is never far from the best, whatever the speed, in words."""
    size = min(MEMORIES, key=lambda size: price(found, kind, lambda every: size))
    return f"{size:,} (at worst {price(found, kind, lambda every: size):.1f} times the regret)"


def everything(found, kind):
    """All policies, each version with its best size."""
    rows = []
    for every in EVERY:
        for base in BASES:
            cells = []
            for way in SIZES:
                size = found.best(kind, every, base, way)
                note = "" if way == "plain" else f" ({size:,})"
                cells.append(shown(found, kind, every, base, way, size) + note)
            times = found.restarts[kind, every, base, "restarting", size].mean()
            rows.append((f"{every:,}", base, *cells, f"{times:.1f}"))
    return markdown_table(("moves every", "policy", *SIZES, "restarts"), rows)


def ratios(found, over, under):
    """Ratios of mean regret of two ways to play, each with its best size: speeds × kinds."""
    rows = []
    for every in EVERY:
        pairs = [[found.at_best(kind, every, *one) for one in (over, under)] for kind in KINDS]
        rows.append((f"{every:,}", *(ratio_interval(*pair) for pair in pairs)))
    return markdown_table(("moves every", *TITLES.values()), rows)


def valley(curve):
    """Where a parabola through the lowest point and its neighbours has its bottom, in log size."""
    x, y = np.log(MEMORIES), np.log(curve)
    middle = int(np.clip(y.argmin(), 1, len(y) - 2))
    near = slice(middle - 1, middle + 2)
    bend, slope, _ = np.polyfit(x[near], y[near], 2)
    return float(np.clip(-slope / (2 * bend), x[0], x[-1])) if bend > 0 else x[y.argmin()]


def exponent(found, kind, base):
    """The slope of the best window against the time between moves, both as logarithms.

    With a 95 % interval from 400 resamplings of the ways. Speeds at which the best window is the
    shortest or the longest that was tried do not show it and are left out.
    """
    ends = (MEMORIES[0], MEMORIES[-1])
    inner = [every for every in EVERY if found.best(kind, every, base, "windowed") not in ends]
    if len(inner) < 3:
        return "–"
    lines = [(kind, every, base, "windowed") for every in inner]
    curves = [np.array([found.regret[*line, size] for size in MEMORIES]) for line in lines]

    def slope(ways):
        bottoms = [valley(curve[:, ways].mean(axis=1)) for curve in curves]
        return np.polyfit(np.log(inner), bottoms, 1)[0]

    draws = np.random.default_rng(0).integers(0, WAYS, (400, WAYS))
    low, high = np.quantile([slope(ways) for ways in draws], [0.025, 0.975])
    return f"{slope(np.arange(WAYS)):.2f} ({low:.2f} to {high:.2f}; {len(inner)} speeds)"


def slopes(found):
    """Exponents by kind and policy."""
    bases = ("UTS", "OSUB", "TS")
    rows = [(TITLES[kind], *(exponent(found, kind, base) for base in bases)) for kind in KINDS]
    return markdown_table(("best window ∝ (rounds between moves)^", *bases), rows)


def render(out):
    """Write the page and its figure from data.parquet."""
    outcomes = um.studies.load(HERE / pages.DATA, Speed, Dynamic)
    found = Found(outcomes)
    pages.draw(figure(found), out / "figure.png")
    parts = {
        **{f"advice_{kind}": advice(found, kind) for kind in KINDS},
        **{f"all_{kind}": everything(found, kind) for kind in KINDS},
        **{f"one_{kind}": one_window(found, kind) for kind in KINDS},
        **{f"root_{kind}": f"{price(found, kind, root_rule):.2f}" for kind in KINDS},
        "slopes": slopes(found),
        "structure": ratios(found, ("UTS", "windowed"), ("TS", "windowed")),
        "restarting": ratios(found, ("UTS", "restarting"), ("UTS", "windowed")),
        "discounting": ratios(found, ("UTS", "discounted"), ("UTS", "windowed")),
        "horizon": f"{HORIZON:,}",
        "ways": WAYS,
        "made_with": outcomes.made_with,
    }
    pages.fill_in(HERE / pages.TEMPLATE, out, **parts)


if __name__ == "__main__":
    pages.command(run, render, HERE)
