"""The leap engine: the law of the step engine, at the cost of the exploration instead of K x T."""

from unimodal.engines.leap.engine import LeapTrial

__all__ = ["LeapTrial"]
