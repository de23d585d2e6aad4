"""Reward families: how a reward is drawn, how far apart two means are, what is believed."""

from unimodal.families.base import Family
from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson

__all__ = ["FAMILIES", "Bernoulli", "Bounded", "Exponential", "Family", "Gaussian", "Poisson"]

# A registry is a dict: the name on the command line and in saved files, and the class.
FAMILIES: dict[str, type[Family]] = {
    cls.__name__.lower(): cls for cls in (Bernoulli, Gaussian, Poisson, Exponential, Bounded)
}
