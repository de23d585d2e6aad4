"""What campaigns do, recorded before their core was written again: logs, states, answers, files.

    python tests/golden/campaign_recording.py FOLDER    # with the code that is to be held to

The same scenarios run on SQLite and on PostgreSQL, under a clock that only they move, and what
comes out is the same on both (`RECORDED`). Beside it are databases of the format of then, at
several points of their lives, and what comes of going on with each (`campaigns/`).

What a comparison leaves out, since it changes on purpose: `detail` of problem documents and the
sentences of errors (their classes are compared); columns that a log did not have then; ids of
decisions in new campaigns, which are replaced by the number of the decision (`Ids`); and the format
of a database. Old databases are compared with nothing left out but new columns.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import sqlite3
from dataclasses import asdict
from pathlib import Path

import unimodal as um
from unimodal.campaigns import compact, erase

HERE = Path(__file__).parent
RECORDED, FOLDER = HERE / "campaigns.json", HERE / "campaigns"
COLUMNS = "seq, time, kind, decision, arm, reason, leader, near, propensity, reward, data"
_LABELS = ("arm", "leader")
LADDER = ["9.90", "12.90", "14.90", "16.90", "19.90", "24.90"]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


class Ids:
    """Replaces ids of decisions by their numbers, in any text: they may have random bits."""

    def __init__(self):
        self._numbers = {}

    def meet(self, decision):
        self._numbers.setdefault(str(decision), str(len(self._numbers) + 1))

    def plain(self, text):
        return re.sub(r"\b\d{7,}\b", lambda found: self._numbers.get(found[0], found[0]), text)


class SqliteTables:
    """What stands in a file, read by nobody but SQLite."""

    def __init__(self, path):
        self._path = path

    def ask(self, question):
        address = f"file:{self._path}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            return [list(row) for row in connection.execute(question)]

    def log(self):
        return self.ask(f"SELECT {COLUMNS} FROM log ORDER BY seq")

    def snapshots(self):
        return self.ask("SELECT seq, state FROM snapshots ORDER BY seq")

    def rewards(self):
        return self.ask("SELECT decision, reward FROM rewards ORDER BY decision")


class PostgresqlTables:
    """What stands in a database, read by nobody but psycopg."""

    def __init__(self, address):
        self._conninfo, _, name = re.sub(r"[?&]campaign=", "\0", str(address)).partition("\0")
        self._name = name.replace("%20", " ")

    def ask(self, what, table, order):
        import psycopg

        question = (
            f"SELECT {what} FROM unimodal.{table} WHERE campaign = "
            f"(SELECT id FROM unimodal.campaigns WHERE name = %s) ORDER BY {order}"
        )
        with psycopg.connect(self._conninfo) as connection:
            return [list(row) for row in connection.execute(question.encode(), [self._name])]

    def log(self):
        """The rows, with labels as they are: here they are kept as JSON."""
        rows = self.ask(COLUMNS, "log", "seq")
        for row, column in itertools.product(rows, map(COLUMNS.split(", ").index, _LABELS)):
            row[column] = None if row[column] is None else json.loads(row[column])
        return rows

    def snapshots(self):
        return self.ask("seq, state", "snapshots", "seq")

    def rewards(self):
        return self.ask("decision, reward", "rewards", "decision")


class Recorder:
    """Calls a campaign, and writes down what comes of it."""

    def __init__(self, place, folder, oracle=None):
        self.place, self.folder, self._oracle = place, folder, oracle
        is_address = str(place).startswith("postgres")
        self.tables = PostgresqlTables(place) if is_address else SqliteTables(place)
        self.clock, self.ids, self.archives = Clock(), Ids(), []
        self.answers, self.phases, self.made = [], {}, []

    def open(self, **settings):
        given = {} if self._oracle is None else {"graph": self._oracle}
        return um.Campaign.open(
            self.place, clock=self.clock, durability="fast", **{**given, **settings}
        )

    def do(self, name, work):
        """Write down what a call answers; of an error its class."""
        self.clock.now += 1.0
        try:
            answer = work()
        except um.UnimodalError as error:
            answer = type(error).__name__
        self.answers.append([name, answer])
        return answer

    def decide(self, campaign, *arguments, **named):
        made = self.do("decide", lambda: campaign.decide(*arguments, **named))
        made = made if isinstance(made, list) else [made]
        if isinstance(made[0], um.Decision):
            self.made += [one for one in made if one not in self.made]
            for one in made:
                self.ids.meet(one.id)
            self.answers[-1][1] = [list(asdict(one).values()) for one in made]
        return made

    def play(self, campaign, rounds, **named):
        """Decide, and tell two of three rewards."""
        for _ in range(rounds):
            (decision,) = self.decide(campaign, **named)
            number = self.made.index(decision) + 1
            if number % 3:
                worth = float(number * 7919 % 10 < 5)
                self.do("reward", lambda: campaign.reward(decision.id, worth))  # noqa: B023

    def verdict(self, archives=()):
        found = um.verify(self.place, archives=archives)
        # Look-ups that stand before a log that was compacted were counted twice.
        counts = {kind: count for kind, count in found.counts.items() if kind != "look-up"}
        return [bool(found), found.first, found.events, counts, found.snapshots]

    def end(self, phase, campaign):
        """Write down all that can be read, and what is on disk after the campaign was closed."""
        self.do("agent", lambda: campaign.agent.save(self.folder / "agent.json") and None)
        last = self.made[-1].id
        reads = {
            "state": json.dumps(json.loads((self.folder / "agent.json").read_text())),
            "arms": campaign.arms().rows(),
            "history": _digest(campaign.history().select(COLUMNS.split(", ")).rows()),
            "explain": campaign.explain(last).to_dict(),
            "certificate": _with_text_keys(campaign.certificate(0.9).to_dict()),
            "alarms": [alarm.to_dict() for alarm in campaign.alarms()],
            "outstanding": [campaign.outstanding, campaign.leader, campaign.paused],
        }
        campaign.close()
        self.phases[phase] = {
            **reads,
            "log": self.tables.log(),
            "rewards": self.tables.rewards(),
            "snapshots": [
                [seq, _digest(state, self.ids)] for seq, state in self.tables.snapshots()
            ],
            "verify": self.verdict(),
            "whole": self.verdict(self.archives) if self.archives else None,
        }

    def recorded(self):
        """All of it as JSON data, with numbers for ids."""
        data = {"answers": self.answers, "phases": self.phases}
        return json.loads(self.ids.plain(json.dumps(data, default=str)))


def _digest(data, ids=None):
    text = data if isinstance(data, str) else json.dumps(data)
    text = text if ids is None else ids.plain(text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _with_text_keys(data):
    if isinstance(data, dict):
        return {str(key): _with_text_keys(value) for key, value in data.items()}
    return list(map(_with_text_keys, data)) if isinstance(data, list) else data


# The scenarios. Each gives its recorder; `kept` is called between phases, to copy a database.


def prices(recorder, kept=lambda name: None):
    """A ladder of prices with every change there is, compacted twice and erased three times."""
    past = {"9.90": (4, 1.0), "14.90": (5, 3.0)}
    settings = {"policy": um.UTS(), "graph": um.graphs.line(LADDER), "seed": 3}
    campaign = recorder.open(**settings, time_to_live=60.0, on_expiry="drop", data=past)
    recorder.play(campaign, 12)
    first, second = recorder.made[0].id, recorder.made[1].id
    recorder.do("again", lambda: campaign.reward(first, 0.0 if 7919 % 10 >= 5 else 1.0))
    recorder.do("other", lambda: campaign.reward(first, 0.5))
    recorder.do("unknown", lambda: campaign.reward(10**6 - 1, 1.0))
    recorder.do("many", lambda: campaign.reward([first, second], [0.0, 1.0]))
    recorder.play(campaign, 6, propensity=True)
    recorder.decide(campaign, 4, key="visit 17")
    recorder.decide(campaign, 4, key="visit 17")
    recorder.decide(campaign, 3, key="visit 17")
    recorder.decide(campaign, key="visit 18")
    recorder.do("tell", lambda: campaign.tell(["12.90", "16.90"], [1.0, 0.0]))
    recorder.do("insert", lambda: campaign.insert("13.90", between=("12.90", "14.90")))
    recorder.do("add", lambda: campaign.add_edges([("24.90", "29.90"), ("12.90", "14.90")]))
    recorder.do("remove", lambda: campaign.remove_edges([("12.90", "14.90")]))
    recorder.do("pause", lambda: campaign.pause("14.90"))
    recorder.do("cap", lambda: campaign.cap(0.4, over=10))
    recorder.play(campaign, 14)
    recorder.clock.now += 100.0
    recorder.do("expire", campaign.expire)
    recorder.do("late", lambda: campaign.reward(recorder.made[-1].id, 1.0))
    recorder.end("whole", campaign)
    kept("prices-whole")

    recorder.archives.append(_compacted(recorder, 1))
    campaign = recorder.open()
    recorder.decide(campaign, 4, key="visit 17")  # of the archive, and still known
    recorder.do("archived", lambda: campaign.reward(second, 1.0))
    recorder.do("resume", lambda: campaign.resume("14.90"))
    recorder.do("uncap", lambda: campaign.cap(None))
    recorder.play(campaign, 12)
    recorder.do("retire", lambda: campaign.retire("29.90"))
    recorder.play(campaign, 5, propensity=True)
    recorder.end("compacted", campaign)
    kept("prices-compacted")

    _erased(recorder, "16.90")
    campaign = recorder.open()
    recorder.play(campaign, 8)
    recorder.decide(campaign, 2, key="visit 19")
    recorder.end("erased", campaign)

    recorder.archives.append(_compacted(recorder, 2))
    campaign = recorder.open()
    recorder.decide(campaign, 2, key="visit 19")
    recorder.play(campaign, 6)
    recorder.end("compacted twice", campaign)

    _erased(recorder, "29.90", data=True)
    _erased(recorder, "9.90")
    campaign = recorder.open()
    recorder.play(campaign, 6)
    recorder.end("erased thrice", campaign)
    kept("prices-moved")


def visits(recorder, kept=lambda name: None):
    """A lattice behind a neighbour function, some of whose answers fail; silence counts as zero."""
    settings = {
        "policy": um.UTS(start="probe(4)"),
        "seed": 5,
        "time_to_live": 30.0,
        "on_expiry": "zero",
    }
    campaign = recorder.open(**settings)
    recorder.play(campaign, 12)
    recorder.decide(campaign, 3, key="order 1")
    recorder.decide(campaign, 3, key="order 1")
    recorder.play(campaign, 25, propensity=True)
    recorder.clock.now += 50.0
    recorder.play(campaign, 10)
    recorder.do("tell", lambda: campaign.tell([recorder.made[0].arm], [1.0]))
    recorder.do("pause", lambda: campaign.pause(recorder.made[0].arm))
    recorder.play(campaign, 5)
    recorder.end("looked up", campaign)
    kept("visits")
    recorder.archives.append(_compacted(recorder, 1))
    campaign = recorder.open()
    recorder.decide(campaign, 3, key="order 1")
    recorder.play(campaign, 12)
    recorder.end("compacted", campaign)


def _compacted(recorder, number):
    archive = recorder.folder / f"archive-{number}.parquet"
    moved = compact(recorder.place, archive)
    recorder.answers.append(["compact", [moved.events, moved.first, moved.last]])
    return archive


def _erased(recorder, arm, **named):
    done = erase(recorder.place, arm, archives=recorder.archives, **named)
    recorder.archives = list(done.archives)
    recorder.answers.append(
        ["erase", [done.label, done.events, len(done.archives), done.unchecked]]
    )


def lattice():
    """A new neighbour function, whose every seventh answer fails."""
    calls = iter(range(10**6))

    def neighbours(arm):
        if next(calls) % 7 == 6:
            raise ConnectionError("no route")
        x, y = arm
        return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]

    return um.Oracle(neighbours, root=(2, 1), retries=0, cache=50)


SCENARIOS = {"prices": prices, "visits": visits}


def recorder_of(scenario, place, folder):
    """A recorder for a scenario, at a place that is not there yet."""
    return Recorder(place, folder, lattice() if scenario == "visits" else None)


# Databases of then.

OLD = ("prices-whole", "prices-compacted", "prices-moved", "visits", "stream")


def gone_on(name, place, folder):
    """What comes of going on with an old database: nothing of it may be otherwise than then."""
    recorder = recorder_of(name.partition("-")[0], place, folder)
    recorder.clock.now = 3000.0
    before = recorder.tables.log()
    verdict = recorder.verdict()
    campaign = recorder.open()
    recorder.do("again", lambda: campaign.reward(before[-1][3] or 1, 1.0))
    if name != "stream":
        key = "order 1" if name == "visits" else "visit 17"
        recorder.decide(campaign, 3 if name == "visits" else 4, key=key)
    recorder.play(campaign, 10)
    recorder.decide(campaign, 2, key="visit 20", propensity=True)
    recorder.decide(campaign, 2, key="visit 20")
    recorder.end("gone on", campaign)
    kept = recorder.phases["gone on"]
    # Not by `recorded`: ids of old campaigns are what they were.
    data = {"before": _digest(before), "verify": verdict, "answers": recorder.answers, **kept}
    return json.loads(json.dumps(data, default=str))


def make_stream(path):
    """Write a file with decisions that nobody would make again, as another machine may."""
    path.unlink(missing_ok=True)
    recorder = Recorder(path, path.parent)
    with recorder.open(policy=um.UTS(), graph=um.graphs.line(LADDER), seed=3) as campaign:
        recorder.play(campaign, 30)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM snapshots")
        connection.execute("DELETE FROM rewards")
        connection.execute("UPDATE settings SET value = '5' WHERE key = 'seed'")


# HTTP.


def served_answers(folder):
    """What a service answers whose folder has old databases."""
    import httpx

    from tests.service.running_server import running
    from unimodal.service.app import create_app

    served = folder / "served"
    served.mkdir()
    for name in OLD[:3]:
        copied(name, served)
    app = create_app(served, durability="fast")
    with running(app) as url, httpx.Client(base_url=url, timeout=60) as http:
        return http_answers(http)


BODY = {"graph": {"edges": list(map(list, itertools.pairwise(LADDER)))}, "seed": 4}


def http_answers(http):
    """What the service answers, on a new campaign and on old ones that lie in its folder."""
    ids, answers = Ids(), []

    def call(method, path, **named):
        answer = http.request(method, f"/v1/campaigns{path}", **named)
        answers.append([method, path, answer.status_code, answer.json() if answer.text else None])
        return answers[-1][-1]

    call("POST", "", json={"name": "new", "time_to_live": 3600.0, **BODY})
    call("POST", "", json={"name": "new", **BODY})
    for number in range(12):
        (made,) = call("POST", "/new/decisions", json={"propensity": number % 3 == 0})["decisions"]
        ids.meet(made["id"])
        call("POST", "/new/rewards", json={"decision": made["id"], "reward": float(number % 2)})
    for _ in range(2):
        made = call("POST", "/new/decisions", json={"n": 3}, headers={"Idempotency-Key": "k1"})
    for one in made["decisions"]:
        ids.meet(one["id"])
    call("POST", "/new/decisions", json={"n": 2}, headers={"Idempotency-Key": "k1"})
    first = made["decisions"][0]["id"]
    several = [{"decision": first, "reward": 1.0}, {"decision": first, "reward": 0.0}]
    call("POST", "/new/rewards", json={"rewards": [*several, {"decision": 999999, "reward": 1.0}]})
    call("POST", "/new/rewards", json={"decision": first, "reward": 7.0})
    call("POST", "/new/observations", json={"rewards": [{"arm": "9.90", "reward": 1.0}]})
    for path, body in (
        ("pause", {"arms": ["14.90"]}),
        ("insert", {"arm": "13.90", "between": ["12.90", "14.90"]}),
        ("edges", {"edges": [["24.90", "29.90"]]}),
        ("edges/remove", {"edges": [["24.90", "29.90"]]}),
        ("resume", {"arms": ["14.90"]}),
        ("retire", {"arms": ["24.90"]}),
        ("retire", {"arms": ["99.90"]}),
    ):
        call("POST", f"/new/{path}", json=body)
    call("POST", "/new/expire")
    for name in ("new", "prices-whole", "prices-compacted", "prices-moved", "none"):
        for what in ("", "/arms", "/certificate?confidence=0.9", "/alarms", "/events?limit=30"):
            call("GET", f"/{name}{what}")
        decision = first if name == "new" else 45
        call("GET", f"/{name}/decisions/{decision}/explanation")
    call("PATCH", "/new", json={"ended": True})
    call("POST", "/new/decisions")
    return json.loads(ids.plain(json.dumps(_without_moments(answers))))


_MOMENTS = ("time", "since", "seconds", "at", "instance", "reports")


def _without_moments(data):
    """Without the sentences of problems, and without what the system's clock says."""
    if isinstance(data, dict):
        is_problem = str(data.get("type", "")).startswith("urn:")
        left_out = (*_MOMENTS, "detail") if is_problem else _MOMENTS
        return {key: _without_moments(one) for key, one in data.items() if key not in left_out}
    return list(map(_without_moments, data)) if isinstance(data, list) else data


