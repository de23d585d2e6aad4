"""How property tests run: the same examples every time, however slow the machine is.

And a PostgreSQL for those who ask for one: that of `UNIMODAL_TEST_POSTGRESQL`, or one of our own.
"""

import itertools
import os

import pytest
from hypothesis import HealthCheck, settings

from tests.postgresql_server import PostgresqlServer

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def postgresql():
    """A function that makes the address of a campaign that is not there yet."""
    names = (f"campaign {os.getpid()} {number}" for number in itertools.count())
    if given := os.environ.get("UNIMODAL_TEST_POSTGRESQL"):
        join = "&" if "?" in given else "?"
        yield lambda name=None: f"{given}{join}campaign={name or next(names)}"
        return
    with PostgresqlServer(fsync="off") as server:
        yield lambda name=None: server.address(name or next(names))
