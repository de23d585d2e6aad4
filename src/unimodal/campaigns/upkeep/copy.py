"""Copies of campaigns, from one store into another: the whole log, compared when it is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unimodal.campaigns.content_digests import Content, ContentDigests, content_of
from unimodal.campaigns.events import Row
from unimodal.campaigns.reading import read
from unimodal.campaigns.stores import Place, Store, StoreToRead, as_place, kind_of
from unimodal.campaigns.stores.retrying import no_interruptions
from unimodal.campaigns.upkeep.verify import Verdict, verify
from unimodal.errors import StoreError, UnimodalError
from unimodal.policies import Policy

Progress = Callable[[int, int], object]  # events done, and how many there are


@dataclass(frozen=True)
class Copied:
    """What `copy` did: `verdict` is that of `verify` on the copy, None where it was left out.

    Attributes
    ----------
    source
        The campaign.
    target
        The copy.
    events
        How many events it has.
    verdict
        What `verify` said of the copy.

    Examples
    --------
    >>> from unimodal.campaigns import Copied
    >>> Copied("prices.db", "copy.db", 2, None).events
    2
    """

    source: Place
    target: Place
    events: int
    verdict: Verdict | None

    def __str__(self) -> str:
        """One sentence for a person."""
        return (
            f"{self.source} was copied to {self.target} ({self.events:,} events), and the copy has "
            "the same settings, log, snapshots and rewards."
        )


def copy(
    source: str | Place,
    target: str | Place,
    policy: Policy | None = None,
    *,
    check: bool = True,
    progress: Progress | None = None,
) -> Copied:
    """Copy a campaign, as it is at this moment, into a new store; others go on meanwhile.

    The copy is read back and compared before it gets its name: there is all of it, or nothing. Then
    its state is computed again from its log (`verify`), unless `check` is False; a policy of your
    own has to be passed for that.

    Parameters
    ----------
    source
        A file, or the address of a campaign in PostgreSQL.
    target
        Where the copy shall be; nothing may be there.
    policy
        A policy of your own, which is not in the log.
    check
        Whether the copy is verified.
    progress
        Called with the number of events copied so far.

    Returns
    -------
    Copied
        What was copied.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> folder = tempfile.mkdtemp()
    >>> with um.Campaign.open(folder + "/prices.db", um.UTS(), um.graphs.line(3)) as campaign:
    ...     decision = campaign.decide()
    ...     copied = um.campaigns.copy(folder + "/prices.db", folder + "/copy.db")
    >>> copied.events, bool(copied.verdict)
    (2, True)
    """
    source = as_place(source, "the source of a copy")
    target = as_place(target, "the target of a copy")
    read(source, lambda reader: reader.settings())  # before anything is made of a wrong source
    with no_interruptions(), kind_of(target).new_store(target) as store:
        found = read(source, lambda reader: _filled(store, reader, target, progress))
        if content_of(store) != found:
            raise StoreError(
                f"the copy of {source} at {target} did not come back as it was written, so it was "
                "not kept: check the disk, and copy again."
            )
    return Copied(source, target, found.events, verify(target, policy) if check else None)


def _filled(store: Store, reader: StoreToRead, target: Place, progress: Progress | None) -> Content:
    """Fill a new store inside of its transaction, from the beginning if it is done again."""
    store.roll_back()
    store.begin()
    if not store.is_new():
        raise UnimodalError(
            f"there is a campaign {target} already, and a copy is a new one: name another."
        )
    settings, digests, last = reader.settings(), ContentDigests(), reader.last()
    store.create(settings)
    for rows in reader.rows():
        store.append([Row._make(row) for row in rows])
        digests.add_events(rows)
        if progress is not None:
            progress(rows[-1][0], last)
    for kept in reader.kept_rewards():
        store.put(rewards=kept)
        digests.add_rewards(kept)
    for seq, version in reader.snapshots():
        state = reader.snapshot(seq)
        store.put(snapshots=[(seq, version, state)])
        digests.add_snapshot(seq, version, state)
    content = digests.content(settings)
    if content.version is not None:
        store.written_by(content.version)
    return content
