"""What an owner of a campaign should know without asking: alarms, each as a sentence."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal.agents import Agent
from unimodal.agents.label_text import shown
from unimodal.agents.recorded_history import Recorded
from unimodal.campaigns.certifying import counted_sums, obstacle_of
from unimodal.campaigns.events import LookedUp
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.reading import with_facts
from unimodal.errors import UnimodalError
from unimodal.inference.certificate import OBSTACLES
from unimodal.inference.peak_test import check_confidence
from unimodal.inference.several_peaks import RewardSums, peaks_of

# Alarms in words: what they are made of are their facts, and their other fields.
WORDS = {
    "second peak": "A second peak shows at {confidence} confidence: around {arm} (mean {mean:.4g}) "
    "the means are higher than on every way from there to {best} (mean {best_mean:.4g}), so that "
    "a policy that climbs can be stuck on one of the two.",
    "change": "The rewards of {arm} have changed, at {confidence} confidence: their mean was "
    "{before:.4g} in the {half:,} before decision {decision:,}, and {after:.4g} in the {half:,} "
    "from there on.",
    "cannot tell": "Neither a second peak nor a change can be told: {why}.",
    "look-ups": "Look-ups fail: {failed} of the last {of} could not be answered, the last of "
    "{arm!r}; campaign.reports says why.",
    "no reward": "No reward has come for the last {run:,} decisions (at most {longest:,} before): "
    "rewards may no longer be told.",
    "overdue": "Decisions pile up without rewards: {overdue:,} of the first {of:,} have none, "
    "although of 100 rewards 99 come within {usual}: tell zeros as well, or open the campaign with "
    "a time_to_live.",
    "all expired": "The last {run:,} decisions whose time is over had no reward ({usual}): rewards "
    "may no longer be told, or come later than the time_to_live.",
}
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
    facts
        What the sentence is made of, for programs: 'mean', 'best' and 'best_mean' of a second peak;
        'before', 'after' and 'half' (how many rewards each mean is of) of a change; 'failed' and
        'of' of look-ups; 'obstacle' where nothing can be told. Of waiting 'why', which is
        'no reward' ('run' and 'longest' decisions), 'overdue' ('overdue' decisions of the first
        'of', and 'usual' ones until a reward) or 'all expired' ('run' decisions, and the 'share'
        that had a reward before).
        A client has none.

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
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, but for the facts.

        >>> Alarm("waiting", "No reward has come.").to_dict()["kind"]
        'waiting'
        """
        return {name: value for name, value in vars(self).items() if name != "facts"}

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
        [_cannot_tell(found)]
        if found is not None
        else [*_second_peak(agent, facts, confidence), *_change(agent, facts, confidence)]
    )
    return [*tested, *_look_ups(facts), *_waiting(agent, facts)]


def _cannot_tell(obstacle: str) -> Alarm:
    sentence = WORDS["cannot tell"].format(why=OBSTACLES[obstacle])
    return Alarm("cannot tell", sentence, facts={"obstacle": obstacle})


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
    best = found.best
    for peak in found:
        facts_told = {"mean": peak.mean, "best": best.arm, "best_mean": best.mean}
        words = {"arm": shown(peak.arm), "confidence": _percent(confidence)}
        sentence = WORDS["second peak"].format(**words, **{**facts_told, "best": shown(best.arm)})
        yield Alarm("second peak", sentence, peak.arm, confidence=confidence, facts=facts_told)


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
        before, after = worth * found.before, worth * found.after
        told = {"before": before, "after": after, "half": found.half}
        words = {"arm": leader, "confidence": _percent(confidence), "decision": decision}
        yield Alarm(
            "change",
            WORDS["change"].format(**words, **told),
            _label(agent, leader),
            facts.time_of(decision),
            decision,
            confidence,
            told,
        )


def _look_ups(facts: LogFacts) -> Iterator[Alarm]:
    made = tuple(facts.look_ups)
    failed: list[tuple[Any, float]] = []
    for text, time in made:
        with contextlib.suppress(ValueError):  # a damaged one, which `verify` names
            label, neighbours = LookedUp(0, time, None, text).answer()
            failed += [(label, time)] * (neighbours is None)
    if len(failed) >= max(FEW_FAILED, FAILED * len(made)):
        told = {"failed": len(failed), "of": len(made)}
        (last, _), (_, since) = failed[-1], failed[0]
        sentence = WORDS["look-ups"].format(arm=last, **told)
        yield Alarm("look-ups", sentence, last, since, facts=told)


def _waiting(agent: Agent, facts: LogFacts) -> Iterator[Alarm]:
    """Rewards that stay out; with a time to live, no decision is late before that is over."""
    if math.isfinite(agent.book.time_to_live):
        yield from _all_expired(facts)
        return
    made, longest = facts.made, facts.longest_run
    run = made - facts.last_closed
    if run >= max(WITHOUT_REWARDS, LONGER * longest):
        told = {"run": run, "longest": longest}
        yield _waiting_since(facts, facts.last_closed + 1, "no reward", told, told)
        return
    if (usual := _usual(facts.lags())) is None:
        return
    old = made - max(WITHOUT_REWARDS, LATE * (usual + 1))
    overdue = facts.open_up_to(old)
    if len(overdue) >= max(OVERDUE, SHARE_OVERDUE * old):
        told = {"overdue": len(overdue), "of": old, "usual": usual + 1}
        words = {**told, "usual": _counted(usual + 1)}
        yield _waiting_since(facts, overdue[0], "overdue", told, words)


def _waiting_since(
    facts: LogFacts, decision: int, why: str, told: dict[str, Any], words: dict[str, Any]
) -> Alarm:
    sentence, since = WORDS[why].format(**words), facts.time_of(decision)
    return Alarm("waiting", sentence, None, since, decision, facts={"why": why, **told})


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
        words = {"run": run, "usual": usual}
        yield _waiting_since(facts, first, "all expired", {"run": run, "share": due}, words)


def _label(agent: Agent, text: str) -> Any:
    """The label that a log writes so."""
    return next((label for label in agent.labels if shown(label) == text), text)


def _counted(decisions: int) -> str:
    return "one decision" if decisions == 1 else f"{decisions:,} decisions"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.10g} %"
