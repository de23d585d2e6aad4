"""What a policy is: data that composes a scope, an index and a start; and how to write your own."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, dataclass_transform
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError
from unimodal.families import Family
from unimodal.families.family import divergence, draw, posterior, prior_worths
from unimodal.graphs import Graph
from unimodal.kernels import user_code_errors
from unimodal.kernels.compile import attach_record, record
from unimodal.policies.index import Budgeted, Thompson, contest, refresh
from unimodal.policies.scope import AroundLeader, EveryArm, Scope, check_scope
from unimodal.policies.start import Start, as_start
from unimodal.policies.state import Arena, Prior, State, new_state


class Parts(NamedTuple):
    """A policy on a graph, taken apart for compiled code.

    Attributes
    ----------
    scope
        Which arms compete.
    index
        What they are compared by.
    family
        The law of the rewards.
    arena
        The rows of the graph.

    Examples
    --------
    >>> import unimodal as um
    >>> um.UTS().parts(um.graphs.line(3), um.Bernoulli())._fields
    ('scope', 'index', 'family', 'arena')
    """

    scope: Any
    index: Any
    family: Any
    arena: Arena


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
@dataclasses.dataclass(frozen=True, repr=False)
class Policy:
    """A rule for choosing arms: frozen data, printable and comparable.

    To write your own, subclass it and define `choose`. Annotated fields become parameters, as in a
    dataclass; their numbers can be read in `choose`. Set `compiled = True` if `choose` keeps to
    what Numba compiles; without it, it runs as plain Python, some hundred times slower. Override
    `scope` to let all arms compete (`EveryArm()`) or to force the leader (`AroundLeader(period)`).

    Parameters
    ----------
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> import unimodal as um
    >>> class Greedy(um.Policy):
    ...     "Pull the best mean around the leader, and now and then any arm there."
    ...
    ...     epsilon: float = 0.1
    ...
    ...     def choose(self, arms, near, leader, clock, rng):
    ...         if um.random.uniform(rng) < self.epsilon:
    ...             return near[um.random.randint(rng, len(near))]
    ...         return leader
    >>> Greedy(epsilon=0.2)
    Greedy(epsilon=0.2)
    """

    summary: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    compiled: ClassVar[bool] = False
    # Whether an informative prior of an arm counts for the lead, and spares the arm the start.
    prior_leads = False  # without a type: it would be the first field of those that have it
    forgets: ClassVar[bool] = False  # whether what it knows of an arm is less than it was told
    needs_divergence: ClassVar[bool] = False  # whether it does, though its index does not
    # Whether an arm with rewards from before counts as one that has led as often.
    data_leads: ClassVar[bool] = False

    name: str = dataclasses.field(default="", kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        attach_record(cls)
        _register_choose(cls)

    def __post_init__(self) -> None:
        """Name the policy after its class unless it has a name; spell its start in one way."""
        if not isinstance(self.name, str):
            raise UnimodalError(f"a policy's name must be text, got {self.name!r}.")
        if self.name.encode(errors="replace").decode() != self.name:  # halves of characters
            raise UnimodalError(f"a policy's name must be text, got {self.name!r}.")
        self._set("name", self.name or self.usual_name)
        if "start" in self.parameters():
            self._set("start", str(self.opening))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # Dask sends a notebook's classes in pieces: they get their `choose` after their birth.
        for cls in type(self).__mro__:
            if "choose" in vars(cls) and cls not in _registered:
                attach_record(cls)
                _register_choose(cls)

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)  # the class is frozen; this is still construction

    # Whatever follows may be overridden by a policy.

    def scope(self, graph: Graph | None) -> Scope:
        """Which arms compete. `graph` is None where only look-ups of neighbours are possible."""
        return AroundLeader(period=-1)

    def index(self) -> object:
        """What the arms are compared by; the policy itself, where it has a `choose` of its own."""
        return self

    def index_for(self, family: Family) -> object:
        """The `index` under a reward family, where it is not the same for all."""
        return self.index()

    def scope_for(self, graph: Graph | None, family: Family) -> Scope:
        """The `scope` under a reward family, where it is not the same for all."""
        return self.scope(graph)

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """Its new state, with whatever more it keeps; an arm without rewards shows `unpulled`."""
        return state

    # What engines and agents call.

    @property
    def usual_name(self) -> str:
        """The name it has unless it is given one."""
        return type(self).__name__

    @property
    def opening(self) -> Start:
        """How it begins: its `start`, or a sweep if it has none."""
        return as_start(getattr(self, "start", "sweep"))

    @property
    def beliefs(self) -> Prior | None:
        """Its `prior`, or None for the reward family's own."""
        return getattr(self, "prior", None)

    def counted_prior(self, n_arms: int, family: Family) -> NDArray[np.float64]:
        """The rewards that priors stand for where they count for the lead: numbers, and sums.

        They count where arms have priors of their own (one for all says nothing about who is best)
        that are informative, worth at least one reward more than the family's default.
        """
        prior = self.beliefs
        counted = np.zeros((2, n_arms))
        if self.prior_leads and is_by_arm(prior) and len(prior or ()) == n_arms:
            worth = prior_worths(family, prior)
            counts = worth[0] >= family.informative_from
            counted[:, counts] = worth[:, counts]
        return counted

    def is_led_by_prior(self, graph: Graph | None, family: Family) -> bool:
        """Whether the prior of some arm counts for the lead; not where arms are looked up."""
        return graph is not None and bool(self.counted_prior(graph.n_arms, family).any())

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
        arena = arena_of(self, graph, family)  # first: it refuses what is no scope
        scope, index = self.scope_for(graph, family), self.index_for(family)
        return Parts(record(scope), record(index), record(family), arena)

    def new_state(self, n_arms: int, family: Family, rng: Any, factors: Any = 1.0) -> State:
        """What the policy knows before the first round."""
        self.index_for(family)  # says why it cannot have such rewards, before its prior does
        counted, unpulled = self.counted_prior(n_arms, family), self.opening.unpulled_mean
        begin = self.opening.without(self.opening.order(n_arms, rng), counted[0] > 0)
        state = new_state(
            n_arms, n_arms, family, self.beliefs, begin, unpulled, rng, counted, factors
        )
        return self.equip(state, family, unpulled)

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the policy's name."""
        names = [field.name for field in dataclasses.fields(self)]
        return {name: getattr(self, name) for name in names if name != "name"}

    def __repr__(self) -> str:
        defaults = {f.name: f.default for f in dataclasses.fields(self)}
        shown = self.parameters() | {"name": self.name}
        defaults["name"] = self.usual_name
        parts = [f"{key}={value!r}" for key, value in shown.items() if value != defaults[key]]
        return f"{type(self).__name__}({', '.join(parts)})"


