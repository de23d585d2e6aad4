"""Lines that strangers can cause: once per interval, and none is forgotten."""

import asyncio
import logging

from unimodal.service.server.quiet_log import QuietLog, quieted


def test_a_kind_of_line_is_logged_once_per_interval_with_its_count(caplog):
    now = [100.0]
    quiet = QuietLog(60.0, lambda: now[0])
    for number in range(1_000):
        quiet.warning("a wrong token from %s", number)
    quiet.warning("another line, 100 % of it fixed")
    now[0] += 60.0
    quiet.warning("a wrong token from %s", "x")
    assert [record.getMessage() for record in caplog.records] == [
        "a wrong token from 0",
        "another line, 100 % of it fixed",
        "a wrong token from x (999 more since the last such line)",
    ]


def test_what_was_left_out_is_told_when_nobody_comes_again(caplog):
    now = [0.0]
    quiet = QuietLog(60.0, lambda: now[0])
    for _ in range(5):
        quiet.warning("a wrong token from %s", "x")
    quiet.tell_left_out()
    now[0] += 60.0
    quiet.tell_left_out()
    quiet.tell_left_out()
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["a wrong token from x", "4 more times in 60 s: a wrong token from %s"]
    now[0] += 1.0
    quiet.warning("a wrong token from %s", "y")
    assert caplog.records[-1].getMessage() == "a wrong token from y"


def test_it_is_a_filter_of_other_loggers(caplog):
    now = [0.0]
    other, quiet = logging.getLogger("other"), QuietLog(60.0, lambda: now[0])
    other.addFilter(quiet)
    try:
        for _ in range(3):
            other.warning("Invalid HTTP request of %s", "x")
        now[0] += 60.0
        other.warning("Invalid HTTP request of %s", "y")
    finally:
        other.removeFilter(quiet)
    assert [record.getMessage() for record in caplog.records] == [
        "Invalid HTTP request of x",
        "Invalid HTTP request of y (2 more since the last such line)",
    ]


def test_errors_of_accepting_are_logged_once(caplog):
    async def fail():
        with quieted(QuietLog()):
            for _ in range(1_000):
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "socket.accept() out of system resource", "exception": OSError(24)}
                )

    asyncio.run(fail())
    assert len(caplog.records) == 1
