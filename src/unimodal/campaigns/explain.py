"""Why a decision fell on its arm: what was known then, what was drawn, and who won."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from unimodal.agents.arm_intervals import means_and_intervals
from unimodal.agents.history import as_text
from unimodal.campaigns.event_checks import parsed, told
from unimodal.campaigns.events import Event
from unimodal.campaigns.explanation import Competitor, Explanation, as_shown
from unimodal.campaigns.log_start import begins_after
from unimodal.campaigns.reading import Archives, no_clock, read, saved_settings
from unimodal.campaigns.state_machine import StateMachine
from unimodal.campaigns.stores import Place, StoreToRead
from unimodal.campaigns.stores.history import fitting_snapshots
from unimodal.errors import DamagedFile, UnimodalError, UnknownDecision, whole_number
from unimodal.policies import Policy
from unimodal.policies.contest_values import Contest, value_name
from unimodal.policies.state import BEGUN
from unimodal.version import __version__

# What the winner of a contest did, by whether the highest wins; None where one is drawn.
_WON_BY = {True: "had the highest of", False: "had the lowest of", None: "was drawn from"}


def explain(
    path: str | Place, decision: int, policy: Policy | None = None, archives: Archives = ()
) -> Explanation:
    """Why a decision of a campaign fell on its arm, from its log alone; no look-up is made.

    The state before the decision is folded from the log, and the decision is made again, with a
    note of what every competitor showed. A policy of your own has to be passed.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    decision
        The id of a decision.
    policy
        A policy of your own, which is not in the log.
    archives
        Files that `compact` wrote.

    Returns
    -------
    Explanation
        What was known then, what was drawn, who won.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
    ...     decisions = campaign.decide(5)
    >>> print(explain(file, 1))
    Decision 1: 2 (start)
    The start pulls some arms before anybody leads; this was number 1 of 3.
    arm  pulls  mean  95 % interval
    2    0      –     0.025 … 0.975  chosen
    """
    number = whole_number(decision, "the id of a decision")

    def found(store: StoreToRead) -> Explanation:
        store.check()
        settings = saved_settings(store, policy)
        machine = StateMachine.restored(settings, store, no_clock, _snapshot_before(store, number))
        event = _decision(store, number, machine)
        machine.catch_up(event.seq - 1)
        return _explained(machine, event, store)

    return read(path, found, archives)


def _snapshot_before(store: StoreToRead, number: int) -> int:
    """The last snapshot that this version can go on from to a decision; 0 for the beginning."""
    snapshots, _ = fitting_snapshots(store)
    own = [seq for seq, version in snapshots if version == __version__]
    first = own[0] if own and len(own) < len(snapshots) else 0
    usable = own or [seq for seq, _ in snapshots]
    for seq in reversed(usable):
        if _made(store, seq) < number:
            return seq
    if first:
        raise UnimodalError(
            f"decision {number} cannot be explained: it was made by another version of unimodal, "
            f"before the first snapshot of {__version__}, which has decisions from "
            f"{_made(store, first) + 1:,} on: use the version that made it, on a copy of the file."
        )
    if begin := begins_after(store):
        raise UnimodalError(
            f"decision {number} cannot be explained from {store.path} alone: its log begins after "
            f"decision {_made(store, begin):,}, and what was before is in an archive: pass it as "
            "well."
        )
    return 0


def _made(store: StoreToRead, seq: int) -> int:
    """How many decisions had been made at a snapshot."""
    text = store.snapshot(seq)  # outside of the `try`: a lost connection is no damage
    try:
        return int(parsed(text)["decisions"]["made"])
    except (ValueError, LookupError, TypeError):
        raise DamagedFile(
            f"the snapshot after event {seq} of {store.path} is damaged: delete it from the table "
            "'snapshots', and the state is folded from the log."
        ) from None


def _decision(store: StoreToRead, number: int, machine: StateMachine) -> Event:
    made = machine.agent.book.made
    for rows in store.rows(machine.seq):
        for event in map(Event._make, rows):
            if event.kind == "decide":
                made = event.decision or 0
                if made == number:
                    return event
    raise UnknownDecision(
        f"there is no decision {number} to explain: the campaign made "
        f"{f'{made:,} so far' if made else 'none yet'}."
    )


def _explained(machine: StateMachine, event: Event, store: StoreToRead) -> Explanation:
    contests, (arm, reason, leader, near), differs = machine.play_with_notes()
    player = machine.agent._player
    label_of, view = player.view.label_of, player.view
    led = label_of(leader) if leader >= 0 else None
    again = Event(
        event.seq, event.time, "decide", event.decision, as_text(label_of(arm)), reason,
        as_text(led), near,
    )  # fmt: skip
    if told(again) != told(event) or differs:
        raise UnimodalError(
            f"decision {event.decision} of {store.path} cannot be explained here: the log has "
            f"{told(event)}, and unimodal {__version__} on this machine makes it {told(again)}, "
            "or had made an earlier one otherwise; `unimodal verify` names the first."
        )
    rivals = contests[-1].near if contests else [arm]
    if leader >= 0 and not contests:
        arena: Any = view.arena
        rivals = arena.near[arena.first[leader] : arena.last[leader]].tolist()
        rivals += [arm] if arm not in rivals else []  # a leader may look around
    name, highest = value_name(player.index) if contests and contests[-1].values else ("", True)
    return Explanation(
        id=int(event.decision or 0),
        arm=label_of(arm),
        reason=reason,
        leader=led,
        time=event.time,
        policy=repr(player.policy),
        round=player.round,
        because=_because(player, reason, arm, leader, contests, (name, highest)),
        value_name=name,
        contests=len(contests),
        winner=label_of(contests[-1].winner) if contests else None,
        competitors=tuple(_competitors(player, rivals, contests, arm, leader)),
        paused=tuple(map(label_of, player.limits.paused)),
        propensity=event.propensity,
    )


def _competitors(
    player: Any, rivals: list[int], contests: list[Contest], arm: int, leader: int
) -> Iterator[Competitor]:
    records = player.state.arms[rivals]
    means, low, high = means_and_intervals(player.family, records)
    values = contests[-1].values if contests else None
    for place, one in enumerate(rivals):
        yield Competitor(
            arm=player.view.label_of(one),
            pulls=records["pulls"][place].item(),
            mean=_known(means[place]),
            low=_known(low[place]),
            high=_known(high[place]),
            value=None if values is None else values[place],
            is_leader=one == leader,
            is_chosen=one == arm,
        )


def _because(
    player: Any,
    reason: str,
    arm: int,
    leader: int,
    contests: list[Contest],
    value: tuple[str, bool | None],
) -> str:
    """Who won, and why."""
    state, label_of = player.state, player.view.label_of
    if reason == "start":
        return (
            "The start pulls some arms before anybody leads; this was number "
            f"{int(state.notes[BEGUN]):,} of {len(state.begin):,}."
        )
    leads = f"{label_of(leader)!r} led" if leader >= 0 else "Nobody leads with this policy"
    if reason == "forced leader":
        before = int(state.arms["leads"][leader]) - 1
        past = ", past rewards included" if player.policy.data_leads and player.past_sums else ""
        return (
            f"{leads} and was pulled without a contest, as in some of the rounds that it leads; it "
            f"had led {before:,} before{past}."
        )
    if not contests:
        return _because_of_a_look(player, reason, arm, leader, leads)
    last, (name, highest) = contests[-1], value
    held = f", the last of {len(contests)} contests of this round" if len(contests) > 1 else ""
    if last.values is None:
        won = "its policy chose it, and does not tell what it compared"
    else:
        best = last.values[last.near.index(last.winner)]
        won = f"it {_WON_BY[highest]} {len(last.near)} ({name} {as_shown(best)}){held}"
    if reason == "cap":
        return f"{leads}. {label_of(last.winner)!r} won the contest: {won}. {_but_capped(player)}"
    if arm == leader:
        return f"{leads} and won the contest: {won}."
    return f"{leads}. {label_of(arm)!r} won the contest: {won}."


def _because_of_a_look(player: Any, reason: str, arm: int, leader: int, leads: str) -> str:
    """Why an arm was pulled in a lead in which the leader looked around."""
    looked = f"{leads} and looked around for the peak by all rewards so far"
    if reason == "cap":
        return f"{looked}, and drew an arm. {_but_capped(player)}"
    share = f"probability {as_shown(player.look_probabilities(leader)[arm])}"
    if arm == player.doubtful(leader):
        return (
            f"{leads} and looked around: {player.view.label_of(arm)!r} is a neighbour with few "
            f"rewards for how little they speak against it ({share})."
        )
    if arm == leader:
        return f"{looked}: it drew its own place, or one that its own rewards refute ({share})."
    return f"{looked}: {player.view.label_of(arm)!r} was drawn as its place ({share})."


def _but_capped(player: Any) -> str:
    cap = player.limits.cap
    return (
        f"But it had had its {cap.most} of the last {cap.over} decisions (a cap of "
        f"{cap.share:g}), so the leader was played."
    )


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
