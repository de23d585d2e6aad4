"""Whether the state of a campaign is the fold of its log, bit for bit."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from unimodal.campaigns.events import Decided, Expired, Observed, Rewarded
from unimodal.campaigns.fold import Fold
from unimodal.campaigns.log_reader import no_clock
from unimodal.campaigns.log_start import archived, unchecked
from unimodal.campaigns.reading import Archives, load, read, saved_settings
from unimodal.campaigns.state_text import is_state
from unimodal.campaigns.stores import Place, StoreToRead
from unimodal.campaigns.stores.event_identity import fitting_snapshots
from unimodal.errors import DamagedFile, StoreError, UnimodalError
from unimodal.policies import Policy
from unimodal.version import __version__


@dataclass
class Verdict:
    """What `verify` found; true if nothing is wrong.

    Attributes
    ----------
    path
        The campaign.
    first
        The event after which the log begins; 0 if it is whole.
    events
        How many events were folded.
    counts
        Decisions, rewards and expiries.
    snapshots
        The events at which snapshots were compared.
    unchecked
        What could not be checked, in words.
    wrong
        What is wrong, in words; empty if nothing is.

    Examples
    --------
    >>> import unimodal as um
    >>> bool(um.campaigns.Verdict("prices.db")), bool(um.campaigns.Verdict("a", wrong=["event 3"]))
    (True, False)
    """

    path: Place
    first: int = 0  # the event after which the log was folded
    events: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # events by kind
    snapshots: list[int] = field(default_factory=list)  # those that are equal, by event
    unchecked: list[str] = field(default_factory=list)  # what cannot be checked, in words
    wrong: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def verify(path: str | Place, policy: Policy | None = None, archives: Archives = ()) -> Verdict:
    """Compute the state of a campaign again from its log, and compare it with the snapshots kept.

    Every decision of the log is made again and must choose the same arm: the first that does not is
    named. (Whoever opens or inspects a campaign follows the decisions that its log records.) Every
    snapshot must be the same text. Events from before this version of unimodal took the file over
    from another one, for the last time, are not folded again: it starts from the snapshot with
    which it did. Nor are events that `compact` has moved, unless all `archives` are passed.

    Parameters
    ----------
    path
        A file, or the address of a campaign in PostgreSQL.
    policy
        A policy of your own, which is not in the log.
    archives
        Files that `compact` wrote.

    Returns
    -------
    Verdict
        True if nothing is wrong; `campaigns.sentence` puts it into words.

    Raises
    ------
    StoreError
        If the campaign cannot be read.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> with um.Campaign.open(file, um.UTS(), um.graphs.line(3)) as campaign:
    ...     told = campaign.reward(campaign.decide().id, 1.0)
    >>> bool(um.verify(file))
    True
    """
    archives = load(archives)
    with ThreadPoolExecutor(1) as beside:  # SQLite looks at its pages while Python folds
        pages = beside.submit(read, path, _looked_through, archives)
        verdict = read(path, lambda store: folded(store, policy), archives)
        problems, lost = pages.result()
    if problems:
        return Verdict(verdict.path, wrong=problems)
    if lost and not verdict.wrong:
        verdict.wrong.append(f"the table 'rewards' differs from the log in {lost:,}")
    return verdict


def _looked_through(store: StoreToRead) -> tuple[list[str], int]:
    """What SQLite itself finds wrong, and how many rewards would not be found."""
    problems = store.problems()
    return problems, 0 if problems else store.lost_rewards()


def folded(store: StoreToRead, policy: Policy | None) -> Verdict:
    """The verdict on settings, log and snapshots of a store at one moment."""
    verdict = Verdict(store.path)
    try:
        fitting, unfit = fitting_snapshots(store)
        store.settings()
        verdict.unchecked, begin = unchecked(store)
    except UnimodalError as error:
        if not _is_about_content(error):
            raise
        verdict.wrong.append(str(error))
        return verdict
    own, first = _own_snapshots(fitting)
    verdict.first = max(first, begin)
    compared = sorted([seq for seq in own if seq >= verdict.first] + unfit)
    settings = saved_settings(store, policy)  # raises: another policy is the caller's mistake
    try:
        fold = Fold.restored(settings, store, no_clock, verdict.first, decides_again=True)
        for seq in compared:
            fold.catch_up(seq)
            if fold.state.seq < seq:
                verdict.wrong.append(f"the log has no event {seq}, of which there is a snapshot")
            elif seq in unfit:
                verdict.wrong.append(
                    f"the snapshot after event {seq} is not the fold of the log, in which that is "
                    "another event: the store was set back, and who opens it drops the snapshot"
                )
            elif is_state(store.snapshot(seq), fold.state.text()):
                verdict.snapshots.append(seq)
            else:
                verdict.wrong.append(f"the snapshot after event {seq} is not the fold of the log")
        fold.catch_up()
    except UnimodalError as error:
        if not _is_about_content(error):
            raise
        verdict.wrong.append(str(error))
        return verdict
    moved = Counter(archived(store).get("counts", {}))
    verdict.counts = dict(fold.state.counts + Counter(store.counts(verdict.first)) + moved)
    verdict.events = fold.state.seq - verdict.first
    return verdict


def _own_snapshots(snapshots: list[tuple[int, str]]) -> tuple[list[int], int]:
    """The snapshots of this version since it took the store over last, and the event of the first.

    0 for that event where no other version has had it.
    """
    own = [seq for seq, version in snapshots if version == __version__]
    others = [seq for seq, version in snapshots if version != __version__]
    if not own or not others:
        return own, 0
    own = [seq for seq in own if seq > others[-1]] or own  # it has not been opened since
    return own, own[0]


def _is_about_content(error: UnimodalError) -> bool:
    """Whether it says something about what is in the store; not where it could not be read."""
    return isinstance(error, DamagedFile) or not isinstance(error, StoreError)


def sentence(verdict: Verdict) -> str:
    """The verdict for a person.

    Parameters
    ----------
    verdict
        What `verify` returned.

    Returns
    -------
    str
        One sentence, or one for each thing that is wrong.

    Examples
    --------
    >>> import unimodal as um
    >>> sentence(um.campaigns.Verdict("prices.db")).split(":")[0]
    'prices.db is sound'
    """
    path, counts = verdict.path, verdict.counts
    if not verdict:
        return f"{path} is NOT sound: {'; '.join(verdict.wrong)}."
    since = f" since event {verdict.first:,}" if verdict.first else ""
    told = (
        f", told without a decision: {counts[Observed.kind]:,}" if counts.get(Observed.kind) else ""
    )
    rest = f" Not checked: {'; '.join(verdict.unchecked)}." if verdict.unchecked else ""
    return (
        f"{path} is sound: its log{since} folds to the same state as "
        f"{len(verdict.snapshots)} snapshot{'s' * (len(verdict.snapshots) != 1)}, bit for bit "
        f"(events: {verdict.events:,}; decisions: {counts.get(Decided.kind, 0):,}, "
        f"rewards: {counts.get(Rewarded.kind, 0):,}, expired: {counts.get(Expired.kind, 0):,}"
        f"{told}).{rest}"
    )
