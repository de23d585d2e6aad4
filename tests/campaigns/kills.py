"""Kill clients of a campaign at random moments, and hold what they were told against the log.

    python tests/campaigns/kills.py --kills 200 --rewards 100000

Some processes work on one file. Each notes in a journal of its own what it is about to send and,
after the call has returned, that it was acknowledged. A process is killed with SIGKILL by its
parent at a random moment, or by itself right after an acknowledgement, which is when one that came
too early is lost for certain; there are at least `--suicides` of these. Its next life reads the
journal and sends again what was not acknowledged. Clients are forked from a process that has
compiled the policy, so a new life costs milliseconds.

With `--hostile` that process has the file open itself and works on it all the time, as an
application that was loaded before its server forked; the last client is not forked but spawned; the
file is verified and looked at by a reader, backed up, and copied (which drops SQLite's locks) again
and again; and one reading of a clock in a hundred is thirty years ahead.

`--sabotage early` acknowledges before the commit, `--sabotage twice` counts a reward as often as it
is told: the findings must show both, or this test could not fail.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import unimodal as um
from unimodal.agents.decisions import Book
from unimodal.campaigns import look, snapshots, verify, writer
from unimodal.campaigns.stores.sqlite import SqliteStore

GRAPH = um.graphs.line(9)


class Journal:
    """What one client knows, in a file that is only added to: it survives the client."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(self._file, b"\n")  # after a line that was cut off
        self.lines = read_journal(path)

    def note(self, kind: str, pairs: list[tuple[int, float]]) -> None:
        """One line each: decided, sent, counted, known already or refused."""
        text = "".join(f"{kind} {decision} {value} .\n" for decision, value in pairs)
        os.write(self._file, text.encode())


