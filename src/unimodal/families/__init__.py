"""Reward families: how a reward is drawn, how far apart two means are, what is believed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unimodal.errors import UnimodalError, unknown_name
from unimodal.families import factors, scaled_kernels  # noqa: F401 - registers its functions
from unimodal.families.bernoulli import Bernoulli
from unimodal.families.bounded import Bounded
from unimodal.families.exponential import Exponential
from unimodal.families.family import Family
from unimodal.families.gaussian import Gaussian
from unimodal.families.poisson import Poisson
from unimodal.families.scaled import Scaled

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Bounded",
    "Exponential",
    "Family",
    "Gaussian",
    "Poisson",
    "Scaled",
    "as_family",
    "from_data",
    "parse",
    "to_data",
]

# A registry is a dict: the name on the command line and in saved files, and the class. To add a
# family: its file, and its line here.
FAMILIES: dict[str, type[Family]] = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "poisson": Poisson,
    "exponential": Exponential,
    "bounded": Bounded,
}


def as_family(family: Family | None, owner: str) -> Family:
    """The family itself, Bernoulli for None, or a sentence for anything else.

    Parameters
    ----------
    family
        A family, or None.
    owner
        Who asks, for the sentence.

    Returns
    -------
    Family
        The family.

    Raises
    ------
    UnimodalError
        If it is something else.

    Examples
    --------
    >>> as_family(None, "Agent")
    Bernoulli()
    """
    if family is not None and not isinstance(family, Family):
        raise UnimodalError(
            f"the 'family' of {owner} must be a family such as um.Bernoulli(), got {family!r}."
        )
    return Bernoulli() if family is None else family


def to_data(family: Family) -> dict[str, Any]:
    """A family as plain JSON data; of a user's own, only its name and parameters.

    Parameters
    ----------
    family
        A family.

    Returns
    -------
    dict[str, Any]
        A dict for JSON.

    Examples
    --------
    >>> to_data(Gaussian(sigma=2.0))
    {'family': 'gaussian', 'sigma': 2.0}
    """
    if isinstance(family, Scaled):
        by = factors.to_data(family.by)
        return {"family": family.name, "inner": to_data(family.inner), "by": by}
    parameters = {field.name: getattr(family, field.name) for field in fields(family)}
    if callable(parameters.get("draw")):
        parameters["draw"] = "your own function"
    own = {"own": type(family).__name__} if hasattr(family, "_own_methods") else {}
    return {"family": family.name, **own, **parameters}


def from_data(data: dict[str, Any], given: Family | None = None) -> Family:
    """The family that `to_data` described.

    A family of a user's own is the `given` one if that is the same; otherwise it is made from its
    class, which must have been defined in this process.

    Parameters
    ----------
    data
        What `to_data` returned.
    given
        The family that was passed again, if it is one of your own.

    Returns
    -------
    Family
        The family.

    Examples
    --------
    >>> from_data(to_data(Gaussian(sigma=2.0)))
    Gaussian(sigma=2.0)
    """
    if given is not None and to_data(given) == data:
        return given
    if data["family"] == "scaled":
        return Scaled(from_data(data["inner"]), factors.from_data(data["by"]))
    parameters = dict(data)
    name, own = parameters.pop("family"), parameters.pop("own", None)
    if own is not None:
        return _own_class(own, set(parameters))(**parameters)
    if name not in FAMILIES:
        raise unknown_name("family", name, FAMILIES)
    if parameters.get("draw") == "your own function":
        raise UnimodalError(
            "the file was made with a draw of your own, which is not saved: "
            "make the problem again with it."
        )
    return FAMILIES[name](**parameters)


def _own_class(name: object, parameters: set[str]) -> type[Family]:
    """The family of a user's own that was defined last with this name and these parameters."""
    found, classes = None, Family.__subclasses__()
    while classes:
        cls = classes.pop(0)
        classes += cls.__subclasses__()
        if cls.__name__ == name and {field.name for field in fields(cls)} == parameters:
            found = cls if "_own_methods" in cls.__dict__ else found
    if found is None:
        raise UnimodalError(
            f"the file was made with a family of your own, {name!s:.60}: define or import it "
            "first, since only its name and parameters are saved, not its code."
        )
    return found


def parse(text: str) -> Family:
    """A family from its form on the command line: a name, then its numbers.

    Parameters
    ----------
    text
        As in "poisson" or "gaussian:0.5".

    Returns
    -------
    Family
        The family.

    Raises
    ------
    UnimodalError
        If there is no such family; the closest name is given.

    Examples
    --------
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
