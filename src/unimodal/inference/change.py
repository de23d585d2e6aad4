"""Have the rewards of an arm changed? The test of `policies.Restarting`, at every scale.

Of any 2h rewards of an arm in a row, with means x and y of their halves and z of all of them,
h·(kl(x, z) + kl(y, z)) is large if the halves differ. If all have the mean μ, replacing z by μ
cannot make the sum smaller. By Chernoff's bound h·kl(x, μ) > b has probability at most 2·exp(-b),
so h·kl(x, μ) lies stochastically below log 2 + E with E exponential; so does that of y, and the
halves are independent. So the sum exceeds 2·log 2 + c with probability at most (1 + c)·exp(-c),
the tail of the sum of two exponentials. (`Restarting` takes the larger of the two instead.)

Halves of h = 16, 32, 64, … are compared, each scale at every quarter of its half. The m-th test of
the j-th scale (both from 0) of one of K arms gets its share of what may go wrong:
δ/K·1/((j+1)(j+2))·1/((m+1)(m+2)). These add up to δ, so that with probability at least 1 - δ no
test of any arm ever alarms while nothing changes: whoever chose the pulls, and however often one
looks.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import itertools
import math
from array import array
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.families import Family
from unimodal.families.family import divergence
from unimodal.kernels.compile import jit, record

SHORTEST = 16  # rewards in a half
_EVERY = SHORTEST // 4  # rewards between two ends of windows
_AT_ONCE = 64  # windows, of which the last that alarms is looked for
_ROUNDING = 1e-9  # of thresholds, by which one may be above the next


class ChangeFound(NamedTuple):
    """A window whose halves differ: their means, and where the newer one begins."""

    begins: int  # the number of its first reward, from 0
    before: float
    after: float
    half: int


def find_change(
    family: Family, rewards: Any, confidence: float, n_arms: int = 1
) -> ChangeFound | None:
    """The last change of an arm's rewards that shows, or None.

    The rewards are in the order of their decisions. Of the windows that overlap with the last one
    that alarms, the one that exceeds its threshold by most is told: to a quarter of its half.

    >>> from unimodal import Bernoulli
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50, confidence=0.99)
    >>> find_change(Bernoulli(), [0, 1, 0, 0] * 50 + [1, 1, 0, 1] * 50, confidence=0.99).begins
    192
    """
    test = ChangeTest(family)
    test.take(np.asarray(rewards, dtype=np.float64))
    return test.found(confidence, n_arms)


class ChangeTest:
    """The test of one arm, which goes on with the rewards that come: the same numbers.

    Windows begin and end at multiples of four rewards, so sums are kept after every fourth; and of
    each window what it shows, for whatever confidence is asked: six bytes per reward.
    """

    def __init__(self, family: Family) -> None:
        family.require(divergence)
        self._family = record(family)
        self.taken = 0  # rewards
        self._sum = 0.0  # of all of them
        self._sums = array("d", [0.0])  # of the first 0, 4, 8, …
        self._shown: list[array[float]] = []  # of the windows of each scale

    def take(self, rewards: NDArray[np.float64]) -> None:
        """Go on with rewards that follow those before."""
        if not len(rewards):
            return
        sums = np.cumsum(np.concatenate([[self._sum], rewards]))
        self._sums.frombytes(sums[_EVERY - self.taken % _EVERY :: _EVERY].tobytes())
        self.taken, self._sum = self.taken + len(rewards), float(sums[-1])
        half = SHORTEST << len(self._shown)
        while 2 * half <= self.taken:
            self._shown.append(array("d"))
            half *= 2
        for scale, shown in enumerate(self._shown):
            self._test(SHORTEST << scale, shown)

    def _test(self, half: int, shown: array[float]) -> None:
        """Test the windows of one scale that are complete by now."""
        step, known = half // 4, len(shown)
        out = np.empty((self.taken - 2 * half) // step + 1 - known)
        if len(out):
            first = known * step // _EVERY  # where the first of the new windows begins
            statistics(self._family, np.array(self._sums[first:]), _EVERY, half, step, out)
            shown.frombytes(out.tobytes())

    def found(self, confidence: float, n_arms: int = 1) -> ChangeFound | None:
        """The last change that shows, as `find_change` tells it."""
        asked = [
            _Scale(scale, np.array(shown), confidence, n_arms)
            for scale, shown in enumerate(self._shown)
        ]
        ends = [(end, one.half) for one in asked if (end := one.last_end()) is not None]
        if not ends:
            return None
        last, size = max(ends, key=lambda window: window[0])
        windows = (one.most_after(last - 2 * size) for one in asked)
        _, end, half = max(window for window in windows if window is not None)
        begins = end - half
        before, after = (
            self._sums[(begins + h) // _EVERY] - self._sums[(begins + h - half) // _EVERY]
            for h in (0, half)
        )
        return ChangeFound(begins, before / half, after / half, half)


class _Scale:
    """The windows of one scale that may alarm, and those that do.

    Thresholds take long to compute, and grow with the number of the test: so that of a number
    below screens the others.
    """

    def __init__(self, scale: int, shown: Any, confidence: float, n_arms: int) -> None:
        self.half = SHORTEST << scale
        self._asked = (confidence, n_arms)
        self._scale, self._shown = scale, shown
        ends = [0, *(2**k for k in range(len(shown).bit_length())), len(shown)]
        blocks = [(a, min(b, len(shown))) for a, b in itertools.pairwise(ends)]
        least = threshold(scale, np.array([begin for begin, _ in blocks]), *self._asked)
        near = [
            begin + np.flatnonzero(shown[begin:end] > (1.0 - _ROUNDING) * limit)
            for (begin, end), limit in zip(blocks, least, strict=True)
        ]
        self._near = np.concatenate(near)

    def _over(self, numbers: Any) -> Any:
        """By how much windows exceed their thresholds."""
        return self._shown[numbers] - threshold(self._scale, numbers, *self._asked)

    def _end(self, number: int) -> int:
        return 2 * self.half + number * (self.half // 4)

    def last_end(self) -> int | None:
        """Where the last window ends that alarms."""
        for end in range(len(self._near), 0, -_AT_ONCE):
            some = self._near[max(end - _AT_ONCE, 0) : end]
            alarming = some[self._over(some) > 0]
            if len(alarming):
                return self._end(int(alarming[-1]))
        return None

    def most_after(self, begin: int) -> tuple[float, int, int] | None:
        """Of the windows that end after a reward and alarm, the one that does so most."""
        some = self._near[2 * self.half + self._near * (self.half // 4) > begin]
        over = self._over(some)
        alarming = [(float(over[k]), self._end(int(some[k])), self.half) for k in _above(over)]
        return max(alarming, default=None)


def _above(over: Any) -> Any:
    return np.flatnonzero(over > 0)


def threshold(scale: int, number: Any, confidence: float, n_arms: int) -> Any:
    """What a test of a scale, by its number, exceeds by chance with its share of 1 - confidence."""
    from scipy.special import gammainccinv

    shares = (scale + 1) * (scale + 2) * (number + 1.0) * (number + 2.0)
    chance = (1.0 - confidence) / (n_arms * shares)
    return 2.0 * math.log(2.0) + gammainccinv(2.0, chance)  # (1 + c)·exp(-c) = chance


@jit
def statistics(family, sums, every, half, step, out):  # type: ignore[no-untyped-def]
    """h·(kl(x, z) + kl(y, z)) of the windows that end at 2h, 2h + step, …, from sums of rewards.

    The sums are those of the first 0, `every`, 2·`every`, … rewards.
    """
    for number in range(len(out)):
        end = 2 * half + number * step
        last, middle, first = end // every, (end - half) // every, (end - 2 * half) // every
        newer = (sums[last] - sums[middle]) / half
        older = (sums[middle] - sums[first]) / half
        both = 0.5 * (newer + older)
        out[number] = half * (divergence(family, newer, both) + divergence(family, older, both))
