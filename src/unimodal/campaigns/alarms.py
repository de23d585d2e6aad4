"""What an owner of a campaign should know without asking: alarms, each as a sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.agents import Agent
from unimodal.agents.label_text import shown
from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.certifying import counted_sums, obstacle_of
from unimodal.campaigns.event_checks import answer
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.reading import with_facts
from unimodal.errors import UnimodalError
from unimodal.inference.certificate import OBSTACLES
from unimodal.inference.peak_test import check_confidence
from unimodal.inference.several_peaks import RewardSums, peaks_of

CONFIDENCE = 0.99
FAILED = 0.1  # of the last look-ups, this share must not fail
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
    return with_facts(campaign, lambda agent, facts: alarms_of(agent, facts, level))


def alarms_of(agent: Agent, facts: LogFacts, confidence: float = CONFIDENCE) -> list[Alarm]:
    """The same, from an agent and its log."""
    found = obstacle_of(agent, facts)
    tested = (
        [
            Alarm(
                "cannot tell",
                f"Neither a second peak nor a change can be told: {OBSTACLES[found]}.",
            )
        ]
        if found is not None
        else [*_second_peak(agent, facts, confidence), *_change(agent, facts, confidence)]
    )
    return [*tested, *_look_ups(facts), *_waiting(agent, facts)]


def _second_peak(agent: Agent, facts: LogFacts, confidence: float) -> Iterator[Alarm]:
    graph = agent.graph
    if graph is None or agent.policy.forgets:
        return  # there it cannot be told
    try:
        pulls, totals = counted_sums(agent, facts, graph)
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


def _change(agent: Agent, facts: LogFacts, confidence: float) -> Iterator[Alarm]:
    leader = shown(agent.leader) if agent.leader is not None else facts.most_rewarded
    if leader is None:
        return
    try:
        test = facts.change_test(leader, agent.family.told)
        found = test.found(confidence, agent.known_arms)
    except UnimodalError:  # a family of a user's own without a divergence
        return
    if found is not None:
        decision = facts.decision_of(leader, found.begins)
        worth = float(np.max(agent.family.factors([_label(agent, leader)])))
        yield Alarm(
            "change",
            f"The rewards of {leader} have changed, at {_percent(confidence)} confidence: their "
            f"mean was {worth * found.before:.4g} in the {found.half:,} before decision "
            f"{decision:,}, and {worth * found.after:.4g} in the {found.half:,} from there on.",
            _label(agent, leader),
            facts.time_of(decision),
            decision,
            confidence,
        )


def _look_ups(facts: LogFacts) -> Iterator[Alarm]:
    made = tuple(facts.look_ups)
    failed: list[tuple[Any, float]] = []
    for text, time in made:
        with contextlib.suppress(ValueError):  # a damaged one, which `verify` names
            label, neighbours = answer(text)
            failed += [(label, time)] * (neighbours is None)
    if len(failed) >= max(FEW_FAILED, FAILED * len(made)):
        yield Alarm(
            "look-ups",
            f"Look-ups fail: {len(failed)} of the last {len(made)} could not be answered, the "
            f"last of {failed[-1][0]!r}; campaign.reports says why.",
            failed[-1][0],
            failed[0][1],
        )


def _waiting(agent: Agent, facts: LogFacts) -> Iterator[Alarm]:
    """Rewards that stay out; with a time to live, no decision is late before that is over."""
    if math.isfinite(agent.book.time_to_live):
        yield from _all_expired(facts)
        return
    made, longest = facts.made, facts.longest_run
    run = made - facts.last_closed
    if run >= max(WITHOUT_REWARDS, LONGER * longest):
        first = facts.last_closed + 1
        yield Alarm(
            "waiting",
            f"No reward has come for the last {run:,} decisions (at most {longest:,} before): "
            "rewards may no longer be told.",
            since=facts.time_of(first),
            decision=first,
        )
        return
    if (usual := _usual(facts.lags())) is None:
        return
    old = made - max(WITHOUT_REWARDS, LATE * (usual + 1))
    overdue = facts.open_up_to(old)
    if len(overdue) >= max(OVERDUE, SHARE_OVERDUE * old):
        yield Alarm(
            "waiting",
            f"Decisions pile up without rewards: {len(overdue):,} of the first {old:,} have none, "
            f"although of 100 rewards 99 come within {_counted(usual + 1)}: tell zeros as "
            "well, or open the campaign with a time_to_live.",
            since=facts.time_of(overdue[0]),
            decision=overdue[0],
        )


def _usual(lags: NDArray[Any]) -> int | None:
    """As many as 99 of 100 are at most; None of none."""
    if not len(lags):
        return None
    place = math.floor((len(lags) - 1) * 0.99 + 0.5)
    return int(np.partition(lags, place)[place])


def _all_expired(facts: LogFacts) -> Iterator[Alarm]:
    """Decisions in a row that all expired, where the share before says that rewards were due."""
    before, told, run, first = facts.since_last_reward()
    due = told / before if before else 0.0
    if first is not None and run >= max(WITHOUT_REWARDS, DUE / due if due else NEVER_TOLD):
        usual = f"{_percent(round(due, 3))} before had one" if due else "none ever had one"
        yield Alarm(
            "waiting",
            f"The last {run:,} decisions whose time is over had no reward ({usual}): rewards may "
            "no longer be told, or come later than the time_to_live.",
            since=facts.time_of(first),
            decision=first,
        )


def _label(agent: Agent, text: str) -> Any:
    """The label that a log writes so."""
    return next((label for label in agent.labels if shown(label) == text), text)


def _counted(decisions: int) -> str:
    return "one decision" if decisions == 1 else f"{decisions:,} decisions"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.10g} %"
