"""What a policy is: data that composes a scope, an index and a start; and how to write your own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, dataclass_transform

import numpy as np
from numba import njit

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.compile import attach_record, record
from unimodal.policies.indices import contest, refresh
from unimodal.policies.scopes import AroundLeader, EveryArm
from unimodal.policies.starts import as_start
from unimodal.policies.state import Arena, State, new_state


class Parts(NamedTuple):
    """A policy on a graph, taken apart for compiled code."""

    scope: Any
    index: Any
    family: Any
    arena: Arena


@dataclass_transform(frozen_default=True)
class Policy:
    """A rule for choosing arms: frozen data, printable and comparable.

    To write your own, subclass it and define `choose`. Annotated fields become parameters, as in a
    dataclass; their numbers can be read in `choose`. Set `compiled = True` if `choose` keeps to
    what Numba compiles; without it, it runs as plain Python, some hundred times slower. Override
    `scope` to let all arms compete (`EveryArm()`) or to force the leader (`AroundLeader(period)`).

    >>> import unimodal as um
    >>> class Greedy(um.Policy):
    ...     "Pull the best mean around the leader, and now and then any arm there."
    ...     epsilon: float = 0.1
    ...
    ...     def choose(self, arms, near, leader, clock, rng):
    ...         if um.random.uniform(rng) < self.epsilon:
    ...             return near[um.random.below(rng, len(near))]
    ...         return leader
    >>> Greedy(epsilon=0.2)
    Greedy(epsilon=0.2)
    """

    summary: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    compiled: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__annotations__ = {**cls.__dict__.get("__annotations__", {}), "name": "str"}
        cls.name = dataclasses.field(default="", kw_only=True)  # type: ignore[attr-defined]
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        attach_record(cls)
        if "choose" in cls.__dict__:
            contest.register(cls, plain=not cls.compiled)(_own_contest(cls))
            refresh.register(cls)(_keep_nothing)

    def __post_init__(self) -> None:
        """Name the policy after its class unless it has a name; spell its start in one way."""
        if not isinstance(self.name, str):  # type: ignore[attr-defined]
            raise UnimodalError(f"a policy's name must be text, got {self.name!r}.")  # type: ignore[attr-defined]
        self._set("name", self.name or type(self).__name__)  # type: ignore[attr-defined]
        if "start" in type(self).__dict__.get("__dataclass_fields__", {}):
            self._set("start", str(as_start(self.start)))

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)  # the class is frozen; this is still construction

    # Whatever follows may be overridden by a policy.

    start: ClassVar[Any] = "sweep"
    prior: ClassVar[Any] = None

    def scope(self, graph: Graph | None) -> Any:
        """Which arms compete. `graph` is None where only look-ups of neighbours are possible."""
        return AroundLeader(period=-1)

    def index(self) -> Any:
        """What the arms are compared by; the policy itself, where it has a `choose` of its own."""
        return self

    # What engines and agents call.

    @property
    def is_plain(self) -> bool:
        """Whether the policy runs as plain Python."""
        return "choose" in dir(self) and not self.compiled

    @property
    def is_own(self) -> bool:
        """Whether compiled code of it must not be cached, because its source is not ours."""
        return not type(self).__module__.startswith("unimodal.")

    @property
    def needs_every_arm(self) -> bool:
        """Whether it looks at all arms, which a graph known by look-up does not offer."""
        return isinstance(self.scope(None), EveryArm)

    def parts(self, graph: Graph, family: Family) -> Parts:
        """The policy on a graph, as compiled code takes it."""
        scope = self.scope(graph)
        return Parts(record(scope), record(self.index()), record(family), scope.arena(graph))

    def new_state(self, n_arms: int, family: Family, rng: Any) -> State:
        """What the policy knows before the first round."""
        start = as_start(self.start)
        begin = start.order(n_arms, rng)
        return new_state(n_arms, n_arms, family, self.prior, begin, start.unpulled_mean, rng)

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the policy's name."""
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name != "name"}

    def __repr__(self) -> str:
        """The class and what differs from its defaults."""
        defaults = {f.name: f.default for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        shown = self.parameters() | {"name": self.name}  # type: ignore[attr-defined]
        defaults["name"] = type(self).__name__
        parts = [f"{key}={value!r}" for key, value in shown.items() if value != defaults[key]]
        return f"{type(self).__name__}({', '.join(parts)})"


def _own_contest(cls: Any) -> Callable[..., Any]:
    """The contest of a policy with a `choose` of its own, for compiled or for plain code."""
    choose = cls.choose
    if cls.compiled:
        choose = njit(nogil=True)(choose)  # with reference counts: a user's code may allocate

        def own(index, family, state, near, leader, clock):  # type: ignore[no-untyped-def]
            arm = choose(index, state.arms, near, leader, clock, state.rng)
            if arm < 0 or arm >= len(state.arms):
                raise UnimodalError("choose must return one of the arms in 'near'.")
            return arm

        return own

    def own_plain(index, family, state, near, leader, clock):  # type: ignore[no-untyped-def]
        arms = state.arms.view(np.recarray)
        arm = choose(index, arms, near, int(leader), int(clock), state.rng)
        if arm not in near:
            raise UnimodalError(
                f"the choose of {cls.__name__} must return one of the arms in 'near', got {arm!r}."
            )
        return int(arm)

    return own_plain


def _keep_nothing(index, family, arms, arm):  # type: ignore[no-untyped-def]
    pass
