"""Histories as data: what they are about, and steps, each of which is some calls made at once.

A history is made from a seed, and can be written as JSON and run again, whole or in part: each step
has a seed of its own, by which turns are handed on while its calls go on, and its faults. What a
call is about (which decision, which arm) is a number between 0 and 1, by which one is chosen from
those that there are when the call begins.
"""

from __future__ import annotations

import random
from typing import Any

from unimodal.testing.simulation.watched import BEGIN_FAULTS, COMMIT_FAULTS

Step = dict[str, Any]
History = dict[str, Any]

# What clients call, and how often in comparison.
CALLS = {
    **{"decide": 8, "decide once": 8, "reward": 10, "tell": 2, "expire": 1, "look": 2},
    **{"pause": 1, "resume": 1, "cap": 1, "retire": 1, "insert": 1, "add_edges": 1},
    **{"close": 2, "history": 0.3},
}
# What others do meanwhile. Not every history has everything, so that there is enough of the rest.
THEMES: dict[str, dict[str, float]] = {
    "clients": {"clock": 2.0, "compare": 1.0},
    "fail-over": {"set back": 5, "restore": 2, "backup": 2, "cut": 1, "verify": 3, "clock": 1},
    "upkeep": {"compact": 3, "erase": 2, "copy": 0.3, "verify": 0.3, "clock": 2, "compare": 0.5},
    "all": {
        **{"clock": 2, "compact": 2, "erase": 1, "copy": 0.3, "backup": 1, "verify": 0.3},
        **{"compare": 1, "set back": 3, "cut": 1, "restore": 1},
    },
}
MEMORY_ONLY = frozenset({"set back", "cut"})  # what cannot be done to a real store at will


def new_history(seed: int, steps: int = 14, without: frozenset[str] = frozenset()) -> History:
    """The history of a seed.

    >>> history = new_history(3)
    >>> history == new_history(3), len(history["steps"])
    (True, 14)
    """
    rng = random.Random(seed)
    theme = rng.choice(list(THEMES))
    about = {
        "seed": seed,
        "theme": theme,
        "policy": rng.choice(["UTS()", "PeakUTS()"]),
        "arms": rng.randint(3, 6),
        "time_to_live": rng.choice([None, 500.0, 500.0]),
        "on_expiry": rng.choice(["drop", "zero"]),
        "key_lifetime": rng.choice([2_000.0, 86_400.0]),
        "clients": rng.choice([1, 2, 2, 3]),
        "snapshot_every": rng.choice([8, 12, 20]),
        "rewards_at_once": rng.choice([3, 7, 1000]),
        "alone_after": rng.choice([0, 2, 20]),
        "eagerness": rng.choice([0.1, 0.3, 0.6]),
    }
    calls = {name: often for name, often in CALLS.items() if rng.random() < 0.7}
    calls["decide"] = calls["reward"] = 10.0
    if theme == "upkeep":
        # Closing leaves a snapshot, up to which events can be moved; keys are to survive that.
        calls["close"], calls["decide once"] = 3.0, 10.0
    if theme == "fail-over":
        calls.pop("close", None)  # which ends the snapshot that is written beside the calls
        about["snapshot_every"] = 8
    kinds = {name: often for name, often in THEMES[theme].items() if name not in without}
    frequent = rng.choice([0.0, 0.05, 0.2])  # faults of calls
    around = 0.05 if theme == "clients" else rng.choice([0.1, 0.3])  # what others do
    made = [_step(rng, about, calls, kinds, frequent, around) for _ in range(steps)]
    return {**about, "steps": made}


def _step(
    rng: random.Random,
    about: History,
    calls: dict[str, float],
    kinds: dict[str, float],
    frequent: float,
    around: float,
) -> Step:
    """A step: some calls at once, by clients or by one of them; or the same one several times."""
    many, among = rng.choice([1, 1, 1, 2, 2, 3, 4]), range(about["clients"])
    if rng.random() < 0.4:
        among = range(first := rng.randrange(about["clients"]), first + 1)
    made: list[Step] = []
    for _ in range(many):
        if kinds and rng.random() < around:
            made.append(_operation(rng, _one(kinds, rng)))
        else:
            call = {"client": rng.choice(among), **_call(rng, _one(calls, rng))}
            may_repeat = call.get("key") is not None or call["do"] == "reward"
            again = 1 + (may_repeat and rng.random() < 0.3) * rng.randint(1, 2)
            made += [{**call, "client": rng.choice(among)} for _ in range(again)]
    faults = []
    if rng.random() < frequent * many:
        at = rng.choice(["begin", "commit", "commit", "commit"])
        what = rng.choice(BEGIN_FAULTS if at == "begin" else COMMIT_FAULTS)
        faults.append({"at": at, "nth": rng.randint(1, 3), "what": what})
    # How often work beside the calls goes on: so it lasts for some steps, and then is done.
    background = rng.choice([0.01, 0.01, 0.1, 0.6])
    return {
        **{"seed": rng.randrange(2**32), "background": background},
        **{"calls": made, "faults": faults},
    }


def _one(choices: dict[str, float], rng: random.Random) -> str:
    return rng.choices(list(choices), list(choices.values()))[0]


def _call(rng: random.Random, name: str) -> Step:
    if name in ("decide", "decide once"):
        many = rng.choice([None, None, 1, 2, 5])
        call = {"do": "decide", "n": many, "propensity": rng.random() < 0.2, "key": None}
        if name == "decide once":
            call["key"] = f"key {rng.randrange(4)}"
            call["n"] = rng.choice([None, 2])
        return call
    if name == "reward":
        which = rng.choice(["open", "open", "open", "open", "rewarded", "conflict", "unknown"])
        picks = [rng.random() for _ in range(rng.choice([1, 1, 1, 2, 4]))]
        return {"do": "reward", "which": which, "picks": picks, "name": rng.randrange(2**32)}
    if name == "cap":
        share = rng.choice([None, 0.3, 0.5])
        return {"do": "cap", "share": share, "over": rng.choice([4, 10])}
    return {"do": name, "pick": rng.random()}


def _operation(rng: random.Random, name: str) -> Step:
    if name == "clock":
        some = [1.0, 60.0, 300.0, 480.0, 600.0, 1_950.0, 3_000.0, 50_000.0]
        return {"do": "clock", "seconds": rng.choice(some)}
    if name == "set back":
        return {"do": "set back", "commits": rng.choice([1, 1, 2, 4, 8, 12, 20])}
    return {"do": name, "pick": rng.random()}
