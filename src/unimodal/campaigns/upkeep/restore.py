"""A copy of a campaign is put in the place of its file: checked first, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from dataclasses import replace as with_other
from pathlib import Path

from unimodal import files
from unimodal.campaigns.stores import DatabaseAddress, Place, as_place, sqlite
from unimodal.campaigns.stores.sqlite.file_locks import is_in_use
from unimodal.campaigns.upkeep.verify import Verdict, sentence, verify
from unimodal.errors import Busy, StoreError, UnimodalError
from unimodal.policies import Policy

_BESIDE = ("-wal", "-shm")


@dataclass(frozen=True)
class Restored:
    """What `restore` did: `replaced` is the file that was there, under another name.

    Attributes
    ----------
    backup
        The copy.
    path
        The campaign, which is as the copy is.
    replaced
        The file that was there before; None if there was none.
    verdict
        What `verify` said of it.

    Examples
    --------
    >>> from unimodal.campaigns import Restored, Verdict
    >>> print(Restored("monday.db", "prices.db", None, Verdict("prices.db")))
    prices.db is as monday.db now.
    """

    backup: Path
    path: Path
    replaced: Path | None
    verdict: Verdict

    def __str__(self) -> str:
        """One sentence for a person."""
        kept = f"; what was there before is {self.replaced}" if self.replaced else ""
        return f"{self.path} is as {self.backup} now{kept}."


def restore(
    backup: str | Place,
    target: str | Place,
    policy: Policy | None = None,
    *,
    replace: bool = False,
) -> Restored:
    """Put a copy of a campaign in the place of its file, which is kept under another name.

    Do not do this by `cp`: what is left of the file before in its -wal would be written over the
    copy. The copy is read, and verified, before anything changes; it stays where it is. Nobody may
    have the target open. Killed at any moment, the target is as it was, as the copy, or not there.

    Parameters
    ----------
    backup
        What `backup` or `copy` wrote.
    target
        The file of the campaign.
    policy
        A policy of your own, which is not in the log.
    replace
        Whether a file that is there may be replaced.

    Returns
    -------
    Restored
        What was done.

    Raises
    ------
    StoreError
        If the copy is no campaign, is not sound, or the target is in use.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> folder = tempfile.mkdtemp()
    >>> with um.Campaign.open(folder + "/prices.db", um.UTS(), um.graphs.line(3)) as campaign:
    ...     copy = campaign.backup(folder + "/monday.db")
    ...     decisions = campaign.decide(5)
    >>> done = um.campaigns.restore(copy, folder + "/prices.db", replace=True)
    >>> with um.Campaign.open(done.path) as campaign:
    ...     campaign.decide().id
    1
    >>> um.campaigns.look(done.replaced).agent.outstanding
    5
    """
    source, path = _file(backup, "the copy"), _file(target, "the target")
    try:
        _check_target(source, path, replace)
        verdict = verify(source, policy)
        if not verdict:
            wrong = sentence(verdict).removesuffix(".")
            raise StoreError(f"{wrong}, so nothing was restored: take another copy.")
        return Restored(source, path, _put(source, path), with_other(verdict, path=path))
    except OSError as error:
        raise StoreError(
            f"{path} could not be replaced ({error.strerror or error}): check its folder and "
            "rights, and restore again."
        ) from None


def _put(source: Path, path: Path) -> Path | None:
    """Put a copy in the place of a file; the new name of what was there, if there was something."""
    made = path.with_name(f".{path.name[:100]}-{secrets.token_hex(6)}")
    try:
        with files.new_file(made, "a campaign") as draft:
            sqlite.copy_file(source, draft)
        if problems := sqlite.read_store(made, lambda store: store.problems()):
            raise StoreError(
                f"{source} did not come back as it was written ({problems[0]}), so nothing was "
                "restored: check the disk."
            )
        replaced = _moved_aside(path)
        files.give_name(made, path, "a campaign")
        return replaced
    finally:
        made.unlink(missing_ok=True)


def _file(given: str | Place, what: str) -> Path:
    place = as_place(given, f"{what} of a restoration")
    if isinstance(place, DatabaseAddress):
        raise UnimodalError(
            f"{what} of a restoration must be a file, got {place}: `unimodal copy` puts a campaign "
            "into a database, under a new name, and back into a file."
        )
    return place


def _check_target(source: Path, path: Path, replace: bool) -> None:
    """Refuse a place where the copy should not be put."""
    there = [f"{path}{ending}" for ending in ("", *_BESIDE) if os.path.lexists(f"{path}{ending}")]
    if path.is_dir() or path.is_symlink():
        raise StoreError(
            f"{path} must be a file's own name, got a folder or a link: name the file."
        )
    if there and path.exists() and source.exists() and os.path.samefile(source, path):
        raise StoreError(f"{source} is the target itself: name the copy, and then the target.")
    if there and not replace:
        raise StoreError(
            f"there is {there[0]} already: say that it is to be replaced (--replace, "
            "replace=True), and it is kept under another name."
        )
    if path.exists() and is_in_use(path):
        raise Busy(
            f"{path} is open here or in another process, which would go on with the file before: "
            "close it there, and restore again."
        )


def _moved_aside(path: Path) -> Path | None:
    """Give a file and what lies beside it other names, so that it can still be opened."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.replaced-{stamp}-{secrets.token_hex(2)}")
    there = [ending for ending in _BESIDE if os.path.lexists(f"{path}{ending}")]
    for ending in there:  # first, so that a kill leaves the file with its -wal
        with contextlib.suppress(OSError):  # a file system without links
            os.link(f"{path}{ending}", f"{aside}{ending}")
    found = path.exists()
    if found:
        os.rename(path, aside)
    for ending in there:
        os.replace(f"{path}{ending}", f"{aside}{ending}")
        with contextlib.suppress(FileNotFoundError):  # of two names of one file neither is moved
            os.unlink(f"{path}{ending}")
    return aside if found or there else None
