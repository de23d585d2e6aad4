"""Files as strangers may make them, by the thousand: real ones with a few things changed.

Run as a program: `python tests/fuzzing.py agents --cases 1000 --seed 0`. What is loaded is played
with for some rounds. Anything but an answer or a sentence is a fault, and is printed as JSON; with
NUMBA_BOUNDSCHECK=1 so is any step of compiled code out of an array. The case that is tried is
written down before, so that a crash leaves it behind.
"""

import argparse
import copy
import faulthandler
import json
import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl

import unimodal as um
from unimodal.agents.saving import in_state, whole_state

PATIENCE = 60  # seconds for a case: more is a hang
NUMBERS = [
    *(0, 1, -1, 2, 5, 255, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30),
    *(-(2**62), -(2**63), -(10**30), 10**15, 10**15 + 1, 10**400),
    *(0.5, -0.5, -0.0, 1.0, 1e15, 1e100, 1e308, -1e308, 1e-320, math.nan, math.inf, -math.inf),
]
OTHERS = ["", "x", "0", "1e999", "\x00\ud800", None, True, False, [], {}, [[]], [0], {"a": 0}]


def deep(levels=3000):
    """Nested so deep that a recursion over it does not end well."""
    made = []
    for _ in range(levels):
        made = [made]
    return made


def places(data, here=()):
    """Every place in data, the containers included."""
    yield here
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*here, key))
    elif isinstance(data, list):
        for number in range(len(data)):
            yield from places(data[number], (*here, number))


def changed(data, rng):
    """A copy with something changed, and what."""
    data = copy.deepcopy(data)
    *way, last = rng.choice([place for place in places(data) if place])
    inside = data
    for step in way:
        inside = inside[step]
    value = inside[last]
    kind = rng.choice(["number", "number", "near", "other", "drop", "twice", "shorter", "swap"])
    if kind == "near" and isinstance(value, int | float):
        inside[last] = rng.choice(
            [value + 1, value - 1, -value, 2 * value, float(value), value * 2**40]
        )
    elif kind == "other":
        inside[last] = rng.choice(OTHERS)
    elif kind == "drop":
        del inside[last]
    elif kind == "twice" and isinstance(inside, list):
        inside.insert(rng.randrange(len(inside) + 1), copy.deepcopy(value))
    elif kind == "shorter" and isinstance(value, list) and value:
        del value[rng.randrange(len(value)) :]
    elif kind == "swap":
        other = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside[last], inside[other] = inside[other], value
    else:
        kind, inside[last] = "number", rng.choice(NUMBERS)
    return data, f"{kind} at {'.'.join(map(str, (*way, last)))}"


def as_text(data, rng):
    """JSON, now and then with a few letters changed, cut off, or nested beyond measure."""
    text = json.dumps(data)
    luck = rng.random()
    if luck < 0.05:
        text = text[: rng.randrange(len(text))]
    elif luck < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice("0123456789-e.,[]{}\"'x") + text[at + 1 :]
    elif luck < 0.11:
        text = text.replace("[]", "[" * 100_000 + "]" * 100_000, 1)
    return text


def neighbours(arm):
    return [arm - 1, arm + 1]


def agents(which):
    """Agents that have played for a while, with some decisions waiting."""
    line, grid = um.graphs.line(5), um.graphs.grid(4, 4)
    names = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", ("d", 1))])
    made = {
        "npts": um.Agent(um.NPTS(), line, um.Bounded(0, 2), seed=1),
        "scout": um.Agent(um.ScoutUTS(), grid, seed=1),
        "look-up": um.Agent(um.ScoutUTS(), neighbours, root=0, seed=1),
    }
    if which == "all":
        made |= {
            "uts": um.Agent(um.UTS(), names, seed=1),
            "looks": um.Agent(um.PeakUTS(), neighbours, root=0, seed=1),
            "osub": um.Agent(um.OSUB(), line, um.Poisson(), seed=1),
            "window": um.Agent(um.Windowed(um.UTS(), 9), line, seed=1),
            "fading": um.Agent(um.Discounted(um.UTS(), 0.9), line, um.Bounded(-1, 1), seed=1),
            "restart": um.Agent(um.Restarting(um.TS(), 4), line, um.Gaussian(1.0), seed=1),
        }
    for agent in made.values():
        play(agent, 40)
    return made


def play(agent, rounds):
    """Some rounds in every form there is."""
    for number in range(rounds):
        agent.tell(agent.ask(), float(number % 2))
        decision = agent.decide()
        if number % 3:
            agent.reward(decision.id, 1.0)


class Agents:
    """`Agent.load`, from a file."""

    def __init__(self, which, folder):
        self.path, self.bases = folder / "agent.json", {}
        for name, agent in agents(which).items():
            self.bases[name] = json.loads(agent.save(self.path).read_text())

    def case(self, rng):
        name = rng.choice(list(self.bases))
        data, what = self.bases[name], [name]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            data, how = changed(data, rng)
            what.append(how)
        self.path.write_text(as_text(data, rng))
        return ", ".join(what)

    def load(self):
        agent = um.Agent.load(self.path, graph=neighbours)
        play(agent, 12)
        agent.save(self.path)


