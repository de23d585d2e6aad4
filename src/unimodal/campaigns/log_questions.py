"""What a command may have to know of the log beyond the state: it asks, and is done again.

A command does no I/O. Where it needs an answer that is not at hand, it raises `LogNeeded` before it
has changed anything; whoever called it asks the store, and calls it again.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple, Protocol

from unimodal.campaigns.events import Row
from unimodal.campaigns.stores import StoreToRead


class Question(Protocol):
    """Something that the log knows; equal questions have equal answers within a transaction."""

    def ask(self, store: StoreToRead) -> Any:
        """The answer, from a store."""


class RewardOf(NamedTuple):
    """The reward of a closed decision; None if it has none."""

    decision: int

    def ask(self, store: StoreToRead) -> float | None:
        """The answer, from a store."""
        return store.reward_of(self.decision)


class LastUseOf(NamedTuple):
    """The last event that tells of a key, by its digest; None if there is none."""

    key: str

    def ask(self, store: StoreToRead) -> Row | None:
        """The answer, from a store."""
        return store.last_key(self.key)


class RowsAmong(NamedTuple):
    """The rows from one event to another."""

    first: int
    last: int

    def ask(self, store: StoreToRead) -> list[Row]:
        """The answer, from a store."""
        rows = itertools.chain.from_iterable(store.rows(self.first - 1, self.last))
        return [Row._make(row) for row in rows]


class Revisions(NamedTuple):
    """The rows of all changes of the graph."""

    def ask(self, store: StoreToRead) -> list[Row]:
        """The answer, from a store."""
        return list(store.revisions())


class LogNeeded(Exception):
    """Questions that have to be answered before a command can be done."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(*questions)
        self.questions = questions


class Answers(dict[Question, Any]):
    """What the log has answered in this transaction; a question without an answer is asked."""

    def __missing__(self, question: Question) -> Any:
        raise LogNeeded(question)

    def ask_store(self, needed: LogNeeded, store: StoreToRead) -> None:
        """Have the store answer."""
        for question in needed.questions:
            self[question] = question.ask(store)
