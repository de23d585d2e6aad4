"""An immutable graph of arms, stored by neighbourhoods."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError, refuse_set
from unimodal.kernels.read_only import ReadOnlyArrays

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Graph(ReadOnlyArrays):
    """A connected, undirected graph whose nodes are the arms 0 … n_arms - 1.

    Made by the functions of `unimodal.graphs`. Kept as compressed rows: row k is N⁺(k), arm k
    itself and then its neighbours in increasing order, so that a policy walks one run of memory.

    Parameters
    ----------
    rows
        Where the row of each arm begins; n_arms + 1 numbers.
    near
        The rows, one after the other: each arm, then its neighbours.
    recipe
        How the graph was made, as JSON data; None for edges.
    labels
        The names of the arms; their numbers by default.

    Examples
    --------
    >>> from unimodal import graphs
    >>> graph = graphs.line(5)
    >>> graph
    Graph(line, 5 arms, 4 edges)
    >>> graph.near(2)
    array([2, 1, 3], dtype=int32)
    """

    def __init__(
        self,
        rows: Any,
        near: Any,
        *,
        recipe: dict[str, Any] | None = None,
        labels: Iterable[Hashable] | None = None,
    ) -> None:
        for array in (rows, near):
            array.setflags(write=False)
        self._rows: NDArray[np.int64] = rows
        self._near: NDArray[np.int32] = near
        self._recipe = dict(recipe or {"kind": "edges"})
        self._labels = checked_labels(labels, self.n_arms) if labels is not None else None

    @property
    def labels(self) -> Sequence[Hashable]:
        """What the arms are called, in the order of their indices: 0, 1, … by default."""
        return range(self.n_arms) if self._labels is None else self._labels

    @property
    def has_labels(self) -> bool:
        """Whether the arms were given labels, and are not called by their indices."""
        return self._labels is not None

    @property
    def recipe(self) -> dict[str, Any]:
        """How the graph was made: the kind, and the numbers its generator was given (a copy)."""
        return dict(self._recipe)

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return len(self._rows) - 1

    @property
    def n_edges(self) -> int:
        """How many edges there are, each counted once."""
        return (len(self._near) - self.n_arms) // 2

    @property
    def rows(self) -> NDArray[np.int64]:
        """Where each arm's row of `near_rows` begins (n_arms + 1 numbers, read-only)."""
        return self._rows

    @property
    def near_rows(self) -> NDArray[np.int32]:
        """All rows N⁺(0), N⁺(1), … one after the other (read-only)."""
        return self._near

    @functools.cached_property
    def degrees(self) -> NDArray[np.int64]:
        """|N(k)| of every arm."""
        degrees: NDArray[np.int64] = np.diff(self._rows) - 1
        degrees.setflags(write=False)
        return degrees

    @property
    def max_degree(self) -> int:
        """γ, the largest number of neighbours."""
        return int(self.degrees.max())

    def near(self, arm: int) -> NDArray[np.int32]:
        """N⁺(arm): the arm itself, then its neighbours."""
        arm = self.check_arm(arm)
        return self._near[self._rows[arm] : self._rows[arm + 1]]

    def neighbors(self, arm: int) -> NDArray[np.int32]:
        """N(arm), in increasing order."""
        return self.near(arm)[1:]

    def edges(self) -> NDArray[np.int64]:
        """An (n_edges, 2) array with the smaller arm first."""
        tails = np.repeat(np.arange(self.n_arms, dtype=self._near.dtype), np.diff(self._rows))
        keep = tails < self._near
        return np.column_stack([tails[keep], self._near[keep]])

    def distances(self, arm: int) -> NDArray[np.int64]:
        """The number of edges on a shortest path from `arm` to every arm."""
        from scipy.sparse import csgraph

        self.check_arm(arm)
        steps = csgraph.dijkstra(self.to_scipy(), indices=arm, unweighted=True)
        return np.asarray(steps, dtype=np.int64)

    def to_scipy(self) -> csr_matrix:
        """The adjacency matrix, with no entries on the diagonal."""
        from scipy.sparse import csr_matrix

        keep = np.ones(len(self._near), dtype=bool)
        keep[self._rows[:-1]] = False
        rows = self._rows - np.arange(self.n_arms + 1)
        shape = (self.n_arms, self.n_arms)
        return csr_matrix((np.ones(int(keep.sum()), dtype=np.int8), self._near[keep], rows), shape)

    def check_arm(self, arm: Any) -> int:
        """Return `arm` as an index, or refuse it."""
        if isinstance(arm, int | np.integer) and 0 <= arm < self.n_arms:
            return int(arm)
        raise UnimodalError(
            f"an arm of this graph is a whole number from 0 to {self.n_arms - 1}, got {arm!r}."
        )

    @functools.cached_property
    def _index(self) -> dict[Hashable, int]:
        return {label: arm for arm, label in enumerate(self.labels)}

    def arm_of(self, label: Hashable) -> int:
        """The index of a label (or of an index, where the graph has no labels)."""
        if self._labels is None:
            return self.check_arm(label)
        try:
            return self._index[label]
        except (KeyError, TypeError):
            known = ", ".join(repr(x) for x in self._labels[:3])
            raise UnimodalError(
                f"no arm of this graph is called {label!r}; its labels begin with {known}."
            ) from None

    def label_of(self, arm: int) -> Hashable:
        """The label of an arm, or its index where the graph has no labels."""
        if self._labels is not None and type(arm) is int and 0 <= arm < len(self._labels):
            return self._labels[arm]  # quickly: every decision asks twice
        arm = self.check_arm(arm)
        return arm if self._labels is None else self._labels[arm]

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the edges and labels: equal graphs have equal ones."""
        digest = hashlib.sha256(self._rows.astype(np.int64).tobytes())
        digest.update(self._near.astype(np.int64).tobytes())
        digest.update(json.dumps(self._labels, default=repr).encode())
        return digest.hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        """Two graphs are equal if they have the same edges and labels."""
        return isinstance(other, Graph) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"Graph({self._recipe['kind']}, {self.n_arms:,} arms, {self.n_edges:,} edges)"


def checked_labels(labels: Iterable[Hashable], n_arms: int | None = None) -> tuple[Hashable, ...]:
    """The labels as a tuple, or a refusal: they must be hashable, and each arm needs its own."""
    refuse_set(labels, "the labels")
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise UnimodalError(f"the labels must be a list, one for each arm, got {labels!r}.")
    names = tuple(map(plain_label, labels))
    if n_arms is not None and len(names) != n_arms:
        raise UnimodalError(
            f"the labels must be one for each of the {n_arms} arms, got {len(names)}."
        )
    seen: set[Hashable] = set()
    for name in names:
        try:
            again = name in seen
        except TypeError:
            raise UnimodalError(
                f"a label must be hashable (a string, a number), got {name!r}."
            ) from None
        if name is None or not is_itself(name):  # None means nobody
            raise UnimodalError(f"a label must be text, a number or a tuple, got {name!r}.")
        if again:
            raise UnimodalError(f"the labels must differ from each other, got {name!r} twice.")
        seen.add(name)
    return names


def plain_label(label: Any) -> Any:
    """A label with Python's own numbers for NumPy's, which JSON does not know.

    >>> plain_label((np.int64(3), "b"))
    (3, 'b')
    """
    if type(label) is tuple:  # a named one stays what it is: whoever made it uses its names
        return tuple(map(plain_label, label))
    return label.item() if isinstance(label, np.generic) else label


def is_itself(label: Any) -> bool:
    """Whether a label equals itself; a NaN does not, so that it would never be found again."""
    if isinstance(label, tuple):
        return all(map(is_itself, label))
    return bool(label == label)
