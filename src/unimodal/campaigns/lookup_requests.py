"""The oracle of a campaign: it is asked outside of any lock, and what it answers is logged.

A decision that needs an answer which is not at hand is given up (`LookUpNeeded`), with nothing
changed; the oracle is asked; and the decision is made again, until it has all that it needs.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from unimodal.agents.label_text import as_text
from unimodal.campaigns.events.json_text import as_json
from unimodal.errors import DamagedFile, UnimodalError


class LookUpNeeded(Exception):
    """The neighbours of an arm have to be looked up before a decision can be made.

    A decision may ask again for those that could not be told; this is its `nth` question.
    """

    def __init__(self, label: Any, nth: int) -> None:
        super().__init__(label)
        self.label, self.nth = label, nth


class Answer(NamedTuple):
    """The neighbours of an arm, or None where they could not be told; and both as JSON."""

    neighbours: list[Any] | None
    data: str


class LookUpRequests:
    """Asks the oracle, one thread at a time; answers are at hand until the log has them."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle  # None where a file is only looked at
        self.at_hand: dict[Any, list[Answer]] = {}
        self._lock = threading.Lock()
        self.asking: int | None = None  # the thread that asks now: its calls are of the function

    def begin_decision(self) -> None:
        """Let the look-ups of another decision begin, which have so many seconds together."""
        getattr(self.oracle, "begin_decision", _nothing)()

    def make(self, needed: LookUpNeeded) -> None:
        """Ask for the neighbours of an arm; or only wait, if another thread asks just now."""
        if not self._lock.acquire(blocking=False):
            with self._lock:
                return  # perhaps it was for the same arm
        try:
            label, answers = needed.label, self.at_hand.setdefault(needed.label, [])
            if len(answers) <= needed.nth:
                self.asking = threading.get_ident()
                found: list[Any] | None = self.oracle.look_up(label)
                such_as = f"neighbours of {label!r} such as {(found or [label])[0]!r}"
                answers.append(Answer(found, as_json([label, found], such_as)))
        finally:
            self.asking = None
            self._lock.release()

    def forget(self, labels: Iterable[Any]) -> None:
        """Have answers at hand no longer."""
        for label in labels:
            self.at_hand.pop(label, None)


def _nothing() -> None:
    """An oracle of the caller's own may take the time it likes."""


class LoggedOracle:
    """What the agent of a campaign asks: answers at hand, or those of a log in their order."""

    def __init__(
        self, requests: LookUpRequests, root: Any, cache: int, note: Callable[[Any, str], None]
    ) -> None:
        self._requests, self.root, self.cache, self._note = requests, root, cache, note
        self.folding = False
        self.is_strict = True  # the log must have what is looked up, and nothing else
        self.differs = False  # something else was looked up than the log has
        self._asked: Counter[Any] = Counter()  # questions of the decision that is being made
        self._noted: Counter[Any] = Counter()  # those whose answers it has taken over
        self._answers: deque[tuple[Any, list[Any] | None]] = deque()

    def take(self, label: Any, neighbours: list[Any] | None) -> None:
        """Have an answer of the log ready."""
        self._answers.append((label, neighbours))

    def look_up(self, label: Any) -> list[Any] | None:
        """The neighbours of an arm; None where they could not be told."""
        if self.folding:
            return self._logged(label)
        if self._requests.oracle is None:
            raise UnimodalError(
                "the campaign was made with a neighbour function, which is not kept in its file: "
                "pass it as graph=…."
            )
        answers, nth = self._requests.at_hand.get(label, ()), self._asked[label]
        if nth >= len(answers):
            raise LookUpNeeded(label, nth)
        self._asked[label] += 1
        return answers[nth].neighbours

    def _logged(self, label: Any) -> list[Any] | None:
        """What the log has; if that is for others, as if the look-up had failed."""
        if self._answers and self._answers[0][0] == label:
            return self._answers.popleft()[1]
        if self.is_strict:
            raise DamagedFile(
                f"the log must have an answer for the neighbours of {label!r} here: the file "
                "is damaged, or from another version."
            )
        self.differs = True
        for place, (asked, neighbours) in enumerate(self._answers):
            if asked == label:
                del self._answers[place]
                return neighbours
        return None

    def drop_answers(self) -> None:
        """Leave what a decision of the log looked up and was not looked up here."""
        if self._answers and not self.is_strict:
            self._answers.clear()
            self.differs = True

    def begin_decision(self) -> None:
        """Begin to look up for a decision, perhaps once more."""
        self._asked.clear()
        self._noted.clear()

    def on_look_up(self, label: Any, answer: Any) -> None:
        """Note an answer that the agent has taken over."""
        if not self.folding:
            self._note(as_text(label), self._requests.at_hand[label][self._noted[label]].data)
            self._noted[label] += 1

    @property
    def troubles(self) -> list[str]:
        """What went wrong, as the oracle itself tells it."""
        return list(getattr(self._requests.oracle, "troubles", ()))

    def __getattr__(self, name: str) -> Any:
        """What else is asked of it, such as its counts, the oracle itself has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._requests.oracle, name)
