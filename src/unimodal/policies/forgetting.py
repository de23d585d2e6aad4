"""Policies for means that change: any policy, with an end to what it remembers.

The three wrappers come first. Below them is how they forget: a memory, part of the policy's state,
whose type decides what `take_in` does with a reward and where a confidence bound's clock stops.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unimodal.errors import UnimodalError, check_memory, real_number, whole_number
from unimodal.families import Family
from unimodal.families.family import divergence, earned
from unimodal.graphs import Graph
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import inner
from unimodal.kernels.leaderboard import show
from unimodal.policies.index import refresh
from unimodal.policies.npts import Reweighed
from unimodal.policies.peak import PeakUTS
from unimodal.policies.policy import Policy, as_policy
from unimodal.policies.round import add_reward, effective_clock, take_in
from unimodal.policies.scope import Scope, has_leader
from unimodal.policies.scout import ScoutUTS
from unimodal.policies.start import Start
from unimodal.policies.state import BEGUN, FADING_ARM, ROUND, Prior, State

MOST_REWARDS = 10**8  # that are kept one by one, of all arms together: room is made for them
WORTHLESS = 1e-6  # rewards: an arm that is left with less than this counts as never pulled


class Forgetful(Policy):
    """A policy that does what another does, with less to remember: what those below share.

    Parameters
    ----------
    policy
        The policy that forgets.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> import unimodal as um
    >>> issubclass(um.Windowed, Forgetful)
    True
    """

    forgets: ClassVar[bool] = True

    policy: Policy

    def __post_init__(self) -> None:
        kind = type(self).__name__
        as_policy(self.policy, f"the 'policy' of {kind}")
        if self.policy.forgets:
            raise UnimodalError(
                f"the 'policy' of {kind} must not forget by itself, got {self.policy!r}: "
                "take one way of forgetting."
            )
        keeps_rewards = isinstance(self.policy.index(), Reweighed)
        if keeps_rewards or isinstance(self.policy, ScoutUTS | PeakUTS):
            raise UnimodalError(
                f"the 'policy' of {kind} must know an arm by its pulls and their sum alone, got "
                f"{self.policy!r}: take UTS, OSUB, TS or KLUCB."
            )
        super().__post_init__()

    @property
    def usual_name(self) -> str:
        """The way of forgetting, and who forgets."""
        return f"{type(self).__name__} {self.policy.name}"

    def room(self, n_arms: int) -> int:
        """For how many rewards it makes room, since it keeps them one by one."""
        return 0

    def scope(self, graph: Graph | None) -> Scope:
        """The policy's own."""
        return self.policy.scope(graph)

    def index(self) -> object:
        """The policy's own."""
        return self.policy.index()

    def index_for(self, family: Family) -> object:
        """The policy's own."""
        return self.policy.index_for(family)

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """The policy's own."""
        return self.policy.equip(state, family, unpulled)

    @property
    def opening(self) -> Start:
        """The policy's own."""
        return self.policy.opening

    @property
    def beliefs(self) -> Prior | None:
        """The policy's own."""
        return self.policy.beliefs

    @property
    def is_plain(self) -> bool:
        """Whether the policy runs as plain Python."""
        return self.policy.is_plain

    @property
    def is_own(self) -> bool:
        """Whether the policy's source is not ours."""
        return self.policy.is_own


