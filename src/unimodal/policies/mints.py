"""MINTS: where the peak is, drawn from what all rewards say of its place.

From Wang (2025, 2026): only the place of the best arm has a prior, the uniform one. The rest of the
model is profiled out: a place weighs as much as the likelihood of all rewards under the means that
fit them best of all means whose peak is there, and the next arm is drawn by these weights. On a
line these means rise up to the peak and fall after it. There is no start: without rewards all
places weigh the same, and an arm without rewards may have any mean.

We have read the abstracts and the author's code (github.com/kw2934/MINTS), not the proofs. The code
for unimodal means has Gaussian rewards, a general optimiser, and weights of at least e⁻³⁰ of the
largest. Ours: every family, with pulls·kl(mean, ·) as the log-likelihood that is lost, which is
exact for Bernoulli, Gaussian, Poisson and exponential rewards (with a divergence of your own, means
are pooled as if it were an exponential family's); weights as small as they are; and all places by
pooling, in a time that grows with the number of arms.

How: the best rising means of arms are those of *pools* of neighbouring arms with the same mean, the
mean of their rewards (pool adjacent violators, Ayer et al. 1955). The pools of all beginnings of
the line share a chain, each pool linked to the one below it, and so do those of all ends. With its
peak at a place, the arm there joins the higher of the pools on its two sides, and again, until it
is as high as both: pools of a beginning that it joins would be joined by that arm in the next
beginning, too, so that all places together join each pool once.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import UnimodalError
from unimodal.families import Family, Scaled
from unimodal.families.family import divergence
from unimodal.graphs import Graph
from unimodal.kernels.cache_aligned import cache_aligned
from unimodal.kernels.compile import component, inner
from unimodal.kernels.random import uniform
from unimodal.kernels.read_only import read_only
from unimodal.policies.index import Budgeted, contest, refresh
from unimodal.policies.policy import Policy
from unimodal.policies.scope import EveryArm, Scope
from unimodal.policies.state import Arena, State


class MINTS(Policy):
    """Minimalist Thompson sampling on a line: it draws the place of the peak (Wang 2025, 2026).

    A place is drawn with a probability proportional to the likelihood of all rewards under the best
    means with their peak there: those that rise up to it and fall after it. That arm is pulled.
    Nothing but the place has a prior, and that is uniform; there is no start and no parameter.

    Of what the rewards speak against a place, Σ N·kl(mean, fitted mean) is what counts, where N is
    the pulls of an arm: the logarithm of the likelihood that is lost, exactly so for Bernoulli,
    Gaussian, Poisson and exponential rewards. Wang (2026) claims for unimodal means that only the
    neighbours of the peak count in the long run, with the best constant; of that we know the
    abstract and the author's code, which has Gaussian rewards. It plays on lines only, and a round
    takes a time that grows with the number of arms.

    Parameters
    ----------
    name
        What results call it; its class and parameters by default.

    Examples
    --------
    With two rewards of 0 from arm 1 and two of 1 from arm 2, the peak is at 2 or, as likely, at 3;
    for 0 and 1 the best means are 1/2 and 1/2, and lose a factor of 16.

    >>> import unimodal as um
    >>> agent = um.Agent(MINTS(), um.graphs.line(4), seed=1)
    >>> agent.tell([1, 1, 2, 2], [0, 0, 1, 1])
    >>> decision = agent.decide(propensity=True)
    >>> decision.arm, round(decision.propensity, 4)  # 16/34
    (2, 0.4706)
    """

    summary = "draws the peak's place by its profile likelihood, and pulls it; on lines"
    citation = "Wang 2025 (arXiv 2509.07030), 2026 (arXiv 2606.01655)"

    start: ClassVar[str] = "literal"

    def scope(self, graph: Graph | None) -> Scope:
        """Every arm, in the order of the line."""
        if graph is not None and along(graph) is None:
            raise UnimodalError(
                f"MINTS needs the arms of a line, such as um.graphs.line(20), got {graph!r}: use "
                "UTS or ScoutUTS, which play on any graph."
            )
        return AlongLine()

    def index(self) -> object:
        """The profile likelihood."""
        return ProfileLikelihood()

    def index_for(self, family: Family) -> object:
        """The same; arms can be pooled where their rewards are worth the same."""
        if isinstance(family, Scaled) and math.isnan(family.factor):
            raise UnimodalError(
                f"MINTS pools the rewards of arms, which must all be worth the same, got "
                f"{family!r}: use UTS or ScoutUTS, which take factors of each arm."
            )
        return self.index()

    def equip(self, state: State, family: Family, unpulled: float) -> State:
        """With room for the pools of a round."""
        return state._replace(scratch=new_pools(len(state.arms)))


# What the best rising or falling means of some arms end with: arms with one mean. A place's weight
# stands beside the pool of the same number.
POOL = np.dtype(
    [
        ("below", np.int64),  # the pool that comes before it
        ("pulls", np.float64),  # 0: there is none
        ("total", np.float64),
        ("fitted", np.float64),  # total/pulls
        ("loss", np.float64),  # of this pool and all below it
        ("weight", np.float64),
    ],
    align=True,
)


def new_pools(n_arms: int) -> Any:
    """Room for the pools of all beginnings and all ends of a line, with an empty one for each."""
    return cache_aligned(np.zeros(2 * (n_arms + 1), dtype=POOL))


def along(graph: Graph) -> NDArray[np.int32] | None:
    """The arms of a line from one end to the other; None if the graph is none.

    Arms without neighbours come last: they are paused.

    >>> from unimodal import graphs
    >>> along(graphs.from_edges([("a", "c"), ("c", "b")])).tolist()
    [0, 1, 2]
    >>> along(graphs.star(4)) is None
    True
    """
    degrees = graph.degrees
    joined, ends = int((degrees > 0).sum()), np.flatnonzero(degrees == 1)
    order: list[int] = []
    if joined:
        if len(ends) != 2 or graph.max_degree > 2:
            return None
        rows, near = graph.rows.tolist(), graph.near_rows.tolist()
        arm, before = int(ends[0]), -1
        while arm >= 0:
            order.append(arm)
            onward = (other for other in near[rows[arm] : rows[arm + 1]] if other != arm)
            arm, before = next((other for other in onward if other != before), -1), arm
        if len(order) < joined:
            return None
    left_out = np.flatnonzero(degrees == 0)
    return np.concatenate([np.array(order, np.int32), left_out.astype(np.int32)])


@component
class AlongLine(EveryArm):
    """All arms compete in every round, in the order of a line; nobody leads."""

    def arena(self, graph: Graph) -> Arena:
        """One row with every arm in it, from one end of the line to the other."""
        return super().arena(graph)._replace(near=read_only(along(graph)))


@component
class ProfileLikelihood(Budgeted):
    """How well all rewards can be explained with the peak at an arm; places are drawn by it."""


@refresh.register(ProfileLikelihood)
def _nothing(index, family, arms, arm):
    pass


@inner
def _joined(family, pulls, total, pool):
    """What a pool and some more rewards are together, and the log-likelihood that it costs."""
    mean = (total + pool.total) / (pulls + pool.pulls)
    # For exponential families Σ N·kl(mean, z) splits at the mean of each pool (Pythagoras).
    cost = pulls * divergence(family, total / pulls, mean)
    cost += pool.pulls * divergence(family, pool.fitted, mean)
    return pulls + pool.pulls, total + pool.total, cost


@inner
def _add(family, arm, pools, before, into):
    """Write the last pool of a beginning (or end) that an arm makes longer by one."""
    last, made = pools[before], pools[into]
    if arm.pulls <= 0:  # any mean does
        made.below, made.pulls, made.total = last.below, last.pulls, last.total
        made.fitted, made.loss = last.fitted, last.loss
        return
    pulls, total, loss, below = float(arm.pulls), arm.total, last.loss, before
    while pools[below].pulls > 0 and pools[below].fitted > total / pulls:
        pulls, total, cost = _joined(family, pulls, total, pools[below])
        loss += cost
        below = pools[below].below
    made.below, made.pulls, made.total = below, pulls, total
    made.fitted, made.loss = total / pulls, loss


@inner
def _loss_at(family, arm, pools, left, right):
    """The log-likelihood that is lost with the peak at an arm, between its two sides."""
    loss = pools[left].loss + pools[right].loss
    if arm.pulls <= 0:
        return loss
    pulls, total = float(arm.pulls), arm.total
    while True:
        on_left = pools[left].fitted if pools[left].pulls > 0 else -math.inf
        on_right = pools[right].fitted if pools[right].pulls > 0 else -math.inf
        if total / pulls >= max(on_left, on_right):
            return loss
        if on_left >= on_right:
            pulls, total, cost = _joined(family, pulls, total, pools[left])
            left = pools[left].below
        else:
            pulls, total, cost = _joined(family, pulls, total, pools[right])
            right = pools[right].below
        loss += cost


@inner
def weigh_places(family, arms, near, pools):
    """Write the weight of each place into `pools`, the largest being 1.

    Returns their sum, and the log-likelihood that the best place loses.
    """
    n, least = len(near), math.inf
    pools[0].pulls = pools[0].loss = 0.0
    pools[2 * n + 1].pulls = pools[2 * n + 1].loss = 0.0
    for place in range(n - 1):  # pools[i] is about the i arms before place i
        _add(family, arms[near[place]], pools, place, place + 1)
    for place in range(n - 1, 0, -1):  # pools[n + 1 + i] about those from place i on
        _add(family, arms[near[place]], pools, n + 2 + place, n + 1 + place)
    for place in range(n):
        loss = _loss_at(family, arms[near[place]], pools, place, n + 2 + place)
        pools[place].weight = loss
        least = min(least, loss)
    whole = 0.0
    for place in range(n):
        loss = pools[place].weight
        pools[place].weight = 1.0 if loss <= least else math.exp(least - loss)
        whole += pools[place].weight
    return whole, least


@contest.register(ProfileLikelihood)
def _draw_place(index, family, state, near, leader, clock):
    pools = state.scratch
    left, chosen = weigh_places(family, state.arms, near, pools)[0], near[0]
    left *= uniform(state.rng)
    for place in range(len(near)):
        if pools[place].weight > 0.0:
            chosen = near[place]
        left -= pools[place].weight
        if left < 0.0:
            break
    return chosen


def place_probabilities(family: Any, arms: Any, near: Any) -> NDArray[np.float64]:
    """How likely each of `near`, the arms of a line in order, is drawn; `family` is a record."""
    pools = new_pools(len(near)).view(np.recarray)
    whole, _ = weigh_places(family, arms.view(np.recarray), near, pools)
    weights: NDArray[np.float64] = pools["weight"][: len(near)] / whole
    return weights
