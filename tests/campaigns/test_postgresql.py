"""Campaigns in PostgreSQL: addresses, rights, settings, and what goes wrong with a server.

Each row about PostgreSQL of the table in docs/guide/production.md has a test here or in
test_kill_postgresql.py.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

import unimodal as um
from tests.postgresql_server import PostgresqlServer
from unimodal.campaigns.certifying import certificate
from unimodal.campaigns.commands.rewarding import telling
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.reading import look, read
from unimodal.campaigns.stores import as_place, postgresql
from unimodal.campaigns.stores.postgresql import schema as postgresql_schema
from unimodal.campaigns.stores.postgresql import session as postgresql_session
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.store import Interrupted
from unimodal.cli.app import app
from unimodal.errors import Busy, OtherCampaign, ReadOnly, StoreError, WrongVersion

LINE = um.graphs.line(5)


@pytest.fixture(scope="module")
def server():
    """A server of this module's own, which may be stopped and killed."""
    with PostgresqlServer(host="127.0.0.1", fsync="off") as server:
        yield server


@pytest.fixture
def database(server, request):
    """A new database; its name."""
    name = f"database_{id(request)}"
    server.execute(f'CREATE DATABASE "{name}"')
    yield name
    server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def opened():
    """Opens a campaign, which is closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda address, **named: stack.enter_context(
            um.Campaign.open(address, um.UTS(), LINE, **{"seed": 4, "wait": 60, **named})
        )


def log(address):
    return read(address, lambda store: [row for rows in store.rows() for row in rows])


def kinds(address):
    assert um.verify(address).wrong == []
    return [row[2] for row in log(address)]


# Addresses.


def test_an_address_names_a_campaign_and_leaves_the_rest_to_libpq():
    found = as_place("postgresql://ann:se:cr%40et@a:1,b/shop?sslmode=require&campaign=a%26b", "it")
    assert found.campaign == "a&b"
    assert found.conninfo == "postgresql://ann:se:cr%40et@a:1,b/shop?sslmode=require"
    assert str(found) == repr(found) == "postgresql://ann@a:1,b/shop?campaign=a%26b"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hun%21ter2@[::1/shop?campaign=a",
        "postgresql://ann:hun%21ter2@host:1:2/shop?campaign=a",
        "postgresql://ann@host/shop?campaign=a&password=hun%21ter2&colour=%zz",
    ],
)
def test_no_message_shows_a_password(address):
    with pytest.raises(StoreError) as refused:
        um.verify(address)
    assert "hun" not in str(refused.value) and "ter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ann@host/shop", "must name one campaign, .* got none in postgresql://ann@"),
        ("postgresql://ann@host/shop?campaign=", "must name one campaign"),
        ("postgresql://host/shop?campaign=a&campaign=b", "must name one campaign, .* got 2 in"),
        (f"postgresql://host/shop?campaign={'a' * 201}", "at most 200 printable characters"),
        ("postgresql://host/shop?campaign=a%0Ab", "at most 200 printable characters"),
        ("postgresql://host/shop?campaign=a&colour=red", "must be an address that libpq reads"),
        ("postgresql://host:many/shop?campaign=a", "must be an address that libpq reads"),
        ("postgresql://nowhere.invalid/shop?campaign=a", "names a host that is not there"),
    ],
)
def test_a_wrong_address_is_refused(address, words):
    for call in (lambda: um.Campaign.open(address, um.UTS(), LINE), lambda: um.verify(address)):
        with pytest.raises(um.UnimodalError, match=words):
            call()


def test_without_psycopg_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)  # to import it is an ImportError
    with pytest.raises(StoreError, match=r"pip install 'unimodal\[postgresql\]'"):
        um.verify("postgresql://ann@host/shop?campaign=a")


def test_what_is_printed_of_a_campaign_has_no_password_in_it(server, opened, tmp_path, caplog):
    """The server takes any: what reached it, and all that is told of it, is looked at."""
    address = server.address("secret", user="postgres:zq7%2Fxw9")
    campaign = opened(f"{address}&sslpassword=zq7%40xw9")
    campaign.reward([d.id for d in campaign.decide(20)], [1.0] * 20)
    said = [repr(campaign), repr(vars(campaign)), repr(look(address)), repr(um.verify(address))]
    page = tmp_path / "page.html"
    for command in (
        *(["verify", address], ["explain", address, "3"], ["explain", address, "999"]),
        *(["inspect", address, "--html", str(page)], ["inspect", address], ["certify", address]),
        *(["backup", address, "there.db"], ["copy", address, address], ["verify", f"{address}2"]),
    ):
        done = CliRunner().invoke(app, command)
        said += [done.output, str(done.exception)]
    said += [page.read_text(encoding="utf-8"), caplog.text]
    assert not [text for text in said if "zq7" in text or "xw9" in text]
    assert sum("postgresql://postgres@127.0.0.1" in text for text in said) >= 6


def test_commands_take_an_address(server, opened):
    address = server.address("commands")
    campaign = opened(address)
    campaign.reward([d.id for d in campaign.decide(20)], [1.0] * 20)
    for command in (
        *(["verify", address], ["inspect", address], ["explain", address, "3"]),
        ["replay", address, "--policies", "uts", "--draws", "20"],
        ["certify", address],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == (1 if command[0] == "certify" else 0), done.output
        assert command[0] != "verify" or f"{address} is sound" in done.output


def test_readers_wait_for_nobody_and_nobody_waits_for_them(
    server, opened, tmp_path, monkeypatch, request
):
    """A writer is inside a transaction all the time; no lock that is taken is in its way."""
    address, ask, seen = server.address("readers"), PostgresqlConnection.ask, set()
    campaign = opened(address)
    campaign.reward([d.id for d in campaign.decide(20)], [1.0] * 20)

    def watched(connection, statement, values=None):
        found, pid = ask(connection, statement, values), connection._connection.info.backend_pid
        locks = f"SELECT locktype, mode FROM pg_locks WHERE pid = {pid}"
        seen.update(server.execute(locks))
        if connection.in_transaction:
            seen.update(ask(connection, "SHOW transaction_read_only;")[0])
        return found

    writer = postgresql.open_store(as_place(address, "it"), "full", 60.0)
    request.addfinalizer(writer.close)
    writer.begin()
    monkeypatch.setattr(PostgresqlConnection, "ask", watched)
    assert um.verify(address) and um.inspect(address) is not None
    assert um.campaigns.explain(address, 3).id == 3
    assert um.replay(address, [um.UTS()], draws=20) is not None
    assert certificate(look(address)) is not None
    assert um.campaigns.export(address, tmp_path / "log.parquet").rows == 41
    assert um.campaigns.copy(address, tmp_path / "copy.db").verdict
    monkeypatch.undo()
    writer.commit()  # it was not cut off
    none = {("relation", "AccessShareLock"), ("virtualxid", "ExclusiveLock")}
    assert seen == {*none, ("on",)}  # the transaction cannot write


# Who may do what.


def test_a_wrong_password_and_a_wrong_user(server, tmp_path, monkeypatch):
    server.execute("CREATE ROLE ann LOGIN PASSWORD 'right'")
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"host all ann 127.0.0.1/32 scram-sha-256\n{before}")
    server.execute("SELECT pg_reload_conf()")
    address = server.address("a", user="ann:wrong")
    deadline, told = time.monotonic() + 30, "no campaign"
    while "no campaign" in told and time.monotonic() < deadline:  # it has to read its rules
        with pytest.raises(StoreError) as refused:
            um.verify(address)
        told = str(refused.value)
    assert "wrong" not in told
    for call in (um.verify, lambda place: um.Campaign.open(place, um.UTS(), LINE)):
        with pytest.raises(StoreError, match="check the user and the password"):
            call(address)
    bare, kept = server.address("a", user="ann"), tmp_path / "passwords"
    kept.write_text("*:*:*:ann:right\n")
    kept.chmod(0o600)
    (tmp_path / "services").write_text(f"[shop]\nhost=127.0.0.1\nport={server.port}\nuser=ann\n")
    for name, value in (("PGPASSWORD", "right"), ("PGPASSFILE", str(kept))):  # as the guide says
        with monkeypatch.context() as environment:
            environment.setenv(name, value)
            environment.setenv("PGSERVICEFILE", str(tmp_path / "services"))
            for let_in in (bare, "postgresql:///postgres?service=shop&campaign=a"):
                # It is let in: whether there are tables by now is another matter.
                with pytest.raises(StoreError, match=r"there is no campaign|permission denied for"):
                    um.verify(let_in)
    with pytest.raises(StoreError, match="does not know this user"):
        um.verify(server.address("a", user="nobody-of-that-name"))
    rules.write_text(before)
    server.execute("SELECT pg_reload_conf()")


def test_a_database_that_is_not_there(server):
    for call in (um.verify, lambda place: um.Campaign.open(place, um.UTS(), LINE)):
        with pytest.raises(StoreError, match="create the database, or name another"):
            call(server.address("a", "no_such"))


def test_a_user_without_rights(server, database, opened):
    server.execute("CREATE ROLE bob LOGIN")
    address = server.address("a", database, "bob")
    with pytest.raises(ReadOnly, match=r"may not be used so by this user \(permission denied"):
        um.Campaign.open(address, um.UTS(), LINE)
    opened(server.address("a", database)).decide()
    for call in (um.verify, lambda place: um.Campaign.open(place, um.UTS(), LINE)):
        with pytest.raises(ReadOnly, match=r"may not be used so by this user \(permission denied"):
            call(address)


def test_a_role_that_may_only_read_reads(server, database, opened):
    """The rights are those that docs/guide/postgresql.md names."""
    campaign = opened(server.address("a", database))
    campaign.reward(campaign.decide().id, 1.0)
    server.execute("CREATE ROLE reader LOGIN")
    for line in granted("reader"):
        server.execute(line, database)
    address = server.address("a", database, "reader")
    assert um.verify(address) and look(address).agent.round == 1
    assert um.inspect(address) is not None and um.campaigns.explain(address, 1).arm == 0
    before = log(address)
    with pytest.raises(ReadOnly):
        um.Campaign.open(address)
    assert log(address) == before


def granted(to):
    """The statements by which the page on PostgreSQL lets a role in."""
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "postgresql.md").read_text()
    found = [line.strip() for line in guide.splitlines() if line.strip().startswith("GRANT ")]
    return [line for line in found if line.endswith(f"TO {to};")]


def test_a_role_that_may_write_needs_no_right_to_make_tables(server, database, opened):
    opened(server.address("a", database))
    server.execute("CREATE ROLE writer LOGIN")
    for line in granted("writer"):
        server.execute(line, database)
    campaign = opened(server.address("b", database, "writer"))
    campaign.reward([one.id for one in campaign.decide(30)], [1.0] * 30)
    campaign.close()  # with a snapshot
    assert um.verify(server.address("b", database, "writer"))


# Tables and campaigns.


def test_tables_of_another_version(server, database, opened):
    address = server.address("a", database)
    campaign = opened(address)
    campaign.decide()
    server.execute("UPDATE unimodal.schema_version SET version = 99", database)
    for call in (um.verify, um.Campaign.open):
        with pytest.raises(WrongVersion, match="has tables of version 99, this version"):
            call(address)
    server.execute("UPDATE unimodal.schema_version SET version = 1", database)
    assert kinds(address) == ["open", "decide"]


def test_tables_of_an_older_version_are_changed_by_who_may_write(
    server, database, opened, monkeypatch
):
    address = server.address("a", database)
    opened(address).decide()
    first = postgresql_schema.sql_file("schema_1.sql")
    later = {"schema_2.sql": "ALTER TABLE unimodal.campaigns ADD COLUMN note text"}
    monkeypatch.setattr(postgresql_schema, "SCHEMA", 2)
    monkeypatch.setattr(postgresql_schema, "sql_file", lambda name: later.get(name, first))
    with pytest.raises(WrongVersion, match=r"tables of version 1, .* open it once with this"):
        um.verify(address)
    opened(address).decide()
    assert server.execute("SELECT version FROM unimodal.schema_version", database) == [(2,)]
    assert server.execute("SELECT note FROM unimodal.campaigns", database) == [(None,)]
    assert kinds(address) == ["open", "decide", "open", "decide"]


def test_tables_that_an_older_version_made_get_our_function_from_who_may_make_it(
    server, database, opened
):
    """It may serve beside this one; where the function cannot be made, rewards count without."""
    address = server.address("a", database)
    made = opened(address).decide(3)
    *_, signature = server.execute(
        "SELECT oid::regprocedure FROM pg_proc WHERE proname = 'append_reward' ORDER BY pronargs",
        database,
    )
    server.execute(f"DROP FUNCTION {signature[0]}", database)
    server.execute("CREATE ROLE poor LOGIN", database)
    server.execute("GRANT USAGE ON SCHEMA unimodal TO poor", database)
    server.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA unimodal TO poor",
                   database)  # fmt: skip
    count = "SELECT count(*) FROM pg_proc WHERE proname = 'append_reward'"
    for user, functions, one in (("poor", 1, made[0]), ("postgres", 2, made[1])):
        campaign = opened(server.address("a", database, user))
        assert server.execute(count, database) == [(functions,)]
        campaign._writer._undisturbed = 10**6
        assert campaign.reward(one.id, 1.0) is True
        assert campaign._store._session.connected().is_plain == (functions == 2)
    assert kinds(address).count("reward") == 2


def test_many_who_open_a_new_database_at_once_make_one_set_of_tables(server, database):
    address, failed = server.address("a", database), []

    def use():
        try:
            with um.Campaign.open(address, um.UTS(), LINE) as campaign:
                campaign.decide()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(kinds(address)) == ["decide"] * 6 + ["open"] * 6


def test_many_campaigns_in_one_database(server, opened):
    one, two = opened(server.address("one")), opened(server.address("two"), seed=5)
    one.decide(3)
    two.decide(2)
    assert kinds(server.address("one")) == ["open", *["decide"] * 3]
    assert kinds(server.address("two")) == ["open", *["decide"] * 2]


def test_a_campaign_that_is_not_there(server, database, opened):
    with pytest.raises(StoreError, match="there is no campaign in the database of"):
        um.verify(server.address("prices", database))
    opened(server.address("prices", database))
    with pytest.raises(StoreError, match=r"there is no campaign 'price' .*did you mean 'prices'"):
        um.verify(server.address("price", database))
    for mistake in ({}, {"policy": um.UTS(), "graph": LINE, "data": {9: [1.0]}}):
        with pytest.raises(um.UnimodalError):
            um.Campaign.open(server.address("other", database), **mistake)
    assert server.execute("SELECT name FROM unimodal.campaigns", database) == [("prices",)]


def test_another_with_other_settings(server, opened):
    address = server.address("settings")
    opened(address).decide()
    with pytest.raises(OtherCampaign, match="its seed is 4, not 5"):
        opened(address, seed=5)
    assert kinds(address) == ["open", "decide"]


def test_a_campaign_that_is_removed_while_it_is_open(server, opened):
    campaign = opened(server.address("removed"))
    campaign.reward([d.id for d in campaign.decide(30)], [1.0] * 30)
    for alone in (False, True):  # in a transaction, and in one statement
        campaign._writer._undisturbed = 10**6 * alone
        server.execute("DELETE FROM unimodal.campaigns WHERE name = 'removed'")
        with pytest.raises(StoreError, match="was removed from its database while it was open"):
            campaign.tell(0, 1.0)


def test_a_campaign_that_is_removed_inside_a_transaction(server, opened):
    """By somebody who does not know of our lock; then nothing is appended, or acknowledged."""
    campaign = opened(server.address("removed inside"))

    def work(state):
        server.execute("DELETE FROM unimodal.campaigns WHERE name = 'removed inside'")
        telling(0, 1.0).work(state)

    with pytest.raises(StoreError, match="was removed from its database while it was open"):
        campaign._writer(Call(work))
    assert server.execute("SELECT count(*) FROM unimodal.log WHERE kind = 'tell' AND campaign = "
                          f"{campaign._store._campaign}") == [(0,)]  # fmt: skip


def test_no_byte_of_a_label_is_left_after_the_command_that_an_erasure_names(server, database):
    """What it does itself, VACUUM, leaves some in pages that are free."""
    name, address = "Dora Bytesize", server.address("a", database)
    people = um.graphs.from_edges([("Ann", "Bob"), ("Bob", name)])
    with um.Campaign.open(address, um.UTS(), people, seed=1) as campaign:
        campaign.reward([one.id for one in campaign.decide(300)], [1.0] * 300)
    said = str(um.campaigns.erase(address, name))
    command = re.search(r"run (VACUUM FULL .*?) there", said).group(1)
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "moving-and-keeping.md").read_text()
    assert f"`{command}`" in guide
    server.execute(command, database)
    server.execute("CHECKPOINT")
    pages = [file for file in (server.folder / "data" / "base").rglob("*") if file.is_file()]
    assert any(b"erased-1" in page.read_bytes() for page in pages)
    assert not any(name.encode() in page.read_bytes() for page in pages)


# Durability.


def test_a_server_that_acknowledges_early_is_refused(server, database, opened):
    server.execute(f'ALTER DATABASE "{database}" SET synchronous_commit = off')
    address = server.address("a", database)
    with pytest.raises(StoreError, match=r"has synchronous_commit = off.*durability='fast'"):
        opened(address)
    opened(address, durability="fast").decide()
    assert kinds(address) == ["open", "decide"]


def test_a_server_that_a_power_failure_would_rob_is_warned_of_once(server, opened, caplog):
    postgresql_schema._warn_of_fsync.cache_clear()
    for name in ("one of them", "another"):
        opened(server.address(name))
    told = [record.message for record in caplog.records if "fsync" in record.message]
    assert len(told) == 1 and "fsync = off, so that a power failure may lose" in told[0]


@pytest.fixture
def reloaded(server):
    """Turns synchronous_commit off for all, and waits until a campaign's connection has it so."""

    def turn_off(campaign):
        server.execute("ALTER SYSTEM SET synchronous_commit = off")
        server.execute("SELECT pg_reload_conf()")
        ask = campaign._store._session.connected().ask
        while ask("SHOW synchronous_commit") != [[("off",)]]:
            time.sleep(0.01)

    yield turn_off
    server.execute("ALTER SYSTEM RESET synchronous_commit")
    server.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("reload", [False, True], ids=["", "after a reload that turns it off"])
