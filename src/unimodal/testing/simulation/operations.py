"""What is done to a campaign beside its clients: by operators, by the server, by time."""

from __future__ import annotations

from typing import Any

import unimodal as um
from unimodal.campaigns.stores import Interrupted, NumberTaken
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.testing.simulation import checks
from unimodal.testing.simulation.calls import Client
from unimodal.testing.simulation.ledger import Moment, Start, Wrong
from unimodal.testing.simulation.memory import MemoryPlace
from unimodal.testing.simulation.world import World


class Operations:
    """What an operator does, each time in a process of its own."""

    def __init__(self, world: World, clients: list[Client]) -> None:
        self._world, self._clients = world, clients

    def do(self, call: dict[str, Any]) -> None:
        """Do it, and hold what comes of it against the ledger."""
        start = self._world.start(self._world.disturbances)
        try:
            getattr(self, f"_{call['do'].replace(' ', '_')}")(call, start)
        except Wrong:
            raise
        except Exception as error:
            is_internal = isinstance(error, (Interrupted, NumberTaken, DamagedFile))
            if is_internal or not isinstance(error, UnimodalError) or "sound" in str(error):
                what = f"{call['do']} raised {type(error).__name__}: {error}"
                raise Wrong(what) from error

    def _clock(self, call: dict[str, Any], start: Start) -> None:
        self._world.now += call["seconds"]

    def _compact(self, call: dict[str, Any], start: Start) -> None:
        world = self._world
        target = world.new_file("archive")
        um.campaigns.compact(world.place, target, key_lifetime=world.key_lifetime)  # type: ignore[arg-type]

    def _erase(self, call: dict[str, Any], start: Start) -> None:
        world = self._world
        arm, archives = world.arm(call["pick"]), world.archives()
        assert world.turns.task is not None
        world.turns.task.owner.erasing = arm
        erased = um.campaigns.erase(world.place, arm, archives=archives)  # type: ignore[arg-type]
        for path in erased.archives:
            if path.exists() and arm in checks.text_of_archive(path):  # or it was erased again
                raise Wrong(f"the archive {path} has {arm!r}, which was erased")

    def _copy(self, call: dict[str, Any], start: Start) -> None:
        copied = um.campaigns.copy(self._world.place, MemoryPlace("a copy"))  # type: ignore[arg-type]
        if not copied.verdict:
            raise Wrong(f"a copy is not sound: {copied.verdict}")

    def _backup(self, call: dict[str, Any], start: Start) -> None:
        world, ledger = self._world, self._world.ledger
        copy = world.place.kept.copied(world.place)
        world.copies.append((Moment(len(ledger.events), copy), len(ledger.erasures)))

    def _verify(self, call: dict[str, Any], start: Start) -> None:
        archives: list[Any] = self._world.archives() if call["pick"] < 0.5 else []
        checks.check_verdict(um.verify(self._world.place, archives=archives))  # type: ignore[arg-type]

    def _compare(self, call: dict[str, Any], start: Start) -> None:
        """Nothing goes on meanwhile that could change what is compared: see `history`."""

    def _set_back(self, call: dict[str, Any], start: Start) -> None:
        moments = self._world.ledger.moments
        if len(moments) > call["commits"]:
            self._go_back_to(moments[-1 - call["commits"]])

    def _restore(self, call: dict[str, Any], start: Start) -> None:
        world = self._world
        erasures = len(world.ledger.erasures)
        fitting = [mark for mark, erased in world.copies if erased == erasures]
        if fitting:
            self._go_back_to(fitting[int(call["pick"] * len(fitting))])

    def _go_back_to(self, moment: Moment) -> None:
        """Be as at an earlier moment, at once."""
        world, place = self._world, self._world.place
        if place.kept.ends_clients:
            for owner in dict.fromkeys(store.owner for store in place.stores):
                place.crash(owner)
        place.kept.put_back(moment.content)
        place.disturbances += 1
        world.ledger.set_back(moment)
        world.copies = [each for each in world.copies if each[0].length <= moment.length]

    def _cut(self, call: dict[str, Any], start: Start) -> None:
        self._world.place.kept.cut()
        self._world.place.disturbances += 1