class Windowed(Forgetful):
    """A policy that knows only the last `window` rewards, of all arms together.

    An arm without a reward among them counts as never pulled, and a confidence bound's clock stops
    at `window`. How often a leader is pulled without a contest goes by all the rounds it has led.

    Parameters
    ----------
    policy
        The policy that forgets.
    window
        How many rewards it remembers, at most 100,000,000.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> import unimodal as um
    >>> Windowed(um.UTS(), window=500)
    Windowed(policy=UTS(), window=500)
    """

    summary = "a policy that knows only the last rewards"
    citation = "Garivier and Moulines 2011; Combes and Proutiere 2014 (SW-OSUB); Trovò et al. 2020"

    window: int

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "the 'window' of Windowed"
        self._set("window", whole_number(self.window, what, at_most=MOST_REWARDS))

    def room(self, n_arms: int) -> int:
        """The window, which is that of all arms together."""
        return self.window

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With a ring of rewards."""
        check_memory(24 * self.window, f"a window of {self.window:,} rewards")
        state, ring = super().equip(state, family, unpulled), np.zeros((self.window, 3))
        return state._replace(memory=Window(ring, cache_aligned(np.zeros(1, np.int64)), unpulled))


class Discounted(Forgetful):
    """A policy to which the newest reward counts 1, and one with n newer ones gamma^n.

    So it goes by up to 1/(1 - gamma) rewards in all, which is where a confidence bound's clock
    stops. An arm whose rewards count less than a millionth together counts as never pulled. A round
    takes time in proportion to the number of arms.

    Parameters
    ----------
    policy
        The policy that forgets.
    gamma
        What a reward is worth after the next one, between 0 and 1.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> import unimodal as um
    >>> Discounted(um.KLUCB(), gamma=0.999)
    Discounted(policy=KLUCB(), gamma=0.999)
    """

    summary = "a policy to which old rewards count less"
    citation = "Kocsis and Szepesvári 2006; Garivier and Moulines 2011; Raj and Kalyani 2017"

    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("gamma", real_number(self.gamma, "the 'gamma' of Discounted", above=0))
        if self.gamma >= 1:
            raise UnimodalError(
                f"the 'gamma' of Discounted must be smaller than 1, got {self.gamma!r}: "
                "1 - 1/n is about as long a memory as a window of n."
            )

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With pulls that need not be whole."""
        state = super().equip(state, family, unpulled)
        arms = cache_aligned(state.arms.astype(FADING_ARM))
        return state._replace(arms=arms, memory=Fading(self.gamma, unpulled))


class Restarting(Forgetful):
    """A policy that forgets everything when the rewards of an arm have changed, and starts again.

    After every pull, the arm's last `window` rewards (since the last restart) are cut into halves
    of h with means x and y, and it restarts if h·(kl(x, z) + kl(y, z)) > 2·log(4K/rate), where z is
    the mean of all of them. While nothing changes, the expected number of restarts in T rounds is
    at most rate·T. Let μ be the arm's mean. Replacing z by μ cannot make the sum smaller, and by
    Chernoff's bound h·kl(x, μ) > log(4K/rate) has probability at most rate/(2K), as for y. So each
    of the first T rewards of each of K arms alarms with probability at most rate/K.

    Parameters
    ----------
    policy
        The policy that starts again.
    window
        How many rewards of an arm are compared, in two halves; at most 100,000,000 of all arms
        together.
    rate
        The expected number of restarts per round while nothing changes.
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    >>> import unimodal as um
    >>> Restarting(um.UTS(), window=400)
    Restarting(policy=UTS(), window=400)
    """

    summary = "a policy that starts again when rewards have changed"
    citation = "Cao, Wen, Kveton and Xie 2019 (two halves); Besson et al. 2022 (divergences)"

    window: int = 1000
    rate: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "the 'window' of Restarting"
        self._set("window", whole_number(self.window, what, 2, MOST_REWARDS))
        self._set("rate", real_number(self.rate, "the 'rate' of Restarting", above=0))
        if self.window % 2 or self.rate > 1:
            raise UnimodalError(
                "Restarting needs an even 'window', of two halves, and a 'rate' of false alarms "
                f"of at most 1, got window={self.window}, rate={self.rate:g}."
            )

    def room(self, n_arms: int) -> int:
        """A window of each arm."""
        return self.window * n_arms

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With the latest rewards of every arm."""
        state, n_arms = super().equip(state, family, unpulled), len(state.arms)
        if self.room(n_arms) > MOST_REWARDS:
            raise UnimodalError(
                "the 'window' of Restarting times the number of arms must be at most "
                f"{MOST_REWARDS:,}, got {self.window:,} times {n_arms:,}: take a smaller window."
            )
        check_memory(8 * self.room(n_arms), f"a window of {self.window:,} on {n_arms:,} arms")
        learnt, restarts = np.zeros(n_arms, np.int64), np.zeros(2, np.int64)
        memory = Watch(
            np.zeros((n_arms, self.window)),
            np.zeros((n_arms, 2)),
            cache_aligned(learnt),
            cache_aligned(restarts),
            2 * math.log(4 * n_arms / self.rate),
            unpulled,
        )
        return state._replace(memory=memory)


class Window(NamedTuple):
    """The last rewards count, all others do not."""

    ring: Any  # (window, 3): arm, reward, success of the coin
    learnt: Any  # (1,): rewards so far
    unpulled: float  # what an arm without rewards shows on the leader board


class Fading(NamedTuple):
    """A reward counts gamma^n once n others have come after it."""

    gamma: float
    unpulled: float


class Watch(NamedTuple):
    """Everything counts until an arm's latest rewards differ from those before: then nothing."""

    rewards: Any  # (arms, window): the latest of each arm, in a ring
    sums: Any  # (arms, 2): of the newer and of the older half of the window
    learnt: Any  # (arms,): rewards since the last restart
    restarts: Any  # (2,): how many there were, and the round of the last
    threshold: float
    unpulled: float


