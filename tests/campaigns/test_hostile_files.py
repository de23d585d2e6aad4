"""Files that strangers made or changed: a sentence that says where, never a traceback or a hang."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import unimodal as um
from unimodal.campaigns import look, verify
from unimodal.campaigns.stores.sqlite import connection as sqlite_connection
from unimodal.campaigns.stores.sqlite import reading

HOSTILE = Path(__file__).with_name("hostile.py")
DEEP = "[" * 100_000


def change(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def replay(path):
    return um.replay(path, [], draws=20)


def refusals(path, reopen, snapshots=True):
    """What verify, inspect, replay and Campaign.open say."""
    if not snapshots:  # then all of the log is folded
        change(path, "DELETE FROM snapshots", "DELETE FROM rewards")
    found = []
    for call in (
        verify,
        um.inspect,
        lambda path: um.replay(path, [], draws=20),
        lambda _: reopen(),
    ):
        try:
            result = call(path)
            found.append("; ".join(result.wrong) if call is verify else f"nothing ({result})")
        except um.UnimodalError as error:
            found.append(str(error))
    return found


@pytest.fixture
def thirty(start, play):
    """Event 1 opens it, 2 to 31 are decisions, 32 to 61 their rewards."""
    with start() as campaign:
        play(campaign, 30)


# Lines of the log.

EMPTY = "decision = NULL, reward = NULL"


@pytest.mark.parametrize(
    ("seq", "values", "words"),
    [
        (40, "reward = 0.5", r"a reward of Bernoulli\(\) must be 0 or 1, got 0.5"),
        (40, "reward = -1", "must be between 0 and 1, got -1.0"),
        (40, "reward = 9e999", "must be between 0 and 1, got inf"),
        (40, "reward = 'x'", "with reward 'x', a value of another kind"),
        (40, "reward = x'00'", "with reward b'"),
        (40, "reward = NULL", "with reward None"),
        (40, "decision = 77", "closes decision 77, which is not open"),
        (40, "decision = 1", "closes decision 1, which is not open"),
        (40, "decision = 9.5", "with decision 9.5"),
        (40, "decision = 'x'", "with decision 'x'"),
        (40, "decision = NULL", "with decision None"),
        (40, "arm = 3", "with arm 3"),
        (40, "reason = 'start'", "with reason 'start'"),
        (40, "leader = 3", "with leader 3"),
        (40, "near = 3", "with near 3"),
        (40, "propensity = 0.5", "with propensity 0.5"),
        (40, "data = ''", "with data ''"),
        (40, "kind = 'expire', reward = NULL", "lets decision 9 expire before its time"),
        (40, "kind = 'expire'", "is of kind expire with reward"),
        (40, "kind = 'note'", "is of kind 'note', which this version of unimodal does not know"),
        (40, "kind = x'6e6f'", "is of kind b'no'"),
        (40, f"kind = 'look-up', {EMPTY}, arm = 1, data = '[1, [2]]'", "is of kind 'look-up'"),
        (40, f"kind = 'revision', {EMPTY}, data = '{{}}'", "must be a change of the graph"),
        (40, "time = 'soon'", "a finite number of seconds as its time, got 'soon'"),
        (40, "time = x'00'", "a finite number of seconds as its time, got b'"),
        (40, "time = 9e999", "a finite number of seconds as its time, got inf"),
        (40, "time = -9e999", "a finite number of seconds as its time, got -inf"),
        (40, "time = -1", "is of time -1.0, after one of 0.0"),
        (20, "time = 5", "event 21 .* is of time 0.0, after one of 5.0"),
        (20, "arm = 'z'", "decision 19 for arm 'z' .* makes it decision 19 for arm"),
        (20, "arm = arm + 0.0", r"for arm \d\.0 .* makes it decision 19 for arm \d "),
        (20, "arm = NULL", "for arm None"),
        (20, "leader = 99", "leader 99"),
        (20, "leader = NULL", "makes it decision 19"),
        (20, "leader = leader + 0.0", "makes it decision 19"),
        (20, "near = 77", "77 near"),
        (20, "near = 'many'", "'many' near"),
        (20, "reason = 'luck'", r"\('luck', leader"),
        (20, "decision = 77", "is decision 77 "),
        (20, "propensity = 1.5", "a propensity between 0 and 1, got 1.5"),
        (20, "propensity = 'x'", "with propensity 'x'"),
        (20, "reward = 1.0", "is of kind decide with reward 1.0"),
        (20, "data = 'x'", "with data 'x'"),
        (61, "seq = 99", "event 99 .* follows event 60, so some are missing"),
    ],
)
def test_a_line_that_cannot_be_is_told_where_it_is_folded(path, thirty, reopen, seq, values, words):
    change(path, f"UPDATE log SET {values} WHERE seq = {seq}")
    decided_again, *followed = refusals(path, reopen, snapshots=False)
    instead = re.sub(r"makes it decision.*", "which cannot be", words)  # who follows makes none
    for sentence, said in (decided_again, words), *((each, instead) for each in followed):
        assert re.search(rf"event \d+ of .*{said}" if "event" not in said else said, sentence)


@pytest.mark.parametrize(
    ("seq", "values", "words"),
    [
        (40, "reward = 0.5", "event 40 .* must be 0 or 1, got 0.5"),
        (40, "reward = 'x'", "event 40 .* with reward 'x'"),
        (40, "decision = 77", "event 40 .* closes decision 77, which is not open"),
        (40, "decision = NULL", "event 40 .* with decision None"),
        (40, "arm = 3", "event 40 .* with arm 3"),
        (40, "kind = 'note'", "event 40 .* 'note'"),
        (40, "time = 'soon'", "event 40 .* 'soon'"),
        (20, "arm = 'z'", "events of an arm 'z', which its graph never had"),
        (20, "leader = 99", "events of an arm '99', which its graph never had"),
        (20, "arm = arm + 0.0", r"events of an arm '\d\.0', which its graph never had"),
        (20, "reason = 'luck'", "event 20 .* reasons start, .* got 'luck'"),
        (20, "decision = 77", "event 20 .* is not decision 19"),
        (20, "propensity = 1.5", "event 20 .* propensity between 0 and 1, got 1.5"),
        (20, "near = 2.5", "event 20 .* with near 2.5"),
        (20, "seq = -5", "event -5 .* follows event 0, so some are missing"),
    ],
)
def test_a_line_that_cannot_be_is_told_by_those_who_only_count(path, thirty, seq, values, words):
    """They begin at the last snapshot and fold next to nothing; but they read all of it."""
    change(path, f"UPDATE log SET {values} WHERE seq = {seq}")
    for call in (um.inspect, replay, look):
        with pytest.raises(um.UnimodalError, match=words):
            call(path)


FOLD = """
import sys, unimodal as um
oracle = (lambda arm: [arm - 1, arm + 1]) if sys.argv[2] == "looked up" else None
def opened(path):
    return um.Campaign.open(path, graph=oracle)
