"""The next decisions, or those that were made under the same key before."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from unimodal.agents.decisions import Decision
from unimodal.agents.label_text import as_text
from unimodal.campaigns.events import KINDS, Damage, Decided, Keyed, Revised, Row, event_of, short
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.log_questions import LastUseOf, Revisions, RowsAmong
from unimodal.campaigns.lookup_requests import LookUpNeeded
from unimodal.campaigns.state import State
from unimodal.errors import UnimodalError
from unimodal.graphs import Graph

KEY_LIFETIME = 86_400.0  # seconds for which a key is known, unless a campaign has another


class Made(NamedTuple):
    """Decisions, those before included that are told again."""

    decisions: list[Decision]
    needed: LookUpNeeded | None  # what has to be looked up to go on
    before: int  # how many decisions the campaign had made


def deciding(
    n: int, propensity: bool, key: str | None = None, lifetime: float = KEY_LIFETIME
) -> Call:
    """The call for `n` decisions, whose result is `Made`; `key` is a digest."""
    work: Callable[[State], Made | UnimodalError] = functools.partial(
        decide, n=n, propensity=propensity
    )
    if key is not None:
        work = functools.partial(
            decide_under_key, n=n, propensity=propensity, key=key, lifetime=lifetime
        )
    # A policy of the caller's own may fail when half of a decision is made.
    return Call(work, checks_first=False)


def decide(state: State, n: int, propensity: bool) -> Made:
    """The next `n` decisions, or as many as can be made without another look-up."""
    made, before, agent = list[Decision](), state.book.made, state.agent
    try:
        while len(made) < n:
            made.append(agent.decide(propensity=propensity))
    except LookUpNeeded as needed:
        return Made(made, needed, before)
    return Made(made, None, before)


def decide_under_key(
    state: State, n: int, propensity: bool, key: str, lifetime: float
) -> Made | UnimodalError:
    """As `decide`; but what was decided under the same key before is told again.

    The key is a digest. If a look-up is needed in the middle, the key is written with what was made
    so far, and the next call under it goes on from there.
    """
    known = _known_under(state, key, lifetime)
    if known is not None and known.n != n:
        return UnimodalError(
            f"this key was used for n={known.n} in decide, got n={n}: use another key for another "
            "decision."
        )
    spans = [] if known is None else known.events
    made = [decision for span in spans for decision in _decided_among(state, *span)]
    after = state.seq
    more = decide(state, n - len(made), propensity)
    if more.decisions:
        spans = [*spans, [after + 1, state.seq]]
        state.add(Keyed(state.seq + 1, state.now(), key, n, spans))
    return more._replace(decisions=[*made, *more.decisions])


def _known_under(state: State, key: str, lifetime: float) -> Keyed | None:
    """What was decided under a key that still lives: just now, or by those before in the log."""
    here = (row for row in reversed(state.news) if row.kind == Keyed.kind)
    uses = (use for use in map(Keyed.of, here) if use.key == key)
    use = next(uses, None) or _use_in_log(state, key)
    if use is None:
        return None
    now = max(state.clock(), state.book.now)
    return use if state.book.since(use.time) + lifetime > now else None


def _use_in_log(state: State, key: str) -> Keyed | None:
    row = state.answers[LastUseOf(key)]
    use = None if row is None else event_of(row)  # one before the last snapshot was not folded
    assert use is None or isinstance(use, Keyed)
    return use


def _decided_among(state: State, first: int, last: int) -> Iterator[Decision]:
    """The decisions among some events, of the log or not yet in it."""
    new = [row for row in state.news if first <= row.seq <= last]
    written = [] if new and new[0].seq == first else state.answers[RowsAmong(first, last)]
    for row in itertools.chain(written, new):
        if KINDS.get(row.kind) is Decided:
            event_of(row)  # which refuses one that is damaged
            arm, leader = _label(state, row, row.arm), _label(state, row, row.leader)
            rest = (row.near, row.time, row.propensity)
            yield Decision(row.decision, arm, row.reason, leader, *rest)


def _label(state: State, row: Row, text: Any) -> Any:
    """The label that an event writes so, also of an arm that was retired since."""
    if text is None:
        return None
    number = state.number_of(text)
    if number is not None:
        return state.agent.label_of(number)
    graph = state.settings.graph
    first = graph.labels if isinstance(graph, Graph) else ()
    added = (end for each in state.answers[Revisions()] for end in Revised.labels(each))
    for label in itertools.chain(first, added):
        known = as_text(label)
        if known == text and known.__class__ is text.__class__:
            return label
    damage = Damage(f"is of an arm {short(text)}, which there never was")
    damage.seq = row.seq
    raise damage
