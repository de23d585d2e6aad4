"""Files of older formats are brought up to date: forward only, and a copy of the file is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unimodal.campaigns.stores import DatabaseAddress, Place, as_place, sqlite
from unimodal.campaigns.upkeep.verify import Verdict, verify
from unimodal.errors import UnimodalError
from unimodal.policies import Policy


@dataclass(frozen=True)
class Migrated:
    """What `migrate` did: `copy` is the file as it was; None where nothing was to be done.

    Attributes
    ----------
    path
        The file.
    was
        The format that it had.
    now
        The format that it has.
    copy
        The file as it was.
    verdict
        What `verify` said of it.

    Examples
    --------
    >>> from unimodal.campaigns import Migrated, Verdict
    >>> Migrated("prices.db", 1, 2, "prices.db.format1.bak", Verdict("prices.db")).now
    2
    """

    path: Path
    was: int
    now: int
    copy: Path | None
    verdict: Verdict

    def __str__(self) -> str:
        """One sentence for a person."""
        if self.copy is None:
            return f"{self.path} has format {self.was}, which this version reads: nothing to do."
        return (
            f"{self.path} had format {self.was} and has format {self.now} now; {self.copy} is the "
            "file as it was."
        )


def migrate(path: str | Place, policy: Policy | None = None) -> Migrated:
    """Bring a file that an older version wrote up to date, and verify it.

    The file as it was is kept beside it, as FILE.format1.bak. Killed at any moment, the file is as
    it was or up to date. Nobody else may use it meanwhile, which a file of such a format cannot be
    with this version. A policy of your own has to be passed.

    Parameters
    ----------
    path
        The file of an older version.
    policy
        A policy of your own, which is not in the log.

    Returns
    -------
    Migrated
        What was done.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> file = tempfile.mkdtemp() + "/prices.db"
    >>> um.Campaign.open(file, um.UTS(), um.graphs.line(3)).close()
    >>> print(um.campaigns.migrate(file).copy)
    None
    """
    place = as_place(path, "the path of a campaign")
    if isinstance(place, DatabaseAddress):
        raise UnimodalError(
            f"a campaign's file is what can be migrated, got {place}: tables in a database are "
            "brought up to date when a campaign is opened there."
        )
    was, now, copy = sqlite.migrate_file(place)
    return Migrated(place, was, now, copy, verify(place, policy))
