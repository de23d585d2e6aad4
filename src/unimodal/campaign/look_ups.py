"""The oracle of a campaign: what it answers goes into the log, and comes from there in a fold."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from unimodal import graphs
from unimodal.agent.recorded import as_text
from unimodal.campaign.events import Event, as_json
from unimodal.errors import UnimodalError


class LoggedOracle:
    """An oracle that notes its answers, or gives those of a log again in their order.

    `oracle` is None where a file is only looked at.
    """

    def __init__(
        self, oracle: Any, root: Any, cache: int, note: Callable[[Any, str], None]
    ) -> None:
        self.oracle, self.root, self.cache, self._note = oracle, root, cache, note
        self.folding = False
        self._answers: deque[tuple[Any, list[Any] | None]] = deque()

    def take(self, event: Event) -> None:
        """Have an answer of the log ready."""
        try:
            label, answer = json.loads(event.data or "")
            known = None if answer is None else [graphs.as_label(other) for other in answer]
        except (ValueError, TypeError):
            raise UnimodalError(
                f"event {event.seq} of the log must be the answer to a look-up, got "
                f"{event.data!r}: the file is damaged."
            ) from None
        self._answers.append((graphs.as_label(label), known))

    def look_up(self, label: Any) -> list[Any] | None:
        """The neighbours of an arm; None where they could not be told."""
        if self.folding:
            if not self._answers or self._answers[0][0] != label:
                raise UnimodalError(
                    f"the log must have an answer for the neighbours of {label!r} here: the file "
                    "is damaged, or from another version."
                )
            return self._answers.popleft()[1]
        if self.oracle is None:
            raise UnimodalError(
                "the campaign was made with a neighbour function, which is not kept in its file: "
                "pass it as graph=…."
            )
        answer: list[Any] | None = self.oracle.look_up(label)
        such_as = f"neighbours of {label!r} such as {(answer or [label])[0]!r}"
        self._note(as_text(label), as_json([label, answer], such_as))
        return answer

    @property
    def troubles(self) -> list[str]:
        """What went wrong, as the oracle itself tells it."""
        return list(getattr(self.oracle, "troubles", ()))
