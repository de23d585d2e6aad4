"""What other policies would have earned in a campaign."""

from unimodal.inference.replay.answer import Estimate, Replay
from unimodal.inference.replay.estimate import replay

__all__ = ["Estimate", "Replay", "replay"]
