"""What happens when this process forks: campaigns pause, and what a child must not use is marked.

A child has copies of its parent's connections, locks and threads' locks, none of which it may use.
So whoever keeps such things says here what is to be done before a fork, after it in the parent, and
after it in the child. Campaigns are paused first: a call that is waited for may need the rest.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

from unimodal.campaigns.stores.store import Pausable

WAIT = 5.0  # seconds for which a fork waits for the calls of other threads


class Keeper(Protocol):
    """Somebody with something that a child inherits and must not use."""

    def before_fork(self) -> None:
        """Bring it into order, so that the child finds no half of something."""

    def after_fork_in_parent(self) -> None:
        """Go on."""

    def after_fork_in_child(self) -> None:
        """Forget it; it is the parent's."""


class _Forks:
    """The campaigns that are paused by forks, and the keepers that are told of them."""

    def __init__(self) -> None:
        self.keepers: list[Keeper] = []
        self._begin()

    def _begin(self) -> None:
        self.process, self.lock = os.getpid(), threading.Lock()
        self.campaigns: weakref.WeakSet[Pausable] = weakref.WeakSet()
        self._paused: list[Pausable] = []

    def check_process(self) -> None:
        """After a fork that nobody told us of (as C code makes them), forget what is inherited."""
        if self.process != os.getpid():
            self.after_in_child()

    def before(self) -> None:
        # Without a lock, since a call that is waited for may need it.
        self._paused = [one for one in list(self.campaigns) if one.pause(WAIT)]
        for keeper in self.keepers:
            keeper.before_fork()

    def after_in_parent(self) -> None:
        for keeper in self.keepers:
            keeper.after_fork_in_parent()
        paused, self._paused = self._paused, []
        for campaign in paused:
            campaign.go_on()

    def after_in_child(self) -> None:
        self._begin()
        for keeper in self.keepers:
            keeper.after_fork_in_child()


_forks = _Forks()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=_forks.before,
        after_in_parent=_forks.after_in_parent,
        after_in_child=_forks.after_in_child,
    )


def announce(campaign: Pausable) -> None:
    """Have a campaign paused by forks, until it is `dismiss`ed."""
    _forks.check_process()
    with _forks.lock:
        _forks.campaigns.add(campaign)


def dismiss(campaign: Pausable) -> None:
    """Have it paused no longer."""
    _forks.check_process()
    with _forks.lock:
        _forks.campaigns.discard(campaign)


def tell(keeper: Keeper) -> None:
    """Have somebody told of forks, for as long as the process lives."""
    _forks.keepers.append(keeper)


def check_process() -> None:
    """Look whether this is a copy of the process that it was; then what it inherited is forgotten.

    Forks that Python makes are told of by themselves.
    """
    _forks.check_process()


class PausedAtForks:
    """The part of a store that has its campaigns paused: a child must inherit no connection."""

    def pause_at_forks(self, campaign: Pausable) -> None:
        """Have a campaign paused by forks: connections are let go of for that moment."""
        announce(campaign)

    def let_fork(self, campaign: Pausable) -> None:
        """Have it paused no longer."""
        dismiss(campaign)
