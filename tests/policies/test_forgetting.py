"""Windows, discounts and restarts: what is left of the arm records, against plain recounts."""

import math

import numpy as np
import pytest

import unimodal as um
from unimodal import errors
from unimodal.engines.step import StepTrial
from unimodal.errors import UnimodalError
from unimodal.policies import forgetting, from_data, parse, to_data
from unimodal.policies.forgetting import Fading, Watch, Window
from unimodal.policies.round import effective_clock
from unimodal.policies.state import ROUND, implied_board
from unimodal.testing import CHECKS

LINE = um.problems.triangular(7)
FULL = pytest.mark.full


def played(policy, problem=LINE, horizon=700, seed=0):
    trial = StepTrial(problem, policy, seed, 0, np.array([horizon]), history=True)
    trial.finish()
    return trial


def recount(trial, weights):
    """Pulls and totals of all arms, if the rewards of the rounds have these weights."""
    arms, rewards = trial.output.arms, trial.output.rewards
    n_arms = len(trial.state.arms)
    pulls = np.bincount(arms, weights=weights, minlength=n_arms)
    return pulls, np.bincount(arms, weights=weights * rewards, minlength=n_arms)


@pytest.mark.parametrize(
    "policy",
    [
        um.KLUCB(),
        um.UTS(),
        *(pytest.param(p, marks=pytest.mark.full) for p in (um.TS(), um.OSUB())),
    ],
    ids=str,
)
def test_a_window_as_long_as_the_horizon_changes_nothing(policy):
    plain, windowed = played(policy), played(um.Windowed(policy, window=700))
    assert (plain.output.arms == windowed.output.arms).all()
    assert windowed.output.regret == pytest.approx(plain.output.regret)
    assert (windowed.pulls == plain.pulls).all()


@pytest.mark.full
def test_a_watch_that_never_alarms_changes_nothing():
    watching = played(um.Restarting(um.UTS(), window=100, rate=1e-300))
    assert (watching.output.arms == played(um.UTS()).output.arms).all()


@pytest.mark.parametrize("window", [1, 40])
def test_a_window_leaves_the_last_rewards(window):
    trial = played(um.Windowed(um.UTS(), window=window))
    pulls, totals = recount(trial, (np.arange(700) >= 700 - window).astype(float))
    arms = trial.state.arms
    assert (arms["pulls"] == pulls).all() and (arms["total"] == totals).all()
    assert (arms["pulls"] == 0).any()  # the test would be weak if nothing were forgotten
    best, count = implied_board(arms, 7, -np.inf)
    assert (trial.state.best == best).all() and (trial.state.count == count).all()


def test_a_window_forgets_the_coins_of_the_bernoulli_trick():
    problem = um.problems.triangular(7, family=um.Bounded(0, 1, draw="two-point"))
    arms = played(um.Windowed(um.UTS(), window=40), problem).state.arms
    assert (arms["successes"] == arms["total"]).all()  # a coin of bias 0 or 1 shows the reward


def test_a_discount_weighs_rewards_by_age():
    trial = played(um.Discounted(um.UTS(), gamma=0.95))
    newer = 699 - np.arange(700)  # rewards that came after: the newest counts 1
    pulls, totals = recount(trial, 0.95**newer)
    arms = trial.state.arms
    assert (arms["pulls"] == 0).any()  # what counted less than a millionth was dropped
    assert arms["pulls"] == pytest.approx(pulls, abs=1e-6)
    assert arms["total"] == pytest.approx(totals, abs=1e-6)
    assert arms["pulls"].sum() == pytest.approx(1 / (1 - 0.95), abs=1e-5)
    best, _ = implied_board(arms, 7, -np.inf)
    assert trial.state.best == pytest.approx(best)


def test_a_discount_by_hand():
    """gamma = 1/2: rewards 1, 0 of arm 0 and 1 of arm 1 count 1/4, 1/2 and 1 (all exact floats)."""
    agent = um.Agent(um.Discounted(um.UTS(), gamma=0.5), um.graphs.line(2))
    agent.tell([0, 0, 1], [1, 0, 1])
    arms = agent._player.state.arms
    assert arms["pulls"].tolist() == [0.75, 1.0] and arms["total"].tolist() == [0.25, 1.0]
    agent.tell(0, 1)
    assert arms["pulls"].tolist() == [1.375, 0.5] and arms["total"].tolist() == [1.125, 0.5]
    agent.tell([0] * 19, [0] * 19)  # arm 1 is left with 2⁻²⁰, and counts as never pulled
    assert arms["pulls"].tolist() == [pytest.approx(2, abs=1e-5), 0.0]
    assert agent.arms()["arm"].to_list() == [0]