@pytest.mark.parametrize("durability", ["full", "fast"])
def test_how_a_commit_waits_for_the_disk(server, database, opened, reloaded, durability, reload):
    """Seen from a trigger at the end of each: in a transaction, and in one statement."""
    address = server.address("a", database)
    campaign = opened(address, durability=durability)
    made = campaign.decide(4)
    server.execute(SEEN, database)
    if reload:
        reloaded(campaign)
    for number, alone in enumerate([False, True, False, True]):
        campaign._writer._undisturbed = 10**6 * alone
        if number < 2:
            assert campaign.reward(made[number].id, 1.0)
        else:
            campaign.tell(0, 1.0)
    found = server.execute("SELECT value FROM seen", database)
    assert found == [("on" if durability == "full" else "off",)] * 4


SEEN = """
CREATE TABLE seen (value text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER see AFTER INSERT ON unimodal.log DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION see();
"""


def test_settings_of_a_server_do_not_matter(server, database, opened):
    """Another isolation, transactions that only read by default, other dates and escapes."""
    for setting in (
        *("default_transaction_isolation = 'serializable'", "default_transaction_read_only = on"),
        *("standard_conforming_strings = off", "search_path = ''", "DateStyle = 'German'"),
    ):
        server.execute(f'ALTER DATABASE "{database}" SET {setting}')
    server.execute("SELECT 1")
    address = server.address('it\'s a \\ "name"', database)
    graph = um.graphs.from_edges([("it's", "a\\b"), ("a\\b", ("ü", 0.1)), (("ü", 0.1), "%s\0")])
    # The tables are made by a transaction that says that it writes.
    both = [
        um.Campaign.open(address, um.UTS(), graph, time_to_live=0.1 + 0.2, clock=lambda: 0.0)
        for _ in range(2)
    ]
    arms = {one.arm for turn in range(40) for one in [both[turn % 2].decide(key=str(turn))]}
    assert arms == set(graph.labels)
    for campaign in both:
        campaign.close()
    assert um.verify(address).wrong == []