def arena_of(policy: Policy, graph: Graph, family: Family | None = None) -> Any:
    """The rows of a graph in which the competitors of its scope stand, for compiled code."""
    scope = policy.scope(graph) if family is None else policy.scope_for(graph, family)
    check_scope(scope, repr(policy))
    return scope.arena(graph)


def as_policy(policy: Any, what: str = "a policy") -> Policy:
    """The policy itself, or a sentence for anything else; `what` names it there.

    Parameters
    ----------
    policy
        What was given.
    what
        What it should have been, for the sentence.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    UnimodalError
        If it is no policy.

    Examples
    --------
    >>> import unimodal as um
    >>> as_policy(um.UTS())
    UTS()
    """
    if not isinstance(policy, Policy):
        raise UnimodalError(f"{what} must be an instance such as um.UTS(), got {policy!r}.")
    return policy


def checked_prior(prior: Any) -> Any:
    """A prior as nested tuples of floats: a pair for all arms, or a pair for each; or None."""
    if prior is None:
        return None
    try:
        pairs = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pairs = np.empty(0)
    if pairs.ndim not in (1, 2) or pairs.shape[-1] != 2:
        raise UnimodalError(
            f"a prior must be a pair of numbers, such as (1, 1), or one per arm, got {prior!r}."
        )
    return tuple(pairs.tolist()) if pairs.ndim == 1 else tuple(map(tuple, pairs.tolist()))


def checked_prior_leads(policy: Any) -> bool:
    """Whether a policy's prior counts for the lead; True, too, where it would change nothing."""
    if not isinstance(policy.prior_leads, bool):
        raise UnimodalError(
            f"the 'prior_leads' of {type(policy).__name__} must be True or False, got "
            f"{policy.prior_leads!r}."
        )
    return policy.prior_leads or not is_by_arm(policy.prior)