def test_a_discount_fades_the_coins_of_the_bernoulli_trick():
    problem = um.problems.triangular(7, family=um.Bounded(0, 1, draw="two-point"))
    arms = played(um.Discounted(um.UTS(), gamma=0.95), problem).state.arms
    assert (arms["successes"] == arms["total"]).all() and arms["total"].max() > 1


def test_clocks_stop_where_the_memory_ends():
    state = played(um.UTS(), horizon=60).state
    assert state.notes[ROUND] == 60
    window = Window(np.zeros((10, 3)), np.zeros(1, np.int64), 0.0)
    assert (effective_clock(window, state, 7), effective_clock(window, state, 50)) == (7, 10)
    assert effective_clock(Fading(0.9, 0.0), state, 50) == pytest.approx(10)
    restarts = np.array([1, 45])
    watch = Watch(np.zeros((7, 4)), np.zeros((7, 2)), np.zeros(7, np.int64), restarts, 9.0, 0.0)
    assert (effective_clock(watch, state, 7), effective_clock(watch, state, 60)) == (7, 15)


def test_a_restart_comes_when_the_halves_differ_enough():
    """h·(kl(0, ½) + kl(1, ½)) = 4·2·log 2 = 5.5 > 2·log(4K/rate) = 2·log 12 = 4.97 at K = 3.

    One failure less among the newer four: 4·(kl(1/4, 5/8) + kl(1, 5/8)) = 3.1, and no restart.
    """
    agent = um.Agent(um.Restarting(um.UTS(), window=8, rate=1), um.graphs.line(3))
    agent.tell([1] * 7, [1.0] * 4 + [0.0] * 3)
    agent.tell(1, 1.0)
    assert agent.arms()["pulls"].to_list() == [8]
    agent.tell([1] * 7, [1.0] * 3 + [0.0] * 4)  # the last eight: 1 1 1 1 0 0 0 0, after the 15th
    assert agent.arms()["pulls"].to_list() == []
    asked = agent.ask(3)
    assert sorted(asked) == [0, 1, 2] and agent.reason == "start"


def restarts(problem, policy, horizon):
    """How often it restarted, in each of ten trials."""
    result = um.simulate(problem, policy, horizon=horizon, trials=10, seed=1, workers=1)
    return result[policy.name].restarts


@pytest.mark.parametrize("rate", [1.0, 1e-3])
def test_the_threshold_of_a_restart(rate):
    """2·log(4K/rate) with K = 7: a false alarm of a reward has probability rate/K at most."""
    trial = StepTrial(LINE, um.Restarting(um.UTS(), 100, rate), 0, 0, np.array([1]), history=False)
    assert trial.state.memory.threshold == pytest.approx(2 * math.log(28 / rate), rel=1e-12)


def test_false_alarms_are_rare_and_changes_are_found():
    """At most rate·T = 5 false alarms are expected in 5,000 rounds, 50 in ten trials.

    Were the threshold log(1/rate) instead of 2·log(4K/rate), there would be hundreds. A change from
    0.9 to 0.1 moves the statistic to 50·2·kl(0.9, 0.5) = 37, far above the threshold of 20.
    """
    policy = um.Restarting(um.UTS(), window=100, rate=0.001)
    still = um.problems.triangular(5)
    assert restarts(still, policy, 5000).sum() <= 50
    jump = um.Moving(still.graph, [1, 2001], [[0.9, 0.7, 0.5, 0.3, 0.1], [0.1, 0.3, 0.5, 0.7, 0.9]])
    assert restarts(jump, policy, 3000).min() >= 1