def test_numbers_come_back_exactly_or_the_server_is_refused(server, database, opened):
    server.execute(f'ALTER DATABASE "{database}" SET extra_float_digits = 0')
    with pytest.raises(StoreError, match="has extra_float_digits = 0"):
        opened(server.address("a", database))


# Connections that are lost.


@pytest.fixture
def cut(monkeypatch):
    """Cuts the connection at the next message that commits: before or after it is done."""
    ask, left = PostgresqlConnection.ask, []

    def at_the_next(when, *words):
        words = words or ("COMMIT;", "unimodal.append_reward(")
        left.append(words)

        def once(connection, statement, values=None):
            if not any(word in statement for word in words):
                return ask(connection, statement, values)
            left.pop()
            monkeypatch.setattr(PostgresqlConnection, "ask", ask)
            if when == "after":
                ask(connection, statement, values)
            connection.close()
            raise Interrupted("the connection was cut: start it, or call again.")

        monkeypatch.setattr(PostgresqlConnection, "ask", once)

    yield at_the_next
    assert left == []  # each was cut


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("alone", [False, True], ids=["in a transaction", "in one statement"])
def test_a_commit_whose_answer_is_lost_counts_once(server, opened, cut, when, alone):
    address = server.address(f"cut {when} {alone}")
    campaign = opened(address)
    first = campaign.decide()
    calls = [
        *(lambda: campaign.reward(first.id, 1.0) is True, lambda: campaign.tell(0, 1.0) is None),
        *(lambda: campaign.decide().id == 2, lambda: campaign.decide(3, key="a")[-1].id == 5),
        lambda: campaign.reward([2, 3], [1.0, 0.0]) == [True, True],
        lambda: campaign.retire(4) is None,
    ]
    for call in calls:
        campaign._writer._undisturbed = 10**6 * alone
        cut(when)
        assert call()
    assert kinds(address) == [
        *("open", "decide", "reward", "tell", "decide", *["decide"] * 3, "key"),
        *("reward", "reward", "revision"),
    ]
    assert campaign.agent.round == 5


