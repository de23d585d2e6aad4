"""The page: a few numbers, the graph around the leader, and how it came there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from unimodal.agents.label_text import arms_by_text
from unimodal.inference.certificate import STANDING, standing_rows
from unimodal.inspection import timeline
from unimodal.inspection.graph_picture import draw
from unimodal.report import campaign_figures as campaigns
from unimodal.report import page
from unimodal.version import __version__

if TYPE_CHECKING:
    from unimodal.inspection.view import View

_BINS, _ROWS = 60, 60  # parts in a picture, rows in a table, at most
_PART = 150  # rewards in a part of a picture, at least
OVER_TIME = ("until decision", "began", "leader", "of its rounds", "rewards", "mean reward")


def report(view: View) -> str:
    """The whole page."""
    rows, found = near_rows(view), view.certificate
    return page.page(
        "campaign.html.j2",
        title=f"A campaign of {view.agent.policy.name}",
        span=span(view),
        version=__version__,
        facts=view.facts,
        alarms=[(alarm.kind, alarm.sentence) for alarm in view.alarms],
        certificate=[] if found is None else str(found).split("\n"),
        standing_columns=STANDING,
        standing_rows=[] if found is None else standing_rows(found)[:_ROWS],
        label=view.label,
        picture=draw(view),
        near_columns=near_columns(view),
        near_rows=rows[:_ROWS],
        hidden=hidden(rows, _ROWS),
        path=path_sentence(view),
        figures=_figures(view),
        time_columns=OVER_TIME,
        time_rows=time_rows(view, 12),
    )


def near_columns(view: View) -> tuple[str, ...]:
    """The names of the columns of the neighbourhood."""
    apart = ("past pulls",) if view.agent.past.pulls.any() else ()
    return ("arm", "pulls", *apart, "mean", "95 % interval", "rounds led")


def near_rows(view: View) -> list[tuple[str, ...]]:
    """The neighbourhood as text."""
    return [
        (
            row["arm"],
            f"{row['pulls'] - row.get('past', 0):,.6g}",
            *([f"{row['past']:,}"] if "past" in row else []),
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


def _in_order(names: Sequence[str], view: View) -> list[int]:
    """Rows of a chart from the lowest number to the highest, or else as the graph has its arms."""
    try:
        return sorted(range(len(names)), key=lambda row: float(names[row]))
    except ValueError:
        known = arms_by_text(view.graph)
        return sorted(range(len(names)), key=lambda row: known.get(names[row], len(known)))


def _figures(view: View) -> list[page.Figure]:
    if view.history["kind"].eq("decide").sum() < 2:
        return []  # a single one is a point without a line, which says less than the table
    bins = min(max(view.history["reward"].count() // _PART, 8), _BINS)
    parts = view.timeline(bins)
    until = parts["until"].to_numpy()
    figures = []
    if view.history["reward"].count():
        rewards = campaigns.reward_over_time(
            until, *(parts[name].to_numpy() for name in ("mean", "spread", "rewards"))
        )
        caption = "Mean reward of each part of the log, ± 95 %."
        figures.append(page.figure(rewards, "rewards", caption))
    names, shares = timeline.shares(view.history, bins)
    if names:
        order = _in_order(names, view)
        names, shares = [names[row] for row in order], shares[order]
        drawn = campaigns.leaders_over_time(until, names, shares)
        caption = "Who led: the darker, the more rounds of that part of the log."
        figures.append(page.figure(drawn, "leaders", caption))
    return figures
