"""Policies for means that change: any policy, with an end to what it remembers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from unimodal.errors import UnimodalError, real_number, whole_number
from unimodal.families import Family
from unimodal.graphs import Graph
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.policies.forgetting import Fading, Watch, Window
from unimodal.policies.paper import ScoutUTS
from unimodal.policies.policy import Policy, as_policy
from unimodal.policies.remembering import Reweighed
from unimodal.policies.start import Start
from unimodal.policies.state import FADING_ARM, State

LONGEST_WINDOW = 10**9  # rewards that are kept one by one


class Forgetful(Policy):
    """A policy that does what another does, with less to remember: what those below share."""

    forgets: ClassVar[bool] = True

    policy: Policy

    def __post_init__(self) -> None:
        """Check what is wrapped."""
        kind = type(self).__name__
        as_policy(self.policy, f"the 'policy' of {kind}")
        if self.policy.forgets:
            raise UnimodalError(
                f"the 'policy' of {kind} must not forget by itself, got {self.policy!r}: "
                "take one way of forgetting."
            )
        keeps_rewards = isinstance(self.policy.index(), Reweighed)
        if keeps_rewards or isinstance(self.policy, ScoutUTS):
            raise UnimodalError(
                f"the 'policy' of {kind} must know an arm by its pulls and their sum alone, got "
                f"{self.policy!r}: take UTS, OSUB, TS or KLUCB."
            )
        super().__post_init__()

    @property
    def usual_name(self) -> str:
        """The way of forgetting, and who forgets."""
        return f"{type(self).__name__} {self.policy.name}"

    def scope(self, graph: Graph | None) -> Any:
        """The policy's own."""
        return self.policy.scope(graph)

    def index(self) -> Any:
        """The policy's own."""
        return self.policy.index()

    def index_for(self, family: Family) -> Any:
        """The policy's own."""
        return self.policy.index_for(family)

    @property
    def opening(self) -> Start:
        """The policy's own."""
        return self.policy.opening

    @property
    def beliefs(self) -> Any:
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

    >>> import unimodal as um
    >>> Windowed(um.UTS(), window=500)
    Windowed(policy=UTS(), window=500)
    """

    summary = "a policy that knows only the last rewards"
    citation = "Garivier and Moulines 2011; Combes and Proutiere 2014 (SW-OSUB); Trovò et al. 2020"

    window: int

    def __post_init__(self) -> None:
        """Check the window."""
        super().__post_init__()
        what = "the 'window' of Windowed"
        self._set("window", whole_number(self.window, what, at_most=LONGEST_WINDOW))

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With a ring of rewards."""
        ring = np.zeros((self.window, 3))
        return state._replace(memory=Window(ring, cache_aligned(np.zeros(1, np.int64)), unpulled))


class Discounted(Forgetful):
    """A policy to which the newest reward counts 1, and one with n newer ones gamma^n.

    So it goes by up to 1/(1 - gamma) rewards in all, which is where a confidence bound's clock
    stops. An arm whose rewards count less than a millionth together counts as never pulled. A round
    takes time in proportion to the number of arms.

    >>> import unimodal as um
    >>> Discounted(um.KLUCB(), gamma=0.999)
    Discounted(policy=KLUCB(), gamma=0.999)
    """

    summary = "a policy to which old rewards count less"
    citation = "Kocsis and Szepesvári 2006; Garivier and Moulines 2011; Raj and Kalyani 2017"

    gamma: float

    def __post_init__(self) -> None:
        """Check the factor."""
        super().__post_init__()
        self._set("gamma", real_number(self.gamma, "the 'gamma' of Discounted", above=0))
        if self.gamma >= 1:
            raise UnimodalError(
                f"the 'gamma' of Discounted must be smaller than 1, got {self.gamma!r}: "
                "1 - 1/n is about as long a memory as a window of n."
            )

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With pulls that need not be whole."""
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

    >>> import unimodal as um
    >>> Restarting(um.UTS(), window=400)
    Restarting(policy=UTS(), window=400)
    """

    summary = "a policy that starts again when rewards have changed"
    citation = "Cao, Wen, Kveton and Xie 2019 (two halves); Besson et al. 2022 (divergences)"

    window: int = 1000
    rate: float = 1e-5

    def __post_init__(self) -> None:
        """Check the window and the rate of false alarms."""
        super().__post_init__()
        what = "the 'window' of Restarting"
        self._set("window", whole_number(self.window, what, 2, LONGEST_WINDOW))
        self._set("rate", real_number(self.rate, "the 'rate' of Restarting", above=0))
        if self.window % 2 or self.rate > 1:
            raise UnimodalError(
                "Restarting needs an even 'window', of two halves, and a 'rate' of false alarms "
                f"of at most 1, got window={self.window}, rate={self.rate:g}."
            )

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With the latest rewards of every arm."""
        n_arms = len(state.arms)
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
