"""Campaigns in PostgreSQL whose connection or server is lost at the worst moment.

Nothing is done twice and nothing acknowledged is lost. The connection is cut at a message that a
test chooses, before it is sent or after it was done; other clients write, compact and set the
server back meanwhile.
"""

import contextlib
import itertools
import threading

import pytest

import unimodal as um
from unimodal.campaigns.content_digests import content_of
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.reading import read, read_table
from unimodal.campaigns.stores import as_place
from unimodal.campaigns.stores import postgresql as stores
from unimodal.campaigns.stores.postgresql.connection import PostgresqlConnection
from unimodal.campaigns.stores.store import Interrupted
from unimodal.errors import StoreError

LADDER = um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
CUT = "the connection was cut: start it, or call again."


def start(address, **named):
    return um.Campaign.open(address, um.UTS(), LADDER, **{"seed": 4, "wait": 60, **named})


def log(address):
    return read(address, lambda store: [row for rows in store.rows() for row in rows])


def kinds(address):
    assert um.verify(address).wrong == []
    return [row[2] for row in log(address)]


class Messages:
    """All messages to the server, of which one is cut off, before it is sent or after."""

    def __init__(self, monkeypatch):
        self._ask, self._left, self._when = PostgresqlConnection.ask, None, ""
        self.instead = None  # called once, with the message that is cut off
        monkeypatch.setattr(PostgresqlConnection, "ask", lambda *given: self._one(*given))

    def cut(self, when, at=0, word=""):
        """Cut off the one `at` which this word stands, counted from here."""
        self._left, self._when, self._word = at, when, word

    @property
    def is_cut(self):
        return self._left is None

    def _one(self, connection, statement, values=None):
        if self._left is None or self._word not in statement:
            return self._ask(connection, statement, values)
        self._left -= 1
        if self._left >= 0:
            return self._ask(connection, statement, values)
        self._left = None
        if self._when == "after":
            self._ask(connection, statement, values)
        connection.close()
        if self.instead is not None:
            self.instead(statement, values)
        raise Interrupted(CUT)

    def send(self, address, statement, values):
        """Send a message through another connection."""
        connection = PostgresqlConnection(as_place(address, "a test's"), 60.0)
        try:
            return self._ask(connection, statement, values)
        finally:
            connection.close()


@pytest.fixture
def messages(monkeypatch):
    return Messages(monkeypatch)


# A commit whose answer is lost, and what may happen before it is looked for.


@pytest.mark.parametrize(
    ("call", "word", "then"),
    [
        (lambda campaign: campaign.tell("a", 1.0) is None, "COMMIT;", "tell"),
        (lambda campaign: campaign.reward(1, 1.0) is True, "append_reward(", "reward"),
    ],
    ids=["told", "a reward"],
)
def test_a_commit_that_comes_after_it_was_looked_for_is_not_counted_too(
    postgresql, messages, monkeypatch, call, word, then
):
    """It was on its way, and comes when the call is about to be done again."""
    address, late = postgresql(), []
    campaign = start(address)
    campaign.decide()
    looked = stores.PostgresqlStore._has_arrived

    def on_its_way(statement, values):
        def arrive():
            with contextlib.suppress(StoreError):  # its number is taken, which it may say
                messages.send(address, statement, values)
            late.append("it came")

        def look(store, *given):
            arrived = looked(store, *given)
            thread.start()
            thread.join(0.2)  # if nothing keeps it, it is there now
            return arrived

        thread = threading.Thread(target=arrive)
        monkeypatch.setattr(stores.PostgresqlStore, "_has_arrived", look)
        late.append(thread)

    messages.instead = on_its_way
    messages.cut("before", word=word)
    campaign._writer._undisturbed = 10**6  # in one statement
    assert call(campaign)
    late[0].join(30)
    assert late[1:] == ["it came"]
    campaign.close()
    assert kinds(address) == ["open", "decide", then]


