"""Reward families: how a reward is drawn, how far apart two means are, what is believed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unimodal.errors import UnimodalError, unknown_name
from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.family import Family
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Bounded",
    "Exponential",
    "Family",
    "Gaussian",
    "Poisson",
    "as_family",
    "from_data",
    "parse",
    "to_data",
]

# A registry is a dict: the name on the command line and in saved files, and the class.
FAMILIES: dict[str, type[Family]] = {
    cls.__name__.lower(): cls for cls in (Bernoulli, Gaussian, Poisson, Exponential, Bounded)
}


def as_family(family: Family | None, owner: str) -> Family:
    """The family itself, Bernoulli for None, or a sentence for anything else."""
    if family is not None and not isinstance(family, Family):
        raise UnimodalError(
            f"the 'family' of {owner} must be a family such as um.Bernoulli(), got {family!r}."
        )
    return Bernoulli() if family is None else family


def to_data(family: Family) -> dict[str, Any]:
    """A family as plain JSON data."""
    parameters = {field.name: getattr(family, field.name) for field in fields(family)}
    if callable(parameters.get("draw")):
        parameters["draw"] = "your own function"
    return {"family": family.name, **parameters}


def from_data(data: dict[str, Any]) -> Family:
    """The family that `to_data` described."""
    parameters = dict(data)
    name = parameters.pop("family")
    if name not in FAMILIES:
        raise unknown_name("family", name, FAMILIES)
    if parameters.get("draw") == "your own function":
        raise UnimodalError(
            "the file was made with a draw of your own, which is not saved: "
            "make the problem again with it."
        )
    return FAMILIES[name](**parameters)


def parse(text: str) -> Family:
    """A family from its form on the command line: a name, then its numbers.

    >>> parse("gaussian:0.5")
    Gaussian(sigma=0.5)
    """
    name, *numbers = str(text).lower().split(":")
    if name not in FAMILIES:
        raise unknown_name("family", name, FAMILIES)
    known = [field.name for field in fields(FAMILIES[name]) if field.type == "float"]
    try:
        given = [float(number) for number in numbers]
    except ValueError:
        given = None
    if given is None or len(given) > len(known):
        raise UnimodalError(f"this family is written {':'.join([name, *known])}, got '{text}'.")
    return FAMILIES[name](**dict(zip(known, given, strict=False)))
