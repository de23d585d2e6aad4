"""Parts of one simulation, run by separate processes, put together: the bytes of one run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unimodal import policies
from unimodal.errors import UnimodalError
from unimodal.results.result import Result, Run


def merge(results: Iterable[Result]) -> Result:
    """Put the parts of one simulation together: the result is that of one run, to the byte.

    The parts have one problem, the same policies, seed, engine, checkpoints and rule for stopping,
    and were made by the same sources of this package, and of classes of your own. Their trials
    follow one another, whatever the order in which they are given; none is there twice.

    Parameters
    ----------
    results
        Results of `um.simulate(…, first_trial=…)`, or from their files.

    Returns
    -------
    Result
        A result with all trials. It can be extended, saved and merged like any other.

    Raises
    ------
    UnimodalError
        If the parts differ, overlap, or leave trials out.

    Examples
    --------
    >>> import unimodal as um
    >>> setting = {"problem": um.problems.triangular(5), "policies": um.UTS(), "horizon": 100}
    >>> late = um.simulate(**setting, first_trial=3, trials=2)
    >>> early = um.simulate(**setting, trials=3)
    >>> um.merge([late, early])
    Result(UTS: 5 trials of 100 rounds, seed 0)
    """
    if isinstance(results, Mapping | str) or not isinstance(results, Iterable):
        raise UnimodalError(f"merge needs a list of results, got {results!r}.")
    parts = list(results)
    for part in parts:
        if not isinstance(part, Result):
            raise UnimodalError(f"merge needs results of um.simulate, got {part!r}.")
    return merge_named([(_trials(part), part) for part in parts])


def merge_named(parts: Sequence[tuple[str, Result]]) -> Result:
    """The parts put together; errors call them by these names."""
    if not parts:
        raise UnimodalError("merge needs at least one result, got none.")
    ordered = sorted(parts, key=lambda part: part[1].first_trial)
    (name, first), *others = ordered
    about = _about(first)
    for other, result in others:
        _check_same(name, about, other, _about(result))
    if others and not first.law:
        raise UnimodalError(
            f"results are merged if the same sources made them, and {name} does not say which did: "
            "simulate it again with this version."
        )
    for (before, one), (after, two) in zip(ordered, others, strict=False):
        _check_next(before, one, after, two)
    runs: dict[str, Run] = {
        policy: first[policy].joined(*(result[policy] for _, result in others)) for policy in first
    }
    return replace(first, runs=runs)


def _about(result: Result) -> dict[str, Any]:
    """What parts must share, by the words for it in an error."""
    return {
        "problem": json.dumps(result.problem.to_data(), sort_keys=True),
        "policies": json.dumps([policies.to_data(policy) for policy in result.policies]),
        "seed": result.seed,
        "engine": result.engine,
        "checkpoints": result.rounds.tolist(),
        "rule for stopping": result.stop,
        "delay of rewards": result.lateness,
        "history": result.has_history,
        "sources of unimodal, Numba, NumPy or your own classes": result.law,
    }


_SHORT = ("seed", "engine", "rule for stopping", "history")  # whose values fit into a sentence


def _check_same(name: str, about: dict[str, Any], other: str, others: dict[str, Any]) -> None:
    """Refuse a part of another simulation."""
    for what, value in about.items():
        if others[what] != value:
            values = f" ({value!r} and {others[what]!r})" if what in _SHORT else ""
            raise UnimodalError(
                f"results are merged if they have the same {what}, but {name} and {other} differ "
                f"in it{values}: simulate one of them again like the other, or leave it out."
            )


def _check_next(before: str, one: Result, after: str, two: Result) -> None:
    """Refuse trials that are there twice, or missing between two parts."""
    end, begin = one.numbers.stop, two.numbers.start
    if begin < end:
        last = min(end, two.numbers.stop) - 1
        raise UnimodalError(
            f"each trial is merged once, but {before} and {after} both have the trials {begin} to "
            f"{last}: leave one of them out."
        )
    if begin > end:
        raise UnimodalError(
            f"trials that are merged follow one another, but those from {end} to {begin - 1} are "
            f"missing between {before} and {after}: simulate them with first_trial={end} and "
            f"trials={begin - end}."
        )


def _trials(result: Result) -> str:
    return f"the result of trials {result.numbers.start} to {result.numbers.stop - 1}"