def is_by_arm(prior: Any) -> bool:
    """Whether a checked prior has a pair for each arm."""
    return bool(prior) and isinstance(prior[0], tuple)


_registered: WeakSet[type] = WeakSet()  # with a `choose` of their own


def _register_choose(cls: Any) -> None:
    """Let engines and agents call the `choose` of a class that defines one, or compiles its own."""
    if "choose" in vars(cls) or ("compiled" in vars(cls) and "choose" in dir(cls)):
        contest.register(cls, plain=not cls.compiled)(_own_contest(cls))
        refresh.register(cls)(_keep_nothing)
        _registered.add(cls)


def _own_contest(cls: Any) -> Callable[..., Any]:
    """The contest of a policy with a `choose` of its own, for compiled or for plain code."""
    choose = cls.choose
    if cls.compiled:
        choose = user_code_errors.compile_own(choose)

        def own(index, family, state, near, leader, clock):
            arm = choose(index, state.arms, near, leader, clock, state.rng)
            if arm < 0 or arm >= len(state.arms):
                raise UnimodalError("choose must return one of the arms in 'near'.")
            return arm

        return own

    def own_plain(index, family, state, near, leader, clock):
        arms = state.arms.view(np.recarray)
        arm = choose(index, arms, near, int(leader), int(clock), state.rng)
        if arm not in near:
            raise UnimodalError(
                f"the choose of {cls.__name__} must return one of the arms in 'near', got {arm!r}."
            )
        return int(arm)

    return own_plain


def told_apart(policies: Sequence[Policy]) -> list[Policy]:
    """The policies, in which no name comes twice: those of one kind are named by their parameters.

    Parameters
    ----------
    policies
        Policies, of which several may be of one kind.

    Returns
    -------
    list[Policy]
        The same policies, each with a name of its own.

    Raises
    ------
    UnimodalError
        If two are equal.

    Examples
    --------
    >>> import unimodal as um
    >>> [policy.name for policy in told_apart([um.UTS(), um.UTS(period=2), um.TS()])]
    ['UTS', 'UTS(period=2)', 'TS']
    """
    counts = Counter(policy.name for policy in policies)
    made = [
        dataclasses.replace(policy, name=repr(policy).removesuffix("()"))
        if counts[policy.name] > 1 and policy.name == policy.usual_name
        else policy
        for policy in policies
    ]
    for name, number in Counter(policy.name for policy in made).items():
        if number > 1:
            raise UnimodalError(
                "policies must differ in their parameters or names, got more than one called "
                f"'{name}': leave one out, or name it, such as name='{name} again'."
            )
    return made


@contextlib.contextmanager
def explained(policy: Policy, family: Family | None = None) -> Iterator[None]:
    """Turn errors in a user's policy or family into one sentence that names the place and cause.

    Parameters
    ----------
    policy
        The policy that runs.
    family
        The family that runs with it.

    Returns
    -------
    Iterator[None]
        A context manager.

    Raises
    ------
    UnimodalError
        In place of the error that was raised in the user's code.

    Examples
    --------
    >>> import unimodal as um
    >>> with explained(um.UTS()):
    ...     print("no error, nothing to explain")
    no error, nothing to explain
    """
    if family is not None and family.own_functions:
        index = policy.index_for(family)
        thompson = isinstance(index, Thompson)
        by_divergence = isinstance(index, Budgeted) or policy.needs_divergence
        family.require(draw, *[posterior] * thompson, *[divergence] * by_divergence)
    with user_code_errors.explained(own_functions(policy, family)):
        yield


def own_functions(policy: Policy, family: Family | None) -> dict[str, tuple[Any, str]]:
    """The functions of a user's that the two call, for `kernels.user_code_errors`."""
    found = {} if family is None else family.own_functions
    chooser: Any = getattr(policy, "policy", policy)  # what a wrapper wraps
    if "choose" in dir(chooser):
        whose = f"the choose of {type(chooser).__name__}"
        found[whose] = (type(chooser).choose, "choose(self, arms, near, leader, clock, rng)")
    return found


def _keep_nothing(index, family, arms, arm):
    pass