def read_journal(path: Path) -> list[tuple[str, int, float]]:
    """The whole lines: kind, decision, arm or reward."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(p[0], int(p[1]), float(p[2])) for p in lines if len(p) == 4 and p[3] == "."]


def opened(path: Path, options: argparse.Namespace) -> um.Campaign:
    """The campaign of all clients."""
    settings = {"time_to_live": 3600, "clock": jumping} if options.hostile else {}
    return um.Campaign.open(
        path, um.UTS(), GRAPH, seed=7, durability=options.durability, **settings
    )


def jumping() -> float:
    """The time, or now and then one far ahead."""
    return time.time() + 1e9 * (random.random() < 0.01)


class Client:
    """One life of a client."""

    def __init__(
        self, path: Path, journal: Path, rng: random.Random, options: argparse.Namespace
    ) -> None:
        self.rng, self.journal, self.suicide = rng, Journal(journal), options.suicide
        self.campaign = opened(path, options)
        seen: dict[str, dict[int, float]] = collections.defaultdict(dict)
        for kind, decision, value in self.journal.lines:
            seen[kind][decision] = value
        self.told = {**seen["counted"], **seen["known"]}
        answered = {**self.told, **seen["refused"]}
        self.waiting = [number for number in seen["decided"] if number not in seen["sent"]]
        self.tell([(d, value) for d, value in seen["sent"].items() if d not in answered])

    def tell(self, pairs: list[tuple[int, float]]) -> None:
        """Send rewards in one call, and note what came of each."""
        if not pairs:
            return
        self.journal.note("sent", pairs)
        try:
            news = self.campaign.reward([d for d, _ in pairs], [value for _, value in pairs])
        except um.UnimodalError:  # of what was acknowledged, so it was lost
            self.journal.note("refused", pairs)
            return
        self.journal.note("counted", [p for p, new in zip(pairs, news, strict=True) if new])
        self.journal.note("known", [p for p, new in zip(pairs, news, strict=True) if not new])
        self.told.update(pairs)
        self.perhaps_die()

    def perhaps_die(self) -> None:
        """Right after an acknowledgement: if that was not on disk yet, it is lost."""
        if self.rng.random() < self.suicide:
            os.kill(os.getpid(), signal.SIGKILL)

    def step(self) -> None:
        """Decide once or often; tell some rewards now and leave others; tell some again."""
        size = self.rng.choice((1, 1, 300))
        made = self.campaign.decide(size)
        self.journal.note("decided", [(decision.id, decision.arm) for decision in made])
        self.waiting += [decision.id for decision in made]
        self.perhaps_die()
        self.rng.shuffle(self.waiting)  # late, and in any order
        for _ in range(self.rng.choice((0, 1, 2))):
            batch = [self.waiting.pop() for _ in range(min(len(self.waiting), size))]
            self.tell([(decision, float(self.rng.random() < 0.4)) for decision in batch])
        if self.told and self.rng.random() < 0.5:
            again = self.rng.choice(list(self.told.items()))
            self.tell([again])


def acknowledge_early() -> None:
    """Sabotage: only every eighth commit is made, so most calls return before theirs."""
    begin, commit = SqliteStore.begin, SqliteStore.commit
    calls = iter(range(10**9))

    def lazy_begin(log: SqliteStore) -> None:
        if not log._connection.in_transaction:
            begin(log)

    def lazy_commit(log: SqliteStore) -> None:
        if next(calls) % 8 == 7:
            commit(log)

    SqliteStore.begin, SqliteStore.commit = lazy_begin, lazy_commit


def count_twice() -> None:
    """Sabotage: whatever is told is news, and a decision stays open."""

    class Open(collections.OrderedDict):
        def pop(self, decision, default=None):
            return self.get(decision, default)

    def begin(book, *settings, begin=Book.__init__):
        begin(book, *settings)
        book.open = Open()

    Book.news = lambda book, told, now: {int(d): float(value) for d, value in told}
    Book.__init__ = begin


SABOTAGE = {"none": lambda: None, "early": acknowledge_early, "twice": count_twice}


def live(path: Path, folder: Path, name: int, life: int, options: argparse.Namespace) -> None:
    """The process of a client, until it is killed; the last life only sends what is left."""
    parent = os.getppid()
    try:
        SABOTAGE[options.sabotage]()
        snapshots.SNAPSHOT_EVERY = 2_000  # so that some kills hit snapshots
        # A sabotaged client that left a transaction open would wait for one who waits for it.
        if options.sabotage == "none":
            writer._ALONE = 3  # and rewards that are statements of their own
        rng = random.Random(f"{options.seed} {name} {life}")
        client = Client(path, folder / f"client-{name}", rng, options)
        while life >= 0 and os.getppid() == parent:
            client.step()
        client.campaign.close()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Storm:
    """The parent: starts clients, kills them, and starts them again."""

    def __init__(self, path: Path, folder: Path, options: argparse.Namespace) -> None:
        self.path, self.folder, self.options = path, folder, options
        self.rng = random.Random(options.seed)
        self.clients: dict[int, int] = {}  # name: process
        self.names = range(options.clients)
        self.kills = self.suicides = self.lives = self.counted = 0
        self.read = [0] * options.clients  # bytes of each journal
        with opened(path, options) as campaign:  # compiled here, once for all lives
            campaign.decide()

    def start(self, name: int, life: int) -> None:
        self.lives += 1
        if self.options.hostile and name == self.names[-1]:
            self.clients[name] = spawned("--live", name, life, self.path, self.options).pid
            return
        process = os.fork()
        if process == 0:
            live(self.path, self.folder, name, life, self.options)
        self.clients[name] = process

    def reap(self, name: int, flags: int = 0) -> None:
        """Take note of a client that is dead: killed, or at its end."""
        process, status = os.waitpid(self.clients[name], flags)
        if process:
            del self.clients[name]
            self.kills += os.WIFSIGNALED(status)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise RuntimeError(f"client {name} failed by itself; its traceback is above")

    def rage(self) -> None:
        """Kill until there were enough kills and enough acknowledgements; then one quiet life.

        Kills keep step with the work, however slow the machine is, so that each life gets to some.
        """
        kills, rewards, suicides = self.options.kills, self.options.rewards, self.options.suicides
        try:
            while self.count() < rewards or self.kills < kills or self.suicides < suicides:
                for name in self.names:
                    if name not in self.clients:
                        self.start(name, self.lives)
                time.sleep(self.rng.uniform(0.0, 0.2))
                before = self.kills
                for name in list(self.clients):
                    self.reap(name, os.WNOHANG)
                self.suicides += self.kills - before
                if self.clients and self.kills < min(self.counted / rewards, 1) * kills:
                    victim = self.rng.choice(sorted(self.clients))
                    os.kill(self.clients[victim], signal.SIGKILL)
                    self.reap(victim)
        finally:
            for name in list(self.clients):
                os.kill(self.clients[name], signal.SIGKILL)
                self.reap(name)
        for name in self.names:
            self.start(name, -1)
            self.reap(name)

    def count(self) -> int:
        """How many rewards have been acknowledged, by what journals have more than last time."""
        for name in self.names:
            if (self.folder / f"client-{name}").exists():
                with open(self.folder / f"client-{name}", "rb") as file:
                    file.seek(self.read[name])
                    text = file.read()
                whole = text[: text.rfind(b"\n") + 1]
                self.read[name] += len(whole)
                self.counted += whole.count(b"counted")
        return self.counted


class Company:
    """What else happens to the file: the parent's own work, a reader, backups and copies."""

    def __init__(self, path: Path, folder: Path, options: argparse.Namespace) -> None:
        self.path, self.folder, self.options = path, folder, options
        self.stopped, self.failures = threading.Event(), []
        self.did = collections.Counter()
        self.reader = spawned("--read", 0, 0, path, options, stdout=subprocess.PIPE, text=True)
        quiet = argparse.Namespace(**{**vars(options), "suicide": 0.0})
        self.client = Client(path, folder / "client-parent", random.Random(options.seed), quiet)
        self.threads = [
            threading.Thread(target=self.repeat, args=(w,)) for w in (self.work, self.copy)
        ]
        for thread in self.threads:
            thread.start()

    def repeat(self, work: Callable[[], None]) -> None:
        try:
            while not self.stopped.is_set():
                work()
                self.did[work.__name__] += 1
        except BaseException as error:
            self.failures.append(f"{work.__name__}: {error}")

    def work(self) -> None:
        self.client.step()
        time.sleep(0.01)

    def copy(self) -> None:
        copy = self.client.campaign.backup(self.folder / "backup.db")
        if wrong := verify(copy).wrong:
            self.failures.append(f"backup: {wrong}")
        copy.unlink()
        shutil.copy(self.path, self.folder / "copy")
        self.stopped.wait(2.0)  # or most of the machine's time would be theirs

    def leave(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        self.client.campaign.close()
        Path(f"{self.path}-stop").touch()
        told, _ = self.reader.communicate()
        self.did["read"] = int(told or 0)
        if self.reader.returncode:
            self.failures.append("the reader failed; its traceback is above")


def spawned(kind: str, name: int, life: int, path: Path, options: Any, **named: Any) -> Any:
    """A process of this file: a client, or a reader."""
    data = json.dumps(vars(options))
    command = [sys.executable, __file__, kind, json.dumps([name, life, str(path), data])]
    return subprocess.Popen(command, **named)


def read(path: Path) -> None:
    """Verify the file and look at it until its parent says so; how often."""
    times = 0
    while not Path(f"{path}-stop").exists():
        assert verify(path).wrong == []
        assert look(path).agent.round > 0
        times += 1
        time.sleep(0.5)
    print(times)


def findings(path: Path, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
    """How much was acknowledged, and what is wrong with it: nothing, all zeros, on sound code."""
    connection = sqlite3.connect(path)
    arms = dict(connection.execute("SELECT decision, arm FROM log WHERE kind = 'decide'"))
    (expired,) = connection.execute("SELECT count(*) FROM log WHERE kind = 'expire'").fetchone()
    rewards = collections.defaultdict(list)
    for decision, value in connection.execute(
        "SELECT decision, reward FROM log WHERE kind = 'reward'"
    ):
        rewards[decision].append(value)
    connection.close()
    lines = [line for file in sorted(folder.glob("client-*")) for line in read_journal(file)]
    decided = [(d, value) for kind, d, value in lines if kind == "decided"]
    told = {(d, value) for kind, d, value in lines if kind in ("counted", "known")}
    counted = collections.Counter(d for kind, d, _ in lines if kind == "counted")
    pulls = collections.Counter(arms.get(d) for d, values in rewards.items() for _ in values)
    try:
        frame = look(path).agent.arms()
        same = dict(zip(frame["arm"], frame["pulls"], strict=True)) == pulls
        verdict = verify(path).wrong
    except um.UnimodalError as error:
        same, verdict = False, [str(error)]
    acknowledged = {
        "decisions": len(decided),
        "rewards": len(counted),
        "told again": sum(kind == "known" for kind, _, _ in lines),
    }
    wrong = {
        "decisions lost": sum(arms.get(d) != arm for d, arm in decided),
        "decisions expired": expired,
        "decisions made twice": len(decided) - len({d for d, _ in decided}),
        "rewards lost": sum(value not in rewards[d] for d, value in told),
        "rewards refused": sum(kind == "refused" for kind, _, _ in lines),
        "rewards double": sum(len(values) > 1 for values in rewards.values()),
        "rewards counted twice": sum(times > 1 for times in counted.values()),
        "pulls differ": int(not same),
        "verify": len(verdict),
    }
    return acknowledged, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rewards", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--durability", choices=("full", "fast"), default="full")
    parser.add_argument("--sabotage", choices=SABOTAGE, default="none")
    parser.add_argument(
        "--suicide", type=float, default=0.1, help="how likely after each acknowledgement"
    )
    parser.add_argument("--suicides", type=int, default=10, help="how many there must be")
    parser.add_argument("--hostile", action="store_true", help="with forks, copies, jumping clocks")
    parser.add_argument("--live", help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.live or options.read:
        name, life, file, data = json.loads(options.live or options.read)
        given = argparse.Namespace(**json.loads(data))
        if options.read:
            return read(Path(file)) or 0
        live(Path(file), Path(file).parent, name, life, given)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "campaign.db"
        storm = Storm(path, Path(folder), options)
        company = Company(path, Path(folder), options) if options.hostile else None
        storm.rage()
        if company:
            company.leave()
        acknowledged, wrong = findings(path, Path(folder))
        if company:
            acknowledged |= {f"{work} times": times for work, times in company.did.items()}
            wrong["failures"] = company.failures
    seconds = round(time.monotonic() - begun, 1)
    kills = {"kills": storm.kills, "suicides": storm.suicides, "seconds": seconds}
    print(json.dumps({**kills, **acknowledged, "wrong": wrong}))
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
