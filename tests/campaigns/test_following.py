"""Machines whose arithmetic differs share a campaign: what the log records is followed.

Only `verify` decides again, and names the first event that it would have decided otherwise.
"""

import importlib.util
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest

import unimodal as um
from unimodal.agents.saving import whole_state
from unimodal.campaigns import look, verify
from unimodal.campaigns.lookup_requests import LoggedOracle, LookUpRequests

LINE = um.graphs.line(7)
QUICK = {"durability": "fast", "clock": lambda: 0.0}

# A policy in which the last bit of a logarithm counts, as it does in a rejection sampler: now and
# then it decides whether one more random number is drawn. NUDGE=1 adds one unit in the last place.
POLICY = """
import math, os
import unimodal as um

def log(x):
    value = math.log(x)
    return math.nextafter(value, math.inf) if os.environ.get("NUDGE") else value

class Sampler(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        mantissa, _ = math.frexp(log(2.0 + um.random.uniform(rng)))
        if clock % 5 == 0 and int(mantissa * 2**53) % 2:
            um.random.uniform(rng)
        return near[um.random.randint(rng, len(near))]
"""

WORKER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import unimodal as um
from sampler import Sampler
campaign = um.Campaign.open(sys.argv[2], Sampler(), durability="fast", clock=lambda: 0.0)
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    decisions = campaign.decide(int(line))
    told = [campaign.reward(one.id, float(one.id % 3 == 0)) for one in decisions]
    print(json.dumps([[one.id, one.arm, is_new] for one, is_new in zip(decisions, told)]))
    print(json.dumps([campaign.outstanding, sum(campaign.arms()["pulls"])]), flush=True)
