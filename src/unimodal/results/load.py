"""What was saved, from its file, which somebody else may have made: all of it is checked first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unimodal import checksums, files, problems
from unimodal.agents import Agent
from unimodal.engines.engine_choice import ENGINES
from unimodal.engines.late import Lateness
from unimodal.errors import LONGEST, UnimodalError, check_memory, unknown_name, whole_number
from unimodal.policies import Policy, as_policy, as_saved
from unimodal.policies import from_data as policy_from_data
from unimodal.problems import Problem
from unimodal.results import stopping
from unimodal.results.result import FORMAT, MOST_TRIALS, Result, Run
from unimodal.results.stopping import NOBODY, StoppingRule


def load(
    path: str | Path,
    *,
    policies: Policy | Sequence[Policy] = (),
    stop: StoppingRule | None = None,
) -> Result | Agent:
    """Open whatever was saved: a result (`Result.save`) or an agent (`Agent.save`).

    A policy of your own is not in the file, only its name and parameters: pass it as `policies`;
    and a stopping rule of your own as `stop`.

    Parameters
    ----------
    path
        A file that `Result.save` or `Agent.save` wrote.
    policies
        Policies of your own, of which the file has only names and parameters.
    stop
        The stopping rule of your own that ended the trials, of which the file has only how it
        prints.

    Returns
    -------
    Result | Agent
        A `Result` or an `Agent`, as it was saved.

    Raises
    ------
    UnimodalError
        If there is no such file, or it is none of ours.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> folder = tempfile.mkdtemp()
    >>> um.load(um.Agent(um.UTS(), um.graphs.line(5)).save(folder + "/agent.json"))
    Agent(UTS(), round 0, 5 arms)
    """
    path = files.as_path(path, "the path of a result or an agent")
    given = (policies,) if isinstance(policies, Policy) else policies
    if not isinstance(given, list | tuple):
        raise UnimodalError(f"the 'policies' of load must be policies of your own, got {given!r}.")
    own = [as_policy(policy) for policy in given]
    # Opened here: Polars takes a path for a pattern of several, or for a place on the web.
    with files.reading(path, _EXPECTED), path.open("rb") as handle:
        begins = handle.read(64).lstrip()[:1]
        if begins == b"{":
            if len(own) > 1:
                raise UnimodalError(f"{path} is an agent, which has one policy, got {len(own)}.")
            return Agent.load(path, policy=own[0] if own else None)
        handle.seek(0)
        return _read(path, handle, {policy.name: policy for policy in own}, stop)


_EXPECTED = "a result that Result.save wrote, or an agent that Agent.save wrote"


def _read(
    path: Path, handle: BinaryIO, own: Mapping[str, Policy], own_stop: StoppingRule | None
) -> Result:
    import polars as pl

    checksums.check(handle)
    data = json.loads(pl.read_parquet_metadata(handle)["unimodal"])
    if data.get("format") != FORMAT:
        raise UnimodalError(
            f"{path} has format {data.get('format')!r:.20}, this version reads format {FORMAT}: "
            f"use unimodal {data.get('versions', {}).get('unimodal', 'of that time')!s:.20}."
        )
    trials, rounds = whole_number(data["trials"], "the trials"), _rounds(data["rounds"])
    first = whole_number(data.get("first_trial", 0), "the first trial", 0, MOST_TRIALS)
    law = data.get("law", "")  # the first version did not say which sources made it
    if not isinstance(law, str):
        raise ValueError("a hash of sources that is no text")
    specs = data["policies"]
    names = [spec["name"] for spec in specs]
    if not names or len(set(names)) < len(names):
        raise ValueError("policies that are not one for each name")
    handle.seek(0)
    n_arms = _check_columns(path, pl.read_parquet_schema(handle), rounds, len(names) * trials)
    handle.seek(0)
    if pl.scan_parquet(handle).select(pl.len()).collect().item() != len(names) * trials:
        raise ValueError("other rows than policies and trials")
    # The first version of this format had one engine.
    engine = data.get("engine", "step")
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    seed = whole_number(data["seed"], "the 'seed' of a result", 0)
    stop = stopping.from_data(data["stop"], own_stop) if "stop" in data else None
    problem = problems.from_data(data["problem"])
    if problem.graph.n_arms != n_arms:
        raise ValueError("pulls of other arms than the graph has")
    handle.seek(0)
    frame = pl.read_parquet(handle)
    runs = {}
    for number, (name, spec) in enumerate(zip(names, specs, strict=True)):
        rows = frame[number * trials : (number + 1) * trials]
        numbers = list(range(first, first + trials))
        if not (rows["policy"] == name).all() or rows["trial"].to_list() != numbers:
            raise ValueError("rows in another order")
        policy = as_saved(own[name], spec) if name in own else policy_from_data(spec)
        arrays = {key: rows[key].to_numpy() for key in rows.columns[2:]}
        if (stop is None) != ("stopped" not in arrays):
            raise ValueError("a rule for stopping without its ends, or ends without a rule")
        _check_ends(arrays, int(rounds[-1]), n_arms, problem)
        _check_arrays(arrays, int(rounds[-1]), n_arms)
        runs[name] = Run(policy, **arrays)
    lateness = Lateness.from_data(data["late"]) if "late" in data else None
    return Result(problem, seed, rounds, runs, engine, stop, first, law, lateness)


def _rounds(listed: Any) -> Any:
    """The checkpoints, as an array."""
    if type(listed) is not list or not all(type(r) is int and 1 <= r <= LONGEST for r in listed):
        raise ValueError("checkpoints that are no rounds")
    rounds = np.array(listed, dtype=np.int64)
    if not len(rounds) or (np.diff(rounds) <= 0).any():
        raise ValueError("checkpoints out of order")
    return rounds


def _check_columns(path: Path, schema: Mapping[str, Any], rounds: Any, rows: int) -> int:
    """Refuse columns of another kind or size, before memory is asked for; how many arms."""
    import polars as pl

    horizon, n_arms = int(rounds[-1]), schema["pulls"].size
    expected = {
        "policy": pl.String,
        "trial": pl.Int64,
        "regret": pl.Array(pl.Float64, len(rounds)),
        "pulls": pl.Array(pl.Int64, n_arms),
        "arms": pl.Array(pl.Int32, horizon),
        "rewards": pl.Array(pl.Float64, horizon),
        "restarts": pl.Int64,
        "stopped": pl.Int64,
        "certified": pl.Int64,
        "is_right": pl.Boolean,
    }
    history = {"arms", "rewards"} & set(schema)
    wanted = [key for key in expected if key in schema]  # the first version had no restarts
    if (
        list(schema) != wanted
        or any(schema[key] != expected[key] for key in schema)
        or not {"policy", "trial", "regret", "pulls"} <= set(schema)
        or len(history) == 1
        or len({"stopped", "certified", "is_right"} & set(schema)) not in (0, 3)
    ):
        raise ValueError("columns of another kind")
    numbers = len(rounds) + n_arms + (2 * horizon if history else 0)
    check_memory(8 * rows * numbers, f"the result in {path}")
    return int(n_arms)


def _check_ends(arrays: dict[str, Any], horizon: int, n_arms: int, problem: Problem) -> None:
    """Refuse ends of trials that no simulation gives."""
    if "stopped" not in arrays:
        return
    stopped, arms = arrays["stopped"], arrays["certified"]
    is_somebody = (arms >= 0) & (arms < n_arms)
    if not ((stopped >= 1) & np.where(is_somebody, stopped <= horizon, stopped == horizon)).all():
        raise ValueError("ends of trials that cannot be")
    right = is_somebody & (problem.gaps[np.where(is_somebody, arms, 0)] == 0)
    if not (is_somebody | (arms == NOBODY)).all() or (right != arrays["is_right"]).any():
        raise ValueError("certified arms that cannot be")


def _check_arrays(arrays: dict[str, Any], horizon: int, n_arms: int) -> None:
    """Refuse numbers that no simulation gives."""
    pulls = arrays["pulls"]
    if not np.isfinite(arrays["regret"]).all() or not ((pulls >= 0) & (pulls <= horizon)).all():
        raise ValueError("regrets or pulls that cannot be")
    # First as floats: a sum of many whole numbers may overflow, and then be right by chance.
    if (pulls.sum(axis=1, dtype=np.float64) > 2.0 * horizon).any():
        raise ValueError("more pulls than rounds")
    last = arrays.get("stopped", horizon)
    if (pulls.sum(axis=1) != last).any():
        raise ValueError("other pulls than rounds")
    if "arms" in arrays:
        arms, rewards = arrays["arms"], arrays["rewards"]
        played = np.arange(horizon) < np.reshape(last, (-1, 1))
        possible = (arms >= 0) & (arms < n_arms) & np.isfinite(rewards)
        if not np.where(played, possible, (arms == NOBODY) & np.isnan(rewards)).all():
            raise ValueError("a history that cannot be")
    if "restarts" in arrays and (arrays["restarts"] < 0).any():
        raise ValueError("restarts that cannot be")