def test_a_retry_that_does_not_look_whether_the_commit_arrived_would_be_found(
    server, opened, cut, monkeypatch
):
    """What the test above checks is not so by itself."""
    monkeypatch.setattr(postgresql.PostgresqlStore, "_has_arrived", lambda *_: False)
    address = server.address("blind")
    campaign = opened(address)
    first = campaign.decide()
    for call in (lambda: campaign.tell(0, 1.0), campaign.decide):
        cut("after")
        call()
    cut("after")
    assert campaign.reward(first.id, 1.0) is False  # as if it had been told before
    assert kinds(address) == ["open", "decide", "tell", "tell", "decide", "decide", "reward"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_new_campaign_whose_first_commit_is_not_answered(server, opened, cut, when):
    opened(server.address("the tables are there"))
    address = server.address(f"new {when}")
    cut(when)
    opened(address).decide()
    assert kinds(address) == ["open", "decide"]


FAIL = """
CREATE SEQUENCE times;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('times') = 1 THEN
        RAISE EXCEPTION 'as it happens' USING ERRCODE = '{code}';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fail BEFORE INSERT ON unimodal.log FOR EACH ROW EXECUTE FUNCTION fail();
"""


@pytest.mark.parametrize("code", ["40001", "40P01"], ids=["serialization failure", "deadlock"])
@pytest.mark.parametrize("alone", [False, True], ids=["in a transaction", "in one statement"])
def test_what_the_server_asks_to_do_again_is_done_again(server, database, opened, code, alone):
    address = server.address("a", database)
    campaign = opened(address)
    made = campaign.decide()
    server.execute(FAIL.format(code=code), database)
    campaign._writer._undisturbed = 10**6 * alone
    assert campaign.reward(made.id, 1.0) is True
    assert server.execute("SELECT last_value FROM times", database) == [(2,)]
    assert kinds(address) == ["open", "decide", "reward"]


def test_a_connection_cut_while_reading_begins_again(server, opened, cut):
    """What was read through the lost one is not mixed with what is read through the next."""
    address = server.address("cut while reading")
    one, two = opened(address), opened(address)
    two.decide(3000)  # more than is read with the lock
    cut("before", "seq <= %(until)s")
    assert one.decide().id == 3001
    cut("after", "seq <= %(until)s")
    assert um.verify(address)
    assert kinds(address).count("decide") == 3001


def test_a_commit_of_which_nobody_knows_is_said_to_be_unknown(server, opened, monkeypatch):
    campaign = opened(server.address("unknown"), wait=0.5)
    campaign.decide()

    def lost(connection, statement, values=None):
        connection.close()
        raise Interrupted("the connection was cut: start it, or call again.")

    ask = PostgresqlConnection.ask

    def ask_in_vain(connection, statement, values=None):
        is_last = "COMMIT;" in statement or "to_regclass" in statement
        return (lost if is_last else ask)(connection, statement, values)

    monkeypatch.setattr(PostgresqlConnection, "ask", ask_in_vain)
    with pytest.raises(StoreError, match="it is not known whether this call was kept"):
        campaign.decide()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["restarted", "killed"])