class Snapshots:
    """`in_state`, from what a campaign's file holds."""

    def __init__(self, which, folder):
        self.path, self.agents = folder / "snapshot.json", agents(which)
        self.bases = {
            name: json.loads(json.dumps(whole_state(agent))) for name, agent in self.agents.items()
        }

    def case(self, rng):
        self.name = rng.choice(list(self.bases))
        data, what = self.bases[self.name], [self.name]
        for _ in range(rng.choice([1, 1, 2])):
            data, how = changed(data, rng)
            what.append(how)
        self.path.write_text(as_text(data, rng))
        return ", ".join(what)

    def load(self):
        try:
            data = json.loads(self.path.read_text())
        except (ValueError, RecursionError):
            raise um.UnimodalError("no JSON") from None
        try:
            agent = in_state(self.agents[self.name], data)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise um.UnimodalError("refused, as a campaign would") from None
        play(agent, 12)


class Results:
    """`um.load`, from a file; what is loaded is summed up, and run again if asked to."""

    def __init__(self, which, folder):
        self.path, self.again = folder / "result.parquet", which == "all"
        problem = um.problems.triangular(5)
        policies = [um.UTS(), um.Restarting(um.UTS(), 10)] if self.again else um.UTS()
        made = um.simulate(problem, policies, horizon=60, trials=3, history=True, progress=False)
        made.save(self.path)
        self.bytes, self.frame = self.path.read_bytes(), pl.read_parquet(self.path)
        self.about = json.loads(pl.read_parquet_metadata(self.path)["unimodal"])

    def case(self, rng):
        kind = rng.choice(["about", "about", "frame", "bytes"])
        frame, about, what = self.frame, self.about, []
        if kind == "bytes":
            raw = bytearray(self.bytes)
            for _ in range(rng.choice([1, 1, 3])):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
            raw = raw if rng.random() < 0.8 else raw[: rng.randrange(len(raw))]
            self.path.write_bytes(raw)
            return kind
        if kind == "frame":
            frame, what = self.other_frame(rng)
        else:
            for _ in range(rng.choice([1, 1, 2])):
                about, how = changed(about, rng)
                what.append(how)
        frame.write_parquet(self.path, metadata={"unimodal": as_text(about, rng)})
        return f"{kind}: {what}"

    def other_frame(self, rng):
        column = rng.choice(self.frame.columns)
        rows = self.frame[column].to_list()
        kind = rng.choice(["drop", "text", "fewer", "more", "value", "value", "longer"])
        if kind == "drop":
            return self.frame.drop(column), [kind, column]
        if kind == "text":
            return self.frame.with_columns(pl.lit("x").alias(column)), [kind, column]
        if kind == "fewer":
            return self.frame[: rng.randrange(self.frame.height)], [kind]
        if kind == "more":
            return pl.concat([self.frame] * 2), [kind]
        at = rng.randrange(len(rows))
        nasty = [n for n in NUMBERS if isinstance(n, float) or -(2**31) <= n < 2**31]
        if kind == "longer" and isinstance(rows[at], list):
            rows = [[*row, row[0]] for row in rows]
            return self.frame.with_columns(pl.Series(column, rows)), [kind, column]
        if isinstance(rows[at], list):
            rows[at][rng.randrange(len(rows[at]))] = rng.choice([*nasty, 2**62, None])
        else:
            rows[at] = rng.choice([*nasty, 2**62, None])
        dtype = self.frame.schema[column]
        try:
            return self.frame.with_columns(pl.Series(column, rows, dtype, strict=False)), [column]
        except (pl.exceptions.PolarsError, TypeError, OverflowError):
            return self.frame.drop(column), ["drop", column]

    def load(self):
        result = um.load(self.path)
        result.summary()
        small = (
            result.horizon <= 1000 and result.n_trials <= 10 and result.problem.graph.n_arms < 99
        )
        if self.again and small:
            result.rerun(workers=1, progress=False)


LOADERS = {"agents": Agents, "snapshots": Snapshots, "results": Results}


def run(loader, cases, seed, which):
    """Try so many cases; how many were answered, and what else happened."""
    rng, counts, faults = random.Random(seed), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        tried = LOADERS[loader](which, Path(folder))
        for number in range(cases):
            what = tried.case(rng)
            print(json.dumps([number, what]), flush=True)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            try:
                tried.load()
                counts["loaded"] += 1
            except um.UnimodalError as refused:
                counts["refused"] += 1
                if "\n" in str(refused) or len(str(refused)) > 2000:
                    faults.append([number, what, f"no sentence: {refused}"[:500]])
            except BaseException as error:
                faults.append([number, what, f"{type(error).__name__}: {error}"[:300]])
            faulthandler.cancel_dump_traceback_later()
    return {**counts, "faults": faults}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("loader", choices=LOADERS)
    arguments.add_argument("--cases", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--which", choices=["few", "all"], default="few")
    given = arguments.parse_args()
    found = run(given.loader, given.cases, given.seed, given.which)
    print(json.dumps(found))
    sys.exit(bool(found["faults"]))


if __name__ == "__main__":
    main()
