"""What an owner of a campaign should know without asking: alarms, each as a sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.agents import Agent
from unimodal.agents.label_text import shown
from unimodal.agents.recorded_history import COLUMNS, Recorded, history_of
from unimodal.campaigns.certifying import counted_sums, obstacle_of
from unimodal.campaigns.events import LookedUp
from unimodal.campaigns.reading import recorded
from unimodal.errors import UnimodalError
from unimodal.inference.certificate import OBSTACLES
from unimodal.inference.change import find_change
from unimodal.inference.peak_test import check_confidence
from unimodal.inference.several_peaks import RewardSums, peaks_of

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.99
LOOK_UPS, FAILED = 100, 0.1  # of so many last look-ups, this share must not fail
FEW_FAILED = 3
WITHOUT_REWARDS, LONGER = 100, 3  # decisions in a row, and how many times the longest run before
OVERDUE, SHARE_OVERDUE, LATE = 20, 0.1, 10  # see `_waiting`
DUE, NEVER_TOLD = (
    20,
    1_000,
)  # see `_all_expired`: rewards, and decisions


@dataclass(frozen=True)
class Alarm:
    """Something that the owner of a campaign should look at.

    `kind` is 'second peak', 'change', 'look-ups', 'waiting' or 'cannot tell'; `since` the time from
    which on it shows and `decision` the first decision that it is about, where they are known;
    `confidence` the one that was asked for, None where there is no test behind it.

    Attributes
    ----------
    kind
        'second peak', 'change', 'look-ups', 'waiting' or 'cannot tell'.
    sentence
        The alarm in words.
    arm
        The arm that it is about, if it is about one.
    since
        From when on it shows.
    decision
        The first decision that it is about.
    confidence
        The confidence that was asked for.

    Examples
    --------
    >>> import unimodal as um
    >>> um.Alarm("waiting", "no reward has come for 500 decisions.").kind
    'waiting'
    """

    kind: str
    sentence: str
    arm: Any = None
    since: float | None = None
    decision: int | None = None
    confidence: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name.

        >>> Alarm("waiting", "No reward has come.").to_dict()["kind"]
        'waiting'
        """
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return self.sentence


def alarms(campaign: Recorded | str | Path, confidence: float = CONFIDENCE) -> list[Alarm]:
    """What is wrong with a campaign, or with its file: an empty list if nothing shows.

    - *A second peak*: the means have more than one peak, by `second_peaks`. Rewards count as those
      of a certificate do: in the order of their decisions, up to the oldest open one.
    - *A change*: the rewards of the leader (of the arm with the most rewards, if nobody leads) have
      changed, by the test in `inference/change.py`. They count in the order of their decisions, up
      to the oldest open one of that arm.
    - *Look-ups*: of the last 100, 3 or more and a tenth or more have failed.
    - *Waiting*: no reward has come for 100 decisions and for three times as many as ever before; or
      a tenth of the decisions, and 20 at least, have no reward although 100 more have been made
      since, and ten times as many as it usually takes (for 99 of 100 rewards). With a time to live
      none is late before that is over: then 100 decisions in a row expired, among which 20 rewards
      were due by the share before; or 1,000, if no reward was ever told.
    - *Cannot tell*: in a campaign of before, decisions have expired as rewards of 0 that are not of
      the family; second peaks and changes are not tested then.

    While the means have one peak and nothing changes, the first two are raised with probability at
    most 1 - `confidence` each, however often one looks.

    Parameters
    ----------
    campaign
        A campaign, or the path of its file.
    confidence
        At which second peaks and changes are tested.

    Returns
    -------
    list[Alarm]
        What the owner should look at.

    Examples
    --------
    >>> import unimodal as um
    >>> from unimodal.campaigns.simulated_campaign import simulated_campaign
    >>> um.alarms(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=300, seed=1))
    []
    """
    level = check_confidence(confidence, "the 'confidence' of alarms")
    campaign = recorded(campaign)
    return alarms_of(campaign.agent, history_of(campaign), level)


