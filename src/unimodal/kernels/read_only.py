"""Arrays that stay read-only when their owner is sent to another process."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def read_only(array: Any) -> Any:
    """A view of an array that cannot be written: kernels are compiled for such rows of arms."""
    view = array.view()
    view.setflags(write=False)
    return view


class ReadOnlyArrays:
    """A class whose arrays are read-only, also after pickling, which would forget it.

    Kernels are compiled for read-only arrays: a worker that got others would compile them again.
    What a `cached_property` computed is not sent.
    """

    def __getstate__(self) -> dict[str, Any]:
        computed = functools.cached_property
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), computed)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
