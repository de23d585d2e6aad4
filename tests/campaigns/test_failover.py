"""A standby is promoted that had not got everything: with a real one, and two clients.

Both have the address of two hosts, of which libpq takes the one that may be written to. Each round
the standby stops to follow at some moment, the primary goes on for a while and is killed, and the
standby is promoted; then one client calls first, and the other after it, when the log is as long
again as it was, or is not. test_set_back.py has every way of a call by itself.
"""

import contextlib
import itertools
import random
import signal

import psycopg
import pytest

import unimodal as um
from tests.postgresql_server import PostgresqlServer
from unimodal.campaigns.group_commit import Call
from unimodal.campaigns.reading import read
from unimodal.errors import StoreError

LINE = um.graphs.line(5)
HOST = {"host": "127.0.0.1", "fsync": "off"}
EVENTS = "SELECT seq, time, kind, decision, token FROM unimodal.log ORDER BY seq"


class Client:
    """A campaign, and what was acknowledged to it: decisions, and rewards by decision."""

    def __init__(self, address, rng):
        self._address, self._rng = address, rng
        self.keys = map(str, itertools.count())
        self.open()
        self.decided, self.rewarded, self.told = set(), {}, 0

    def open(self):
        self.campaign = um.Campaign.open(self._address, um.UTS(), LINE, seed=4, wait=60)

    def decide(self):
        self.decided.add(self.campaign.decide().id)

    def decide_with_a_key(self):
        self.decided.add(self.campaign.decide(key=f"{id(self)} {next(self.keys)}").id)

    def decide_a_batch(self):
        self.decided.update(one.id for one in self.campaign.decide(4))

    def reward(self):
        number = self._rng.choice(sorted(self.decided - set(self.rewarded)) or [0])
        if number:
            assert self.campaign.reward(number, float(number % 2)) is True
            self.rewarded[number] = float(number % 2)

    def reward_a_batch(self):
        numbers = sorted(self.decided - set(self.rewarded))[:3]
        rewards = [float(number % 2) for number in numbers]
        assert self.campaign.reward(numbers, rewards) == [True] * len(numbers)
        self.rewarded.update(zip(numbers, rewards, strict=True))

    def tell(self):
        self.campaign.tell(2, 1.0)

    def step(self, way=None):
        getattr(self, way or self._rng.choice(WAYS))()

    @property
    def known(self):
        """The number of the last event that it knows."""
        return self.campaign._writer._fold.state.seq

    def forget(self, events):
        """Keep in mind what the surviving log has."""
        self.decided &= {event[3] for event in events if event[2] == "decide"}
        kept = {event[3] for event in events if event[2] == "reward"}
        lost = {d: value for d, value in self.rewarded.items() if d not in kept}
        self.rewarded = {d: value for d, value in self.rewarded.items() if d in kept}
        return {d: value for d, value in lost.items() if d in self.decided}


WAYS = ("decide", "decide_with_a_key", "decide_a_batch", "reward", "reward_a_batch", "tell")


class Pair:
    """A primary and its standby, whose places are changed by each fail-over."""

    def __init__(self, stack):
        self._stack = stack
        self.primary = stack.enter_context(PostgresqlServer(**HOST))
        self.standby = self._follower(0)
        ports = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        self.address = (
            f"postgresql://postgres@{ports}/postgres?target_session_attrs=read-write&campaign=both"
        )

    def _follower(self, port):
        server = PostgresqlServer(**HOST, standby_of=self.primary, port=port)
        return self._stack.enter_context(server)

    def fail_over(self):
        """What the surviving server has, of the events."""
        self.primary.stop(signal.SIGKILL)
        self.standby.promote()
        return self.standby.execute(EVENTS)

    def follow_again(self):
        gone, self.primary = self.primary, self.standby
        gone.close()
        self.standby = self._follower(gone.port)


