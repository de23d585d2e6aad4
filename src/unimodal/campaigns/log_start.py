"""Where the log of a store begins: after `compact`, with the events after a snapshot.

The setting `archived` tells it: `until` is the event of that snapshot, `counts` how many events of
each kind were dropped, `rewards` how many rewards of those are kept, `parts` the files. Some events
stay in the log: those that the state is made from (past data, changes of the graph, the look-ups
before there was an agent); keys that are still remembered, with their decisions; and the event of
the snapshot itself, which gives the next one its number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from unimodal import graphs
from unimodal.agents.label_text import shown
from unimodal.campaigns.events import KINDS, Damage, Revised, Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.stores import StoreToRead
from unimodal.errors import DamagedFile


class LogStart(NamedTuple):
    """What was before the first event: its number, decisions made, arms of those that are open."""

    seq: int = 0
    made: int = 0
    open: tuple[tuple[int, str], ...] = ()


WHOLE = LogStart()


def archived(store: StoreToRead) -> dict[str, Any]:
    """What was moved into archives; empty if nothing was."""
    found = store.settings("archived").get("archived", {})
    if found and not _is_note(found):
        raise DamagedFile(
            f"the setting 'archived' in {store.path} is damaged: go back to a copy of the file."
        )
    return dict(found)


def _is_note(found: Any) -> bool:
    try:
        counts = [found["until"], found["rewards"], *found["counts"].values()]
        parts = [part for each in found["parts"] for part in (each["first"], each["last"])]
        texts = [text for each in found["parts"] for text in (each["file"], each["digest"])]
    except (LookupError, TypeError, AttributeError):
        return False
    whole = all(isinstance(n, int) and n >= 0 for n in (*counts, *parts))
    return whole and bool(parts) and all(isinstance(text, str) for text in texts)


def erasures(store: StoreToRead) -> list[dict[str, Any]]:
    """What was erased, in order: the event, the new label, and until where nobody can fold."""
    found = store.settings("erased").get("erased", [])
    kinds = {"event": int, "arm": str, "data": bool, "until": int}
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and {key: type(entry.get(key)) for key in kinds} == kinds
        for entry in found
    ):
        raise DamagedFile(
            f"the setting 'erased' in {store.path} is damaged: go back to a copy of the file."
        )
    return found


def begins_after(store: StoreToRead) -> int:
    """The event after which the log begins; 0 where it is whole."""
    return int(archived(store).get("until", 0))


def unchecked(store: StoreToRead) -> tuple[list[str], int]:
    """What of a log cannot be checked, in words; and the event from which on it can be folded."""
    note, found, begin = archived(store), [], 0
    for entry in erasures(store):
        what, arm, until = "data" if entry["data"] else "label", entry["arm"], entry["until"]
        begin = max(begin, until)
        found.append(
            f"events 1 to {until:,}, from which the {what} of an arm was erased (it is {arm} now)"
            if until
            else f"what the arm {arm} was called, which was erased"
        )
    if note:
        found.append(
            f"events 1 to {note['until']:,}, which are in "
            f"{', '.join(part['file'] for part in note['parts'])} (pass --archive to check them)"
        )
    return found, max(begin, note.get("until", 0))


def start_of(store: StoreToRead) -> LogStart:
    """What a reader of the log has to know of the time before."""
    seq = begins_after(store)
    if not seq:
        return WHOLE
    # Outside of the `try`: a lost connection is no damage.
    text, settings, changes = store.snapshot(seq), store.settings("graph"), list(store.revisions())
    try:
        state = parsed(text)
        decisions, labels = state["decisions"], _labels(settings, changes, state, seq)
        waiting = tuple(
            (number, shown(labels[arm]) if arm >= 0 else "") for number, arm, _ in decisions["open"]
        )
        return LogStart(seq, int(decisions["made"]), waiting)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise DamagedFile(
            f"{store.path} has its first events in an archive, and the snapshot after event {seq}, "
            "with which its log begins, is damaged: go back to a copy of the file."
        ) from None


def _labels(
    settings: dict[str, Any], revisions: Iterable[Row], state: dict[str, Any], seq: int
) -> Any:
    """The labels of the arms after an event, by their numbers."""
    if "graph" in state:  # known by look-up
        return [graphs.as_label(label) for label in state["graph"]["labels"]]
    graph = graphs.from_data(settings["graph"])
    for row in revisions:
        if row.seq <= seq:
            graph = Revised.of(row).revised(graph)
    return graph.labels


def needed_events(store: StoreToRead, before: int, since: float) -> dict[int, str]:
    """The events below a number that are needed, snapshot or not: their kinds.

    The state is made from some of them; and keys after a time, with their decisions, are told again
    to whoever asks under them.
    """
    found = {}
    for number, row in enumerate(_rows(store), 1):
        if row.seq != number or not (row.kind in KINDS and KINDS[row.kind].precedes_agent):
            break
        found[number] = row.kind
    for row in _rows(store):  # a later key may tell of earlier events, too
        if row.kind not in KINDS:
            continue
        try:
            spans = list(KINDS[row.kind].needed(row, since))
        except Damage as damage:
            raise DamagedFile(
                f"event {row.seq} of {store.path} {damage.what}: {damage.advice}."
            ) from None
        for first, last, kind in spans:
            among = [row] if first == row.seq else _rows(store, first - 1, last)
            found |= {each.seq: each.kind for each in among if each.kind == kind.kind}
    return {seq: kind for seq, kind in found.items() if seq < before}


def _rows(store: StoreToRead, after: int = 0, until: int | None = None) -> Iterator[Row]:
    return map(Row._make, itertools.chain.from_iterable(store.rows(after, until)))