def test_a_server_that_goes_and_comes_back(server, opened, how):
    address = server.address(f"back {how}")
    one, two = opened(address), opened(address)
    made = [one.decide(), two.decide()]
    server.stop(how)
    again = threading.Timer(0.3, server.start)
    again.start()
    assert one.reward(made[0].id, 1.0) is True  # it waits until the server is there
    again.join()
    assert two.reward([made[0].id, made[1].id], [1.0, 0.0]) == [False, True]
    assert kinds(address) == ["open", "open", "decide", "decide", "reward", "reward"]


HOLD = """
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON unimodal.log DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION hold();
"""
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event IN ('SyncRep', 'advisory')"


@pytest.mark.parametrize("written", [False, True], ids=["before it is written", "after it was"])
def test_a_server_that_is_killed_in_the_middle_of_a_commit(server, database, opened, written):
    """A trigger holds the commit up at its end; or it is written, and waits for a replica."""
    address, told = server.address("a", database), []
    campaign = opened(address)
    campaign.decide()
    campaign._writer._undisturbed = 10**6 * written  # in one statement, too
    settings = server.folder / "data" / "postgresql.auto.conf"
    before = settings.read_text()
    server.execute(HOLD, database)
    with psycopg.connect(server.address(database=database), autocommit=True) as other:
        if written:
            settings.write_text("synchronous_standby_names = 'nobody'")
            server.execute("SELECT pg_reload_conf()")
            while server.execute("SHOW synchronous_standby_names") != [("nobody",)]:
                time.sleep(0.01)
        else:
            other.execute("SELECT pg_advisory_lock(42)")
        call = threading.Thread(target=lambda: told.append(campaign.tell(0, 1.0)))
        call.start()
        until = time.monotonic() + 30
        while server.execute(WAITING) == [(0,)] and time.monotonic() < until:
            time.sleep(0.01)
        assert told == []
        server.stop(signal.SIGKILL)
        settings.write_text(before)
        server.start()
    call.join(60)
    assert told == [None]
    assert kinds(address) == ["open", "decide", "tell"]  # once: it was found out, or done again


