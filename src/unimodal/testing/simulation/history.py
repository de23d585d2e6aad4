"""A history is run: step after step, the calls of each at once, and then it is checked."""

from __future__ import annotations

import logging
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from unimodal.errors import StoreError
from unimodal.testing.simulation import checks, seams
from unimodal.testing.simulation.calls import Calls, Client
from unimodal.testing.simulation.kept import InMemory, Kept
from unimodal.testing.simulation.ledger import Wrong
from unimodal.testing.simulation.operations import Operations
from unimodal.testing.simulation.stand_ins import stand_ins
from unimodal.testing.simulation.turns import Crashed, Owner, Stuck, Task
from unimodal.testing.simulation.world import World


def run(history: dict[str, Any], kept: Kept | None = None) -> str | None:
    """Run a history; what is wrong, or None.

    Parameters
    ----------
    history
        What `new_history` made, or a part of it.
    kept
        Where the campaign is kept; in memory by default.

    Returns
    -------
    str | None
        What is wrong, in words.

    Examples
    --------
    >>> from unimodal.testing.simulation import new_history
    >>> run(new_history(1))
    """
    folder = Path(tempfile.mkdtemp(prefix="unimodal-simulation-"))
    log = logging.getLogger("unimodal")
    was_disabled, log.disabled = log.disabled, True  # clients report what is done to them
    try:
        _Run(history, kept or InMemory(), folder).all()
    except (Wrong, Stuck) as wrong:
        return str(wrong)
    finally:
        log.disabled = was_disabled
        shutil.rmtree(folder, ignore_errors=True)
    return None


# Who passed a graph is refused once a label of it was erased, so it is opened again without.
_BEGIN = {"client": 0, "do": "look"}


class _Run:
    def __init__(self, history: dict[str, Any], kept: Kept, folder: Path) -> None:
        self._history = history
        self._world = World(history, kept, folder)
        self._turns = self._world.turns
        self._turns.eagerness = history["eagerness"]
        self._clients: list[Client] = []
        self._wrong: list[BaseException] = []
        self._operations = Operations(self._world, self._clients)

    def all(self) -> None:
        """Run all steps, and check what came of them."""
        history, world = self._history, self._world
        with stand_ins(self._turns, history["seed"], world.clock), seams.small(history):
            try:
                self._clients += [Client(f"client {n}", world) for n in range(history["clients"])]
                for call in (_BEGIN, {**_BEGIN, "do": "close"}):
                    self._step({"seed": 0, "faults": [], "calls": [call]})
                for step in history["steps"]:
                    self._step(step)
                self._end()
            finally:
                self._kill_all()
        checks.check_all(world)

    def _step(self, step: dict[str, Any]) -> None:
        """Make the calls of a step at once."""
        self._turns.random = random.Random(step["seed"])
        self._turns.background = step.get("background", 0.1)
        calls = step["calls"]
        self._world.place.expect([])
        if any(call["do"] == "compare" for call in calls):
            self._compare()
        self._world.place.expect(step["faults"])
        self._do([self._work(call) for call in calls if call["do"] != "compare"])
        self._bury()

    def _work(self, call: dict[str, Any]) -> tuple[Any, Owner]:
        if "client" not in call:
            return lambda: self._operations.do(call), Owner(call["do"])
        client = self._clients[call["client"]]
        return lambda: Calls(self._world, client).make(call), client

    def _do(self, work: list[tuple[Any, Owner]]) -> None:
        tasks = [self._turns.add(each, owner) for each, owner in work]
        self._turns.run(tasks)
        self._check(tasks)

    def _check(self, tasks: list[Task]) -> None:
        for error in [task.error for task in tasks] + self._turns.failures:
            if isinstance(error, Wrong | Stuck):
                raise error
            if error is not None:
                raise Wrong(f"{type(error).__name__}: {error}") from error

    def _bury(self) -> None:
        """Let a new process stand in the place of each that was killed."""
        dead = [client for client in self._clients if client.crashed]
        if dead:
            self._turns.run([task for task in self._turns.tasks if task.owner.crashed])
        for client in dead:
            self._clients[self._clients.index(client)] = Client(client.name, self._world)

    def _compare(self) -> None:
        """The states of all clients that have the campaign open, which must be one."""
        states: list[str] = []

        def look(client: Client) -> None:
            if client.campaign is None:
                return
            for _ in range(self._world.ledger.set_backs + 1):
                try:
                    states.append(seams.state_of(client.campaign.agent))
                    return
                except StoreError as error:  # each time that the store was set back is told once
                    self._world.check_justified(error, self._world.start(client.disturbances))
            states.append(seams.state_of(client.campaign.agent))

        for client in list(self._clients):
            self._do([(lambda client=client: look(client), client)])
        if len(set(states)) > 1:
            raise Wrong("clients have different states:\n" + "\n".join(states))

    def _end(self) -> None:
        """Let a new client come to the same state as all, and close everything.

        The last one leaves a snapshot, with which `verify` compares the fold of the whole log.
        """
        self._world.place.expect([])
        self._turns.random = random.Random(self._history["seed"])
        fresh = Client("a new client", self._world)
        self._clients.append(fresh)
        self._do([(fresh.opened, fresh)])
        self._compare()
        for client in self._clients:
            self._do([(client.close, client)])

    def _kill_all(self) -> None:
        """Let no thread of this history go on."""
        for task in self._turns.tasks:
            task.owner.crashed = True
        self._turns.run([task for task in self._turns.tasks if not task.done])


__all__ = ["Crashed", "run"]
