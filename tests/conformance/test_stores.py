"""All stores pass the suite that users can import; it finds stores that break their promises.

A new store is a line in STORES. What is known of files, processes and modules is tested here.
"""

import ast
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns.stores import as_place, kind_of, postgresql, sqlite
from unimodal.campaigns.stores.sqlite import SqliteStore
from unimodal.testing import STORE_CHECKS, check_store
from unimodal.testing.simulation.memory import MEMORY, MemoryPlace
from unimodal.testing.stores import Stores, decision, write

# The kind of store, and where a new one is, given the test's fixtures.
STORES = {
    "sqlite": (sqlite, lambda get: next_file(get("tmp_path"))),
    "postgresql": (postgresql, lambda get: as_place(get("postgresql")(), "a test's")),
    "memory": (MEMORY, lambda get: MemoryPlace("a test's")),
}
SOURCE = Path(um.__file__).parent
NUMBERS = itertools.count()


def next_file(folder):
    return folder / f"campaign-{next(NUMBERS)}.db"


@pytest.fixture(params=STORES)
def kind(request):
    return STORES[request.param][0]


@pytest.fixture
def new_place(kind, request):
    """Makes a place where no campaign is."""
    where = next(where for known, where in STORES.values() if known is kind)
    return lambda: where(request.getfixturevalue)


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_a_store_does_what_it_promises(kind, new_place, check):
    check(kind, new_place)


# The suite finds what is broken.


def nothing(*_, **__):
    return None


def forgetful(store, events):
    """Keeps all but the last event of several."""
    usual["append"](store, events[:-1] if len(events) > 1 else events)


def writes_blindly(store, events):
    store.begin()
    store.put(events=events)
    store.commit()


def with_old_numbers(store, before, spare):
    usual["drop"](store, before - 1, spare)


def in_no_order(store, after=0, until=None):
    for rows in usual["rows"](store, after, until):
        yield rows[::-1]


def half_a_transaction(store):
    store.commit() if store._transaction is not None and store.last() else usual["roll_back"](store)


usual = {
    name: getattr(SqliteStore, name)
    for name in ("append", "drop", "rows", "roll_back", "begin", "suspend")
}
BROKEN = {
    "begin": nothing,
    "append": forgetful,
    "append_at_once": writes_blindly,
    "commit": lambda store: usual["roll_back"](store),
    "roll_back": half_a_transaction,
    "rows": in_no_order,
    "version": lambda store: 1,
    "drop": with_old_numbers,
    "last_key": nothing,
    "find_rewards": nothing,
    "lost_rewards": lambda store: 0,
    "reward_of": nothing,
    "keep_setting": nothing,
    "written_by": lambda store, version: True,
    "drop_rewards": nothing,
    "drop_snapshot": nothing,
    "drop_snapshots": nothing,
    "resume": nothing,
    "is_new": lambda store: False,
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_store_with_a_method_that_is_broken_is_found(broken, tmp_path, monkeypatch):
    monkeypatch.setattr(SqliteStore, broken, BROKEN[broken])
    with pytest.raises((AssertionError, um.errors.StoreError)):
        check_store(sqlite, lambda: next_file(tmp_path))


def test_a_check_says_what_was_expected_and_what_came(tmp_path, monkeypatch):
    monkeypatch.setattr(SqliteStore, "lost_rewards", lambda store: 7)
    with pytest.raises(AssertionError, match="the rewards that are lost must be 0, got 7"):
        check_store(sqlite, lambda: next_file(tmp_path))


# Processes.


def test_a_campaign_is_paused_by_a_fork(kind, new_place):
    """In the parent it goes on; that children open it themselves is tested with campaigns."""
    stores, calls = Stores(kind, new_place), []
    store = stores.created()

    class Campaign:
        def pause(self, seconds):
            store.suspend()
            calls.append("pause")
            return True

        def go_on(self):
            calls.append("go on")

    campaign = Campaign()
    store.pause_at_forks(campaign)
    subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=lambda: None)  # which forks
    store.let_fork(campaign)
    subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=lambda: None)
    assert calls in (["pause", "go on"], [])  # not every store has to do something
    store.resume()
    write(store, decision(1, 1))
    store.close()


# The code.


def imports(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_one_file_imports_sqlite3():
    files = list(SOURCE.rglob("*.py"))
    assert len(files) > 150
    found = [file for file in files if {"sqlite3", "_sqlite3"} & set(imports(file))]
    assert found == [SOURCE / "campaigns" / "stores" / "sqlite" / "connection.py"]


def test_one_file_imports_psycopg():
    users = [file for file in SOURCE.rglob("*.py") if "psycopg" in set(imports(file))]
    inside = [file for file in users if SOURCE / "testing" not in file.parents]
    assert inside == [SOURCE / "campaigns" / "stores" / "postgresql" / "connection.py"]


def test_a_path_leads_to_a_file_of_sqlite(tmp_path):
    assert kind_of(tmp_path / "campaign.db") is sqlite


def test_an_address_leads_to_postgresql():
    assert kind_of(as_place("postgresql://ann@host/shop?campaign=a", "a test's")) is postgresql


ELSEWHERE = """
import os, pkgutil, sys
for name in ("fork", "forkpty", "register_at_fork", "sched_getaffinity", "O_CLOEXEC", "sysconf"):
    if hasattr(os, name):
        delattr(os, name)
sys.modules["fcntl"] = None  # to import it is an ImportError
import unimodal
names = ["unimodal", *(m.name for m in pkgutil.walk_packages(unimodal.__path__, "unimodal."))]
for name in names:
    if not name.endswith("__main__"):
        __import__(name)
folder = sys.argv[1]
with unimodal.Campaign.open(folder + "/a.db", unimodal.UTS(), unimodal.graphs.line(3)) as campaign:
    campaign.reward(campaign.decide().id, 1.0)
assert unimodal.verify(folder + "/a.db").counts["reward"] == 1
print(len(names))
"""


def test_nothing_needs_forks_or_the_locks_of_unix_to_be_imported(tmp_path):
    """As on Windows, where neither exists; a campaign does without them."""
    found = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 150
