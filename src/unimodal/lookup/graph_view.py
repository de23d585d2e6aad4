"""Where an agent moves: a graph that is held, or one known only by look-ups."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from unimodal.errors import UnimodalError
from unimodal.graphs import Graph
from unimodal.graphs.text import as_label, to_data
from unimodal.kernels.random import randint
from unimodal.lookup.adjacency import AdjacencyRows, copied_arena
from unimodal.lookup.cache import LookUpCache
from unimodal.lookup.oracle import as_oracle
from unimodal.lookup.walks import SHELLS, LookUp, Search, look_ups_for_walks
from unimodal.policies import Policy
from unimodal.policies.scout import LINKS, Scout, ScoutArena
from unimodal.policies.start import Literal, Probe, Start
from unimodal.policies.state import Arena

_NEVER = 2**60  # leads


def _nothing(*_: Any) -> None:
    """What an oracle does that has no use for a message."""


class WholeGraphView:
    """A whole graph: every arm is known from the beginning.

    `played` is the graph on which the policy plays, where those that are `paused` are bypassed.
    """

    def __init__(
        self,
        graph: Graph,
        arena: Arena,
        played: Graph | None = None,
        paused: tuple[int, ...] = (),
    ) -> None:
        self.graph, self.arena, self.paused = graph, arena, paused
        self.played = graph if played is None else played
        self.arm_of, self.label_of = graph.arm_of, graph.label_of

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self.graph.n_arms

    @property
    def offered(self) -> int:
        """How many of them may be chosen."""
        return self.graph.n_arms - len(self.paused)

    @property
    def slots(self) -> int:
        """How many arms to make room for."""
        return self.graph.n_arms

    def begin(self, start: Start, rng: Any) -> Any:
        """The arms to pull first."""
        return start.order(self.graph.n_arms, rng)

    def copied(self) -> WholeGraphView:
        """The same with links that stay as they are now."""
        return WholeGraphView(self.graph, copied_arena(self.arena), self.played, self.paused)

    def room_for_links(self, arm: int) -> int:
        """How many links an arm's row has room for."""
        if not isinstance(self.arena, ScoutArena):
            return 0
        following = self.arena.first[arm + 1] if arm + 1 < self.n_arms else len(self.arena.near)
        return int(following - self.arena.ends[arm])

    def to_data(self) -> dict[str, Any]:
        """The graph as JSON data."""
        return to_data(self.graph)