campaign.close()
"""


@pytest.fixture
def sampler(tmp_path):
    """The policy as this process has it: its logarithm is right."""
    file = tmp_path / "sampler.py"
    file.write_text(POLICY)
    spec = importlib.util.spec_from_file_location("sampler", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Sampler()


@pytest.fixture
def worker(tmp_path, path):
    """Another process on the same campaign; it decides and rewards as often as it is told."""
    started = []

    def start(nudge):
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUDGE": nudge},
        )
        started.append(process)
        assert json.loads(process.stdout.readline()) == "ready"
        return process

    yield start
    for process in started:
        process.stdin.close()
        assert process.wait(60) == 0
        process.stdout.close()


def asked(process, n):
    process.stdin.write(f"{n}\n")
    process.stdin.flush()
    made, state = (json.loads(process.stdout.readline()) for _ in range(2))
    return made, state


def first_difference(path, policy):
    """The first event that an agent here would have decided otherwise, by doing it all again."""
    agent = um.Agent(policy, LINE, seed=4, clock=lambda: 0.0)
    for event in look(path, policy).history().iter_rows(named=True):
        if event["kind"] == "decide" and str(agent.decide().arm) != event["arm"]:
            return event["seq"]
        if event["kind"] == "reward":
            agent.reward(event["decision"], event["reward"])
    return None


@pytest.fixture
def path(request, tmp_path):
    """A file; or, where a test asks for it, a campaign in PostgreSQL."""
    if getattr(request, "param", "a file") == "postgresql":
        return request.getfixturevalue("postgresql")()
    return tmp_path / "campaign.db"


@pytest.mark.parametrize(
    ("nudge", "path"),
    [
        ("", "a file"),
        pytest.param("1", "a file", marks=pytest.mark.full),
        ("1", "postgresql"),
    ],
    indirect=["path"],
)
def test_a_process_whose_log_is_one_unit_in_the_last_place_off_takes_part(
    path, sampler, worker, nudge
):
    with um.Campaign.open(path, sampler, LINE, seed=4, **QUICK) as campaign:
        other, acknowledged = worker(nudge), {}
        for turn in range(12):
            if turn % 2:
                made, (outstanding, counted) = asked(other, 10)
            else:
                decisions = campaign.decide(10)
                told = [campaign.reward(one.id, float(one.id % 3 == 0)) for one in decisions]
                made = [[one.id, one.arm, new] for one, new in zip(decisions, told, strict=True)]
                outstanding, counted = campaign.outstanding, sum(campaign.arms()["pulls"])
            assert all(is_new for _, _, is_new in made)
            acknowledged |= {number: arm for number, arm, _ in made}
            # Both count every reward, whoever decided.
            assert outstanding == 0 and counted == len(acknowledged) == 10 * (turn + 1)
    log = look(path, sampler).history()
    decided = log.filter(log["kind"] == "decide")
    assert dict(zip(decided["decision"], map(int, decided["arm"]), strict=True)) == acknowledged
    assert log.filter(log["kind"] == "reward").height == 120
    verdict, first = verify(path, sampler), first_difference(path, sampler)
    if not nudge:
        assert verdict and first is None and "stream" not in set(log["kind"])
        return
    assert first is not None and not verdict
    assert re.match(
        rf"event {first} of .* is decision \d+ for arm .*, but unimodal \S+ makes it decision",
        verdict.wrong[0],
    )
    # They agreed on a new random stream whenever one found that it would have decided otherwise.
    assert 1 <= log.filter(log["kind"] == "stream").height <= 12
    with um.Campaign.open(path, sampler, **QUICK) as campaign:
        assert campaign.decide().id == 121


def rng_of(campaign):
    return campaign.agent._player.state.rng.tolist()


def lattice(arm):
    x, y = arm
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


GAMES = {
    "held": (um.UTS(), {"graph": LINE}),
    "coins": (um.UTS(), {"graph": LINE, "family": um.Bounded(0, 1)}),
    "links": (um.ScoutUTS(), {"graph": um.graphs.line(60)}),
    "looks": (um.PeakUTS(), {"graph": um.graphs.line(60)}),
    "looked up": (um.ScoutUTS(), {"graph": lattice, "root": (0, 0)}),
    "looks at what was looked up": (um.PeakUTS(), {"graph": lattice, "root": (0, 0)}),
}


@pytest.mark.parametrize("game", GAMES)
def test_streams_that_went_apart_come_together(path, value_of, game):
    """Two on one file; the stream of one is moved on, as by one draw more than the other made."""
    policy, settings = GAMES[game]
    both = [um.Campaign.open(path, policy, seed=4, **settings, **QUICK) for _ in range(2)]
    told = 0
    for turn in range(60):
        campaign = both[turn % 2]
        if turn % 10 == 5:
            um.random.uniform(campaign._writer._fold.state.agent._player.state.rng)
        for decision in campaign.decide(4):
            both[decision.id % 2].reward(decision.id, value_of(decision.id))
            told += 1
        for one in both:
            assert one.outstanding == 0 and sum(one.arms()["pulls"]) == told
    one, other = both
    log = one.history()
    assert log["seq"].to_list() == list(range(1, log.height + 1))
    assert 1 <= log.filter(log["kind"] == "stream").height < 60
    for _ in range(2):  # whoever finds that they differ says so, and the other hears of it
        assert one.leader is not None and other.leader is not None
    if game == "held":
        assert rng_of(one) == rng_of(other)
        assert whole_state(one.agent) == whole_state(other.agent)
    one.close()
    other.close()
    verdict = verify(path)
    assert not verdict and re.match(
        r"event \d+ of .* (makes it|would be decided otherwise)", verdict.wrong[0]
    )
    with um.Campaign.open(path, policy, **{**settings, **QUICK}) as campaign:
        assert campaign.decide().id == told + 1


def change(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()


def test_the_state_is_what_the_log_says_and_not_what_would_have_been_decided(path, start, play):
    """With another seed nearly all would have been decided otherwise."""
    with start() as campaign:
        play(campaign, 40)
        expected, leader = campaign.arms().sort("arm"), campaign.leader
    change(path, "DELETE FROM snapshots", "UPDATE settings SET value = '5' WHERE key = 'seed'")
    seen = look(path).agent
    assert seen.arms().sort("arm").equals(expected) and seen.leader == leader
    assert seen.round == 40 and um.inspect(path).facts["decisions"] == "40"
    with um.Campaign.open(path, **QUICK) as campaign:
        assert campaign.arms().sort("arm").equals(expected) and campaign.leader == leader
        assert campaign.decide().id == 41
        log = campaign.history()
    assert log["kind"].to_list()[-3:] == ["stream", "open", "decide"]
    assert "makes it decision 1 " in verify(path).wrong[0]


def test_a_policy_that_draws_nothing_needs_no_new_stream(path, play):
    """Where arithmetic decides otherwise, its state is that of the others all the same."""
    with um.Campaign.open(path, um.OSUB(), LINE, seed=4, **QUICK) as campaign:
        play(campaign, 30)
    (seq, leader, arm), *_ = [
        (event["seq"], int(event["leader"]), int(event["arm"]))
        for event in look(path).history().iter_rows(named=True)
        if event["reason"] == "contest"
    ]
    near = next(n for n in (leader - 1, leader, leader + 1) if n != arm and 0 <= n < 7)
    change(path, "DELETE FROM snapshots", f"UPDATE log SET arm = {near} WHERE seq = {seq}")
    with um.Campaign.open(path, **QUICK) as campaign:
        assert campaign.decide().id == 31
        assert "stream" not in set(campaign.history()["kind"])
    assert f"event {seq} of" in verify(path).wrong[0]


def test_a_new_stream_is_none_of_those_before_and_keeps_ties(path, start, play):
    """It depends on the seed and the event only, so that all who fold the log have the same."""
    with start() as campaign:
        play(campaign, 10)
        state = campaign._writer._fold.state
        before, streams = rng_of(campaign), []
        for seq in itertools.chain(range(20, 40), [20]):
            state.agent.locked = False  # as within a call
            state.begin_stream(seq)
            streams.append(tuple(rng_of(campaign)))
        assert streams[0] == streams[-1] and len(set(streams)) == 20
        assert {stream[4] for stream in streams} == {before[4]}  # by which ties are broken
        state.agent._player.state.rng[:] = before


@pytest.mark.parametrize(
    ("reason", "values"),
    [
        ("forced leader", "arm = CASE leader WHEN 0 THEN 1 ELSE leader - 1 END"),
        ("contest", "arm = (leader + 3) % 7"),
        ("contest", "leader = NULL"),
        ("contest", "reason = 'start'"),
        ("start", "leader = arm"),
        ("start", "near = 2"),
        ("contest", "near = near + 1"),
        ("contest", "reason = 'look around'"),
        ("contest", "decision = decision + 1"),
    ],
)
def test_what_no_arithmetic_could_have_decided_is_refused(path, start, play, reason, values):
    with start() as campaign:
        play(campaign, 30)
    last = f"seq = (SELECT max(seq) FROM log WHERE reason = '{reason}')"
    change(path, "DELETE FROM snapshots", f"UPDATE log SET {values} WHERE {last}")
    for call in (look, lambda path: um.Campaign.open(path, **QUICK)):
        with pytest.raises(um.UnimodalError, match=r"event \d+ of .* is decision .*, which cannot"):
            call(path)


def test_who_does_not_look_around_cannot_have_done_so_on_a_graph_that_is_looked_up(path, play):
    policy = um.UTS(start="literal")
    with um.Campaign.open(path, policy, lattice, root=(0, 0), seed=4, **QUICK) as campaign:
        play(campaign, 30)
    last = "seq = (SELECT max(seq) FROM log WHERE reason = 'contest')"
    change(path, "DELETE FROM snapshots", f"UPDATE log SET reason = 'look around' WHERE {last}")
    with pytest.raises(um.UnimodalError, match=r"event \d+ of .* is decision .*, which cannot"):
        look(path)


def test_an_answer_that_one_decision_did_not_need_is_not_the_next_ones():
    """The neighbours may have changed; and the log would not have asked again without need."""
    oracle = LoggedOracle(LookUpRequests(None), 0, 10, lambda *_: None)
    oracle.folding, oracle.is_strict = True, False
    for label, neighbours in ((0, [1]), (1, [2])):
        oracle.take(label, neighbours)
    assert oracle.look_up(1) == [2] and oracle.differs  # out of order, but there
    oracle.differs = False
    oracle.drop_answers()
    assert oracle.differs and oracle.look_up(0) is None
    oracle.differs = False
    oracle.drop_answers()
    assert not oracle.differs  # nothing was left


def test_the_answers_of_a_decision_are_dropped_when_the_next_one_looks_up(path, monkeypatch):
    dropped = []
    monkeypatch.setattr(LoggedOracle, "drop_answers", lambda self: dropped.append(1))
    with um.Campaign.open(path, graph=lattice, root=(0, 0), **QUICK) as campaign:
        for _ in range(20):
            campaign.reward(campaign.decide().id, 1.0)
    kinds = look(path).history()["kind"].to_list()
    change(path, "DELETE FROM snapshots")
    dropped.clear()
    look(path)
    runs = [kind for kind, _ in itertools.groupby(kinds)]
    assert len(dropped) == runs.count("look-up") > 1
