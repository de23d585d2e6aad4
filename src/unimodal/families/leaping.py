"""What the leap engine asks of a family: many rewards at once, and the tails of a posterior.

An incumbent is pulled many times in a row; `gather` draws those rewards, and `worst` and `attempt`
bound what they can do. A rival waits until its Thompson draw passes a level; `hat` and `under_hat`
say when that is. Nothing there inverts or integrates a distribution. Beyond a level on the far side
of its mode, a log-concave density f lies under the exponential that touches it at the level: its
*hat*. A draw passes the level with probability ∫f; equivalently, with the hat's mass it becomes a
candidate, which falls under the hat and is kept with probability f/hat. So a hat gives exact waits
and exact draws from two numbers, the density at the level and the slope of its logarithm.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math

from unimodal.families.family import Family, draw, learn
from unimodal.kernels.compile import generic

# (mass, rate) where the level is on the near side of the mode, or the density not log-concave
NO_HAT = (math.inf, 0.0)


@generic
def worst(family):
    """The lowest reward there is."""


@generic
def attempt(family, arm, loss_margin):
    """How many pulls of an arm to try for where `loss_margin` worst rewards do no harm."""


@generic
def gather(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    """Pull an arm and learn, at most `pulls` times and no further than one worst reward too many.

    Returns how often it was pulled, and whether no more worst rewards than bearable may have come.
    Callers ask for no more pulls than `attempt` says.
    """


@generic
def hat(family, arm, worse, level, above):
    """(mass, rate) of the hat over the posterior above or below a level, `worse` worst rewards on.

    Below, for a level under the posterior's mean, more worst rewards never make the mass smaller,
    and better ones never larger.
    """


@generic
def under_hat(family, arm, level, rate, above, rng):
    """A candidate under the hat: a draw beyond the level, or NaN if it is not kept."""


@generic
def beta_belief(family, arm):
    """The a and b of the Beta that a posterior draw is made of; (0, 0) where it is of another."""


@generic
def from_beta(family, arm, share):
    """The posterior draw that is made of this draw of the Beta."""


@beta_belief.register(Family)
def _no_beta(family, arm):
    return 0.0, 0.0


@from_beta.register(Family)
def _as_it_is(family, arm, share):
    return share


@generic
def outlook(family, arm):
    """About where the posterior lies and how wide it is: to choose levels by, nothing else."""


@generic
def is_sure(family, arm):
    """Whether every draw is the top of the range: a Beta without failures, in its prior either."""


@is_sure.register(Family)
def _never(family, arm):
    return False


@attempt.register(Family)
def _even_if_all_are_worst(family, arm, loss_margin):
    return loss_margin + 1.0


@gather.register(Family)
def one_by_one(family, arms, arm, mean, pulls, loss_margin, rng, coins):
    """`gather` for any family: its sums are those of single draws."""
    for _ in range(pulls):
        learn(family, arms, arm, draw(family, mean, rng), coins)
    return pulls, pulls <= loss_margin
