"""Rewards that were recorded: a table with a row per round and a column per arm is a problem."""

from __future__ import annotations

import base64
import functools
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unimodal import families, graphs
from unimodal.errors import UnimodalError, check_memory, whole_number
from unimodal.families import Bernoulli, Bounded, Family, Scaled, as_family
from unimodal.graphs import Graph
from unimodal.problems.problem import Problem, check_graph


class Recorded(Problem):
    """A problem whose rewards are those of a table; made by `recorded`.

    Its means, gaps and best arm are those of the table's columns. `lower_bound` and the like are
    those of the family with these means.

    Parameters
    ----------
    graph
        The arms and their edges.
    table
        Rewards: one row per round, one column per arm.
    family
        The family that policies take the rewards for.
    resampled
        Whether each round draws a row, and does not read the next one.

    Examples
    --------
    >>> import unimodal as um
    >>> problem = um.problems.recorded([[0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]])
    >>> problem.means.tolist()
    [0.25, 0.75, 0.25]
    """

    def __init__(
        self, graph: Graph, table: Any, family: Family | None = None, resampled: bool = False
    ) -> None:
        check_graph(graph, "recorded")
        numbers = _numbers(table, graph)
        if not isinstance(resampled, bool | np.bool_):
            raise UnimodalError(
                f"the 'resampled' of recorded must be True or False, got {resampled!r}."
            )
        family = _fitting(numbers) if family is None else as_family(family, "recorded")
        if isinstance(family, Scaled):
            raise UnimodalError(
                "rewards of a table are taken as they are, got a Scaled family: divide the columns "
                "by their factors, or take another family."
            )
        _check_rewards(numbers, family)
        super().__init__(graph, numbers.mean(axis=0), family)
        numbers.setflags(write=False)
        self.table: NDArray[np.float64] = numbers
        self.resampled = bool(resampled)

    def check_horizon(self, horizon: int) -> None:
        """Refuse more rounds than there are rows to read."""
        rows = len(self.table)
        if not self.resampled and horizon > rows:
            raise UnimodalError(
                f"the 'horizon' must be at most {rows:,}, since the recorded table has so many "
                f"rows, got {horizon:,}: take fewer rounds, or resampled=True."
            )

    def to_data(self) -> dict[str, Any]:
        """All that is needed to make the problem again, as plain JSON data."""
        return super().to_data() | {"recorded": self._as_data}

    @functools.cached_property
    def _as_data(self) -> dict[str, Any]:
        packed = zlib.compress(self.table.astype("<f8").tobytes(), 6)
        text = base64.b64encode(packed).decode()
        return {"rows": len(self.table), "resampled": self.resampled, "table": text}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Recorded:
        """The problem that `to_data` described."""
        graph, family = graphs.from_data(data["graph"]), families.from_data(data["rewards"])
        kept = data["recorded"]
        rows = whole_number(kept["rows"], "the rows of a recorded table")
        size = 8 * rows * graph.n_arms
        check_memory(size, "a recorded table")
        unpacking = zlib.decompressobj()
        raw = unpacking.decompress(base64.b64decode(kept["table"], validate=True), size + 1)
        if len(raw) != size:
            raise ValueError("another table than it says")
        table = np.frombuffer(raw, "<f8").reshape(rows, graph.n_arms)
        return cls(graph, table, family, kept["resampled"])

    def __repr__(self) -> str:
        how = "resampled" if self.resampled else "in order"
        return (
            f"Recorded({self.graph!r}, {len(self.table):,} rows {how}, peak {self.means.max():.4g} "
            f"at arm {self.graph.label_of(self.best_arm)!r}, {self.family!r})"
        )