Window.component = Window  # type: ignore[attr-defined]
Fading.component = Fading  # type: ignore[attr-defined]
Watch.component = Watch  # type: ignore[attr-defined]


@take_in.register(Window)
def _learn_and_drop_the_oldest(memory, scope, index, family, state, arm, reward):
    successes = state.arms[arm].successes
    add_reward(scope, index, family, state, arm, reward)
    success = state.arms[arm].successes - successes
    ring = memory.ring
    place = memory.learnt[0] % len(ring)
    if memory.learnt[0] >= len(ring):
        old = int(ring[place, 0])
        record = state.arms[old]
        record.pulls -= 1
        record.total -= ring[place, 1]
        record.successes -= ring[place, 2]
        if record.pulls > 0:
            refresh(index, family, state.arms, old)
        else:
            record.total = record.successes = 0.0  # without what rounding left
        _show_again(memory, scope, family, state, old)
    ring[place, 0], ring[place, 1], ring[place, 2] = arm, reward, success
    memory.learnt[0] += 1


@effective_clock.register(Window)
def _within_the_window(memory, state, clock):
    return min(clock, len(memory.ring))  # log(min(t, τ)) (Garivier and Moulines 2011)


@take_in.register(Fading)
def _fade_and_learn(memory, scope, index, family, state, arm, reward):
    # N_t(γ, i) = Σ γ^(t - s) over the rounds s of i (Garivier and Moulines 2011): the last has 1.
    # The means stay as they are, and so do their order and what an index keeps of them.
    for other in range(len(state.arms)):
        record = state.arms[other]
        record.pulls *= memory.gamma
        record.total *= memory.gamma
        record.successes *= memory.gamma
        if 0.0 < record.pulls < WORTHLESS:
            record.pulls = record.total = record.successes = 0.0
            _show_again(memory, scope, family, state, other)
    add_reward(scope, index, family, state, arm, reward)


@effective_clock.register(Fading)
def _total_weight(memory, state, clock):
    # n_t(γ) = Σ N_t(γ, i) = (1 - γ^t)/(1 - γ), or rather its bound
    return min(float(clock), 1.0 / (1.0 - memory.gamma))


@take_in.register(Watch)
def _learn_and_restart_after_a_change(memory, scope, index, family, state, arm, reward):
    add_reward(scope, index, family, state, arm, reward)
    rewards, sums, learnt = memory.rewards[arm], memory.sums[arm], memory.learnt[arm]
    window = len(rewards)
    half, place = window // 2, learnt % window
    sums[0] += reward
    if learnt >= half:
        ageing = rewards[(learnt - half) % window]
        sums[0] -= ageing
        sums[1] += ageing
    if learnt >= window:
        sums[1] -= rewards[place]
    rewards[place] = reward
    memory.learnt[arm] += 1
    if learnt + 1 >= window:
        newer, older = sums[0] / half, sums[1] / half
        middle = 0.5 * (newer + older)
        change = divergence(family, newer, middle) + divergence(family, older, middle)
        if half * change > memory.threshold:
            _restart(memory, scope, family, state)


