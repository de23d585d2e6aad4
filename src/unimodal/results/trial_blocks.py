"""Trials on an executor, in blocks that take a few seconds each: they are sent, not shared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

from unimodal.engines import runner
from unimodal.policies import Policy
from unimodal.results.trial_plan import Pieces, TrialPlan

_MOST_BYTES = 2**24  # of what a block sends back
_GROWTH = 4  # times a block that was timed: the first ones include compilation


class Block(NamedTuple):
    """Some trials of one policy: rows `first` to `last - 1` of its arrays."""

    policy: int
    first: int
    last: int


@dataclass(frozen=True)
class BlockPlayer:
    """Plays blocks of trials in whatever process it is called."""

    plan: TrialPlan
    policies: tuple[Policy, ...]
    numbers: range  # of the trials, by row

    def __call__(self, block: Block) -> tuple[dict[str, Any], float]:
        """Returns what the trials found, in arrays by name, and the seconds it took."""
        began = time.perf_counter()
        pieces, test = Pieces(), self.plan.stop_test()
        found = self.plan.empty(block.last - block.first)
        for row, number in enumerate(self.numbers[block.first : block.last]):
            self.plan.play(self.policies[block.policy], number, found, row, pieces, test)
        return found, time.perf_counter() - began


class Blocks:
    """All trials of some policies in blocks, whose size follows what earlier blocks took.

    Policies take turns. Near the end blocks get shorter, so that all workers end together.

    >>> blocks = Blocks(policies=1, trials=10, most=100, workers=lambda: 1)
    >>> made = iter(blocks)
    >>> next(made)
    Block(policy=0, first=0, last=1)
    >>> blocks.took(Block(0, 0, 1), seconds=1.0)
    >>> [(block.first, block.last) for block in made]
    [(1, 5), (5, 8), (8, 9), (9, 10)]
    """

    def __init__(self, policies: int, trials: int, most: int, workers: Callable[[], int]) -> None:
        self._sizes, self._trials, self._most = [1] * policies, trials, most
        self._workers = workers

    def __iter__(self) -> Iterator[Block]:
        begun = [0] * len(self._sizes)
        left = len(begun) * self._trials
        while left:
            for policy, first in enumerate(begun):
                if first == self._trials:
                    continue
                fair = -(-left // (2 * self._workers()))
                last = min(first + min(self._sizes[policy], self._most, fair), self._trials)
                begun[policy], left = last, left - (last - first)
                yield Block(policy, first, last)

    def took(self, block: Block, seconds: float) -> None:
        """Say how long a block took, so that later ones take `runner.TASK_SECONDS`."""
        trials, size = block.last - block.first, self._sizes[block.policy]
        fitting = int(runner.TASK_SECONDS * trials / max(seconds, 1e-9))
        self._sizes[block.policy] = max(1, min(fitting, max(size, _GROWTH * trials)))


def play_on(
    executor: Executor,
    plan: TrialPlan,
    arrays: list[dict[str, Any]],
    policies: list[Policy],
    numbers: range,
    tell: Callable[[int], object],
) -> None:
    """Play all trials on an executor and write them into the arrays of each policy.

    `tell` hears how many trials have been played.
    """
    most = max(1, _MOST_BYTES // plan.bytes_a_trial)
    blocks = Blocks(len(policies), len(numbers), most, lambda: runner.workers_of(executor))
    player, done = BlockPlayer(plan, tuple(policies), numbers), 0
    for block, (found, seconds) in runner.run(blocks, player, executor=executor):
        blocks.took(block, seconds)
        for name, values in found.items():
            arrays[block.policy][name][block.first : block.last] = values
        done += block.last - block.first
        tell(done)