def check_told(client, way, before, events):
    """Whether it is told exactly if it knew more; then it goes on, or is opened again."""
    knew_more = before[client.known - 1] not in events
    lost = client.forget(events)
    if knew_more:
        with pytest.raises(StoreError, match="its server was set back") as error:
            client.step(way)
        assert str(error.value).count(". ") == 0
        assert client.campaign.reports[-1] == str(error.value)
        client.told += 1
        if client._rng.random() < 0.5:
            client.campaign.close()
            client.open()
    for decision, value in lost.items():
        assert client.campaign.reward(decision, value) is True
        client.rewarded[decision] = value
    client.step(way)


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.full)])
def test_two_clients_go_on_from_what_a_promoted_standby_has(times):
    rng = random.Random(times)
    with contextlib.ExitStack() as stack:
        pair = Pair(stack)
        clients = [Client(pair.address, rng) for _ in range(2)]
        lost = 0
        for turn in range(times):
            for _ in range(rng.randrange(5, 40)):
                rng.choice(clients).step()
            pair.standby._wait_for(
                "SELECT pg_last_wal_replay_lsn() >= "
                f"'{pair.primary.execute('SELECT pg_current_wal_flush_lsn()')[0][0]}'"
            )
            pair.standby.stop_following()
            for _ in range(rng.choice((0, 1, 2, 10))):
                rng.choice(clients).step()
            if turn % 3 == 0:  # both lose something, and the log is as long again for the second
                clients[0].tell()
                clients[1].tell()
            before = pair.primary.execute(EVENTS)
            events = pair.fail_over()
            lost += len(before) - len(events)
            first, second = rng.sample(clients, 2)
            check_told(first, rng.choice(WAYS), before, events)
            more = rng.choice((-1, 0, 1)) if turn % 3 else 0
            while len(pair.standby.execute(EVENTS)) < len(before) + more:
                first.tell()
            check_told(second, rng.choice(WAYS), before, events)
            pair.follow_again()
        assert lost > times and sum(client.told for client in clients) >= times / 2
        for client in clients:
            for decision, value in client.rewarded.items():  # all that is there counts once
                assert client.campaign.reward(decision, value) is False
            client.campaign.close()
        assert um.verify(pair.address).wrong == []
        rows = read(pair.address, lambda store: [row for rows in store.rows() for row in rows])
        rewards = [row[3] for row in rows if row[2] == "reward"]
        assert len(set(rewards)) == len(rewards)
        assert set(rewards) == {d for client in clients for d in client.rewarded}
        with um.Campaign.open(pair.address, wait=60) as campaign:
            assert campaign.decide().id > max(d for client in clients for d in client.decided)


def test_what_the_server_acknowledges_is_on_its_disk_though_a_reload_turned_that_off():
    """At b076057 all of what was acknowledged after the reload was lost in a crash."""
    settings = {"wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"}
    with PostgresqlServer(**HOST, **settings) as server:
        address = server.address("durable")
        campaign = um.Campaign.open(address, um.UTS(), LINE, seed=4, wait=60)
        made = campaign.decide(250)
        server.execute("ALTER SYSTEM SET synchronous_commit = off")
        server.execute("SELECT pg_reload_conf()")
        for number, one in enumerate(made):
            campaign._writer._undisturbed = 10**6 * (number % 2)  # in both ways
            if number % 4 < 2:
                assert campaign.reward(one.id, 1.0) is True
            else:
                campaign.tell([0, 1], [1.0, 1.0])
        assert server.execute("SHOW synchronous_commit") == [("off",)]
        server.stop(signal.SIGKILL)
        server.start()
        with psycopg.connect(server.address()) as connection:
            found = connection.execute("SELECT kind, count(*) FROM unimodal.log GROUP BY kind")
            assert dict(found.fetchall()) == {"open": 1, "decide": 250, "reward": 126, "tell": 248}
        with pytest.raises(StoreError, match="has synchronous_commit = off"):
            campaign.decide()


@pytest.mark.parametrize("level", ["local", "remote_write", "on", "remote_apply"])
def test_more_than_the_disk_is_waited_for_where_the_server_demands_it(postgresql, level):
    """Whatever it is set to, other than off, a transaction has it."""
    address = f"{postgresql()}&options=-c%20synchronous_commit%3D{level}"
    with um.Campaign.open(address, um.UTS(), LINE, seed=4) as campaign:
        seen = []
        ask = campaign._store._session.connected().ask
        campaign._writer(Call(lambda _: seen.extend(ask("SHOW synchronous_commit")[0][0])))
        assert seen == [level]
