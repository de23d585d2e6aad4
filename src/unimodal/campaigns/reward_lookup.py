"""The rewards of a campaign's decisions, which its log keeps."""

from __future__ import annotations

from unimodal.campaigns.stores import StoreToRead

_AT_HAND = 20_000  # rewards: who tells one twice does so soon


class RewardsInLog:
    """The rewards of closed decisions: in the log, or about to be written to it."""

    def __init__(self, store: StoreToRead) -> None:
        self._store = store
        self.recent: dict[int, float] = {}

    def get(self, decision: int) -> float | None:
        """The reward of a decision, or None if it has none."""
        recent = self.recent.get(decision)
        return self._store.reward_of(decision) if recent is None else recent

    def set(self, decision: int, reward: float) -> None:
        """Keep a reward at least until the log has it."""
        self.recent[decision] = reward

    def decided(self, arm: int) -> None:
        """Do nothing: the log has the arm."""

    def told(self, oldest: int, made: int, arm: int, reward: float) -> None:
        """Do nothing: the log has the reward, and its place."""

    def written(self) -> None:
        """The log has all of them."""
        if len(self.recent) > _AT_HAND:
            self.recent.clear()
