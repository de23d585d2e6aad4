"""Where rewards come from: drawn as they are needed, or read from a table fixed in advance."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unimodal.families.family import draw, learn, top
from unimodal.families.leaping import gather
from unimodal.kernels.compile import generic, inner
from unimodal.kernels.random import randint
from unimodal.policies.state import ROUND


class Drawn(NamedTuple):
    """Rewards drawn from the problem's means."""

    means: Any
    rng: Any


class Changing(NamedTuple):
    """Rewards drawn from means that change: row n holds from round `begins[n]` on."""

    begins: Any
    means: Any
    rng: Any


class Replayed(NamedTuple):
    """Round t of an arm pays `table[t - 1, arm]`: recorded rewards, in order."""

    table: Any


class Resampled(NamedTuple):
    """Each round draws a row of recorded rewards."""

    table: Any
    rng: Any


class Tabled(NamedTuple):
    """Reward n of an arm is `table[arm, n]`: to hold two engines to the same rewards."""

    table: Any


Drawn.component = Drawn  # type: ignore[attr-defined]
Changing.component = Changing  # type: ignore[attr-defined]
Replayed.component = Replayed  # type: ignore[attr-defined]
Resampled.component = Resampled  # type: ignore[attr-defined]
Tabled.component = Tabled  # type: ignore[attr-defined]


@generic
def next_reward(rewards, family, state, arm):
    """The reward of an arm in this round."""


@generic
def pull_often(rewards, family, arms, arm, pulls, loss_margin, coins):
    """`gather` from these rewards."""


@next_reward.register(Drawn)
def _draw(rewards, family, state, arm):
    return draw(family, rewards.means[arm], rewards.rng)


@next_reward.register(Changing)
def _draw_of_now(rewards, family, state, arm):
    row = piece(rewards.begins, state.notes[ROUND])
    return draw(family, rewards.means[row, arm], rewards.rng)


@next_reward.register(Replayed)
def _replay(rewards, family, state, arm):
    return rewards.table[state.notes[ROUND] - 1, arm]


@next_reward.register(Resampled)
def _resample(rewards, family, state, arm):
    return rewards.table[randint(rewards.rng, len(rewards.table)), arm]


@inner
def piece(begins, now):
    """The number of the piece that a round belongs to."""
    return np.searchsorted(begins, now, side="right") - 1


@pull_often.register(Drawn)
def _gather(rewards, family, arms, arm, pulls, loss_margin, coins):
    return gather(family, arms, arm, rewards.means[arm], pulls, loss_margin, rewards.rng, coins)


@next_reward.register(Tabled)
def _read(rewards, family, state, arm):
    return rewards.table[arm, state.arms[arm].pulls]


@pull_often.register(Tabled)
def _read_often(rewards, family, arms, arm, pulls, loss_margin, coins):
    for done in range(pulls):
        reward = rewards.table[arm, arms[arm].pulls]
        learn(family, arms, arm, reward, coins)
        loss_margin -= reward < top(family)  # whatever is not the best may be as bad as the worst
        if loss_margin < 0:
            return done + 1, False
    return pulls, True