# Recording.


def record(folder):
    """Record all of it; the code that is imported says how it is."""
    from tests.postgresql_server import PostgresqlServer

    FOLDER.mkdir(exist_ok=True)
    found = {"scenarios": {}, "old": {}}
    with PostgresqlServer(fsync="off") as server:
        for name, scenario in SCENARIOS.items():
            both = []
            for store, place in (
                ("files", folder / f"{name}.db"),
                ("server", server.address(f"a {name}")),
            ):
                beside = folder / f"{name}-{store}"
                beside.mkdir()
                recorder = recorder_of(name, place, beside)
                scenario(recorder, _keeper(recorder, server))
                both.append(recorder.recorded())
            compare(both[0], both[1])
            found["scenarios"][name] = both[0]
        make_stream(FOLDER / "stream.db")
        _dump(server)
        for name in OLD:
            found["old"][name] = gone_on(name, copied(name, folder), folder)
    found["http"] = served_answers(folder)
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    RECORDED.write_text(text.replace('],["', '],\n["') + "\n")


def compare(one, two, where=""):
    """Refuse two recordings that differ, with the place where they do."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        for key in one:
            compare(one[key], two[key], f"{where}/{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for number, pair in enumerate(zip(one, two, strict=True)):
            compare(*pair, f"{where}/{number}")
    else:
        assert one == two, f"{where}: {one!r:.300} and {two!r:.300}"


def _keeper(recorder, server):
    """Keep a copy of a database as it is now: of a file, and of a campaign on a server."""
    from unimodal.campaigns.reading import backup

    def keep(name):
        is_file = isinstance(recorder.place, Path)
        target = FOLDER / f"{name}.db" if is_file else server.address(name)
        if is_file:
            target.unlink(missing_ok=True)
        backup(recorder.place, target)

    return keep


def copied(name, folder):
    target = folder / f"{name}.db"
    target.write_bytes((FOLDER / f"{name}.db").read_bytes())
    return target


def _dump(server):
    """Write the tables of the server as statements that make them again."""
    import subprocess

    from tests.postgresql_server import _bin

    played = "(SELECT id FROM unimodal.campaigns WHERE name LIKE 'a %')"
    for table in ("log", "settings", "snapshots", "rewards"):
        server.execute(f"DELETE FROM unimodal.{table} WHERE campaign IN {played}")
    server.execute(f"DELETE FROM unimodal.campaigns WHERE id IN {played}")
    made = subprocess.run(
        [_bin() / "pg_dump", "--inserts", "--no-owner", "-n", "unimodal", server.address()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [
        line for line in made.stdout.splitlines() if line and not line.startswith(("--", "\\"))
    ]
    (FOLDER / "postgresql-schema-1.sql").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(HERE.parents[1]))  # for the tests' server
    record(Path(sys.argv[1]))
