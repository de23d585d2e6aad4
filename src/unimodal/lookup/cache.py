"""What an oracle has answered: as many neighbourhoods as it may remember, and who named whom."""

from __future__ import annotations

import copy
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from unimodal.graphs.text import as_label
from unimodal.lookup.oracle import KEPT_SENTENCES

COUNTS = ("look_ups", "failed", "again", "one_sided", "changed", "forgotten")


class LookUpCache:
    """The answers of an oracle, which is asked only for what is not remembered.

    At most `cache` are kept; beyond that the least recently used are forgotten, but never
    that of `pinned`. `on_forget(label)` is then called, and says whether a checksum should remain,
    so that another answer is noticed. `on_named(other, label)` is called when an answer names an
    arm whose own answer is not known, or does not name it back.

    All depends on the sequence of questions and answers only, never on time: a log of the answers
    is enough to do the same again.
    """

    def __init__(
        self, cache: int, on_forget: Callable[[Any], bool], on_named: Callable[[Any, Any], None]
    ) -> None:
        self._cache, self._on_forget, self._on_named = cache, on_forget, on_named
        self.pinned: Any = None
        self.counts = dict.fromkeys(COUNTS, 0)
        self.reports: deque[str] = deque(maxlen=KEPT_SENTENCES)
        self._kept: OrderedDict[Hashable, tuple[Any, ...]] = OrderedDict()  # oldest use first
        self._named_by: dict[Hashable, list[Any]] = {}
        self._checksums: dict[Hashable, int] = {}  # of what was forgotten

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, label: Hashable) -> bool:
        return label in self._kept

    def kept(self) -> Iterable[tuple[Any, tuple[Any, ...]]]:
        """The arms whose answers are remembered, and the answers."""
        return self._kept.items()

    def used(self, label: Hashable) -> None:
        """Note that an answer was used just now."""
        if label in self._kept:
            self._kept.move_to_end(label)

    def known(self, label: Hashable) -> tuple[Any, ...] | None:
        """The answer for an arm, if it is remembered."""
        return self._kept.get(label)

    def learn(self, label: Hashable, answer: tuple[Any, ...] | None) -> None:
        """Take over what the oracle has answered; None if it could not."""
        self.counts["look_ups"] += 1
        if answer is None:
            self.counts["failed"] += 1
            return
        self._compare(label, answer)
        self._look_back(label, answer)
        self._keep(label, answer)
        self._forget_oldest()

    def namers(self, label: Hashable) -> list[Any]:
        """The arms whose answers name this one, in an order that is the same after a reload."""
        return sorted(self._named_by.get(label, ()), key=repr)

    def _report(self, count: str, sentence: str) -> None:
        self.counts[count] += 1
        self.reports.append(sentence)

    def _compare(self, label: Hashable, answer: tuple[Any, ...]) -> None:
        before = self._checksums.pop(label, None)
        self.counts["again"] += before is not None
        if before not in (None, checksum(answer)):
            self._report(
                "changed",
                f"neighbours({label!r}) is not what it was when it was looked up before: "
                f"the new answer, of {len(answer)}, is taken.",
            )

    def _look_back(self, label: Hashable, answer: tuple[Any, ...]) -> None:
        """See who names whom without being named back.

        The missing direction is sound to add: more edges leave a unimodal graph unimodal.
        """
        there = set(answer)
        for other in self._named_by.get(label, ()):
            if other not in there:
                self._one_sided(other, label)
        for other in answer:
            back = self._kept.get(other)
            if back is None or label not in back:
                if back is not None:
                    self._one_sided(label, other)
                self._on_named(other, label)

    def _one_sided(self, label: Hashable, other: Hashable) -> None:
        self._report(
            "one_sided",
            f"neighbours({label!r}) has {other!r}, but not the other way round: they are taken "
            "as neighbours.",
        )

    def _keep(self, label: Hashable, answer: tuple[Any, ...]) -> None:
        self._kept[label] = answer
        for other in answer:
            self._named_by.setdefault(other, []).append(label)

    def _forget_oldest(self) -> None:
        while len(self._kept) > self._cache:
            label, answer = self._kept.popitem(last=False)
            if label == self.pinned:
                self._kept[label] = answer  # at the other end; there is another one, in any case
                continue
            for other in answer:
                namers = self._named_by[other]
                namers.remove(label)
                if not namers:
                    del self._named_by[other]
            self.counts["forgotten"] += 1
            if self._on_forget(label):
                self._checksums[label] = checksum(answer)

    def copied(self) -> LookUpCache:
        """What is remembered now; to look at only."""
        twin = copy.copy(self)
        twin._kept, twin._checksums = self._kept.copy(), self._checksums.copy()
        twin.counts = self.counts.copy()
        return twin

    def to_data(self) -> dict[str, Any]:
        """All of it but the sentences, as JSON data."""
        return {
            "answers": [[label, list(answer)] for label, answer in self._kept.items()],
            "checksums": [[label, number] for label, number in self._checksums.items()],
            "counts": self.counts,
        }

    def fill(self, data: dict[str, Any]) -> None:
        """Take over what `to_data` returned."""
        for label, answer in data["answers"]:
            self._keep(as_label(label), tuple(map(as_label, answer)))
        self._checksums = {as_label(label): number for label, number in data["checksums"]}
        self.counts = {name: int(data["counts"][name]) for name in COUNTS}


def checksum(answer: tuple[Any, ...]) -> int:
    """A number that other answers rarely share; their order does not matter."""
    return zlib.crc32("\n".join(sorted(map(repr, answer))).encode("utf-8", "surrogatepass"))