def alarms_of(agent: Agent, history: pl.DataFrame, confidence: float = CONFIDENCE) -> list[Alarm]:
    """The same, from an agent and its log."""
    if not set(COLUMNS) <= set(history.columns):  # a part of a log, which somebody looks at
        return []
    found = obstacle_of(agent, history)
    tested = (
        [
            Alarm(
                "cannot tell",
                f"Neither a second peak nor a change can be told: {OBSTACLES[found]}.",
            )
        ]
        if found is not None
        else [*_second_peak(agent, history, confidence), *_change(agent, history, confidence)]
    )
    return [
        *tested,
        *_look_ups(history),
        *_waiting(agent, history),
    ]


def _second_peak(agent: Agent, history: pl.DataFrame, confidence: float) -> Iterator[Alarm]:
    graph = agent.graph
    if graph is None or agent.policy.forgets:
        return  # there it cannot be told
    try:
        pulls, totals = counted_sums(agent, history, graph)
        sums = RewardSums(graph, agent.family.of_arms(graph.labels), pulls, totals)
        found = peaks_of(sums, confidence)
    except UnimodalError:  # a family of a user's own without evidence
        return
    for peak in found:
        yield Alarm(
            "second peak",
            f"A second peak shows at {_percent(confidence)} confidence: around {shown(peak.arm)} "
            f"(mean {peak.mean:.4g}) the means are higher than on every way from there to "
            f"{shown(found.best.arm)} (mean {found.best.mean:.4g}), so that a policy that climbs "
            "can be stuck on one of the two.",
            peak.arm,
            confidence=confidence,
        )


def _change(agent: Agent, history: pl.DataFrame, confidence: float) -> Iterator[Alarm]:
    import polars as pl

    # Lazily, so that only columns which are needed are copied: a log may have a million events.
    told = history.lazy().filter(
        pl.col("kind").is_in(["reward", "expire"]), pl.col("reward").is_not_null()
    )
    leader = _leader(agent, told)
    if leader is None:
        return
    still_open = tuple(agent.book.open.items())  # at once: other threads may go on
    waiting = [number for number, (arm, _) in still_open if _text(agent, arm) == leader]
    of_leader = told.filter(pl.col("arm") == leader).select("decision", "reward")
    own = of_leader.collect().sort("decision")
    if waiting:  # what comes late may differ from what comes soon
        own = own.filter(pl.col("decision") < min(waiting))
    try:
        told_family = agent.family.told
        found = find_change(told_family, own["reward"].to_numpy(), confidence, agent.known_arms)
    except UnimodalError:  # a family of a user's own without a divergence
        return
    if found is not None:
        decision = int(own["decision"][found.begins])
        worth = float(np.max(agent.family.factors([_label(agent, leader)])))
        yield Alarm(
            "change",
            f"The rewards of {leader} have changed, at {_percent(confidence)} confidence: their "
            f"mean was {worth * found.before:.4g} in the {found.half:,} before decision "
            f"{decision:,}, and {worth * found.after:.4g} in the {found.half:,} from there on.",
            _label(agent, leader),
            _time(history, decision),
            decision,
            confidence,
        )


def _leader(agent: Agent, told: pl.LazyFrame) -> str | None:
    """The arm whose rewards are looked at, as a log writes it."""
    import polars as pl

    if agent.leader is not None:
        return shown(agent.leader)
    each = told.group_by(pl.col("arm").cast(pl.String), maintain_order=True).agg(n=pl.len())
    counts = each.sort("n", maintain_order=True).collect()
    return None if counts.is_empty() else counts["arm"][-1]


def _look_ups(history: pl.DataFrame) -> Iterator[Alarm]:
    import polars as pl

    if "data" not in history.columns:
        return
    looked_up = history.lazy().filter(pl.col("kind") == LookedUp.kind).select("data", "time")
    made = looked_up.tail(LOOK_UPS).collect()
    failed: list[tuple[Any, float]] = []
    for text, time in zip(made["data"].cast(pl.String), made["time"], strict=True):
        with contextlib.suppress(ValueError):  # a damaged one, which `verify` names
            label, neighbours = LookedUp(0, time, None, text).answer()
            failed += [(label, float(time))] * (neighbours is None)
    if len(failed) >= max(FEW_FAILED, FAILED * made.height):
        yield Alarm(
            "look-ups",
            f"Look-ups fail: {len(failed)} of the last {made.height} could not be answered, the "
            f"last of {failed[-1][0]!r}; campaign.reports says why.",
            failed[-1][0],
            failed[0][1],
        )


