"""Which engine plays a trial, and at which rounds its regret is kept: both shape its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from unimodal.engines.capability import why_not_leap
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.engines.trial import Trial
from unimodal.errors import UnimodalError, refuse_set, unknown_name, whole_number
from unimodal.policies import Policy
from unimodal.problems import Problem

ENGINES = ("auto", "step", "leap")
MOST_CHECKPOINTS = 10**7
_WORTH_LEAPING = 5000  # rounds; fewer are stepped before the leap engine is loaded


def trial_class(
    engine: str, problem: Problem, policy: Policy, horizon: int, history: bool
) -> type[Trial]:
    """The kind of trial that an engine plays; "auto" is decided by these and nothing else."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    if engine == "step":
        return StepTrial
    why = why_not_leap(policy, problem, history)
    if engine == "leap" and why:
        raise UnimodalError(f"{policy.name} cannot leap, since {why}: use engine='step' or 'auto'.")
    return StepTrial if why or (engine == "auto" and horizon < _WORTH_LEAPING) else LeapTrial


def checkpoint_rounds(
    horizon: int, checkpoints: int | Sequence[int], spacing: str
) -> NDArray[np.int64]:
    """The rounds at which regret is kept; the last is the horizon.

    >>> checkpoint_rounds(1000, 4, "log").tolist()
    [1, 10, 100, 1000]
    """
    if not isinstance(spacing, str) or spacing not in ("log", "linear"):
        raise unknown_name("spacing", spacing, ("log", "linear"))
    if isinstance(checkpoints, int | np.integer):
        count = whole_number(checkpoints, "the 'checkpoints'", at_most=MOST_CHECKPOINTS)
        spread = np.geomspace if spacing == "log" else np.linspace
        first = 1 if spacing == "log" else max(horizon // count, 1)
        rounds = np.unique(np.round(spread(first, horizon, count)).astype(np.int64))
    else:
        refuse_set(checkpoints, "the checkpoints")
        if isinstance(checkpoints, str | bytes) or not isinstance(checkpoints, Iterable):
            raise UnimodalError(
                f"the checkpoints must be a whole number or a list of rounds, got {checkpoints!r}."
            )
        listed = [whole_number(c, "a checkpoint") for c in checkpoints]
        if any(c > horizon for c in listed):
            raise UnimodalError(
                f"a checkpoint must not lie beyond the horizon of {horizon}, got {max(listed)}."
            )
        rounds = np.unique(np.asarray(listed, dtype=np.int64))
    if not len(rounds) or rounds[-1] != horizon:
        rounds = np.append(rounds, horizon).astype(np.int64)
    return rounds
