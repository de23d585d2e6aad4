"""Whether the state of a campaign is the fold of its log, bit for bit."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from unimodal.campaigns.log import Log
from unimodal.campaigns.reading import no_clock, read, saved_settings
from unimodal.campaigns.state_machine import StateMachine
from unimodal.errors import UnimodalError
from unimodal.policies import Policy
from unimodal.version import __version__


@dataclass
class Verdict:
    """What `verify` found; true if nothing is wrong."""

    path: Path
    first: int = 0  # the event after which the log was folded
    events: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # events by kind
    snapshots: list[int] = field(default_factory=list)  # those that are equal, by event
    wrong: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def verify(path: str | Path, policy: Policy | None = None) -> Verdict:
    """Compute the state of a campaign again from its log, and compare it with the snapshots kept.

    Every decision of the log is made again and must choose the same arm; every snapshot must be the
    same text. Events that another version of unimodal wrote before the file came to this one are
    not folded again: this version starts from the snapshot with which it took over.
    """
    with ThreadPoolExecutor(1) as beside:  # SQLite looks at its pages while Python folds
        pages = beside.submit(read, path, _looked_through)
        verdict = read(path, lambda log: _folded(log, policy))
        problems, lost = pages.result()
    if problems:
        return Verdict(verdict.path, wrong=problems)
    if lost and not verdict.wrong:
        verdict.wrong.append(f"the table 'rewards' differs from the log in {lost:,}")
    return verdict


def _looked_through(log: Log) -> tuple[list[str], int]:
    """What SQLite itself finds wrong, and how many rewards would not be found."""
    problems = log.problems()
    return problems, 0 if problems else log.lost_rewards()


def _folded(log: Log, policy: Policy | None) -> Verdict:
    verdict = Verdict(log.path)
    snapshots = log.snapshots()
    own = [seq for seq, version in snapshots if version == __version__]
    if own and len(own) < len(snapshots):
        verdict.first = own[0]
    try:
        log.settings()
    except UnimodalError as error:
        verdict.wrong.append(str(error))
        return verdict
    settings = saved_settings(log, policy)  # raises: another policy is the caller's mistake
    try:
        replica = StateMachine.restored(settings, log, no_clock, verdict.first)
        for seq in own:
            replica.catch_up(seq)
            if replica.seq != seq:
                verdict.wrong.append(f"the log has no event {seq}, of which there is a snapshot")
            elif replica.state() == log.snapshot(seq):
                verdict.snapshots.append(seq)
            else:
                verdict.wrong.append(f"the snapshot after event {seq} is not the fold of the log")
        replica.catch_up()
    except UnimodalError as error:
        verdict.wrong.append(str(error))
        return verdict
    verdict.counts = dict(replica.counts + Counter(log.counts(verdict.first)))
    verdict.events = replica.seq - verdict.first
    return verdict


def sentence(verdict: Verdict) -> str:
    """The verdict for a person."""
    path, counts = verdict.path, verdict.counts
    if not verdict:
        return f"{path} is NOT sound: {'; '.join(verdict.wrong)}."
    since = f" since event {verdict.first:,}" if verdict.first else ""
    return (
        f"{path} is sound: its log{since} folds to the same state as "
        f"{len(verdict.snapshots)} snapshot{'s' * (len(verdict.snapshots) != 1)}, bit for bit "
        f"(events: {verdict.events:,}; decisions: {counts.get('decide', 0):,}, "
        f"rewards: {counts.get('reward', 0):,}, expired: {counts.get('expire', 0):,})."
    )