def test_a_commit_that_was_compacted_before_it_was_looked_for_is_unknown(
    postgresql, messages, tmp_path
):
    """The event is in the archive, which has no token: it is not said that nothing was kept."""
    address = postgresql()
    campaign, other = start(address), start(address)

    def meanwhile(statement, values):
        other.decide(5)
        other.close()
        um.campaigns.compact(address, tmp_path / "old.parquet")

    messages.instead = meanwhile
    messages.cut("after", word="COMMIT;")
    with pytest.raises(StoreError, match="it is not known whether this call was kept"):
        campaign.tell("a", 1.0)
    campaign.tell("b", 1.0)
    campaign.close()
    table = read_table(address, [tmp_path / "old.parquet"])
    assert table.filter(kind="tell")["arm"].to_list() == ["a", "b"]
    assert um.verify(address, archives=[tmp_path / "old.parquet"]).wrong == []


def test_what_is_cut_off_each_time_is_given_up(postgresql, monkeypatch):
    """Also where it is not the commit: the call is not tried for ever."""
    address = postgresql()
    one, two = start(address, wait=0.5), start(address)
    two.decide(3000)  # more than is read with the lock
    ask = PostgresqlConnection.ask

    def cut(connection, statement, values=None):
        if "seq <= %(until)s" in statement:
            connection.close()
            raise Interrupted(CUT)
        return ask(connection, statement, values)

    with monkeypatch.context() as patched:
        patched.setattr(PostgresqlConnection, "ask", cut)
        with pytest.raises(StoreError, match="the connection was cut"):
            one.decide()
    assert one.decide().id == 3001
    for campaign in (one, two):
        campaign.close()


def test_a_transaction_that_the_server_rolled_back_is_not_acknowledged(postgresql, messages):
    """A commit after something failed is answered without an error."""
    address = postgresql()
    with start(address) as campaign:
        store, failed = campaign._store, []

        def work(state):
            if not failed:
                with pytest.raises(StoreError, match="division by zero"):
                    store._tell(store._session.connected(), "SELECT 1 / 0;", {})
            failed.append(len(failed))

        campaign._writer(Call(work))
        assert failed == [0, 1]
        store.begin()
        with pytest.raises(StoreError):
            store._tell(store._session.connected(), "SELECT 1 / 0;", {})
        with pytest.raises(Interrupted, match="has rolled a transaction back"):
            store.commit()
        store.roll_back()
    assert kinds(address) == ["open"]


# A server that is not what it was.


@pytest.mark.parametrize("alone", [False, True], ids=["in a transaction", "in one statement"])
def test_a_server_that_was_set_back_gets_no_log_with_a_gap(postgresql, messages, alone):
    """As after a fail-over to a replica that had not got everything."""
    address = postgresql()
    campaign = start(address)
    made = campaign.decide(3)
    campaign.tell("a", 1.0)
    place = as_place(address, "a test's")
    lost = "DELETE FROM unimodal.log WHERE campaign = %(id)s AND seq > 3;"
    messages.send(place, lost, {"id": campaign._store._campaign})
    campaign._writer._undisturbed = 10**6 * alone
    with pytest.raises(StoreError, match="ends with event 3 now, and with event 5 before"):
        campaign.reward(made[0].id, 1.0)
    assert campaign.reward(made[0].id, 1.0) is True  # from the log as it is
    assert campaign.decide().id == 3
    with start(address) as other:
        assert other.decide().id == 4
    assert campaign.decide().id == 5
    campaign.close()
    assert kinds(address) == ["open", *["decide"] * 2, "reward", "decide", "open", *["decide"] * 2]


# Every message in turn.


CALLS = [
    lambda campaign: [d.arm for d in campaign.decide(3, key="visit")],
    lambda campaign: campaign.reward(1, 1.0),
    lambda campaign: campaign.tell("b", 1.0),
    lambda campaign: campaign.reward([2, 3], [0.0, 1.0]),
    lambda campaign: campaign.retire("e"),
    lambda campaign: campaign.decide().arm,
    lambda campaign: [d.id for d in campaign.decide(3, key="visit")],
    lambda campaign: campaign.close(),
]


