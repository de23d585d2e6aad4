"""Kill clients of a campaign in PostgreSQL, and the server, and cut connections; then count.

    python tests/campaigns/kill_postgresql.py --kills 200 --rewards 50000

Some processes work on one campaign, through a proxy that cuts connections at random: before a
question reaches the server, or before an answer, such as that to a commit, reaches the client. Each
client notes in a journal of its own what it is about to send and, after the call has returned, that
it was acknowledged. Clients are killed with SIGKILL, and every third time the server is, with all
its processes, and started again. The next life of a client sends again what was not acknowledged,
as far as it is known by an id.

A reward is known by its decision, so it can be told again. What has no id shows whether a call was
done twice: decisions that nobody was told of, and rewards that were told without a decision
(`tell`). There may be as many of these as calls were cut off by a kill, and no more.

`--sabotage blind` lets a client do a call again without looking whether its lost commit arrived:
the findings must show that, or this test could not fail.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for the tests' server

import unimodal as um
from tests.postgresql_server import PostgresqlServer
from unimodal.campaigns import snapshots, verify
from unimodal.campaigns.reading import read
from unimodal.campaigns.stores.postgresql import PostgresqlStore

GRAPH = um.graphs.line(9)


# The proxy.


def run_proxy(port: int, upstream: int, cut: float, notes: Path, seed: int) -> None:
    """Hand on what comes, and cut a connection now and then; each cut is a letter in a file."""
    rng, file = random.Random(seed), os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def pump(source, target, letter, both):
        try:
            while data := await source.read(65536):
                if rng.random() < cut:
                    os.write(file, letter)
                    break
                target.write(data)
                await target.drain()
        finally:
            for one in both:
                one.transport.abort()

    async def serve(reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", upstream)
        except OSError:  # the server is down
            writer.transport.abort()
            return
        both = (writer, up_writer)
        await asyncio.gather(
            pump(reader, up_writer, b"q", both), pump(up_reader, writer, b"a", both),
            return_exceptions=True,
        )  # fmt: skip

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(main())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Clients.


class Journal:
    """What one client knows, in a file that is only added to: it survives the client."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(self._file, b"\n")  # after a line that was cut off
        self.lines = read_journal(path)

    def note(self, kind: str, *pairs: tuple[int, float]) -> None:
        """One line each; the first number is a decision, or how many there are."""
        text = "".join(f"{kind} {number} {value} .\n" for number, value in pairs)
        os.write(self._file, text.encode())


def read_journal(path: Path) -> list[tuple[str, int, float]]:
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(p[0], int(p[1]), float(p[2])) for p in lines if len(p) == 4 and p[3] == "."]


class Client:
    """One life of a client."""

    def __init__(self, address: str, journal: Path, rng: random.Random) -> None:
        self.rng, self.journal = rng, Journal(journal)
        self.campaign = um.Campaign.open(address, um.UTS(), GRAPH, seed=7, wait=60)
        seen = collections.defaultdict(dict)
        for kind, number, value in self.journal.lines:
            seen[kind][number] = value
        told = {**seen["counted"], **seen["known"], **seen["again"]}
        self.waiting = [number for number in seen["decided"] if number not in seen["sent"]]
        left = [(d, value) for d, value in seen["sent"].items() if d not in told]
        self.tell_rewards(left, "again")

    def tell_rewards(self, pairs: list[tuple[int, float]], known: str = "known") -> None:
        """Send rewards in one call, and note what came of each."""
        if not pairs:
            return
        self.journal.note("sent", *pairs)
        one = len(pairs) == 1
        given = pairs[0] if one else ([d for d, _ in pairs], [value for _, value in pairs])
        news = self.campaign.reward(*given)
        for pair, new in zip(pairs, [news] if one else news, strict=True):
            self.journal.note("counted" if new else known, pair)

    def step(self) -> None:
        """Decide once or often; tell some rewards now and leave others; tell one without an id."""
        size = self.rng.choice((1, 1, 1, 20))
        self.journal.note("deciding", (size, 0))
        made = self.campaign.decide(size)
        self.journal.note("decided", *((decision.id, decision.arm) for decision in made))
        self.waiting += [decision.id for decision in made]
        self.rng.shuffle(self.waiting)
        for _ in range(self.rng.choice((1, 1, 2))):
            batch = [self.waiting.pop() for _ in range(min(len(self.waiting), size))]
            self.tell_rewards([(d, float(self.rng.random() < 0.4)) for d in batch])
        if self.rng.random() < 0.5:
            self.journal.note("telling", (1, 0))
            self.campaign.tell(self.rng.randrange(9), 1.0)
            self.journal.note("told", (1, 0))


def do_again_blindly() -> None:
    """Sabotage: a commit whose answer is lost is taken for one that did not arrive."""
    PostgresqlStore._has_arrived = lambda store, first, token: False


SABOTAGE = {"none": lambda: None, "blind": do_again_blindly}


def live(address: str, folder: Path, name: int, life: int, options: argparse.Namespace) -> None:
    """The process of a client, until it is killed; the last life only sends what is left."""
    parent = os.getppid()
    try:
        SABOTAGE[options.sabotage]()
        snapshots.SNAPSHOT_EVERY = 2_000  # so that some kills hit snapshots
        rng = random.Random(f"{options.seed} {name} {life}")
        client = Client(address, folder / f"client-{name}", rng)
        while life >= 0 and os.getppid() == parent and not (folder / "stop").exists():
            client.step()
        client.campaign.close()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


# The parent.


