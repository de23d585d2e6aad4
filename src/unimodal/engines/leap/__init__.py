"""The leap engine: the law of the step engine, at the cost of the exploration instead of K x T."""

from unimodal.engines.leap import bulk_pulls, klucb_waits, thompson_waits  # noqa: F401 - they register
from unimodal.engines.leap.engine import LeapTrial

__all__ = ["LeapTrial"]