def test_a_server_that_stays_away(server, opened):
    address = server.address("away")
    campaign = opened(address, wait=0.4)
    made = campaign.decide()
    server.stop()
    try:
        for call in (campaign.decide, lambda: opened(address, wait=0.4)):
            began = time.monotonic()
            with pytest.raises(StoreError, match=r"cannot be reached .*start it, or call again"):
                call()
            assert time.monotonic() - began < 40
    finally:
        server.start()
    assert campaign.reward(made.id, 1.0)  # the same object
    assert kinds(address) == ["open", "decide", "reward"]


def test_one_of_several_servers_that_answers(server, opened):
    """As after a fail-over: libpq tries the hosts of an address in turn."""
    dead = server.address("several").replace("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:")
    opened(dead).decide()
    assert kinds(dead) == ["open", "decide"]


def test_a_standby_is_waited_for_and_then_refused(server, opened, monkeypatch):
    greet = postgresql_session.greet
    monkeypatch.setattr(
        postgresql_session, "greet", lambda *given: greet(*given)._replace(is_standby=True)
    )
    with pytest.raises(StoreError, match="is a standby, which only reads: name the primary"):
        opened(server.address("standby"), wait=0.3)
    monkeypatch.setattr(postgresql_session, "greet", greet)
    opened(server.address("standby"))