for call in (lambda path: um.verify(path).wrong, opened):
    try:
        print(call(sys.argv[1]))
    except um.UnimodalError as error:
        print(error)
"""


def folded(path, graph):
    """What verify and Campaign.open say, in a process that may hang."""
    found = subprocess.run(
        [sys.executable, "-c", FOLD, str(path), graph], capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_a_reward_that_a_posterior_cannot_have_does_not_hang(path, thirty):
    """A Beta draw with a negative parameter is looked for for ever, in compiled code."""
    change(path, "DELETE FROM snapshots", "UPDATE log SET reward = 1e9 WHERE seq = 40")
    for sentence in folded(path, "held"):
        assert "event 40 of" in sentence and "got 1000000000.0" in sentence


def test_a_cache_below_nothing_does_not_hang(path, reopen):
    """To forget the oldest until there are fewer than none takes for ever."""
    with reopen(graph=lambda arm: [arm - 1, arm + 1], root=0) as campaign:
        campaign.decide(3)
    change(path, "UPDATE settings SET value = '-5' WHERE key = 'cache'")
    for sentence in folded(path, "looked up"):
        assert re.search(r"settings in .* damaged \(the cache must be .* got -5", sentence)


def test_a_look_up_that_names_nobody_is_told(path, reopen):
    with reopen(graph=lambda arm: [arm - 1, arm + 1], root=0) as campaign:
        campaign.decide(5)
    change(path, "UPDATE log SET data = '[0, []]' WHERE kind = 'look-up' AND arm = 0")
    assert re.search(r"event \d+ of .* makes it decision 2 ", verify(path).wrong[0])
    change(path, "UPDATE log SET data = '[' || arm || ', []]' WHERE kind = 'look-up' AND arm != 0")
    change(path, "UPDATE log SET data = '[0, [-1, 1]]' WHERE kind = 'look-up' AND arm = 0")
    assert re.search(r"event \d+ of .* an answer without neighbours", verify(path).wrong[0])


# Tables.


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["CREATE VIEW extra AS SELECT * FROM log"], "there is a view 'extra' in it"),
        (["CREATE TABLE extra (a)"], "there is a table 'extra' in it"),
        (["CREATE INDEX extra ON log (decision)"], "there is a index 'extra' in it"),
        (
            ["CREATE TRIGGER extra AFTER INSERT ON log BEGIN DELETE FROM rewards; END"],
            "there is a trigger 'extra' in it",
        ),
        (["DROP TABLE rewards"], "there is no table 'rewards' in it"),
        (["DROP INDEX revisions"], "there is no index 'revisions' in it"),
        (["ALTER TABLE log DROP COLUMN propensity"], "there is another table 'log' in it"),
        (["ALTER TABLE log ADD COLUMN more"], "there is another table 'log' in it"),
        (["ALTER TABLE log RENAME COLUMN near TO far"], "there is another table 'log' in it"),
        (
            ["ALTER TABLE log ADD COLUMN more AS (abs(-9223372036854775808))"],
            "there is another table 'log' in it",
        ),
        (
            ["ALTER TABLE log RENAME TO old", "CREATE VIEW log AS SELECT * FROM old"],
            "there is a table 'old' in it",
        ),
    ],
)
def test_other_tables_than_a_campaigns_are_refused(path, thirty, reopen, statements, words):
    change(path, *statements)
    before = path.read_bytes()
    for sentence in refusals(path, reopen):
        assert "must have the tables of a campaign and nothing else" in sentence
        assert words in sentence
    assert path.read_bytes() == before


def test_pages_in_disorder_are_told_before_they_are_read(path, thirty):
    """The header counts free pages that there are not; in other disorder a table may never end."""
    data = bytearray(path.read_bytes())
    data[36:40] = (5).to_bytes(4, "big")
    path.write_bytes(data)
    assert "freelist" in verify(path).wrong[0].lower()
    for call in (um.inspect, replay, look):
        with pytest.raises(um.UnimodalError, match=r"is damaged \(.*\): go back to a copy"):
            call(path)


def test_nothing_that_a_file_brings_along_is_trusted(path, start):
    with start() as campaign:
        assert campaign._store._one("PRAGMA trusted_schema") == (0,)
    seen = []
    look_at = reading.distrust
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "distrust", lambda to: seen.append(to) or look_at(to))
        verify(path)
    assert len(seen) == 2  # the pages and the fold


def test_the_tables_are_those_of_format_2(path, start):
    """As they were first written: a file of then is one of now."""
    start().close()
    connection = sqlite3.connect(path)
    found = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY name")]
    connection.close()
    assert [" ".join(sql.split()) for sql in found] == [
        "CREATE TABLE log ( seq INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, "
        "decision INTEGER, arm, reason TEXT, leader, near INTEGER, propensity REAL, reward REAL, "
        "data TEXT )",
        "CREATE INDEX revisions ON log (seq) WHERE kind = 'revision'",
        "CREATE TABLE rewards (decision INTEGER PRIMARY KEY, reward REAL NOT NULL)",
        "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, version TEXT NOT NULL, "
        "state TEXT NOT NULL)",
    ]


# What stands in the tables.

GRAPH = {"kind": "edges", "n_arms": 10**15, "edges": [[0, 1]], "fingerprint": "x"}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("graph", DEEP, "settings in .* are damaged"),
        ("root", "[" * 200 + "1" + "]" * 200, "settings in .* are damaged"),
        ("graph", json.dumps(GRAPH), "settings in .* are damaged"),
        ("graph", '{"kind": "line", "n_arms": 1e15, "fingerprint": ""}', "at most 2,147,483,648"),
        ("cache", "-5", r"settings in .* damaged \(the cache must be .* at least 1, got -5"),
        ("cache", "2.5", "settings in .* are damaged"),
        ("cache", "true", "settings in .* are damaged"),
        ("seed", "-1", r"settings in .* damaged \(the seed must be"),
        ("seed", '"x"', "settings in .* are damaged"),
        ("time_to_live", "-1", r"settings in .* damaged \(the time to live must be"),
        ("time_to_live", "NaN", r"settings in .* damaged \(the time to live must be"),
        ("time_to_live", '"x"', "settings in .* are damaged"),
        ("on_expiry", "5", "settings in .* are damaged"),
        ("on_expiry", '"never"', "unknown on_expiry 'never'"),
        ("policy", "[]", "settings in .* are damaged"),
    ],
)
def test_settings_that_cannot_be_are_told(path, thirty, reopen, key, value, words):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE settings SET value = ? WHERE key = ?", (value, key))
    connection.commit()
    connection.close()
    for sentence in refusals(path, reopen):
        assert re.search(words, sentence)


@pytest.mark.parametrize("state", [DEEP, "{}", "[]", "null", "5", "1e999"])
def test_a_snapshot_that_cannot_be_is_told(path, thirty, reopen, state):
    change(path, f"UPDATE snapshots SET state = '{state}'")
    wrong, *others = refusals(path, reopen)
    assert "is not the fold of the log" in wrong
    for sentence in others:
        assert "the snapshot after event 61" in sentence and "is damaged: delete it" in sentence


def test_a_snapshot_of_an_event_that_there_is_not_is_told(path, thirty, reopen):
    """It would go on from there, and leave a gap in the log."""
    change(path, "UPDATE snapshots SET seq = 99 WHERE seq = 61")
    wrong, *others = refusals(path, reopen)
    assert "the log has no event 99, of which there is a snapshot" in wrong
    for sentence in others:
        assert "the snapshot after event 99" in sentence and "is damaged: delete it" in sentence


@pytest.mark.parametrize("data", [DEEP, '{"add": [[[[1]], {}]], "retire": [], "fingerprint": ""}'])
def test_a_revision_that_cannot_be_is_told(path, start, reopen, play, data):
    with start() as campaign:
        campaign.add_edges([(6, 7)])
        play(campaign, 10)
    change(path, f"UPDATE log SET data = '{data}' WHERE kind = 'revision'")
    for sentence in refusals(path, reopen):
        assert re.search(r"event \d+ of .* must be a change of the graph", sentence)


@pytest.mark.parametrize("table", ["log SET data", "settings SET value", "snapshots SET state"])
def test_a_value_that_no_memory_holds_is_not_read(path, thirty, reopen, monkeypatch, table):
    change(path, f"UPDATE {table} = CAST(zeroblob(100000) AS TEXT)")
    monkeypatch.setattr(sqlite_connection, "_LARGEST", 50_000)
    for sentence in refusals(path, reopen, snapshots="log" not in table):
        assert "a value in it that is larger than any that is written" in sentence


def test_the_largest_value_is_half_a_gigabyte(path, start):
    with start() as campaign:
        connection = campaign._store._connection
        assert connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == 536_870_912


def test_a_known_reward_that_is_none_is_told(path, thirty, reopen):
    change(path, "UPDATE rewards SET reward = 'x' WHERE decision = 9")
    with reopen() as campaign:
        with pytest.raises(um.UnimodalError, match=r"the reward of decision 9 in .* is none"):
            campaign.reward(9, 1.0)
        assert campaign.decide().id == 31
    assert "'rewards' differs from the log in 1" in verify(path).wrong[0]


# Numbers that are the last of their kind.


@pytest.fixture
def moved(path, thirty):
    """Its first events are in an archive, so that those which are left may have any numbers."""

    def numbered(last):
        um.campaigns.compact(path, path.with_suffix(".parquet"))
        connection = sqlite3.connect(path)
        (note,) = connection.execute("SELECT value FROM settings WHERE key = 'archived'").fetchone()
        note = json.loads(note)
        more = last - note["until"]
        note["until"] = note["parts"][0]["last"] = last
        connection.execute(
            "UPDATE settings SET value = ? WHERE key = 'archived'", (json.dumps(note),)
        )
        for table in ("log", "snapshots"):
            connection.execute(f"UPDATE {table} SET seq = seq + {more}")
        connection.commit()
        connection.close()

    return numbered


@pytest.mark.parametrize("last", [10**15, 2**63 - 2, 2**63 - 1])
def test_no_event_has_a_number_that_the_next_reader_does_not_take(path, moved, reopen, last):
    """The number after 2^63 - 1 is none in SQLite: a traceback."""
    moved(last)
    assert um.inspect(path) and verify(path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(um.UnimodalError, match="at most 1,000,000,000,000,000 events, got one"):
            reopen()
    assert path.read_bytes()[100:] == before[100:]


def test_the_last_events_are_written_and_then_no_more(path, moved, reopen, play):
    moved(10**15 - 6)
    campaign = reopen()  # an event, and so is each decision and reward
    assert campaign.reward(campaign.decide().id, 1.0)
    campaign.decide(2)
    with pytest.raises(um.UnimodalError, match="events, got one more"):
        campaign.decide(2)  # of which there is room for one
    last = campaign.decide()
    with pytest.raises(um.UnimodalError, match="events, got one more"):
        campaign.reward(last.id, 1.0)
    assert campaign.agent.outstanding == 3
    campaign.close()
    assert verify(path) and len(verify(path).snapshots) == 2


@pytest.mark.parametrize("count", [62, 10**15, 10**15 + 1, 2**63 - 1, 2**64, 10**400])
@pytest.mark.parametrize("what", ["made", "round"])
def test_a_snapshot_of_more_decisions_than_events_is_told(path, thirty, reopen, what, count):
    """At 10^15 it was opened, and the next snapshot was one that nobody could open."""
    connection = sqlite3.connect(path)
    state = json.loads(connection.execute("SELECT state FROM snapshots").fetchone()[0])
    if what == "made":
        state["decisions"]["made"] = count
    else:
        state["notes"][0] = count
    connection.execute("UPDATE snapshots SET state = ?", (json.dumps(state),))
    connection.commit()
    connection.close()
    for sentence in refusals(path, reopen)[1:]:
        assert "the snapshot after event 61" in sentence and "is damaged" in sentence


@pytest.mark.parametrize("number", ["0", "-1", "2.0", '"2"', "true", "1000000000000001", "1" * 30])
@pytest.mark.parametrize("events", ["[[{}, 4]]", "[[2, {}]]"])
def test_a_key_of_events_that_cannot_be_is_told(path, start, reopen, play, number, events):
    with start() as campaign:
        campaign.decide(3, key="visitor 1")
        play(campaign, 3)
    connection = sqlite3.connect(path)
    (data,) = connection.execute("SELECT data FROM log WHERE kind = 'key'").fetchone()
    other = data.replace("[[2, 4]]", events.format(number))
    assert other != data
    connection.execute("UPDATE log SET data = ? WHERE kind = 'key'", (other,))
    connection.commit()
    connection.close()
    with reopen() as campaign, pytest.raises(um.UnimodalError, match="damaged"):
        campaign.decide(3, key="visitor 1")
    with pytest.raises(um.UnimodalError, match=r"damaged|NOT sound"):
        um.campaigns.compact(path, path.with_suffix(".parquet"))


def test_a_key_with_a_time_that_is_none_is_told(path, start, reopen, play):
    with start() as campaign:
        campaign.decide(3, key="visitor 1")
        play(campaign, 3)
    change(path, "UPDATE log SET time = 'limit' WHERE kind = 'key'")
    with reopen() as campaign, pytest.raises(um.UnimodalError, match="damaged"):
        campaign.decide(3, key="visitor 1")


@pytest.mark.parametrize("end", ["9223372036854775808", "null", '"x"'])
def test_settings_that_cannot_be_are_told_by_erase_as_well(path, thirty, end):
    graph = f'{{"kind": "edges", "n_arms": 3, "edges": [[0, 1], [1, {end}]], "fingerprint": ""}}'
    change(path, f"UPDATE settings SET value = '{graph}' WHERE key = 'graph'")
    with pytest.raises(um.UnimodalError, match=r"settings in .* are damaged"):
        um.campaigns.erase(path, 1)


def policy_of(kind, window):
    inside = {"policy": "UTS", "name": "UTS", "own": False, "parameters": {}}
    parameters = {"policy": inside, "window": window}
    return json.dumps({"policy": kind, "name": "w", "own": False, "parameters": parameters})


@pytest.mark.parametrize("kind", ["Windowed", "Restarting"])
@pytest.mark.parametrize("window", [10**9, 2**63, -2])
def test_a_window_that_no_memory_holds_is_told(path, thirty, reopen, kind, window):
    connection = sqlite3.connect(path)
    given = (policy_of(kind, window),)
    connection.execute("UPDATE settings SET value = ? WHERE key = 'policy'", given)
    connection.commit()
    connection.close()
    for call in (lambda: verify(path), lambda: um.inspect(path), reopen):
        with pytest.raises(um.UnimodalError, match=f"the 'window' of {kind} must be"):
            call()


# Everything at random.


def fuzz(*arguments, timeout):
    try:
        found = subprocess.run(
            [sys.executable, str(HOSTILE), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as hung:
        pytest.fail(f"it hangs: {(hung.stdout or b'')[-500:]!r}")
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-3000:]
    assert " 0 wrong" in found.stdout.splitlines()[-1]


def test_no_change_of_a_file_crashes_a_reader():
    fuzz("--cases", "15", "--first", "80", "--seed", "9", timeout=150)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 6))
def test_no_change_of_a_file_crashes_a_reader_for_long(seed):
    fuzz("--cases", "1000", "--seed", str(seed), timeout=1500)
