"""A log that is followed in steps says what the whole of it says, to the bit."""

import itertools
import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.agents.saving import whole_state
from unimodal.campaigns import log_reader
from unimodal.campaigns.alarms import alarms_of
from unimodal.campaigns.certifying import certificate_of
from unimodal.campaigns.events import Row
from unimodal.campaigns.log_facts import LogFacts
from unimodal.campaigns.log_reader import LogReader
from unimodal.campaigns.log_start import LogStart
from unimodal.campaigns.stores import as_place, sqlite
from unimodal.campaigns.stores.sqlite.reading import SqliteReader
from unimodal.errors import DamagedFile
from unimodal.inference.change import ChangeTest, find_change, threshold

ARMS = "abcd"
ARM_OF = {"b": 0, "d": 1, "a": 2}  # of a graph that has c no longer
BEFORE = LogStart(20, 9, ((3, "b"), (7, "e"), (9, "a")))


@st.composite
def logs(draw):
    """Events of a log, where it begins, and whether an expiry counts as 0."""
    start, as_zero = draw(st.sampled_from([LogStart(), BEFORE])), draw(st.booleans())
    moves = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), max_size=120))
    made, still_open, rows = start.made, dict(start.open), []
    for move, chance in moves:
        seq = start.seq + len(rows) + 1
        event = Row(seq, float(seq), "open", data="{}")
        if move < 4 or (move < 8 and not still_open):
            made += 1
            arm = still_open[made] = ARMS[chance % 4]
            event = Row(seq, float(seq), "decide", made, arm, "contest", "a", 2)
        elif move < 8:
            number = sorted(still_open)[chance % len(still_open)]
            del still_open[number]
            kind, reward = ("expire", None) if chance % 5 == 0 else ("reward", chance / 7)
            event = Row(seq, float(seq), kind, number, reward=reward)
        elif move == 8:
            event = Row(seq, float(seq), "tell", arm=ARMS[chance % 4], reward=chance / 7)
        elif chance < 30:
            kind, data = ("limit", '{"cap": null}') if chance % 2 else ("revision", "{}")
            event = Row(seq, float(seq), kind, data=data)
        rows.append(event)
    return start, as_zero, rows


def plainly(start, as_zero, rows):
    """What there is to say of a log, from all of it: as slow and as plain as can be."""
    closed, decided, made_then, longest, last = {}, dict(start.open), {}, 0, start.made
    made = start.made
    for event in rows:
        if event.kind == "decide":
            made, decided[event.decision] = event.decision, event.arm
        elif event.kind in ("reward", "expire"):
            zero = 0.0 if as_zero else None
            closed[event.decision] = event.reward if event.kind == "reward" else zero
            made_then[event.decision] = made - event.decision
            longest, last = max(longest, made - last), made
    oldest = min((e.seq for e in rows if e.kind == "decide" and e.decision not in closed),
                 default=math.inf)  # fmt: skip
    counts = [
        (event.seq < oldest, event.arm, closed.get(event.decision, event.reward))
        for event in rows
        if event.kind == "tell" or (event.kind == "decide" and event.seq != oldest)
    ]
    before = [(arm, value) for counted, arm, value in counts if counted and value is not None]
    behind = [(arm, value) for counted, arm, value in counts if not counted and value is not None]
    by_arm = {}
    for arm in ARMS:
        mine = [number for number in sorted(decided) if decided[number] == arm]
        complete = itertools.takewhile(closed.__contains__, mine)
        rewards = [closed[number] for number in complete if closed[number] is not None]
        by_arm[arm] = find_change(um.Bounded(0, 20), rewards, 1e-3, 4), len(rewards)
    open_ones = [number for number in sorted(decided) if number not in closed]
    return {
        "counted": summed(before), "waiting": summed(behind),
        "late": summed(before[len(before) // 2 :])[0],
        "dropped": sum(counted and value is None for counted, _, value in counts),
        "first": list(dict.fromkeys(e.arm for e in rows if e.kind in ("decide", "tell"))),
        "numbers": (len(before), len(behind), made, last, longest),
        "lags": sorted(made_then.values()), "open": open_ones,
        "changed": any(e.kind == "revision" for e in rows), "changes": by_arm,
    }  # fmt: skip


def summed(told):
    pulls, totals = [0.0] * 3, [0.0] * 3
    for arm, reward in told:
        if arm in ARM_OF:
            pulls[ARM_OF[arm]] += 1
            totals[ARM_OF[arm]] += reward
    return pulls, totals


def said(facts):
    """The same, as the facts have it."""
    family, changes = um.Bounded(0, 20), {}
    for arm in ARMS:
        test = facts.change_test(arm, family)
        changes[arm] = test.found(1e-3, 4), test.taken
    return {
        "counted": tuple(each.tolist() for each in facts.counted_sums(ARM_OF)),
        "waiting": tuple(each.tolist() for each in facts.waiting_sums(ARM_OF)),
        "late": facts.late_pulls(ARM_OF).tolist(), "dropped": facts.dropped,
        "first": facts.first_pulls,
        "numbers": (facts.counted, facts.waiting, facts.made, facts.last_closed, facts.longest_run),
        "lags": sorted(facts.lags().tolist()), "open": facts.open_up_to(10**9),
        "changed": facts.graph_changed, "changes": changes,
    }  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(logs(), st.data())
def test_facts_taken_in_steps_are_those_of_the_whole_log(log, data):
    """Asked after every step, since what a question keeps must not disturb the next one."""
    start, as_zero, rows = log
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)), max_size=4)))
    facts = LogFacts("a log", start, None, as_zero)
    for begin, end in itertools.pairwise([0, *cuts, len(rows)]):
        facts.take(rows[begin:end])
        assert said(facts) == plainly(start, as_zero, rows[:end])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sets(st.integers(0, 700), max_size=8))