@inner
def _restart(memory, scope, family, state):
    for arm in range(len(state.arms)):
        record = state.arms[arm]
        record.pulls = record.leads = 0
        record.total = record.successes = 0.0
        memory.learnt[arm] = 0
        memory.sums[arm, 0] = memory.sums[arm, 1] = 0.0
        _show_again(memory, scope, family, state, arm)
    state.notes[BEGUN] = 0
    memory.restarts[0] += 1
    memory.restarts[1] = state.notes[ROUND]


@effective_clock.register(Watch)
def _since_the_restart(memory, state, clock):
    return min(clock, state.notes[ROUND] - memory.restarts[1])


@inner
def _show_again(memory, scope, family, state, arm):
    """Bring the leader board up to date for an arm that lost rewards."""
    if has_leader(scope):
        record = state.arms[arm]
        shown = memory.unpulled
        if record.pulls > 0:
            shown = earned(family, record, record.total / record.pulls)
        show(state.best, state.count, arm, shown)


def filled(memory: Any) -> Any:
    """A memory without the room that no reward has filled yet: to look at, not to learn with."""
    if isinstance(memory, Window):
        return memory._replace(ring=memory.ring[: memory.learnt[0]])
    if isinstance(memory, Watch):
        pairs = zip(memory.rewards, memory.learnt, strict=True)
        return memory._replace(rewards=[rewards[:count] for rewards, count in pairs])
    return memory


def memory_data(memory: Any) -> dict[str, Any]:
    """What a memory holds, as plain JSON data; its settings are the policy's."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else [row.tolist() for row in value]
        for name, value in filled(memory)._asdict().items()
        if isinstance(value, np.ndarray | list)
    }


def filled_data(data: dict[str, Any]) -> dict[str, Any]:
    """What `memory_data` tells, of older data, which have the room that was not filled as well.

    In a window that room is zeros; in the rewards of an arm it may have those before a restart.
    """
    if "ring" in data and not any(map(any, data["ring"][data["learnt"][0] :])):
        return {**data, "ring": data["ring"][: data["learnt"][0]]}
    if "rewards" in data:
        pairs = zip(data["rewards"], data["learnt"], strict=True)
        return {**data, "rewards": [rewards[:count] for rewards, count in pairs]}
    return data


def fill_memory(memory: Any, data: dict[str, Any]) -> None:
    """Write into a new memory what `memory_data` described, and `validation` has checked."""
    for name, values in data.items():
        array = getattr(memory, name)
        if name == "rewards":
            for row, rewards in zip(array, values, strict=True):
                row[: len(rewards)] = rewards
        else:
            array[: len(values)] = np.reshape(values, (-1, *array.shape[1:]))


def renumbered_memory(data: dict[str, Any], where: list[int], n_arms: int) -> dict[str, Any]:
    """What `memory_data` returned, for arms with other numbers (-1: the arm is gone)."""
    if "ring" in data:
        (learnt,), size = data["learnt"], len(data["ring"])
        rows = [data["ring"][number % size] for number in range(max(0, learnt - size), learnt)]
        kept = [[where[int(arm)], *rest] for arm, *rest in rows if where[int(arm)] >= 0]
        return {"ring": kept, "learnt": [len(kept)]}
    moved = dict(data)
    nothing: dict[str, Any] = {"rewards": [], "sums": [0.0, 0.0], "learnt": 0}  # of an arm
    for name in nothing.keys() & data.keys():
        moved[name] = [nothing[name]] * n_arms
        for old, new in enumerate(where):
            if new >= 0:
                moved[name][new] = data[name][old]
    return moved