class LazyGraphView:
    """A graph behind an oracle; arms get their numbers as they come to compete.

    All that is asked of the oracle is `look_up(label)` and its `cache`, and what is asked depends
    on the answers so far and on who led, never on time. With `scouts`, leaders have links to far
    arms, which walks find: a shell would have to be searched, a walk of d steps costs d look-ups.
    """

    def __init__(self, oracle: Any, labels: Iterable[Hashable], policy: Policy) -> None:
        self.oracle, self.scouts = oracle, isinstance(policy.scope(None), Scout)
        self.labels: list[Hashable] = []
        self._index: dict[Hashable, int] = {}
        self._rows = AdjacencyRows(LINKS * SHELLS if self.scouts else 0)
        # Told of every look-up that counts, in order.
        self.on_look_up: Callable[[Any, Any], None] = getattr(oracle, "on_look_up", _nothing)
        self.answers = LookUpCache(oracle.cache, self._forget, self._add)
        self._later: dict[int, tuple[int, int]] = {}  # what failed: lead to try it at, last wait
        self._leader, self._due = -1, 0  # nothing is to be done for this leader before that lead
        for label in labels:
            self._number(label)

    @property
    def arena(self) -> Any:
        """The rows as kernels read them."""
        return self._rows.arena

    @property
    def n_arms(self) -> int:
        """How many arms have been met."""
        return len(self.labels)

    @property
    def offered(self) -> int:
        """How many of them may be chosen."""
        return self.n_arms

    @property
    def slots(self) -> int:
        """How many arms to make room for."""
        return max(64, self.n_arms + self.n_arms // 4)

    @property
    def look_ups(self) -> int:
        """How often an arm's neighbours were looked up."""
        return self.answers.counts["look_ups"]

    def arm_of(self, label: Any) -> int:
        """The number of an arm that has been met."""
        try:
            return self._index[label]
        except (KeyError, TypeError):
            raise UnimodalError(
                f"the agent has not met an arm called {label!r}: tell rewards of arms it asked for."
            ) from None

    def label_of(self, arm: int) -> Any:
        """The label of an arm."""
        return self.labels[arm]

    def begin(self, start: Start, rng: Any) -> Any:
        """The arms to pull first: none, or the first few that a random walk from the root meets."""
        if isinstance(start, Literal):
            return np.empty(0, dtype=np.int64)
        if not isinstance(start, Probe):
            raise UnimodalError(
                f"start='{start}' pulls every arm once, but a neighbour function cannot list them: "
                "use start='probe(8)' (a random walk from the root) or start='literal'."
            )
        here, met = self.labels[0], [0]
        for _ in range(20 * start.m):
            if len(met) == start.m:
                break
            search, answer = self._search(here)
            self._learn(search.steps[0][0])
            if answer is None:
                break
            here = answer[randint(rng, len(answer))]
            arm = self._number(here)
            if arm not in met:
                met.append(arm)
        return np.asarray(met, dtype=np.int64)

    def prepare_lead(
        self, leader: int, leads: int, rounds: int, is_new: Callable[[int], bool], rng: Any
    ) -> None:
        """Look up what an arm needs that leads now, and led so often in so many rounds before.

        It needs its neighbours at its first lead, and again if they were forgotten. Where they
        cannot be had, those compete that named it as their neighbour. What failed is tried again
        at its 2nd, 4th, 8th, … lead from then on.
        """
        if leader == self._leader and leads < self._due:
            return
        again, wait = self._later.get(leader, (leads, 0))
        if leader not in self._rows or (wait and leads >= again):
            # First the search, which may be given up; then all that it changes.
            search, answer, label, later = None, None, self.labels[leader], rng.copy()
            if leads >= again or label in self.answers:  # a walk may have had more luck
                getattr(self.oracle, "begin_decision", _nothing)()
                search, answer = self._search(label)
            walks = self.scouts and (wait > 0 or leads == 0)  # one that was forgotten has led
            if search and answer and walks:
                self._walk(search, [label, *self._around(label, answer)], rounds, later)
            rng[:] = later
            self._change_leader(leader)
            self._take_over(search, leader, answer, is_new)
            if search and not search.failed:
                self._later.pop(leader, None)
            elif leads >= again:
                wait = 2 * wait or 1
                self._later[leader] = leads + wait, wait
        self._change_leader(leader)
        self.answers.used(self.labels[leader])
        self._due = self._later.get(leader, (_NEVER, 0))[0]

    def _search(self, label: Any) -> tuple[Search, tuple[Any, ...] | None]:
        """A search that sets out with the neighbours of an arm; the root's must be found."""
        search = Search(self.answers.known, self.oracle.look_up)
        answer = search.look_up(label)
        if answer is None and not self.answers:
            raise UnimodalError(
                f"the neighbours of the root {label!r} could not be looked up, and nothing else is "
                f"known: {self._last_trouble()}"
            )
        return search, answer

    def _walk(self, search: Search, row: list[Any], rounds: int, rng: Any) -> None:
        """Search for far arms by walks that set out from an arm in different directions."""
        bound, left = look_ups_for_walks(rounds), row[1:]
        while left and len(row) - len(left) <= LINKS and self.look_ups + search.asked < bound:
            search.walk(row[0], left.pop(randint(rng, len(left))), rng)

    def _take_over(
        self,
        search: Search | None,
        arm: int,
        answer: tuple[Any, ...] | None,
        is_new: Callable[[int], bool],
    ) -> None:
        """Give an arm the row that a search found, and links to the new arms that walks met."""
        (first, _), *walks = search.steps if search else [([], [])]
        self._learn(first)
        self._rows.put(arm, [arm, *map(self._number, self._around(self.labels[arm], answer))], [])
        row, links = self._rows.row(arm), dict[int, None]()
        for asked, met in walks:
            self._learn(asked)
            for label in met:
                known = self._index.get(label)
                if known is None or (known not in row and is_new(known)):
                    links[self._number(label)] = None
        self._rows.put(arm, self._rows.row(arm), list(links))  # walks may have added to the row

    def _learn(self, steps: Iterable[LookUp]) -> None:
        """Remember what a search was answered, and that it used what was remembered."""
        for label, answer, is_new in steps:
            if is_new:
                self.answers.learn(label, answer)
                self.on_look_up(label, answer)
            else:
                self.answers.used(label)

    def _around(self, label: Any, answer: tuple[Any, ...] | None) -> Iterable[Any]:
        """An arm's neighbours, and whoever names it as one."""
        return dict.fromkeys([*(answer or ()), *self.answers.namers(label)])

    def _change_leader(self, leader: int) -> None:
        if leader != self._leader >= 0 and self.labels[self._leader] not in self.answers:
            self._rows.drop(self._leader)  # only of arms that named it: quick to make again
        self._leader, self._due, self.answers.pinned = leader, 0, self.labels[leader]

    def _last_trouble(self) -> str:
        troubles = getattr(self.oracle, "troubles", None)
        return troubles[-1] if troubles else "the oracle does not say why."

    def _add(self, label: Any, namer: Any) -> None:
        """Put an arm that names another into the other's row, if that has one without it."""
        arm = self._index.get(label, -1)
        if arm in self._rows:
            row, new = self._rows.row(arm), self._number(namer)
            if new not in row:
                self._rows.put(arm, [*row, new], [i for i in self._rows.links(arm) if i != new])

    def _number(self, label: Hashable) -> int:
        arm = self._index.setdefault(label, len(self.labels))
        if arm == len(self.labels):
            self.labels.append(label)
            self._rows.make_room_for(arm + 1)
        return arm

    def _forget(self, label: Hashable) -> bool:
        """Drop the row of an arm, if it has one: then it has led, and not only been walked by."""
        arm = self._index.get(label, -1)
        has_led = arm in self._rows
        self._rows.drop(arm)
        self._later.pop(arm, None)  # it had an answer, so that only walks from it failed
        return has_led

    def copied(self) -> LazyGraphView:
        """What it knows now; to look at only."""
        twin = copy.copy(self)
        twin.labels, twin._later = self.labels.copy(), self._later.copy()
        twin._rows, twin.answers = self._rows.copied(), self.answers.copied()
        return twin

    def room_for_links(self, arm: int) -> int:
        """How many links an arm's row has room for."""
        return LINKS * SHELLS if self.scouts and arm in self._rows else 0

    def to_data(self) -> dict[str, Any]:
        """What it knows, as JSON data, but for the links, which go with the arena."""
        return {
            "kind": "look-up",
            "cache": self.oracle.cache,
            "labels": self.labels,
            "leader": [self._leader, self._due],
            "rows": [[arm, row] for arm, row in self._rows.all()],
            "later": [[arm, *times] for arm, times in self._later.items()],
            **self.answers.to_data(),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any], graph: Any, policy: Policy) -> LazyGraphView:
        """What `to_data` returned, with the oracle or the function again, which is not saved."""
        if graph is None:
            raise UnimodalError(
                "the file was made with a neighbour function, which is not saved: "
                "pass it as graph=…."
            )
        labels = list(map(as_label, data["labels"]))
        view = cls(as_oracle(graph, labels[0], data["cache"]), labels, policy)
        for arm, row in data["rows"]:
            view._rows.put(arm, row, [])
        view._later = {arm: (again, wait) for arm, again, wait in data["later"]}
        view.answers.fill(data)
        leader, due = data["leader"]
        if leader >= 0:
            view._change_leader(leader)
            view._due = due
        return view
