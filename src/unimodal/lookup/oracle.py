"""A graph known only by asking: the one place where a user's neighbour function is called."""

from __future__ import annotations

import logging
import math
import queue
import reprlib
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.escape_text import printable
from unimodal.graphs.graph import is_itself, plain_label

Neighbours = Callable[[Any], Iterable[Hashable]]
CACHE = 100_000
KEPT_SENTENCES = 100  # of those that tell what went wrong: the last ones; all are counted

_log = logging.getLogger("unimodal")


class Oracle:
    """A graph behind a function: `neighbours(label)` returns the labels next to an arm.

    `root` is the arm from which an agent sets out. At most `cache` neighbourhoods are remembered.
    A call that raises, or takes more than `timeout` seconds, is made `retries` times more. A
    function that hangs cannot be stopped: its thread is left behind. Without a `timeout` there are
    no threads. A decision may need more than a hundred look-ups, for which it has `deadline`
    seconds: after that no further call is made, what is missing counts as failed, and is tried
    again later. What went wrong is counted, and told in `troubles` and by the logger "unimodal".

    Parameters
    ----------
    neighbours
        From the label of an arm to the labels next to it.
    root
        The arm from which an agent sets out.
    cache
        How many neighbourhoods are remembered.
    timeout
        Seconds that a call may take; any number by default.
    retries
        How often a call that failed is repeated.
    deadline
        Seconds that the look-ups of one decision have together.

    Examples
    --------
    >>> import unimodal as um
    >>> line = um.Oracle(lambda arm: [arm - 1, arm + 1], root=0)
    >>> line.look_up(5)
    [4, 6]
    >>> agent = um.Agent(graph=line)
    >>> agent.ask()
    0
    """

    def __init__(
        self,
        neighbours: Neighbours,
        *,
        root: Hashable,
        cache: int = CACHE,
        timeout: float | None = None,
        retries: int = 2,
        deadline: float = 10.0,
    ) -> None:
        if not callable(neighbours):
            raise UnimodalError(
                f"the 'neighbours' of Oracle must be a function of an arm, got {neighbours!r}."
            )
        self.neighbours, self.root = neighbours, plain_label(root)
        if not _is_label(root):
            raise UnimodalError(
                "the 'root' of Oracle must be the label of the arm to set out from "
                f"(text, a number, a tuple), got {root!r}."
            )
        self.cache = whole_number(cache, "the 'cache' of Oracle")
        self.retries = whole_number(retries, "the 'retries' of Oracle", 0)
        self.timeout = (
            None if timeout is None else real_number(timeout, "the 'timeout' of Oracle", above=0)
        )
        self.deadline = real_number(deadline, "the 'deadline' of Oracle", above=0)
        self._until = math.inf
        self.calls = self.retried = 0  # of the function: all, and those after a first try
        self.answered = self.failures = 0  # look-ups
        self.itself = 0  # answers that had the arm itself among its neighbours
        self.troubles: deque[str] = deque(maxlen=KEPT_SENTENCES)
        self._logged: set[Hashable] = set()

    def begin_decision(self) -> None:
        """Let the look-ups of another decision begin, which have `deadline` seconds together."""
        self._until = time.monotonic() + self.deadline

    def look_up(self, label: Any) -> list[Any] | None:
        """The neighbours of an arm, each once; None where the function did not tell them."""
        why = ""
        for attempt in range(1 + self.retries):
            if time.monotonic() > self._until:
                late = f"the {self.deadline:g} s for the look-ups of one decision are over"
                self._fail(label, f"{why}, and {late}" if why else late)
                return None
            self.calls += 1
            self.retried += attempt > 0
            try:
                found = self._call(label)
            except _WrongAnswer as wrong:  # asked again, it would say the same
                self._fail(label, str(wrong))
                return None
            except TimeoutError as error:
                why = str(error) or "TimeoutError"
            except Exception as error:
                why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            else:
                self.answered += 1
                return found
        self._fail(label, f"{why} ({1 + self.retries} tries)")
        return None

    def _fail(self, label: Any, why: str) -> None:
        self.failures += 1
        self._tell(label, f"the neighbours of {label!r} could not be looked up: {why}.")

    def _tell(self, label: Any, sentence: str) -> None:
        self.troubles.append(sentence)
        if label not in self._logged:
            self._logged.add(label)
            _log.warning("%s", printable(sentence))  # it may quote what a server said

    def _call(self, label: Any) -> list[Any]:
        answer = self._answer(label) if self.timeout is None else self._in_time(label, self.timeout)
        if isinstance(answer, BaseException):
            raise answer
        found = list(dict.fromkeys(map(plain_label, answer)))
        if label in found:  # harmless: an arm always competes in its own neighbourhood
            found.remove(label)
            self.itself += 1
            self._tell(label, f"neighbours({label!r}) has the arm itself in it: left out.")
        if not found:
            raise _WrongAnswer(f"neighbours({label!r}) must return at least one label, got none")
        return found

    def _answer(self, label: Any) -> list[Any]:
        """What the function returns, as a list: a generator does its work only now."""
        answer = self.neighbours(label)
        if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
            kind = "must return hashable labels (text, numbers, tuples) in a list"
            raise _WrongAnswer(f"neighbours({label!r}) {kind}, got {reprlib.repr(answer)}")
        found = list(answer)
        wrong = [other for other in found if not _is_label(other)]
        if wrong:
            raise _WrongAnswer(
                f"neighbours({label!r}) must return hashable labels (text, numbers, tuples), "
                f"got {reprlib.repr(wrong[0])}"
            )
        return found

    def _in_time(self, label: Any, seconds: float) -> Any:
        """The answer, or the exception, of a thread that is left behind if it takes too long."""
        box: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def work() -> None:
            try:
                box.put(self._answer(label))
            except BaseException as error:  # raised again where it is waited for
                box.put(error)

        threading.Thread(target=work, name="unimodal look-up", daemon=True).start()
        try:
            return box.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"no answer within {seconds:g} s") from None

    def __repr__(self) -> str:
        name = getattr(self.neighbours, "__name__", repr(self.neighbours))
        return f"Oracle({name}, root={self.root!r}, cache={self.cache:,})"


class _WrongAnswer(Exception):
    """An answer that is none; its message says why."""


def as_oracle(graph: Any, root: Any, cache: int = CACHE) -> Any:
    """An oracle as it is (whatever has `look_up`, `root` and `cache`), or one of a function."""
    if hasattr(graph, "look_up"):
        if root is not None and root != graph.root:
            raise UnimodalError(
                f"the oracle must set out from the root {root!r}, got one with {graph.root!r}."
            )
        return graph
    if not callable(graph):
        raise UnimodalError(
            "the 'graph' of Agent must be a Graph, an Oracle or a function of an arm, "
            f"got {graph!r}."
        )
    if root is None:
        raise UnimodalError("with a neighbour function, give the arm to set out from as root=….")
    return Oracle(graph, root=root, cache=cache)


def _is_label(label: Any) -> bool:
    """Whether it can be an arm's name: hashable, found again (NaN is not), and not nobody's."""
    try:
        hash(label)
    except TypeError:
        return False
    return label is not None and is_itself(label)
