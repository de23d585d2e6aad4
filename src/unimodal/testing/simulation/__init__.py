"""Simulated histories of campaigns: several clients, and all that can happen to them, from a seed.

`run(new_history(seed))` says what is wrong, or nothing. `python -m unimodal.testing.simulation`
runs many, and shows the shortest history that it finds for one that went wrong.
"""

from unimodal.testing.simulation.history import run
from unimodal.testing.simulation.steps import new_history

__all__ = ["new_history", "run"]
