"""Labels and other data as the JSON text that a log keeps."""

from __future__ import annotations

import json
from typing import Any

from unimodal import graphs
from unimodal.errors import UnimodalError
from unimodal.graphs.graph import is_itself


def as_json(data: Any, such_as: str) -> str:
    """Data with labels in it as JSON; `such_as` names what is refused, if it is."""
    try:
        text = json.dumps(data, ensure_ascii=False)
        text.encode()  # half of a surrogate pair is no text
        return text
    except (TypeError, UnicodeEncodeError):
        raise UnimodalError(
            f"a campaign's arms must be labelled by text, numbers or tuples of them, got {such_as}."
        ) from None


def parsed(text: Any) -> Any:
    """JSON as data; a ValueError where it is none, or goes deeper than any that is written."""
    try:
        return json.loads(text)
    except (TypeError, RecursionError):
        raise ValueError("no JSON") from None


def as_labels(data: Any) -> list[Any]:
    """The labels of a list in JSON data; a ValueError if one cannot be the name of an arm."""
    labels = [graphs.as_label(each) for each in data]
    if not all(map(is_label, labels)):
        raise ValueError("a label that is none")
    return labels


def is_label(label: Any) -> bool:
    """Whether data from a file can be the name of an arm."""
    if isinstance(label, tuple):
        return all(part is None or is_label(part) for part in label)
    return isinstance(label, str | int | float) and is_itself(label)