@pytest.mark.parametrize(
    "policy",
    [
        um.Windowed(um.UTS(), window=200),
        um.Discounted(um.UTS(), gamma=0.995),
        um.Restarting(um.UTS(), window=60, rate=0.01),
    ],
    ids=str,
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(policy, check):
    check(policy)


@pytest.mark.full
@pytest.mark.parametrize("policy", [um.TS(), um.KLUCB(), um.OSUB()], ids=str)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance_of_the_others(policy, check):
    family = um.Bounded(0, 2)
    check(um.Windowed(policy, window=200), family)
    check(um.Discounted(policy, gamma=0.995), family)
    check(um.Restarting(policy, window=60, rate=0.01), family)


@pytest.mark.parametrize(
    "text",
    [
        "windowed(policy=uts, window=500)",
        "discounted(gamma=0.99, policy=osub(c=0, start=literal))",
        "restarting(policy=klucb)",
    ],
)
def test_text_and_data(text):
    policy = parse(text)
    assert from_data(to_data(policy)) == policy
    assert policy.name.lower().replace("c=0.0", "c=0") == text


def test_names_say_who_forgets():
    assert um.Windowed(um.OSUB(), window=5).name == "Windowed OSUB"
    assert um.Windowed(um.OSUB(), window=5, name="W").name == "W"


@pytest.mark.parametrize("wrap", [um.Windowed, um.Discounted, um.Restarting])
def test_it_begins_and_believes_as_the_policy_does(wrap):
    policy = um.UTS(prior=(7, 3), period=4, start="probe(2)", ties="lowest")
    forgets = wrap(policy, 0.5 if wrap is um.Discounted else 20)
    state = forgets.new_state(7, um.Bernoulli(), um.random.stream(0, 0, um.random.POLICY))
    assert len(state.begin) == 2 and set(state.arms["prior_a"]) == {7.0}
    assert set(state.arms["prior_b"]) == {3.0} and (state.best[1:8] == -np.inf).all()
    assert forgets.scope(LINE.graph) == policy.scope(LINE.graph)
    assert forgets.index() == policy.index()
    literal = wrap(um.UTS(start="literal"), 0.5 if wrap is um.Discounted else 20)
    state = literal.new_state(7, um.Bernoulli(), um.random.stream(0, 0, um.random.POLICY))
    assert state.memory.unpulled == 0.0 and not len(state.begin)


@pytest.mark.full
def test_a_policy_of_ones_own_sees_no_more_than_the_window():
    class Own(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            seen.append((int(arms.pulls.sum()), clock))
            return near[um.random.randint(rng, len(near))]

    seen = []
    played(um.Windowed(Own(), window=10), horizon=60)
    assert [pulls for pulls, _ in seen] == [7, 8, 9] + [10] * 50  # after the sweep
    assert max(clock for _, clock in seen) <= 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: um.Windowed("uts", 5), "must be an instance such as um.UTS"),
        (lambda: um.Windowed(um.UTS(), 0), "'window' of Windowed must be a whole number"),
        (lambda: um.Windowed(um.UTS(), 10**13), "'window' of Windowed must be at most"),
        (lambda: um.Windowed(um.UTS(), 10**8 + 1), "'window' of Windowed must be at most 1e"),
        (lambda: um.Restarting(um.UTS(), 10**8 + 2), "'window' of Restarting must be at most 1e"),
        (lambda: um.Windowed(um.Windowed(um.UTS(), 5), 5), "take one way of forgetting"),
        (lambda: um.Windowed(um.NPTS(), 5), "take UTS, OSUB, TS or KLUCB"),
        (lambda: um.Windowed(um.ScoutUTS(), 5), "take UTS, OSUB, TS or KLUCB"),
        (lambda: um.Discounted(um.UTS(), 1.0), "'gamma' of Discounted must be smaller than 1"),
        (lambda: um.Discounted(um.UTS(), -1), "'gamma' of Discounted must be a finite number"),
        (lambda: um.Restarting(um.UTS(), window=7), "an even 'window'"),
        (lambda: um.Restarting(um.UTS(), rate=2), "'rate' of false alarms"),
        (
            lambda: um.Agent(um.Windowed(um.UTS(), 5), lambda arm: [arm + 1], root=0),
            "forgets, so it would look arms up again",
        ),
    ],
)
def test_mistakes_are_refused_in_a_sentence(make, message):
    with pytest.raises(UnimodalError, match=message):
        make()


def test_a_second_peak_is_not_sought_in_what_was_forgotten():
    agent = um.Agent(um.Windowed(um.UTS(), 200), um.graphs.grid(3, 3))
    with pytest.raises(UnimodalError, match="needs every reward"):
        um.second_peaks(agent)


def test_a_restart_keeps_so_many_rewards_in_all():
    """A window of every arm: 10^5 arms with 10^9 each asked for 745 TiB, and got a traceback."""
    line, most = um.graphs.line(1000), forgetting.MOST_REWARDS // 1000
    assert um.Restarting(um.UTS(), most).room(1000) == forgetting.MOST_REWARDS
    words = r"times the number of arms must be at most 100,000,000, got 100,002 times 1,000: take"
    with pytest.raises(um.UnimodalError, match=words):
        um.Agent(um.Restarting(um.UTS(), most + 2), line)
    with pytest.raises(um.UnimodalError, match=words):
        problem, policy = um.problems.by_distance(line, 3), um.Restarting(um.UTS(), most + 2)
        um.simulate(problem, policy, horizon=9, trials=1, progress=False)


@pytest.mark.parametrize("policy", [um.Windowed(um.UTS(), 50), um.Restarting(um.UTS(), 10)])
def test_room_that_there_is_not_is_refused_in_a_sentence(policy, monkeypatch):
    monkeypatch.setattr(errors, "_memory", lambda: 1000.0)
    with pytest.raises(um.UnimodalError, match=r"a window of .* would take .* GiB of memory"):
        um.Agent(policy, um.graphs.line(13))
