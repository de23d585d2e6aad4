"""Many histories from the command line: with a bar, and to be resumed after an interruption."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unimodal import files
from unimodal.errors import UnimodalError
from unimodal.report.progress import bar
from unimodal.testing.simulation.history import run
from unimodal.testing.simulation.shrink import shrunk
from unimodal.testing.simulation.steps import new_history

_EVERY = 20  # histories, after which the file to resume from is written
_MOST_WRONG = 10  # histories that went wrong, after which there is enough to look at


def main(arguments: Sequence[str] | None = None) -> int:
    """Run histories as the arguments say; 1 if one of them went wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m unimodal.testing.simulation",
        description="Run simulated histories of campaigns, and show what goes wrong.",
    )
    parser.add_argument("--histories", type=int, default=500, help="how many (500)")
    parser.add_argument("--seed", type=int, default=1, help="that of the first one (1)")
    parser.add_argument("--resume", type=Path, help="a file in which is kept how far it came")
    parser.add_argument("--replay", type=Path, help="run one history, from a file as printed")
    given = parser.parse_args(arguments)
    try:
        if given.replay is not None:
            return _replay(given.replay)
        return _many(given.seed, given.histories, given.resume)
    except UnimodalError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


def _replay(path: Path) -> int:
    with files.reading(path, "a history, as one is printed"):
        history = json.loads(path.read_text(encoding="utf-8"))
        history["steps"]
    wrong = run(history)
    print(wrong or "nothing is wrong with this history.")
    return wrong is not None


def _many(seed: int, histories: int, resume: Path | None) -> int:
    came = _resumed(resume, seed)
    before, began = came["seconds"], time.monotonic()
    with bar("histories", histories, unit="histories") as update:
        while came["done"] < histories and len(came["wrong"]) < _MOST_WRONG:
            _one(seed + came["done"], came["wrong"], run)
            came["done"] += 1
            came["seconds"] = before + time.monotonic() - began
            update(came["done"])
            if resume is not None and (came["done"] % _EVERY == 0 or came["done"] == histories):
                files.write(resume, lambda made: made.write_text(json.dumps(came)))
    print(
        f"{came['done']:,} histories from seed {seed}, {came['seconds']:,.0f} s, commit "
        f"{came['commit']}: {len(came['wrong'])} wrong"
    )
    return bool(came["wrong"])


def _one(seed: int, found: list[dict[str, Any]], run: Callable[[Any], str | None]) -> None:
    """Run the history of a seed; if it goes wrong, say so and show a short one."""
    wrong = run(new_history(seed))
    if wrong is None:
        return
    found.append({"seed": seed, "wrong": wrong})
    print(f"seed {seed}: {wrong}", flush=True)
    print(json.dumps(shrunk(new_history(seed), run)), flush=True)


def _resumed(resume: Path | None, seed: int) -> dict[str, Any]:
    """How far it came before."""
    new = {"seed": seed, "commit": commit(), "done": 0, "seconds": 0.0, "wrong": []}
    if resume is None or not resume.exists():
        return new
    with files.reading(resume, "what a run of histories has kept"):
        found: dict[str, Any] = json.loads(resume.read_text(encoding="utf-8"))
        is_other = (found["seed"], found["commit"]) != (seed, new["commit"])
        found["done"], found["seconds"], found["wrong"]
    if is_other:
        raise UnimodalError(
            f"{resume} is of seed {found['seed']} and commit {found['commit']}, not of {seed} and "
            f"{new['commit']}: name another file, or remove it."
        )
    return found


def commit() -> str:
    """The commit of the code, with a + if files have been changed since; what it knows of it.

    >>> len(commit()) > 0
    True
    """

    def told(*words: str) -> str:
        here = Path(__file__).parent
        done = subprocess.run(["git", *words], cwd=here, capture_output=True, text=True)
        return done.stdout.strip()

    try:
        name = told("rev-parse", "--short", "HEAD")
        return f"{name}{'+' if told('status', '--porcelain', '--', '.') else ''}" or "unknown"
    except OSError:
        return "unknown"
