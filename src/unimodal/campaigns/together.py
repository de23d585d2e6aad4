"""Several calls of one thread in one commit: what a service has collected while it waited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unimodal.campaigns.campaign import Campaign
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.state_machine import StateMachine
from unimodal.campaigns.transactions import TransactionRunner
from unimodal.errors import UnimodalError


class _Spoilt(Exception):
    """A call failed when it had changed something, so that all have to be undone."""


def do_together(campaign: Campaign, calls: Sequence[Call]) -> None:
    """Do calls in one transaction; each has its result or its error when this returns.

    A call that is refused, with nothing changed, disturbs no other. One that fails half-way has all
    of them undone; then they are done one by one, each in a commit of its own.
    """
    run = campaign._transactions

    def do_all(machine: StateMachine) -> None:
        for call in calls:
            if not TransactionRunner._do(call, machine):
                raise _Spoilt

    if len(calls) > 1:
        try:
            run(do_all, checks_first=False, may_repeat=all(call.may_repeat for call in calls))
            return
        except _Spoilt:
            pass
        except Exception as error:
            _fail(calls, error)
            return
    for call in calls:
        call.error = None
        try:
            call.result = run(_work(call), call.checks_first, call.may_repeat)
        except Exception as error:
            call.error = error


def _work(call: Call) -> Any:
    return call.work


def _fail(calls: Sequence[Call], error: Exception) -> None:
    """The commit failed: nothing of any call was kept."""
    for call in calls:
        # One sentence each: tracebacks of several answers would mix.
        own = type(error)(str(error)) if isinstance(error, UnimodalError) else error
        call.error, call.result = own, None