def done(address, calls=CALLS):
    campaign = start(address)
    return [call(campaign) for call in calls], kinds(address)


@pytest.mark.full
@pytest.mark.parametrize("when", ["before", "after"])
def test_every_call_is_done_once_whichever_message_is_cut_off(postgresql, messages, when):
    expected = done(postgresql())
    for at in itertools.count():
        messages.cut(when, at)
        address = postgresql()
        found = done(address)
        was_cut, messages._left = messages.is_cut, None
        assert found == expected, at
        if not was_cut:
            break
    assert at > 25


@pytest.fixture
def compacted(postgresql, tmp_path):
    """A campaign with an archive, open decisions and a change of its graph."""
    address = postgresql()
    with start(address, clock=lambda: 0.0) as campaign:
        campaign.reward([d.id for d in campaign.decide(30)], [1.0] * 30)
        campaign.add_edges([("e", "f")])
        campaign.decide(2)
    um.campaigns.compact(address, tmp_path / "old.parquet")
    with um.Campaign.open(address, clock=lambda: 0.0) as campaign:
        campaign.decide(5)
    return address


def test_readers_begin_again_whichever_message_is_cut_off(compacted, messages, tmp_path):
    """A connection that is lost is no damage."""
    for read_it in (
        lambda: um.verify(compacted).wrong,
        lambda: um.campaigns.explain(compacted, 34).arm,
        lambda: read_table(compacted).height,
        lambda: str(um.inspect(compacted).facts),
    ):
        expected = read_it()
        for at in itertools.count():
            messages.cut("before", at)
            found = read_it()
            was_cut, messages._left = messages.is_cut, None
            assert found == expected, at
            if not was_cut:
                break
        assert at > 3


@pytest.mark.full
@pytest.mark.parametrize("when", ["before", "after"])
def test_moving_is_done_once_or_not_at_all_whichever_message_is_cut_off(
    postgresql, compacted, messages, tmp_path, when
):
    """Compact, erase and copy are told to have failed, or not; then they are done again."""
    whole = read_table(compacted, [tmp_path / "old.parquet"])
    (tmp_path / "old.parquet").rename(tmp_path / "first.parquet")
    first = (tmp_path / "first.parquet").read_bytes()
    cuts = 0
    for at in itertools.count():
        address, archive = postgresql(), tmp_path / f"{at}.parquet"
        old = tmp_path / f"old-{at}.parquet"
        old.write_bytes(first)
        um.campaigns.copy(compacted, address, check=False)
        steps = [
            lambda: um.campaigns.compact(address, archive),  # noqa: B023
            lambda: um.campaigns.erase(address, "c", archives=[old, archive]),  # noqa: B023
        ]
        cut = False
        for step in steps:
            messages.cut(when, at)
            try:
                step()
            except um.UnimodalError:
                assert messages.is_cut
                try:
                    step()
                except um.UnimodalError as error:  # it had been done
                    assert "no events before" in str(error) or "no arm called" in str(error)
            cut, messages._left = cut or messages.is_cut, None
        archives = sorted(tmp_path.glob(f"old-{at}.erased-*")) + sorted(
            tmp_path.glob(f"{at}.erased-*")
        )
        assert um.verify(address, archives=archives).wrong == [] == um.verify(address).wrong
        table = read_table(address, archives)
        assert table.height == whole.height + 1
        assert table["arm"][: whole.height].to_list() == [
            "erased-1" if arm == "c" else arm for arm in whole["arm"]
        ]
        cuts += cut
        if not cut:
            break
    assert cuts > 10
    messages.cut(when, word="COMMIT;")
    target = postgresql()
    try:
        um.campaigns.copy(compacted, target)
    except StoreError:
        um.campaigns.copy(compacted, target)
    assert read(target, content_of) == read(compacted, content_of)
