"""Answers as JSON: quick for the hot endpoints, and without numbers that JSON does not have."""

from __future__ import annotations

import json
import math
from typing import Any

from fastapi import Response


def as_json(data: Any, status: int = 200) -> Response:
    """Plain data as a response; infinite and missing numbers have to be None already."""
    return Response(json.dumps(data, allow_nan=False), status, media_type="application/json")


def finite(data: Any) -> Any:
    """Data in which infinite numbers and NaN are None, and tuples lists.

    >>> finite({"gap": float("inf"), "open": ("a", 1)})
    {'gap': None, 'open': ['a', 1]}
    """
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