def recorded(
    table: Any,
    graph: Graph | None = None,
    family: Family | None = None,
    *,
    resampled: bool = False,
) -> Recorded:
    """Real data as a problem: rewards from a table, replayed in order or resampled.

    The table says for every round what each arm would have paid: a row per round, a column per
    arm. In order, round t reads row t, in every trial: trials differ by what the policy draws, and
    there are at most as many rounds as rows. Resampled, each round draws a row uniformly, with
    replacement: then rewards are independent, and the horizon is free. Regret counts the means of
    the columns. Only the step engine plays it.

    Parameters
    ----------
    table
        A mapping from labels to lists of rewards, a Polars or pandas table whose columns are
        labels, or rows of numbers. No cell may be empty.
    graph
        The arms and their edges; by default a line in the order of the columns.
    family
        What policies take the rewards for. By default Bernoulli if all are 0 or 1, and else
        `Bounded` between the least and the largest of them.
    resampled
        Whether rows are drawn, and not read one after the other.

    Returns
    -------
    Recorded
        The problem.

    Raises
    ------
    UnimodalError
        If a cell is empty or no number, or an arm has no column.

    Examples
    --------
    >>> import unimodal as um
    >>> sold = {"9.90": [1, 0, 0, 1], "12.90": [1, 1, 0, 1], "14.90": [0, 0, 0, 1]}
    >>> problem = um.problems.recorded(sold, resampled=True)
    >>> problem.graph.label_of(problem.best_arm)
    '12.90'
    >>> um.simulate(problem, um.UTS(), horizon=200, trials=2).n_trials
    2
    """
    columns = _columns(table)
    if columns is None:
        if graph is None:
            shape = np.shape(_as_array(table))
            if len(shape) != 2:
                raise _no_table(f"an array of {len(shape)} dimensions")
            graph = graphs.line(shape[1])
        return Recorded(graph, table, family, resampled)
    if graph is None:
        graph = graphs.line(list(columns))
    check_graph(graph, "recorded")
    for label in columns:
        graph.arm_of(label)  # or says that there is no such arm
    missing = [label for label in graph.labels if label not in columns]
    if missing:
        raise UnimodalError(
            f"the table of recorded must have a column for every arm, got none for {missing[0]!r}"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}."
        )
    return Recorded(graph, _ragged(columns, graph), family, resampled)


def _columns(table: Any) -> dict[Any, Any] | None:
    """Columns by label, of a mapping or of a table of Polars or pandas."""
    if isinstance(table, Mapping):
        return dict(table)
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return {label: np.asarray(table[label]) for label in table.columns}
    return None


def _ragged(columns: dict[Any, Any], graph: Graph) -> Any:
    """The columns side by side; refused if one is shorter than another."""
    listed = []
    for label in graph.labels:
        column = columns[label]
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise _no_table(f"{column!r:.40} for arm {label!r}")
        listed.append(list(column))
    longest = max(map(len, listed))
    for label, column in zip(graph.labels, listed, strict=True):
        if len(column) < longest:
            raise _gap(label, len(column))
    return [list(row) for row in zip(*listed, strict=True)]


def _as_array(table: Any) -> Any:
    try:
        return np.array(table, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(0.0)


def _numbers(table: Any, graph: Graph) -> NDArray[np.float64]:
    """The table as an array, or a sentence."""
    if not isinstance(table, np.ndarray):  # numpy takes True and "1" for a number
        rows = list(table) if isinstance(table, list | tuple) else []
        for number, row in enumerate(rows):
            if isinstance(row, list | tuple) and len(row) < graph.n_arms:
                raise _gap(graph.label_of(len(row)), number)
            for arm, value in enumerate(row if isinstance(row, list | tuple) else ()):
                if value is None:
                    raise _gap(graph.label_of(min(arm, graph.n_arms - 1)), number)
                if isinstance(value, str | bytes):
                    raise _no_table(f"the text {value!r:.40} in row {number}")
    array: NDArray[np.float64] = _as_array(table)
    if array.ndim != 2 or not len(array) or array.shape[1] != graph.n_arms:
        raise _no_table(f"one of shape {array.shape}, and {graph.n_arms} arms")
    empty = np.argwhere(np.isnan(array))
    if len(empty):
        raise _gap(graph.label_of(int(empty[0][1])), int(empty[0][0]))
    return array


def _no_table(got: str) -> UnimodalError:
    return UnimodalError(
        "the table of recorded must be rows of numbers, one per arm, or columns by label, got "
        f"{got}."
    )


def _gap(label: Any, row: int) -> UnimodalError:
    return UnimodalError(
        f"the table of recorded must have a reward for every arm in every row, got none for arm "
        f"{label!r} in row {row} (counted from 0): leave such rows out, or fill them in."
    )


def _fitting(table: NDArray[np.float64]) -> Family:
    """Bernoulli for zeros and ones, else Bounded."""
    low, high = float(table.min()), float(table.max())
    if ((table == 0) | (table == 1)).all():
        return Bernoulli()
    if low == high:
        raise UnimodalError(
            f"a table in which every reward is {low:g} says nothing of its family: give 'family'."
        )
    if math.isinf(low) or math.isinf(high):
        raise UnimodalError("the rewards of a recorded table must be finite, got an infinite one.")
    return Bounded(low, high)


def _check_rewards(table: NDArray[np.float64], family: Family) -> None:
    """Refuse rewards that the family does not have: its ends, and a broken number, tell."""
    broken = table[table != np.floor(table)]
    for value in (float(table.min()), float(table.max()), *broken[:1].tolist()):
        family.check_reward(value)