def test_a_change_shows_at_a_seam_as_it_does_in_one_piece(seed, cuts):
    """Rewards of two levels, so that most runs have a change; their sums are rounded."""
    rng = np.random.default_rng(seed)
    values = np.repeat(rng.random(2), [400, 300]) * 3 + rng.random(700)
    test = ChangeTest(um.Bounded(0, 4))
    for begin, end in itertools.pairwise([0, *sorted(cuts), 700]):
        test.take(values[begin:end])
        assert test.found(0.9, 3) == by_definition(um.Bounded(0, 4), values[:end], 0.9, 3)


def by_definition(family, values, confidence, n_arms):
    """Every window by itself, each against its threshold."""
    sums, alarming = np.concatenate([[0.0], np.cumsum(values)]), []
    for scale in range(10):
        half = 16 << scale
        ends = np.arange(2 * half, len(values) + 1, half // 4)
        limits = threshold(scale, np.arange(len(ends)), confidence, n_arms)
        for end, limit in zip(ends.tolist(), limits, strict=True):
            newer = (sums[end] - sums[end - half]) / half
            older = (sums[end - half] - sums[end - 2 * half]) / half
            both = 0.5 * (newer + older)
            kl = family.divergence(newer, both) + family.divergence(older, both)
            if half * kl > limit:
                alarming.append((half * kl - limit, end, half, older, newer))
    if not alarming:
        return None
    _, last, size, *_ = max(alarming, key=lambda window: window[1])
    _, end, half, older, newer = max(w for w in alarming if w[1] > last - 2 * size)
    return end - half, older, newer, half


# Campaigns: the reader of an open one against one that begins now.


def answers(agent, facts):
    """All that is asked of agent and facts, with the agent's whole state."""
    return {
        "certificate": certificate_of(agent, facts, 0.6, 0.1).to_dict(),
        "alarms": [alarm.to_dict() for alarm in alarms_of(agent, facts, 0.6)],
        "peaks": str(alarms_of(agent, facts, 0.5)),
        "kinds": facts.kinds,
        "state": whole_state(agent),
        "seq": (facts.seq, facts.start, facts.end),
        "open": (facts.open_up_to(10**9), np.nan_to_num(facts.open_times()).tolist()),
    }


class Shop:
    """A campaign, and a reader that follows it through whatever happens to its log."""

    def __init__(self, folder):
        self.now = 0.0
        self.path, self.saved = folder / "shop.db", folder / "saved.db"
        self.reader, self.folder = LogReader(), folder
        self.campaign = None
        self.open(um.UTS(), um.graphs.line([f"{n}.90" for n in range(1, 7)]), um.Bounded(0, 9),
                  seed=4, time_to_live=50.0, on_expiry="zero")  # fmt: skip

    def open(self, *given, **named):
        self.campaign = um.Campaign.open(
            self.path, *given, durability="fast", clock=lambda: self.now, **named
        )

    def ask(self):
        """What was followed says the same as what is read anew."""
        found = self.reader.read(self.path, answers)
        assert found == LogReader().read(self.path, answers) == self.campaign._followed(answers)

    def do(self, move, chance):
        """One of the things that happen."""
        self.now += 1 + chance % 7
        one = self.campaign
        arms = one.agent.graph.labels
        if move < 8:
            for number in [each.id for each in one.decide(1 + chance % 30)][chance % 5 :]:
                one.reward(number, (number * 7919 % 97) / 11)
        elif move == 8:
            one.tell([arms[chance % len(arms)], arms[0]], [chance / 12, 1 / 3])
        elif move == 9:
            self.now += 60
            one.expire()
        elif move == 10:
            near = one.agent.graph.label_of(int(one.agent.graph.neighbors(0)[0]))
            one.insert(f"{chance}.5{len(arms)}", (arms[0], near))
        elif move == 11 and not one.paused:
            one.pause(arms[-1])
        elif move == 11:
            one.resume(*one.paused)
        elif move == 12:
            one.cap(0.5 if chance % 2 else None)
        else:
            self.upkeep(move, chance)

    def upkeep(self, move, chance):
        """What is done to the log itself; the campaign is closed meanwhile."""
        self.campaign.close()
        if move == 13:
            um.campaigns.compact(self.path, self.folder / f"{self.now}.parquet")
        elif move == 14 and self.saved.exists():
            shutil.copyfile(self.saved, self.path)  # set back; others go on from there
        elif move == 14:
            shutil.copyfile(self.path, self.saved)
        self.open()


MOVES = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 99), st.booleans()), max_size=14)


