"""Which sources made a result: where this hash is the same, the same trial gives the same bytes."""

from __future__ import annotations

import functools
import hashlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from unimodal.kernels.cache_folder import PACKAGE, source_hash

# What a trial depends on: the sources that make graphs, problems and rounds.
_LAW = ("kernels", "graphs", "families", "policies", "engines", "problems")


@functools.cache
def law_hash(*beside: str) -> str:
    """A hash of the sources that determine trials, of Numba, and of NumPy, which draws graphs.

    `beside` names more of the package's files that count.
    """
    text = np.__version__ + source_hash(PACKAGE, (*_LAW, *beside))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def source_of(thing: Any) -> str:
    """A hash of the file that defines a class or a function of a user's."""
    try:
        source = Path(inspect.getfile(thing)).read_bytes()
    except (OSError, TypeError):  # defined at a prompt
        return ""
    return hashlib.sha256(source).hexdigest()[:16]
