"""What must hold after a history, whatever has happened in it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import unimodal as um
from unimodal.campaigns.archives import Archive, load_archives, with_archives
from unimodal.campaigns.events import Row
from unimodal.campaigns.stores import kind_of
from unimodal.testing.simulation.ledger import Wrong
from unimodal.testing.simulation.world import World


def check_verdict(verdict: Any) -> None:
    """Refuse a verdict that is not that the campaign is sound."""
    if not verdict:
        raise Wrong(f"verify: {'; '.join(verdict.wrong)}")


def text_of_archive(path: Path) -> str:
    """All that an archive says, as text."""
    import polars as pl

    notes = json.dumps(pl.read_parquet_metadata(path))
    return notes + json.dumps(pl.read_parquet(path).cast(pl.String).rows())


def check_all(world: World) -> None:
    """Hold the campaign, which nobody has open, against the ledger and against itself."""
    inner, archives = world.place.inner, load_archives(world.archives())
    check_verdict(um.verify(inner, archives=archives))
    if archives and world.history["seed"] % 2:
        check_verdict(um.verify(inner))
    events = kind_of(inner).read_store(inner, lambda store: _whole_log(store, archives))
    _check_log(world, events)
    kind_of(inner).read_store(inner, lambda store: _check_rewards(store, events))
    check_rules(world, events)
    _check_acknowledged(world)
    if world.ledger.erasures:
        _check_erased(world, [archive.path for archive in archives])


def _whole_log(store: Any, archives: list[Archive]) -> list[Row]:
    whole = with_archives(store, archives)
    return [Row._make(row) for rows in whole.rows() for row in rows]


def _check_log(world: World, events: list[Row]) -> None:
    """The log and its archives are what was committed, but for labels that were erased."""
    ledger = world.ledger
    if len(events) != len(ledger.events):
        raise Wrong(f"the log has {len(events)} events, and {len(ledger.events)} were committed")
    for event, committed in zip(events, ledger.events, strict=True):
        wanted = committed._replace(
            arm=ledger.label(committed.arm), leader=ledger.label(committed.leader)
        )
        if ledger.erasures:
            wanted = wanted._replace(data=event.data)
        if event != wanted:
            raise Wrong(f"the log has {event}, and {wanted} was committed")


def _check_rewards(store: Any, events: list[Row]) -> None:
    """The rewards that are found by their decisions are those of the whole log."""
    rewards = {event.decision: event.reward for event in events if event.kind == "reward"}
    made = sum(event.kind == "decide" for event in events)
    for number in range(1, made + 2):
        if (found := store.reward_of(number)) != rewards.get(number):
            raise Wrong(
                f"the reward of decision {number} is found as {found}, and the log has "
                f"{rewards.get(number)}"
            )
    if lost := store.lost_rewards():
        raise Wrong(f"{lost} rewards are lost")


def _check_acknowledged(world: World) -> None:
    """What was acknowledged and not lost is there once, and what was refused is not there."""
    ledger = world.ledger
    for told in ledger.acknowledged:
        if not told.lost and any(seq > len(ledger.events) for seq in told.seqs):
            raise Wrong(f"{told} was acknowledged, and is not in the log")
    owned = sum(number in ledger.owners for number in ledger.decided)
    if len(ledger.decided) > owned + ledger.made_uncertain:
        raise Wrong(
            f"the log has {len(ledger.decided)} decisions, of which {owned} were acknowledged and "
            f"at most {ledger.made_uncertain} may have been made without an answer"
        )
    values = [event.reward for event in ledger.events if event.kind == "tell"]
    if len(set(values)) < len(values):
        raise Wrong("a reward that was told once is in the log twice")
    for kind, decision, reward in ledger.refused:
        for event in ledger.events:
            if (event.kind, event.decision, event.reward) == (kind, decision, reward):
                raise Wrong(f"a call was refused, and the log has {event}")


def _check_erased(world: World, archives: list[Path]) -> None:
    """No label that was erased stands anywhere."""
    inner, ledger = world.place.inner, world.ledger
    kind = kind_of(inner)
    texts = [text_of_archive(path) for path in archives]
    texts += kind.read_store(inner, lambda store: [json.dumps(store.settings())])
    texts += kind.read_store(inner, lambda store: [str(list(store.rows()))])
    texts += kind.read_store(
        inner, lambda store: [store.snapshot(seq) for seq, _ in store.snapshots()]
    )
    for erasure, text in itertools.product(ledger.erasures, texts):
        if json.dumps(erasure.old)[1:-1] in text:
            raise Wrong(f"{erasure.old!r} was erased, and is still there")


class _Rules:
    """What any log of a campaign must keep to, event by event."""

    def __init__(self, world: World) -> None:
        self._lives = world.time_to_live or float("inf")
        self._lifetime = world.key_lifetime
        self._time, self._made = 0.0, 0
        self._open: dict[int, float] = {}
        self._paused: set[str] = set()
        self._keys: dict[str, tuple[float, dict[str, Any]]] = {}
        self._label = world.ledger.label

    def follow(self, event: Row) -> None:
        """Refuse an event that cannot come next."""
        if event.time < self._time:
            raise Wrong(f"the time goes back at {event}")
        self._time = event.time
        check = getattr(self, f"_follow_{event.kind}", None)
        if check is not None:
            check(event)

    def _follow_decide(self, event: Row) -> None:
        self._made += 1
        if event.decision != self._made:
            raise Wrong(f"{event} has another number than {self._made}")
        self._open[self._made] = event.time
        if self._label(event.arm) in self._paused:
            raise Wrong(f"{event} is of an arm that is paused")
        if event.propensity is not None and not 0 < event.propensity <= 1:
            raise Wrong(f"{event} has no probability")

    def _follow_reward(self, event: Row) -> None:
        made = self._open.pop(event.decision or 0, None)
        if made is None:
            raise Wrong(f"{event} is of a decision that is not open")
        if event.time >= made + self._lives:
            raise Wrong(f"{event} came too late for a decision of {made}")

    def _follow_expire(self, event: Row) -> None:
        made = self._open.pop(event.decision or 0, None)
        if made is None or event.time < made + self._lives:
            raise Wrong(f"{event} closes a decision before its time, or one that is not open")

    def _follow_limit(self, event: Row) -> None:
        ((what, given),) = json.loads(event.data or "{}").items()
        if what == "pause":
            self._paused |= set(map(self._label, given))
        elif what == "resume":
            self._paused -= set(map(self._label, given))

    def _follow_key(self, event: Row) -> None:
        data = json.loads(event.data or "{}")
        before = self._keys.get(data["key"])
        if before is not None and event.time < before[0] + self._lifetime:
            raise Wrong(f"{event} gives a key another meaning than {before[1]}")
        self._keys[data["key"]] = event.time, data


def check_rules(world: World, events: list[Row]) -> None:
    """Refuse a log that cannot be one, whoever wrote it."""
    rules = _Rules(world)
    for event in events:
        rules.follow(event)