COMPACTED = [(0, 29, True), (13, 0, True), (1, 9, True), (13, 0, False), (2, 8, True)]
SAVED = [(0, 9, True), (14, 0, False), (0, 9, True)]
SHORTER, LONGER = [*SAVED, (14, 0, True)], [*SAVED, (14, 0, False), (7, 29, True)]
CHANGED = [(0, 29, True), (10, 3, True), (11, 0, True), (9, 0, True), (11, 0, True), (8, 5, True)]


@example(moves=COMPACTED)
@example(moves=SHORTER)
@example(moves=LONGER)
@example(moves=CHANGED)
@settings(max_examples=15, deadline=None)
@given(moves=MOVES)
def test_a_reader_that_follows_says_what_one_says_that_begins_now(moves, tmp_path_factory):
    """Through expiries, revisions, pauses, tells, compaction and a log that is set back."""
    shop = Shop(tmp_path_factory.mktemp("shop"))
    for move, chance, asks in moves:
        shop.do(move, chance)
        if asks:
            shop.ask()
    shop.ask()
    shop.campaign.close()


@pytest.fixture
def followed(tmp_path):
    """A campaign that is closed, and a reader that has followed its log."""
    path = tmp_path / "people.db"
    with um.Campaign.open(
        path, um.UTS(), um.graphs.line(["Ann", "Bob", "Cy"]), seed=1, durability="fast"
    ) as campaign:
        for decision in campaign.decide(40):
            campaign.reward(decision.id, float(decision.id % 3 == 0))
    reader = LogReader()
    reader.follow(path)
    return path, reader


def test_what_comes_is_read_and_nothing_else(followed, monkeypatch):
    path, reader = followed
    with um.Campaign.open(path, durability="fast") as campaign:
        campaign.decide(3)
        state = whole_state(campaign.agent)
    read, rows = [], SqliteReader.rows

    def noted(store, after=0, until=None):
        for some in rows(store, after, until):
            read.extend(row[0] for row in some)
            yield some

    monkeypatch.setattr(SqliteReader, "rows", noted)
    reader.follow(path)
    assert whole_state(reader.agent) == state
    assert sorted(set(read)) == [81, 82, 83, 84, 85] and reader.facts.seq == 85  # 81 was known
    assert reader.beginnings == 1


def test_an_erased_label_is_forgotten(followed):
    path, reader = followed
    um.campaigns.erase(path, "Bob")
    found = reader.read(path, answers)
    assert found == LogReader().read(path, answers) and reader.beginnings == 2
    assert "Bob" not in {*reader.facts.arms, *reader.facts.leaders}
    assert "Bob" not in str(found)


@pytest.mark.parametrize("is_told", [True, False])
def test_what_was_read_while_somebody_wrote_is_read_anew(followed, monkeypatch, is_told):
    """A store does the work again where what was read may be of two moments; or it gives up."""
    path, _ = followed
    read_store, reader = sqlite.read_store, LogReader()
    is_torn = [False]

    class Torn:
        """What is read while somebody writes: rewards that never were."""

        def __init__(self, store):
            self._store = store

        def rows(self, *bounds):
            for rows in self._store.rows(*bounds):
                yield [row if row[9] is None else (*row[:9], 1.0, row[10]) for row in rows]

        def __getattr__(self, name):
            return getattr(self._store, name)

    def twice(place, work):
        read_store(place, lambda store: work(Torn(store)))
        is_torn[0] = True
        if not is_told:
            raise um.UnimodalError("it was opened and closed by others again and again.")
        return read_store(place, work)

    monkeypatch.setattr(log_reader, "kind_of", lambda place: SimpleNamespace(read_store=twice))
    if is_told:
        reader.follow(path)
    else:
        with pytest.raises(um.UnimodalError, match="again and again"):
            reader.follow(path)
    monkeypatch.undo()
    assert is_torn[0]
    found = reader.read(path, answers)
    assert found == LogReader().read(path, answers)


def test_a_log_is_read_in_pieces_and_an_event_that_is_missing_is_told(followed, in_store):
    path, _ = followed
    reader = LogReader()
    reader.follow(path, lambda: False)
    assert reader.facts.seq == 0 and not reader.is_at_end and reader.agent is None
    reader.follow(path, with_agent=False)
    assert reader.is_at_end and reader.agent is None
    assert reader.read(path, answers) == LogReader().read(path, answers)
    in_store(as_place(path, "it"), lambda store: store.drop(30, range(29)))
    for _ in range(2):  # as often as it is asked
        with pytest.raises(DamagedFile, match=r"event 30 of .* follows event 28, so some are"):
            LogReader().follow(path)