# Others who stop, wait or are late.

HOLDER = """
import sys
import unimodal as um
from unimodal.campaigns.commands.rewarding import telling
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.stores.postgresql import store
store._IDLE = float(sys.argv[2])
campaign = um.Campaign.open(sys.argv[1], um.UTS(), um.graphs.line(5), seed=4, wait=20)
campaign._store._wait = 1.0  # of which half is less than _IDLE

def work(state):
    print("inside", flush=True)
    sys.stdin.readline()
    telling(0, 1.0).work(state)

campaign._writer(Call(work))
campaign._store._wait = 20.0
campaign.close()
"""


@pytest.mark.parametrize(
    ("idle", "seconds"), [(1.0, 0.0), pytest.param(10.0, 60.0, marks=pytest.mark.full)]
)
def test_a_client_that_is_stopped_inside_a_transaction_holds_nobody_up_for_long(
    server, opened, idle, seconds
):
    """The server cuts it off; woken, it does its call again, once."""
    address, begun = server.address(f"stopped {seconds}"), time.monotonic()
    campaign = opened(address)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, address, str(idle)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "inside\n"
        holder.send_signal(signal.SIGSTOP)
        campaign.decide()  # waits until the server has cut it off
        time.sleep(max(seconds - (time.monotonic() - begun), 0))
        holder.send_signal(signal.SIGCONT)
        told, _ = holder.communicate("\n", timeout=100)
        assert told == "inside\n" and holder.returncode == 0  # and once more, for the next try
    finally:
        holder.kill()
        holder.communicate()
    assert kinds(address) == ["open", "open", "decide", "tell"]


