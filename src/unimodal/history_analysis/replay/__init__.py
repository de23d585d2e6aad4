"""What other policies would have earned in a campaign."""

from unimodal.history_analysis.replay.estimate import replay
from unimodal.history_analysis.replay.replay_result import Estimate, Replay

__all__ = ["Estimate", "Replay", "replay"]
