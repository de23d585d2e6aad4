"""What other policies would have earned in a campaign."""

from unimodal.inference.replay.estimate import replay
from unimodal.inference.replay.replay_result import Estimate, Replay

__all__ = ["Estimate", "Replay", "replay"]
