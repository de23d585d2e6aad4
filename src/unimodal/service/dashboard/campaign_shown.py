"""What is shown of a campaign, from what was read of it: numbers and texts, no layout."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from unimodal.campaigns.events import Decided, Expired
from unimodal.escape_text import printable
from unimodal.service.dashboard.log_summary import AGES, LogSummary, ages

if TYPE_CHECKING:
    from unimodal.service.dashboard.watched import Watched

_LEADERS = 12  # rows in the picture of who led
_SPARK = 24  # points of a small chart
_POINTS, _REWARDS = 80, 150  # points of a chart, and rewards in one
_AGES = ("under 1 min", "1 to 10 min", "10 to 60 min", "1 to 6 h", "6 to 24 h", "over a day")
assert len(_AGES) == len(AGES) + 1


def row(one: Watched, ended: bool) -> dict[str, Any]:
    """A campaign in the list of all."""
    found, log, facts, now = one.findings, one.summary, one.facts, time.time()
    certificate = found.certificate
    return {
        "name": one.name,
        "ended": ended,
        "leader": None if log.leader is None else printable(log.leader),
        "level": None if certificate is None else certificate["level"],
        "certified": bool(certificate and certificate["certified"] and certificate["is_leader"]),
        "today": log.today(now),
        "rate": log.rate(),
        "per_hour": log.per_hour(now)[0],
        "spark": _spark(log),
        "alarms": None if found.alarms is None else len(found.alarms),
        "first_alarm": found.alarms[0]["sentence"] if found.alarms else None,
        "outstanding": len(facts.still_open()),
        "decisions": facts.kinds[Decided.kind],
        "last": log.ended,
        "behind": one.behind,
        "problem": one.problem,
    }


def shown(one: Watched, ended: bool) -> dict[str, dict[str, Any]]:
    """The page of a campaign, in sections."""
    now, found = time.time(), one.findings
    return {
        "figures": figures(one, ended, now),
        "arms": one.arms,
        "over_time": over_time(one),
        "waiting": waiting(one, now),
        "certificate": {
            "found": found.certificate,
            "alarms": found.alarms,
            "problem": found.problem,
        },
        "why": {"decisions": found.why},
    }


def figures(one: Watched, ended: bool, now: float) -> dict[str, Any]:
    """The numbers at the head of a campaign's page."""
    log, facts = one.summary, one.facts
    decisions, reward = log.per_hour(now)
    return {
        "name": one.name,
        "ended": ended,
        "leader": None if log.leader is None else printable(log.leader),
        "decisions": facts.kinds[Decided.kind],
        "today": log.today(now),
        "rewards": log.rewards,
        "expired": facts.kinds[Expired.kind],
        "outstanding": len(facts.still_open()),
        "rate": log.rate(),
        "mean": log.total / log.rewards if log.rewards else None,
        "per_hour": decisions,
        "reward_per_hour": reward,
        "began": log.began,
        "last": log.ended,
        "events": facts.seq,
        "problem": one.problem,
        **one.settings,
    }


def over_time(one: Watched) -> dict[str, Any]:
    """Reward and leader over time, thinned: a part of the log is a point."""
    parts = one.summary.parts
    rows, others, left = parts.leaders(_LEADERS)
    names = _in_order(list(rows), one.arms)
    return {
        "reward": parts.rewards(_POINTS, _REWARDS),
        "leader": {
            **parts.ends(),
            "leaders": [*map(printable, names), *([f"{left:,} others"] if left else [])],
            "shares": [*(rows[name] for name in names), *([others] if left else [])],
            "changes": one.summary.leader_changes,
            "path": [printable(name) for name in _path(one.summary)],
        },
    }


def _in_order(names: list[str], arms: dict[str, Any]) -> list[str]:
    """From the lowest number to the highest; else as the ladder has them.

    >>> _in_order(["9.90", "12.90", "1.50"], {"arms": []})
    ['1.50', '9.90', '12.90']
    """
    try:
        return sorted(names, key=float)
    except ValueError:
        rank = {arm["text"]: number for number, arm in enumerate(arms["arms"])}
        return sorted(names, key=lambda name: rank.get(printable(name), len(rank)))


def _path(log: LogSummary) -> list[str]:
    """Who led most of each part, in order, without repetitions; the first and the last of many."""
    held: list[str] = []
    for part in log.parts.parts:
        if part.leaders:
            name = max(part.leaders, key=lambda one: part.leaders[one])
            if not held or held[-1] != name:
                held.append(name)
    return held if len(held) <= 12 else [*held[:3], "…", *held[-8:]]


def waiting(one: Watched, now: float) -> dict[str, Any]:
    """Outstanding decisions by age."""
    counts, oldest = ages(one.facts, now)
    return {
        "ages": [[text, count] for text, count in zip(_AGES, counts, strict=True)],
        "oldest": None if oldest is None else round(oldest),
        "count": sum(counts),
    }


def _spark(log: LogSummary) -> list[float | None]:
    """The mean reward over time, in a few numbers."""
    found: list[float | None] = log.parts.rewards(_SPARK, _REWARDS)["mean"]
    return found
