"""What clients call, and what has to be true of what they are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import unimodal as um
from unimodal.agents.label_text import as_text
from unimodal.errors import (
    ConflictingReward,
    DamagedFile,
    ExpiredDecision,
    StoreError,
    UnimodalError,
    UnknownDecision,
)
from unimodal.testing.simulation import seams
from unimodal.testing.simulation.ledger import Acknowledged, Start, Wrong
from unimodal.testing.simulation.stand_ins import Lock
from unimodal.testing.simulation.turns import Owner
from unimodal.testing.simulation.world import World

_LIMITS = {"pause": "limit", "resume": "limit", "cap": "limit"}
_SLACK = 1.0  # seconds that pass while a call goes on


class Client(Owner):
    """A process that has the campaign open, or opens it again."""

    def __init__(self, name: str, world: World) -> None:
        super().__init__(name)
        self.campaign: um.Campaign | None = None
        self._world, self._opening = world, Lock(world.turns)

    def opened(self) -> um.Campaign:
        """The campaign, opened if it is not."""
        with self._opening:
            if self.campaign is None:
                self.campaign = self._world.open_campaign()
            return self.campaign

    def close(self) -> None:
        """Close it, if it is open."""
        with self._opening:
            campaign, self.campaign = self.campaign, None
            if campaign is not None:
                campaign.close()


class Calls:
    """The calls of one client."""

    def __init__(self, world: World, client: Client) -> None:
        self._world, self._client, self._ledger = world, client, world.ledger

    def make(self, call: dict[str, Any]) -> None:
        """Make a call, and hold what comes of it against the ledger."""
        start = self._world.start(self._client.disturbances)
        name = call["do"]
        work: Callable[[dict[str, Any], Start], None]
        work = getattr(self, f"_{name.replace(' ', '_')}", self._change)
        told: dict[str, Any] = {}
        call = {**call, "told": told}
        try:
            work(call, start)
        except Wrong:
            raise
        except Exception as error:
            self._refused(call, start, error)
        except BaseException:  # it was killed
            self._ledger.made_uncertain += told.get("n", 0)
            raise

    # What can be called.

    def _decide(self, call: dict[str, Any], start: Start) -> None:
        campaign, n, key = self._client.opened(), call["n"], call["key"]
        call["told"]["n"] = n or 1
        found = campaign.decide(n, propensity=call["propensity"], key=key)
        made = found if isinstance(found, list) else [found]
        if len(made) != (n or 1) or isinstance(found, list) != (n is not None):
            raise Wrong(f"decide(n={n}) returned {len(made)} decisions")
        seqs, is_lost = self._found_decisions(made, start)
        ids = [decision.id for decision in made]
        if len(set(ids)) < len(ids):
            raise Wrong(f"decide returned a decision twice: {ids}")
        when = max(decision.time for decision in made)
        told = Acknowledged("decide", seqs, ids, when, is_lost)
        known = self._ledger.keys.get(key) if key else None
        if known is not None and known.ids == ids:
            return
        if known is not None and not is_lost:
            # The earlier one was known for so long, whichever is answered first.
            if abs(known.time - when) + _SLACK < self._world.key_lifetime:
                raise Wrong(f"{key!r} named the decisions {known.ids}, and now {ids}")
            if when < known.time:
                key = None
        self._own(told, key)

    def _own(self, told: Acknowledged, key: str | None) -> None:
        """Note that decisions are this call's, and nobody else's."""
        if told.lost:
            return
        for number in told.ids:
            if number in self._ledger.owners:
                raise Wrong(f"decision {number} was handed to two calls")
            self._ledger.owners[number] = told
        self._ledger.acknowledged.append(told)
        if key is not None:
            self._ledger.keys[key] = told

    def _found_decisions(self, made: list[Any], start: Start) -> tuple[list[int], bool]:
        """The events of decisions; and whether they were lost before they were told."""
        seqs, is_lost = [], False
        for decision in made:
            event = self._ledger.decided.get(decision.id)
            if event is not None and self._is_that(event, decision):
                seqs.append(event.seq)
            elif self._ledger.was_lost(start, "decide", decision.id):
                is_lost = True
            else:
                raise Wrong(f"{decision} was acknowledged, and the log has {event}")
        return seqs, is_lost

    def _is_that(self, event: Any, decision: Any) -> bool:
        names = self._ledger.names
        told = (decision.time, decision.reason, decision.near, decision.propensity)
        return (
            told == (event.time, event.reason, event.near, event.propensity)
            and as_text(decision.arm) in names(event.arm)
            and as_text(decision.leader) in names(event.leader)
        )

    def _reward(self, call: dict[str, Any], start: Start) -> None:
        campaign = self._client.opened()
        told = self._world.rewards_for(call["which"], call["picks"], call["name"])
        if not told:
            return
        call["told"]["rewards"] = told
        ids, values = list(told), list(told.values())
        if len(ids) == 1:
            flags = [campaign.reward(ids[0], values[0])]
        else:
            flags = campaign.reward(ids, values)
        for number, value, is_new in zip(ids, values, flags, strict=True):
            self._check_reward(number, value, is_new, start)

    def _check_reward(self, number: int, value: float, is_new: bool, start: Start) -> None:
        ledger, event = self._ledger, self._ledger.rewarded.get(number)
        if event is None or event.reward != value:
            if not ledger.was_lost(start, "reward", number, value):
                raise Wrong(f"the reward {value} of {number} was acknowledged; the log has {event}")
            return
        if not is_new:
            return
        if number in ledger.counted:
            raise Wrong(f"the reward of decision {number} was told to count twice")
        if event.seq <= start.length and start.set_backs == ledger.set_backs:
            raise Wrong(f"the reward of decision {number} was told to count, and was there before")
        ledger.counted[number] = told = Acknowledged("reward", [event.seq], [number])
        ledger.acknowledged.append(told)

    def _tell(self, call: dict[str, Any], start: Start) -> None:
        campaign, value = self._client.opened(), self._world.new_value()
        arm = self._world.arm(call["pick"])
        call["told"]["tell"] = value
        campaign.tell(arm, value)
        event = self._ledger.told.get(value)
        if event is not None and arm in self._ledger.names(event.arm):
            self._ledger.acknowledged.append(Acknowledged("tell", [event.seq]))
        elif not self._ledger.was_lost(start, "tell", None, value):
            raise Wrong(f"a reward told of {arm} was acknowledged, and the log has {event}")

    def _expire(self, call: dict[str, Any], start: Start) -> None:
        count = self._client.opened().expire()
        since = [event for event in self._ledger.events[start.length :] if event.kind == "expire"]
        if len(since) < count and start.set_backs == self._ledger.set_backs:
            raise Wrong(f"{count} decisions were told to expire, and the log has {since}")

    def _look(self, call: dict[str, Any], start: Start) -> None:
        outstanding = self._client.opened().outstanding
        if start.set_backs != self._ledger.set_backs:
            return
        open_now, possible = 0, set()
        for event in self._ledger.events:
            if event.seq > start.length:
                possible.add(open_now)
            change = {"decide": 1, "reward": -1, "expire": -1}
            open_now += change.get(event.kind, 0)
        if outstanding not in possible | {open_now}:
            raise Wrong(f"{outstanding} decisions were outstanding, and not {open_now}")

    def _history(self, call: dict[str, Any], start: Start) -> None:
        table = self._client.opened().compact_history()
        if start.set_backs == self._ledger.set_backs and table.height:
            last = int(table["seq"][-1]) if "seq" in table.columns else start.length
            if not start.length <= last <= len(self._ledger.events):
                raise Wrong(f"the history ended with event {last}")

    def _close(self, call: dict[str, Any], start: Start) -> None:
        self._client.close()

    def _change(self, call: dict[str, Any], start: Start) -> None:
        """Change the limits or the graph."""
        campaign, name, world = self._client.opened(), call["do"], self._world
        if name == "cap":
            named = "cap"
            campaign.cap(call["share"], call["over"])
        elif name == "insert":
            named = world.new_arm()
            campaign.insert(named, between=world.edge(call["pick"]))
        elif name == "add_edges":
            named = world.new_arm()
            campaign.add_edges([(world.arm(call["pick"]), named)])
        else:
            named = world.arm(call["pick"])
            getattr(campaign, name)(named)
        kind, since = _LIMITS.get(name, "revision"), self._ledger.events[start.length :]
        names = self._ledger.names(named)
        if start.set_backs == self._ledger.set_backs and not any(
            event.kind == kind and any(json.dumps(each) in (event.data or "") for each in names)
            for event in since
        ):
            raise Wrong(f"{name} of {named} was acknowledged, and the log has nothing of it")

    # What is refused.

    def _refused(self, call: dict[str, Any], start: Start, error: Exception) -> None:
        told = call["told"]
        if isinstance(error, seams.INTERNAL) or not isinstance(error, UnimodalError):
            raise Wrong(f"{call['do']} raised {type(error).__name__}: {error}") from error
        if isinstance(error, DamagedFile):
            raise Wrong(f"{call['do']} found damage: {error}") from error
        if seams.is_unknown(error):
            self._ledger.made_uncertain += told.get("n", 0)
            return
        if "tell" in told:
            self._ledger.refused.append(("tell", None, told["tell"]))
        self._world.check_justified(error, start)
        if isinstance(error, StoreError):
            return
        if isinstance(error, UnknownDecision | ConflictingReward | ExpiredDecision):
            self._check_reason(error, told.get("rewards", {}), start)
        elif call["do"] in ("decide", "reward", "tell", "expire", "look", "history", "close"):
            known = call.get("key") and "this key was used for n=" in str(error)
            is_gone = call["do"] == "tell"  # the arm was retired meanwhile
            if not known and not is_gone:
                raise Wrong(f"{call['do']} was refused: {error}") from error

    def _check_reason(self, error: Exception, rewards: dict[int, float], start: Start) -> None:
        ledger, is_right = self._ledger, start.set_backs != self._ledger.set_backs
        for number, value in rewards.items():
            decided, event = ledger.decided.get(number), ledger.rewarded.get(number)
            if isinstance(error, UnknownDecision):
                is_right |= number > start.made
            elif isinstance(error, ConflictingReward):
                is_right |= event is not None and event.reward != value
            elif decided is not None and event is None:
                lives = self._world.time_to_live or float("inf")
                is_right |= self._world.now + _SLACK >= decided.time + lives
        if not is_right:
            raise Wrong(f"a reward was refused for no reason: {error}") from error