def _waiting(agent: Agent, history: pl.DataFrame) -> Iterator[Alarm]:
    """Rewards that stay out; with a time to live, no decision is late before that is over."""
    import polars as pl

    if math.isfinite(agent.book.time_to_live):
        yield from _all_expired(history)
        return
    kind = pl.col("kind")
    # The ids of decisions go on from those before the history, if these are in an archive.
    decided = pl.col("decision").filter(kind == "decide")
    earlier: Any = history.select(decided.min()).item()
    before = agent.book.made if earlier is None else int(earlier) - 1
    made_so_far = before + (kind == "decide").cum_sum().cast(pl.Int64)
    is_closed = kind.is_in(["reward", "expire"])
    closed = history.select(
        pl.col("decision").filter(is_closed), made=made_so_far.filter(is_closed)
    )
    made = before + int(history.select((kind == "decide").sum()).item())
    last = before if closed.is_empty() else int(closed["made"][-1])
    runs: Any = closed["made"].diff().max() if closed.height > 1 else 0
    run, longest = (
        made - last,
        max(runs, 0 if closed.is_empty() else int(closed["made"][0]) - before),
    )
    if run >= max(WITHOUT_REWARDS, LONGER * longest):
        yield Alarm(
            "waiting",
            f"No reward has come for the last {run:,} decisions (at most {longest:,} before): "
            "rewards may no longer be told.",
            since=_time(history, last + 1),
            decision=last + 1,
        )
        return
    if closed.is_empty():
        return
    lags = closed["made"] - closed["decision"]  # decisions made since, when a reward came
    usual: Any = lags.quantile(0.99)
    old = made - max(WITHOUT_REWARDS, LATE * (int(usual) + 1))
    overdue = [number for number in tuple(agent.book.open) if number <= old]
    if len(overdue) >= max(OVERDUE, SHARE_OVERDUE * old):
        yield Alarm(
            "waiting",
            f"Decisions pile up without rewards: {len(overdue):,} of the first {old:,} have none, "
            f"although of 100 rewards 99 come within {_counted(int(usual) + 1)}: tell zeros as "
            "well, or open the campaign with a time_to_live.",
            since=_time(history, overdue[0]),
            decision=overdue[0],
        )


def _all_expired(history: pl.DataFrame) -> Iterator[Alarm]:
    """Decisions in a row that all expired, where the share before says that rewards were due."""
    import polars as pl

    kind = pl.col("kind")
    closed = history.lazy().filter(kind.is_in(["reward", "expire"]))
    ended = closed.select("decision", told=kind == "reward").collect().sort("decision")
    told = np.flatnonzero(ended["told"].to_numpy())
    before = int(told[-1]) + 1 if len(told) else 0  # up to the last one with a reward
    run, due = ended.height - before, len(told) / before if before else 0.0
    if run >= max(WITHOUT_REWARDS, DUE / due if due else NEVER_TOLD):
        first = int(ended["decision"][before])
        usual = f"{_percent(round(due, 3))} before had one" if due else "none ever had one"
        yield Alarm(
            "waiting",
            f"The last {run:,} decisions whose time is over had no reward ({usual}): rewards may "
            "no longer be told, or come later than the time_to_live.",
            since=_time(history, first),
            decision=first,
        )


def _text(agent: Agent, arm: int) -> str | None:
    return shown(agent.label_of(arm)) if arm >= 0 else None


def _label(agent: Agent, text: str) -> Any:
    """The label that a log writes so."""
    return next((label for label in agent.labels if shown(label) == text), text)


def _counted(decisions: int) -> str:
    return "one decision" if decisions == 1 else f"{decisions:,} decisions"


def _time(history: pl.DataFrame, decision: int) -> float | None:
    import polars as pl

    made = history.lazy().filter(pl.col("kind") == "decide", pl.col("decision") == decision)
    times = made.select("time").collect()["time"]
    return None if times.is_empty() else float(times[0])


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.10g} %"
