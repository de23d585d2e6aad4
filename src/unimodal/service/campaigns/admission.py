"""How many calls may wait, in all and of one token; who comes beyond that is refused."""

from __future__ import annotations

import collections

from unimodal.errors import Overloaded
from unimodal.service.security.access import ASKING


class Admission:
    """How many may wait, in all and of one token; where there are no tokens, one may have all."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, max(most_of_one, 1)
        self._by_token: collections.Counter[str] = collections.Counter()
        self.count = 0

    def enter(self) -> str:
        """Count a call of the token that asks, which is named again to `leave`; or refuse it."""
        token = ASKING.get()
        if self.count >= self._most:
            raise Overloaded(
                f"{self.count:,} calls wait already, as many as the service lets: call again in a "
                "second."
            )
        if token and self._by_token[token] >= self._most_of_one:
            raise Overloaded(
                f"{self._most_of_one:,} calls of this token wait already, as many as the service "
                "lets of one: call again in a second."
            )
        self._by_token[token] += 1
        self.count += 1
        return token

    def leave(self, token: str) -> None:
        """Let the next one in."""
        self.count -= 1
        self._by_token[token] -= 1
        if not self._by_token[token]:
            del self._by_token[token]
