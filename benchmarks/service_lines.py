"""Lines of the service: calls over HTTP on loopback, in core-seconds of the server and in commits.

The server is a process of its own, `unimodal serve` of the version that is measured.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from campaign_lines import bare_sqlite, seconds
from service import cpu_seconds, create, free_port, served, server

CALLS, BATCH, TURNS, CLIENTS = 200, 100, 5, 8
LINES = (
    "service: a decision, CPU",
    "service: its reward, CPU",
    "service: a decision with a key, CPU",
    f"service: {BATCH} rewards in a call, CPU",
    f"service: {CLIENTS} clients, decision and reward, CPU",
    "service: a decision, commits",
    "service: its reward, commits",
)


class Caller:
    """A keep-alive connection that calls one campaign."""

    def __init__(self, port: int, name: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._path = f"/v1/campaigns/{name}"

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def post(self, what: str, body: Any = None, **headers: str) -> Any:
        text = "" if body is None else json.dumps(body)
        headers |= {"Content-Type": "application/json"}
        self._connection.request("POST", f"{self._path}/{what}", text, headers)
        answer = self._connection.getresponse()
        found = json.loads(answer.read())
        if answer.status >= 300:
            raise RuntimeError(f"the service answered {answer.status}: {found}")
        return found

    def decide(self, key: str = "") -> int:
        found = self.post("decisions", None, **({"Idempotency-Key": key} if key else {}))
        return int(found["decisions"][0]["id"] if "decisions" in found else found["id"])

    def reward(self, decision: int) -> None:
        self.post("rewards", {"decision": decision, "reward": 1.0})


def measured() -> list[float]:
    """Medians over some turns, after one that warms up."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as folder,
        bare_sqlite(Path(folder) / "bare.db") as commits,
        server(served(Path(folder) / "store", port), port, "/healthz") as process,
        contextlib.ExitStack() as stack,
    ):
        create(port, "prices")
        callers = [stack.enter_context(Caller(port, "prices")) for _ in range(CLIENTS)]

        def timed(work: Callable[[], object]) -> tuple[float, float]:
            before = cpu_seconds(process)
            took = seconds(work)
            return (cpu_seconds(process) - before) / CALLS, took / CALLS

        turns = []
        for number in range(TURNS + 1):
            commit = seconds(lambda: commits(CALLS)) / CALLS
            turns.append(turn(callers, timed, commit, str(number)))
    return [median(values) for values in zip(*turns[1:], strict=True)]


def turn(callers: list[Caller], timed: Any, commit: float, name: str) -> list[float]:
    """Each of `LINES`, once."""
    caller, ids = callers[0], []
    decision, decision_took = timed(lambda: ids.extend(caller.decide() for _ in range(CALLS)))
    reward, reward_took = timed(lambda: [caller.reward(each) for each in ids])
    keyed, _ = timed(lambda: ids.extend(caller.decide(f"{name}-{i}") for i in range(CALLS)))
    batches = [
        {"rewards": [{"decision": each, "reward": 1.0} for each in ids[first : first + BATCH]]}
        for first in range(CALLS, 2 * CALLS, BATCH)
    ]
    in_batches, _ = timed(lambda: [caller.post("rewards", batch) for batch in batches])
    together, _ = timed(lambda: at_once(callers))
    return [
        *(decision, reward, keyed, in_batches * CALLS / len(batches), together),
        *(decision_took / commit, reward_took / commit),
    ]


def at_once(callers: list[Caller]) -> None:
    """`CALLS` decisions and their rewards, shared out over the clients."""

    def work(caller: Caller) -> None:
        for _ in range(CALLS // len(callers)):
            caller.reward(caller.decide())

    threads = [threading.Thread(target=work, args=(caller,)) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


SERVICE = LINES, measured