class Storm:
    """Starts clients, kills them and the server, and starts them again."""

    def __init__(self, server: PostgresqlServer, folder: Path, options: argparse.Namespace) -> None:
        self.server, self.folder, self.options = server, folder, options
        self.rng, self.names = random.Random(options.seed), range(options.clients)
        self.clients: dict[int, int] = {}
        self.kills, self.lives = collections.Counter(), 0
        self.direct = server.address("storm")
        with um.Campaign.open(self.direct, um.UTS(), GRAPH, seed=7) as campaign:  # compiled here
            campaign.reward(campaign.decide().id, 1.0)
            campaign.tell(0, 1.0)
        port, self.cuts = free_port(), folder / "cuts"
        self.proxy = os.fork()
        if self.proxy == 0:
            run_proxy(port, server.port, options.cut, self.cuts, options.seed)
        self.address = self.direct.replace(f":{server.port}/", f":{port}/")

    def start(self, name: int, life: int) -> None:
        self.lives += 1
        process = os.fork()
        if process == 0:
            live(self.address, self.folder, name, life, self.options)
        self.clients[name] = process

    def reap(self, name: int, flags: int = 0) -> None:
        process, status = os.waitpid(self.clients[name], flags)
        if process:
            del self.clients[name]
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise RuntimeError(f"client {name} failed by itself; its traceback is above")

    def kill(self, name: int) -> None:
        os.kill(self.clients[name], signal.SIGKILL)
        self.reap(name)

    def rage(self) -> None:
        """Kill until there were enough kills and enough acknowledgements; then one quiet life."""
        options = self.options
        try:
            while (done := self.counted()) < options.rewards or self.kills.total() < options.kills:
                for name in self.names:
                    if name not in self.clients:
                        self.start(name, self.lives)
                time.sleep(self.rng.uniform(0.0, 0.1))
                for name in list(self.clients):
                    self.reap(name, os.WNOHANG)
                if self.kills.total() < min(done / options.rewards, 1) * options.kills:
                    self.kill_one()
            (self.folder / "stop").touch()
            for name in list(self.clients):
                self.reap(name)
        finally:
            for name in list(self.clients):
                self.kill(name)
        for name in self.names:
            self.start(name, -1)
            self.reap(name)

    def kill_one(self) -> None:
        if self.kills.total() % 3 == 1:
            self.server.stop(signal.SIGKILL)
            self.server.start()
            self.kills["server"] += 1
        elif self.clients:
            self.kill(self.rng.choice(sorted(self.clients)))
            self.kills["clients"] += 1

    def counted(self) -> int:
        """How many rewards have been acknowledged."""
        return sum(file.read_bytes().count(b"counted") for file in self.folder.glob("client-*"))


def findings(address: str, folder: Path, lives: int) -> tuple[dict[str, int], dict[str, int]]:
    """How much was acknowledged, and what is wrong with it: nothing, all zeros, on sound code."""
    log = read(address, lambda store: [row for rows in store.rows() for row in rows])
    arms = {row[3]: row[4] for row in log if row[2] == "decide"}
    rewards = collections.defaultdict(list)
    for row in log:
        if row[2] == "reward":
            rewards[row[3]].append(row[9])
    tells = sum(row[2] == "tell" for row in log) - 1  # the parent's
    lines = [line for file in sorted(folder.glob("client-*")) for line in read_journal(file)]
    sums, number = collections.Counter(), collections.Counter(kind for kind, *_ in lines)
    for kind, count, _ in lines:
        sums[kind] += count
    decided = [(d, arm) for kind, d, arm in lines if kind == "decided"]
    told = {(d, value) for kind, d, value in lines if kind in ("counted", "known", "again")}
    counted = collections.Counter(d for kind, d, _ in lines if kind == "counted")
    verdict = verify(address)
    acknowledged = {
        "decisions": len(decided), "rewards": len(counted), "told without a decision": tells,
        "sent again after a kill": number["again"], "events": len(log),
    }  # fmt: skip
    most = sums["deciding"] - len(decided)  # of calls that were cut off by a kill
    wrong = {
        "decisions lost": sum(arms.get(d) != arm for d, arm in decided),
        "decisions made twice": len(decided) - len({d for d, _ in decided}),
        "decisions that nobody got": max(len(arms) - 1 - len(decided) - most, 0),
        "rewards lost": sum(value not in rewards[d] for d, value in told),
        "rewards double": sum(len(values) > 1 for values in rewards.values()),
        "rewards counted twice": sum(times > 1 for times in counted.values()),
        "rewards answered as known": number["known"],
        "told and lost": max(number["told"] - tells, 0),
        "told and counted twice": max(tells - number["telling"], 0),
        "verify": len(verdict.wrong),
    }
    return acknowledged, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rewards", type=int, default=5_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cut", type=float, default=0.01, help="how likely for each message")
    parser.add_argument("--fsync", choices=("on", "off"), default="on")
    parser.add_argument("--sabotage", choices=SABOTAGE, default="none")
    options = parser.parse_args()
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as name,
        PostgresqlServer(host="127.0.0.1", fsync=options.fsync) as server,
    ):
        folder = Path(name)
        storm = Storm(server, folder, options)
        try:
            storm.rage()
        finally:
            os.kill(storm.proxy, signal.SIGKILL)
            os.waitpid(storm.proxy, 0)
        acknowledged, wrong = findings(storm.direct, folder, storm.lives)
        cuts = storm.cuts.read_bytes() if storm.cuts.exists() else b""
    seconds = round(time.monotonic() - begun, 1)
    kills = {f"kills of {who}": times for who, times in sorted(storm.kills.items())}
    cut = {"questions cut off": cuts.count(b"q"), "answers cut off": cuts.count(b"a")}
    print(json.dumps({"seconds": seconds, **kills, **cut, **acknowledged, "wrong": wrong}))
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
