"""Campaigns against a dict: whatever is called in whatever order, both tell the same."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import unimodal as um
from unimodal.campaigns import known_rewards as rewards_in_log
from unimodal.campaigns import snapshots, verify

TIME_TO_LIVE = 10.0
OPEN, EXPIRED = "open", "expired"
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # not about disks: no need to wait

rewards = st.sampled_from([0.0, 1.0])
picks = st.randoms(use_true_random=False)


class Model:
    """What a campaign promises, in a dict of decisions and one of arms."""

    def __init__(self, on_expiry):
        self.on_expiry = on_expiry
        self.decisions = {}  # number: [arm or None if retired, time, OPEN, EXPIRED or its reward]
        self.arms = {arm: [] for arm in "abcd"}  # the rewards of each
        self.edges = [("a", "b"), ("b", "c"), ("c", "d")]
        self.paused, self.cap = set(), None
        self.chosen = []  # the arm and the reason of every decision
        self.keys = {}  # the decisions that were made under each
        self.now = 0.0

    def those(self, *states):
        return [number for number, (*_, state) in self.decisions.items() if state in states]

    def due(self, now):
        return [n for n in self.those(OPEN) if now >= self.decisions[n][1] + TIME_TO_LIVE]

    def close(self, number, state):
        arm = self.decisions[number][0]
        self.decisions[number][2] = state
        value = 0.0 if state == EXPIRED and self.on_expiry == "zero" else state
        if arm is not None and value != EXPIRED:
            self.arms[arm].append(value)

    def expire(self, now):
        due = self.due(now)
        for number in due:
            self.close(number, EXPIRED)
        self.now = now if due else self.now
        return len(due)


class CampaignMachine(RuleBasedStateMachine):
    """Two campaigns on one file, as two processes would have it, and the model of both."""

    on_expiry = "drop"
    new_place = staticmethod(lambda: Path(tempfile.mkdtemp(dir=MEMORY)) / "campaign.db")

    def __init__(self):
        super().__init__()
        # Small, so that rewards told again are looked for at hand, in the table and in the log.
        self.usual = snapshots.SNAPSHOT_EVERY, rewards_in_log.AT_HAND
        snapshots.SNAPSHOT_EVERY, rewards_in_log.AT_HAND = 25, 3
        self.path = self.new_place()
        self.clock = self.read = 0.0
        self.model = Model(self.on_expiry)

    def open(self):
        self.model.now = self.time
        return um.Campaign.open(
            self.path,
            um.UTS(),
            um.graphs.from_edges([("a", "b"), ("b", "c"), ("c", "d")]),
            time_to_live=TIME_TO_LIVE,
            on_expiry=self.on_expiry,
            durability="fast",
            clock=lambda: self.clock,
        )

    @property
    def time(self):
        return max(self.model.now, self.clock)

    @initialize()
    def begin(self):
        self.campaigns = [self.open(), self.open()]

    # Deciding.

    def decided(self, decisions):
        self.model.expire(self.time)
        self.model.now = self.time
        for decision in decisions:
            assert decision.id == len(self.model.decisions) + 1
            assert decision.arm in self.model.arms and decision.time == self.time
            assert decision.arm not in self.model.paused
            assert decision.reason != "cap" or self.model.cap
            self.model.chosen.append((decision.arm, decision.reason))
            self.model.decisions[decision.id] = [decision.arm, decision.time, OPEN]

    @rule(who=st.integers(0, 1))
    def decide(self, who):
        self.decided([self.campaigns[who].decide()])

    @rule(who=st.integers(0, 1), n=st.integers(1, 5))
    def decide_batch(self, who, n):
        self.decided(self.campaigns[who].decide(n))

    @rule(who=st.integers(0, 1), key=st.sampled_from("xyz"), n=st.integers(1, 2))
    def decide_under_a_key(self, who, key, n):
        known = self.model.keys.get(key)
        if known is None:
            self.model.keys[key] = self.campaigns[who].decide(n, key=key)
            self.decided(self.model.keys[key])
            return
        if len(known) != n:
            with pytest.raises(um.UnimodalError, match="this key was used for"):
                self.campaigns[who].decide(n, key=key)
        else:
            assert self.campaigns[who].decide(n, key=key) == known
        self.read = self.clock

    # Telling rewards.

    def refused(self, words, who, ids, values):
        with pytest.raises(um.UnimodalError, match=words):
            self.campaigns[who].reward(ids, values)
        self.read = self.clock

    def young(self):
        return sorted(set(self.model.those(OPEN)) - set(self.model.due(self.time)))

    def told(self, pairs):
        self.read = self.clock
        self.model.expire(self.time)
        for number, value in pairs:
            self.model.close(number, value)
            self.model.now = self.time

    @precondition(lambda self: self.young())
    @rule(who=st.integers(0, 1), pick=picks, value=rewards)
    def reward(self, who, pick, value):
        number = pick.choice(self.young())
        assert self.campaigns[who].reward(number, value) is True
        self.told([(number, value)])

    @rule(who=st.integers(0, 1), pick=picks)
    def reward_batch(self, who, pick):
        """Some that are new, some that are known, and one of them twice."""
        new = {n: pick.choice([0.0, 1.0]) for n in self.young() if pick.random() < 0.5}
        known = {n: self.model.decisions[n][2] for n in self.model.those(0.0, 1.0)[-3:]}
        ids = [*new, *known, *list(new)[:1]]
        values = [{**new, **known}[number] for number in ids]
        expected = [True] * len(new) + [False] * (len(ids) - len(new))
        assert self.campaigns[who].reward(ids, values) == expected
        self.told(new.items())

    @precondition(lambda self: self.model.those(0.0, 1.0))
    @rule(who=st.integers(0, 1), pick=picks)
    def duplicate(self, who, pick):
        number = pick.choice(self.model.those(0.0, 1.0))
        assert self.campaigns[who].reward(number, self.model.decisions[number][2]) is False
        self.told([])

    @precondition(lambda self: self.model.those(0.0, 1.0))
    @rule(who=st.integers(0, 1), pick=picks)
    def conflicting(self, who, pick):
        number = pick.choice(self.model.those(0.0, 1.0))
        self.refused("already", who, number, 1.0 - self.model.decisions[number][2])

    @rule(who=st.integers(0, 1), value=rewards)
    def unknown(self, who, value):
        self.refused("there is no decision", who, len(self.model.decisions) + 1, value)

    @precondition(lambda self: self.model.those(EXPIRED) or self.model.due(self.time))
    @rule(who=st.integers(0, 1), pick=picks, value=rewards)
    def late(self, who, pick, value):
        number = pick.choice(self.model.those(EXPIRED) + self.model.due(self.time))
        self.refused("has expired", who, number, value)

    @precondition(lambda self: self.young())
    @rule(who=st.integers(0, 1))
    def batch_with_a_mistake(self, who):
        number = self.young()[0]
        self.refused("must be 0 or 1", who, [number, number], [1.0, 0.5])

    # Time, openings, graphs.

    @rule(seconds=st.sampled_from([1.0, 4.0, 11.0, -3.0]))
    def time_passes(self, seconds):
        # A campaign remembers what its clock has told even where the log does not, as after calls
        # that were refused: the model does not, so it is not asked about a clock set back then.
        self.clock = max(self.clock + seconds, self.read)

    @rule(who=st.integers(0, 1))
    def expire(self, who):
        assert self.campaigns[who].expire() == self.model.expire(self.time)
        self.read = self.clock

    @rule(who=st.integers(0, 1), crash=st.booleans())
    def reopen(self, who, crash):
        """After a close; or after a crash, which takes the connection and writes no snapshot."""
        campaign = self.campaigns[who]
        if crash:
            campaign._writer._group.alone(campaign._store.close)
        else:
            campaign.close()
        self.campaigns[who] = self.open()

    @precondition(lambda self: len(self.model.arms) < 6)
    @rule(who=st.integers(0, 1), pick=picks)
    def add_arm(self, who, pick):
        new = next(arm for arm in "abcdefgh" if arm not in self.model.arms)
        edge = (pick.choice(sorted(self.model.arms)), new)
        self.campaigns[who].add_edges([edge])
        self.model.arms[new] = []
        self.model.edges.append(edge)
        self.model.now = self.time

    @precondition(lambda self: len(self.model.arms) > 2)
    @rule(who=st.integers(0, 1))
    def retire_arm(self, who):
        ends = [end for edge in self.model.edges for end in edge]  # of a tree: leaves may go
        leaf = next(arm for arm in sorted(self.model.arms) if ends.count(arm) == 1)
        if set(self.model.arms) - self.model.paused <= {leaf}:
            with pytest.raises(um.UnimodalError, match="at least one arm must be offered"):
                self.campaigns[who].retire(leaf)
            self.read = self.clock
            return
        self.campaigns[who].retire(leaf)
        del self.model.arms[leaf]
        self.model.paused.discard(leaf)
        self.model.edges = [edge for edge in self.model.edges if leaf not in edge]
        for decision in self.model.decisions.values():
            decision[0] = None if decision[0] == leaf else decision[0]
        self.model.now = self.time

    @precondition(lambda self: len(self.model.arms) < 6)
    @rule(who=st.integers(0, 1), pick=picks)
    def insert_arm(self, who, pick):
        new = next(arm for arm in "abcdefgh" if arm not in self.model.arms)
        edge = pick.choice(self.model.edges)
        self.campaigns[who].insert(new, between=edge)
        self.model.arms[new] = []
        self.model.edges.remove(edge)
        self.model.edges += [(edge[0], new), (new, edge[1])]
        self.model.now = self.time

    # Limits, and why.

    @precondition(lambda self: len(self.model.arms) > len(self.model.paused) + 1)
    @rule(who=st.integers(0, 1), pick=picks)
    def pause(self, who, pick):
        arm = pick.choice(sorted(set(self.model.arms) - self.model.paused))
        self.campaigns[who].pause(arm)
        self.model.paused.add(arm)
        self.model.now = self.time

    @precondition(lambda self: self.model.paused)
    @rule(who=st.integers(0, 1), pick=picks)
    def resume(self, who, pick):
        arm = pick.choice(sorted(self.model.paused))
        self.campaigns[who].resume(arm)
        self.model.paused.discard(arm)
        self.model.now = self.time

    @rule(who=st.integers(0, 1), share=st.sampled_from([0.1, 0.5]))
    def cap(self, who, share):
        self.model.cap = None if self.model.cap else share
        self.campaigns[who].cap(self.model.cap, over=10)
        self.model.now = self.time

    @precondition(lambda self: self.model.chosen)
    @rule(who=st.integers(0, 1), pick=picks)
    def explain(self, who, pick):
        number = pick.randrange(len(self.model.chosen)) + 1
        found = self.campaigns[who].explain(number)
        assert (found.arm, found.reason) == self.model.chosen[number - 1]

    @invariant()
    def both_tell_what_the_model_tells(self):
        for campaign in getattr(self, "campaigns", ()):
            assert campaign.outstanding == len(self.model.those(OPEN))
            frame = campaign.arms()
            found = {
                arm: (pulls, mean)
                for arm, pulls, mean in zip(
                    *(frame[c] for c in ("arm", "pulls", "mean")), strict=True
                )
                if pulls
            }
            assert found == {
                arm: (len(told), sum(told) / len(told))
                for arm, told in self.model.arms.items()
                if told
            }

    def teardown(self):
        snapshots.SNAPSHOT_EVERY, rewards_in_log.AT_HAND = self.usual
        for campaign in getattr(self, "campaigns", ()):
            campaign.close()
        if hasattr(self, "campaigns"):
            verdict = verify(self.path)
            assert verdict.wrong == []
            assert verdict.counts.get("decide", 0) == len(self.model.decisions)
            assert verdict.counts.get("reward", 0) == len(self.model.those(0.0, 1.0))
            assert verdict.counts.get("expire", 0) == len(self.model.those(EXPIRED))
        if isinstance(self.path, Path):
            shutil.rmtree(self.path.parent)


class CountingZeros(CampaignMachine):
    on_expiry = "zero"


class InPostgresql(CountingZeros):
    """The same in a database: one machine for both stores."""


@pytest.fixture(scope="module", autouse=True)
def database(postgresql):
    InPostgresql.new_place = staticmethod(postgresql)


TestDropping = CampaignMachine.TestCase
TestCountingZeros = pytest.mark.full(CountingZeros.TestCase)  # by default in PostgreSQL
EFFORT = settings(max_examples=20, stateful_step_count=40)
TestDropping.settings = TestCountingZeros.settings = EFFORT
TestInPostgresql = InPostgresql.TestCase
TestInPostgresql.settings = settings(EFFORT, max_examples=4)


@pytest.mark.full
class TestInPostgresqlForLong(InPostgresql.TestCase):
    settings = settings(EFFORT, max_examples=100)


@pytest.mark.full
class TestForLong(CountingZeros.TestCase):
    settings = settings(EFFORT, max_examples=200)
