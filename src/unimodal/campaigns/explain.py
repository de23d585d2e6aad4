"""Why a decision fell on its arm: what was known then, what was drawn, and who won."""

from __future__ import annotations

from unimodal.agents.explaining import because, competitors
from unimodal.agents.explanation import Explanation
from unimodal.agents.label_text import as_text
from unimodal.campaigns.events import KINDS, Decided, Row
from unimodal.campaigns.events.json_text import parsed
from unimodal.campaigns.fold import Fold
from unimodal.campaigns.log_reader import no_clock
from unimodal.campaigns.log_start import begins_after
from unimodal.campaigns.reading import Archives, read, saved_settings
from unimodal.campaigns.state import State
from unimodal.campaigns.stores import Place, StoreToRead
from unimodal.campaigns.stores.event_identity import fitting_snapshots
from unimodal.errors import DamagedFile, UnimodalError, UnknownDecision, whole_number
from unimodal.policies import Policy
from unimodal.version import __version__


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
        fold = Fold.restored(settings, store, no_clock, _snapshot_before(store, number))
        event = _decision(store, number, fold.state)
        fold.catch_up(event.seq - 1)
        return _explained(fold.state, event, store)

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


def _decision(store: StoreToRead, number: int, state: State) -> Decided:
    made = state.book.made
    for rows in store.rows(state.seq):
        for row in map(Row._make, rows):
            if KINDS.get(row.kind) is Decided:
                made = row.decision or 0
                if made == number:
                    return Decided.of(row)
    raise UnknownDecision(
        f"there is no decision {number} to explain: the campaign made "
        f"{f'{made:,} so far' if made else 'none yet'}."
    )


def _explained(state: State, event: Decided, store: StoreToRead) -> Explanation:
    played, differs = state.play_with_contests()
    agent = state.agent
    arm, leader = agent.label_of(played.arm), played.leader_of(agent)
    again = Decided(
        event.seq, event.time, event.decision, as_text(arm), played.reason,
        as_text(leader), played.near,
    )  # fmt: skip
    if again.told() != event.told() or differs:
        raise UnimodalError(
            f"decision {event.decision} of {store.path} cannot be explained here: the log has "
            f"{event.told()}, and unimodal {__version__} on this machine makes it {again.told()}, "
            "or had made an earlier one otherwise; `unimodal verify` names the first."
        )
    last = played.contests[-1] if played.contests else None
    return Explanation(
        id=int(event.decision or 0),
        arm=arm,
        reason=played.reason,
        leader=leader,
        time=event.time,
        policy=repr(agent.policy),
        round=agent.round,
        because=because(agent, played),
        value_name=played.value_name,
        contests=len(played.contests),
        winner=None if last is None else agent.label_of(last.winner),
        competitors=tuple(competitors(agent, played)),
        paused=tuple(agent.paused),
        propensity=event.propensity,
    )
