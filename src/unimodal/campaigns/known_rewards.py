"""The rewards of closed decisions: those told lately are at hand, for others the log is asked."""

from __future__ import annotations

from unimodal.campaigns.log_questions import Answers, RewardOf

AT_HAND = 20_000  # rewards: who tells one twice does so soon


class KnownRewards:
    """What an agent asks when a reward is told again (`agents.decisions.Outcomes`)."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.recent: dict[int, float] = {}

    def get(self, decision: int) -> float | None:
        """The reward of a closed decision, or None if it has none."""
        recent = self.recent.get(decision)
        return self._answers[RewardOf(decision)] if recent is None else recent

    def set(self, decision: int, reward: float) -> None:
        """Keep a reward at least until the log has it."""
        self.recent[decision] = reward

    def decided(self, arm: int) -> None:
        """Do nothing: the log has the arm."""

    def told(self, oldest: int, made: int, arm: int, reward: float) -> None:
        """Do nothing: the log has the reward, and its place."""
