"""What takes long to find out of a campaign: certificate, alarms, why the last decisions fell.

They are found beside the calls, one after another, and kept; at most a tenth of the time goes into
it, so a campaign whose log takes a second to read is read every ten seconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unimodal.agents import Agent
from unimodal.agents.explanation import Explanation
from unimodal.campaigns.alarms import alarms_of
from unimodal.campaigns.certifying import certificate_of
from unimodal.campaigns.explain import explain
from unimodal.campaigns.log_facts import LogFacts
from unimodal.errors import UnimodalError
from unimodal.escape_text import printable
from unimodal.inference.certificate import Certificate, standing_rows
from unimodal.service.campaigns.followed_logs import FollowedLog
from unimodal.service.dashboard.log_summary import LastDecision

_log = logging.getLogger("unimodal")
_SHARE = 10.0  # times as long as it took, until it is done again
_LEAST = 2.0  # seconds
_ROWS = 12  # competitors of an explanation, arms of a certificate
_LONG = 1.0  # seconds of a processor, after which no further decision is explained at once
_WHY = 6  # decisions that are explained


@dataclass
class Pace:
    """When something slow may be done again."""

    clock: Callable[[], float] = time.monotonic
    seq: int = -1  # of the log, when it was last done
    due: float = 0.0

    def is_due(self, seq: int) -> bool:
        """Whether the log has grown, and enough time has passed."""
        return seq != self.seq and self.clock() >= self.due

    def done(self, seq: int, seconds: float) -> None:
        """Note that it was done, and how long it took."""
        self.seq, self.due = seq, self.clock() + max(_SHARE * seconds, _LEAST)


@dataclass
class CampaignFindings:
    """What was found of one campaign, and when it is looked for again."""

    certificate: dict[str, Any] | None = None
    alarms: list[dict[str, Any]] | None = None  # None: not looked for yet
    why: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None  # why the certificate could not be found
    of_log: Pace = field(default_factory=Pace)
    of_decisions: Pace = field(default_factory=Pace)
    _explained: dict[int, dict[str, Any]] = field(default_factory=dict)

    def find(self, address: Any, log: FollowedLog, with_why: bool) -> None:
        """Look for what is due; in a thread that may wait."""
        seq = log.reader.facts.seq
        if self.of_log.is_due(seq):
            self._timed(self.of_log, seq, lambda: self._find_certificate(log))
        if with_why and self.of_decisions.is_due(seq):
            made = list(log.reader.also.decisions)
            self._timed(self.of_decisions, seq, lambda: self._find_why(address, made))

    def is_due(self, seq: int, with_why: bool) -> bool:
        """Whether there is something to look for; why decisions fell is on a page of its own."""
        return self.of_log.is_due(seq) or (with_why and self.of_decisions.is_due(seq))

    @staticmethod
    def _timed(pace: Pace, seq: int, work: Callable[[], bool]) -> None:
        began = time.thread_time()  # of a processor: on a busy machine it is not done less often
        is_complete = False
        try:
            is_complete = work()
        finally:
            pace.done(seq if is_complete else -1, time.thread_time() - began)

    def _find_certificate(self, log: FollowedLog) -> bool:
        try:
            self.certificate, self.alarms = log.read(found_in)
            self.problem = None
        except UnimodalError as error:
            self.problem = printable(error)
        except Exception:
            _log.exception("the dashboard could not read a campaign")  # its address has a password
            self.problem = "the log could not be read: the service's log says why."
        return True

    def _find_why(self, address: Any, decisions: Sequence[LastDecision]) -> bool:
        """Explain the last decisions, the newest first; whether there was time for all of them.

        One takes milliseconds, or as long as the log, where the last snapshot came after it.
        """
        wanted = decisions[: -_WHY - 1 : -1]
        self._explained = {
            one.id: self._explained[one.id] for one in wanted if one.id in self._explained
        }
        end = time.thread_time() + _LONG
        for one in wanted:
            if one.id not in self._explained and time.thread_time() < end:
                self._explained[one.id] = _explained(address, one.id)
        self.why = [
            {**self._explained[one.id], "id": one.id, "time": one.time, "reason": one.reason}
            | {"arm": printable(one.arm), "leader": one.leader and printable(one.leader)}
            for one in wanted
            if one.id in self._explained
        ]
        return len(self.why) == len(wanted)


def _explained(address: Any, decision: int) -> dict[str, Any]:
    try:
        return explanation_shown(explain(address, decision))
    except UnimodalError as error:
        return {"because": printable(error), "columns": [], "rows": []}


def explanation_shown(found: Explanation) -> dict[str, Any]:
    """An explanation as text: a sentence, and a table of those who competed."""
    return {
        "because": printable(found.because),
        "columns": [printable(name) for name in found.columns],
        "rows": [[printable(cell) for cell in row] for row in found.rows(_ROWS)],
    }


def found_in(agent: Agent, facts: LogFacts) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Certificate and alarms, as they are shown; no certificate where it cannot be asked for."""
    cannot_be = agent.policy.forgets or not facts.kinds
    certificate = None if cannot_be else certificate_shown(agent, certificate_of(agent, facts))
    alarms = [
        {"kind": alarm.kind, "sentence": printable(alarm.sentence), "since": alarm.since}
        for alarm in alarms_of(agent, facts)
    ]
    return certificate, alarms


def certificate_shown(agent: Agent, found: Certificate) -> dict[str, Any]:
    """A certificate as text, its level, and what is missing."""
    is_leader = agent.leader is None or agent.leader == found.leader
    return {
        "certified": bool(found),
        "obstacle": found.obstacle,
        "arm": None if found.leader is None else printable(found.leader),
        "is_leader": is_leader,
        "level": found.level if is_leader else 0.0,  # of the campaign's leader nothing is certified
        "past": found.past,
        "asked": found.confidence,
        "decisions": agent.book.made,
        # What waits is among what is missing.
        "sentences": [printable(text) for about, text in found.sentences() if about != "waiting"],
        "missing": _missing(found),
        "rows": [[printable(cell) for cell in row] for row in standing_rows(found)[:_ROWS]],
    }


def _missing(found: Certificate) -> list[dict[str, Any]]:
    """What stands between the leader and the certificate: neighbours, and rewards."""
    return [
        {"open": [printable(arm) for arm in found.open[:_ROWS]], "count": len(found.open)},
        {"more": found.more, "waiting": found.waiting},
    ]
