"""Labels of arms as a log has them: numbers and text, and the arm that a text means."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

from unimodal.errors import UnimodalError
from unimodal.graphs import Graph


def as_text(label: Hashable) -> Any:
    """A label as a log's column holds it: text and numbers as they are, others as JSON."""
    if isinstance(label, int) and not -(2**63) <= label < 2**63:
        return str(label)  # more than a column holds
    if isinstance(label, bool):
        return int(label)
    known = label is None or isinstance(label, str | int | float)
    return label if known else json.dumps(label, default=str)


def shown(label: Hashable) -> str:
    """A label as a table of the log has it, where all are text."""
    return str(as_text(label))


def arms_by_text(graph: Graph) -> dict[str, int]:
    """The arm that a log means by a label's text."""
    labels = graph.labels
    found = {shown(label): arm for arm, label in enumerate(labels)}
    if len(found) < graph.n_arms:
        raise UnimodalError(
            "the labels of the arms must differ as text for a log to tell them apart: "
            "rename those that do not, such as 1 and '1'."
        )
    return found
