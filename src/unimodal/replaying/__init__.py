"""What other policies would have earned in a campaign."""

from unimodal.replaying.answer import Estimate, Replay
from unimodal.replaying.estimate import replay

__all__ = ["Estimate", "Replay", "replay"]
