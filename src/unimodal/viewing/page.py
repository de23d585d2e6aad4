"""The page: a few numbers, the graph around the leader, and how it came there."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

from unimodal.report import campaigns, page
from unimodal.version import __version__
from unimodal.viewing import timeline
from unimodal.viewing.picture import draw

if TYPE_CHECKING:
    from unimodal.viewing.view import View

_BINS, _ROWS = 60, 60  # parts in a picture, rows in a table, at most
_PART = 150  # rewards in a part of a picture, at least
NEAR = ("arm", "pulls", "mean", "95 % interval", "rounds led")
OVER_TIME = ("until decision", "began", "leader", "of its rounds", "rewards", "mean reward")


def report(view: View) -> str:
    """The whole page."""
    title = f"A campaign of {view.agent.policy.name}"
    svg, layout = draw(view)
    steps = f"up to {layout.rings} steps away" if layout.rings > 1 else "one step away"
    missing = " Edges among the neighbours are not drawn." if layout.thinned else ""
    if layout.left_out:
        missing += f" {layout.left_out:,} neighbours with fewer pulls are not drawn."
    caption = (
        f"Arms {steps} from {view.label} ({view.why}, with the thick edge). The larger, the more "
        f"pulls; the darker, the higher the mean reward; dashed: never pulled.{missing}"
    )
    rows = near_rows(view)
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(span(view))} Made by <code>unimodal inspect</code> '
        f"{__version__}.</p>",
        page.counts(view.facts),
        f"<h2>Around {escape(view.label)}</h2>",
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>",
        page.table(NEAR, rows[:_ROWS]),
        '<p class="soft">Intervals are those of the posterior, from the prior that the policy has '
        f"or would have. {escape(hidden(rows, _ROWS))}</p>",
        "<h2>Over time</h2>",
        f"<p>{escape(path_sentence(view))}</p>",
        _pictures(view),
        page.table(OVER_TIME, time_rows(view, 12), words=(2,)),
    ]
    return page.page(title, "\n".join(body))


def near_rows(view: View) -> list[tuple[str, ...]]:
    """The neighbourhood as text."""
    return [
        (
            row["arm"],
            f"{row['pulls']:,.6g}",
            f"{row['mean']:.4g}" if row["pulls"] else "–",
            f"{row['low']:.4g} … {row['high']:.4g}",
            f"{row['leads']:,}",
        )
        for row in view.neighbourhood.iter_rows(named=True)
    ]


def hidden(rows: list[Any], shown: int) -> str:
    """What a table with so many rows leaves out, as a sentence."""
    more = len(rows) - shown
    return f"{more:,} more neighbours with fewer pulls are not listed." if more > 0 else ""


def time_rows(view: View, bins: int) -> list[tuple[str, ...]]:
    """The parts of the log as text."""
    return [
        (
            f"{row['until']:,}",
            moment(row["began"]),
            row["leader"] or "–",
            "–" if row["share"] is None else f"{100 * row['share']:.0f} %",
            f"{row['rewards']:,}",
            "–" if row["mean"] is None else f"{row['mean']:.4g}",
        )
        for row in view.timeline(bins).iter_rows(named=True)
    ]


def path_sentence(view: View) -> str:
    """Who led, in order."""
    changes, held = timeline.path(view.history)
    if not held:
        return "Nobody led in this log: the policy compares all arms, or is still at its start."
    shown = held if len(held) <= 12 else [*held[:3], "…", *held[-8:]]
    times = "once" if changes == 1 else f"{changes:,} times"
    return (
        f"The lead changed {times if changes else 'never'}; who held it for at least 1 % of the "
        f"rounds, in order: {' → '.join(shown)}."
    )


def span(view: View) -> str:
    """When the log began and ended, as a sentence."""
    if view.history.is_empty():
        return "Nothing has happened yet."
    first, last = view.history["time"].min(), view.history["time"].max()
    return f"From {moment(first)} to {moment(last)} (UTC)."


def moment(seconds: Any) -> str:
    """A time as text; in seconds where a clock of one's own tells what no calendar has.

    >>> moment(1.7e9), moment(1.7e18)
    ('2023-11-14 22:13', '1.7e+18 s')
    """
    try:
        return f"{datetime.fromtimestamp(float(seconds), UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return f"{float(seconds):.6g} s"


def _pictures(view: View) -> str:
    if not view.history["kind"].eq("decide").any():
        return ""
    bins = min(max(view.history["reward"].count() // _PART, 8), _BINS)
    parts = view.timeline(bins)
    until = parts["until"].to_numpy()
    boxes = []
    if view.history["reward"].count():
        rewards = campaigns.reward_over_time(
            until, *(parts[name].to_numpy() for name in ("mean", "spread", "rewards"))
        )
        boxes.append(
            page.figure(rewards, "rewards", "Mean reward of each part of the log, ± 95 %.")
        )
    names, shares = timeline.shares(view.history, bins)
    if names:
        drawn = campaigns.leaders_over_time(until, names, shares)
        caption = "Who led: the darker, the more rounds of that part of the log."
        boxes.append(page.figure(drawn, "leaders", caption))
    narrow = ' style="max-width: 34rem"' if len(boxes) == 1 else ""
    return f'<div class="figures"{narrow}>{"".join(boxes)}</div>'
