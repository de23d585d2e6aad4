"""Where rewards come from: drawn as they are needed, or read from a table fixed in advance."""

from __future__ import annotations

from typing import Any, NamedTuple

from unimodal.families.base import draw, learn, top
from unimodal.families.bulk import gather
from unimodal.kernels.compile import generic


class Drawn(NamedTuple):
    """Rewards drawn from the problem's means."""

    means: Any
    rng: Any


class Tabled(NamedTuple):
    """Reward n of an arm is `table[arm, n]`: to hold two engines to the same rewards."""

    table: Any


Drawn.component = Drawn  # type: ignore[attr-defined]
Tabled.component = Tabled  # type: ignore[attr-defined]


@generic
def next_reward(rewards, family, arms, arm):
    """The next reward of an arm."""


@generic
def pull_often(rewards, family, arms, arm, pulls, bearable, coins):
    """`gather` from these rewards."""


@next_reward.register(Drawn)
def _draw(rewards, family, arms, arm):
    return draw(family, rewards.means[arm], rewards.rng)


@pull_often.register(Drawn)
def _gather(rewards, family, arms, arm, pulls, bearable, coins):
    return gather(family, arms, arm, rewards.means[arm], pulls, bearable, rewards.rng, coins)


@next_reward.register(Tabled)
def _read(rewards, family, arms, arm):
    return rewards.table[arm, arms[arm].pulls]


@pull_often.register(Tabled)
def _read_often(rewards, family, arms, arm, pulls, bearable, coins):
    for done in range(pulls):
        reward = rewards.table[arm, arms[arm].pulls]
        learn(family, arms, arm, reward, coins)
        bearable -= reward < top(family)  # whatever is not the best may be as bad as the worst
        if bearable < 0:
            return done + 1, False
    return pulls, True