def test_who_waits_too_long_is_told_that_it_is_busy(server, opened):
    address = server.address("busy")
    opened(address)
    holder = postgresql.open_store(as_place(address, "it"), "full", 20.0)
    waiting = opened(address, wait=0.3)
    holder.begin()
    with pytest.raises(Busy, match=r"kept .* busy for 0\.3 s, so nothing was written: call again"):
        waiting.decide()
    holder.roll_back()
    assert waiting.decide().id == 1
    holder.close()


def test_the_clock_of_the_server_is_believed_at_an_opening_one_of_yours_is_not(server):
    """A campaign that was closed for 40 days; then for 20 more, as a clock of the caller's says."""
    address = server.address("closed")
    given = {"policy": um.UTS(), "graph": LINE, "time_to_live": 3600}
    with um.Campaign.open(address, **given) as campaign:
        campaign.decide(3)
    its = "WHERE campaign = (SELECT id FROM unimodal.campaigns WHERE name = 'closed')"
    server.execute(f"UPDATE unimodal.log SET time = time - 40 * 86400 {its}")
    server.execute(f"DELETE FROM unimodal.snapshots {its}")
    with um.Campaign.open(address) as campaign:
        assert campaign.expire() == 3 and campaign.reports == []
        campaign.decide(2)
    ahead = time.time() + 20 * 86_400
    for later, expired in ((0.0, 0), (59.0, 0), (60.0, 2)):
        with um.Campaign.open(address, clock=lambda: ahead + later) as campaign:  # noqa: B023
            assert campaign.expire() == expired
    assert um.verify(address).wrong == []


def test_the_clock_of_one_machine_is_an_hour_behind(server, opened, monkeypatch):
    """Times are the server's: nothing expires an hour too late or too soon."""
    address, right = server.address("clock"), time.time
    campaign = opened(address, time_to_live=600.0)
    first = campaign.decide()
    monkeypatch.setattr(time, "time", lambda: right() - 3600.0)
    late = opened(address, clock=time.time)  # the usual clock, as that machine has it
    second = late.decide()
    monkeypatch.undo()
    assert abs(second.time - right()) < 300 and late.reports == []
    assert first.time <= second.time <= campaign.decide().time
    assert late.reward(first.id, 1.0) and campaign.outstanding == 2


def test_no_lock_is_held_while_something_is_looked_up(server):
    address, held = server.address("look-ups"), []

    def neighbours(arm):
        held.extend(server.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
        return [arm - 1, arm + 1]

    with um.Campaign.open(address, um.ScoutUTS(), neighbours, root=0) as campaign:
        campaign.decide(10)
    assert len(held) > 3 and set(held) == {(0,)}


def test_a_child_that_closes_what_it_inherited_leaves_its_parent_alone(server, opened):
    """As where a campaign could not be paused before the fork."""
    address = server.address("inherited")
    opened(address)
    store = postgresql.open_store(as_place(address, "it"), "full", 60.0)
    store.begin()
    child = os.fork()
    if child == 0:
        store.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    store.commit()  # not `Interrupted`
    store.close()


def test_a_fork_leaves_the_parents_connection_alone(server, opened):
    address = server.address("forks")
    campaign = opened(address)
    made = campaign.decide()
    code = subprocess.run([sys.executable, "-c", ""], preexec_fn=lambda: None).returncode
    assert code == 0 and campaign.reward(made.id, 1.0)


# Out of disk.


def test_a_disk_that_is_full(opened):
    """The tables are on a small tmpfs, the server's own log elsewhere: it stays up."""
    folder, other = tempfile.mkdtemp(), tempfile.mkdtemp()
    mount = ["mount", "-t", "tmpfs", "-o", "size=70m,mode=777", "tmpfs", folder]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("to mount a tmpfs takes root")
    try:
        shutil.chown(other, "nobody")
        with PostgresqlServer(folder, log_folder=Path(other) / "wal", fsync="off") as server:
            campaign = opened(server.address("disk"))
            made = campaign.decide(100)
            filler = Path(folder) / "filler"
            with pytest.raises(StoreError, match="make room on the server and call again"):
                with open(filler, "wb") as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(2**16))
                for _ in range(200):
                    campaign.decide(1000)
            filler.unlink()
            assert campaign.reward(made[0].id, 1.0) is True
            campaign.close()
            assert um.verify(server.address("disk")).counts["reward"] == 1
    finally:
        subprocess.run(["umount", folder], check=True)
        shutil.rmtree(folder)
        shutil.rmtree(other)
