"""PeakUTS: when it looks around, where it looks, and that what it refutes stays refuted."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.graphs.bypass import bypassed
from unimodal.kernels.compile import record
from unimodal.policies import peak_places
from unimodal.policies.leaping import ENDLESS, contest_after, steady_until
from unimodal.policies.mints import place_probabilities
from unimodal.policies.peak import (
    AroundLikelyPeak,
    doubtful_still,
    look_number,
    looks,
)
from unimodal.policies.peak_doubt import doubtful, refuted
from unimodal.policies.peak_places import WEIGHED, distance_bins, weigh
from unimodal.policies.scope import forced, prepare
from unimodal.policies.state import LAST, LEADER, LOOK, REASON, REASONS, ROUND

PEAK = um.PeakUTS()
FAMILIES = [um.Bernoulli(), um.Gaussian(1.0), um.Poisson(), um.Exponential(), um.Bounded(0, 2)]


def trial_on(problem, kind=StepTrial, policy=PEAK, horizon=100_000, number=0):
    return kind(problem, policy, 3, number, np.array([horizon]), kind is StepTrial)


def told(graph, family, pulls, means):
    """The parts and records of PeakUTS that knows so many rewards of each arm, with these means."""
    trial = trial_on(um.Problem(graph, np.linspace(0.5, 0.6, graph.n_arms), family))
    trial.state.arms["pulls"], trial.state.arms["total"] = pulls, np.multiply(pulls, means)
    return plain(trial), trial.state


def plain(trial):
    """The parts of a trial for functions that run as plain Python."""
    arena = trial.parts.arena
    seen = {name: getattr(arena, name).view(np.recarray) for name in ("sums", "bins", "pools")}
    return trial.parts._replace(arena=arena._replace(**seen))


def weights(parts, state, leader, leads=100, turn=None):
    """The weights of the places of a look, their sum being 1; 0 for those it does not weigh."""
    arms = state.arms.view(np.recarray)
    number, better = look_number(parts.scope, state, leads)
    number = number if turn is None else turn
    whole = weigh(parts.scope, parts.family, parts.arena, arms, leader, number, better)
    weighed = parts.arena.weighed[: parts.arena.found[WEIGHED]]
    assert len(set(weighed.tolist())) == len(weighed)
    found = np.zeros(len(arms))
    found[weighed] = parts.arena.sums["weight"][weighed]
    assert whole == pytest.approx(found.sum())
    return found / whole


def losses_by_distance(graph, family, pulls, means):
    """By brute force: the best of all ways to split the bins of distance into pools."""
    bins, found = distance_bins(graph.n_arms), []
    for place in range(graph.n_arms):
        at = bins[graph.distances(place)]
        used = np.unique(at[pulls > 0])
        best = math.inf
        for cuts in itertools.product([False, True], repeat=len(used) - 1):
            pool_of = dict(zip(used.tolist(), np.cumsum([0, *cuts]).tolist(), strict=True))
            pool = np.array([pool_of.get(int(one), -1) for one in at])
            fits = [
                np.average(means[pool == one], weights=pulls[pool == one])
                for one in range(pool.max() + 1)
            ]
            if any(later > before for before, later in itertools.pairwise(fits)):
                continue
            lost = sum(
                pulls[arm] * family.divergence(means[arm], fits[pool[arm]])
                for arm in np.flatnonzero(pulls > 0)
            )
            best = min(best, lost)
        found.append(best)
    return np.array(found)


def random_rewards(rng, n_arms, most=40):
    pulls = rng.integers(0, most, n_arms) * (rng.random(n_arms) < 0.7)
    pulls[rng.integers(n_arms)] += 1
    sums = rng.binomial(pulls, rng.random(n_arms))
    means = np.where(pulls > 0, sums / np.maximum(pulls, 1), 0.0)
    return pulls, np.clip(means, 0.01, 0.99)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("most", [12, 4000], ids=["few rewards", "many rewards"])
def test_a_place_weighs_what_the_best_means_that_fall_with_its_distance_explain(family, most):
    """Against brute force."""
    rng = np.random.default_rng(5)
    for graph in (um.graphs.grid(3, 4), um.graphs.star(9), um.graphs.erdos_renyi(14, 0.2, seed=2)):
        for _ in range(8):
            pulls, means = random_rewards(rng, graph.n_arms, most)
            lost = losses_by_distance(graph, family, pulls, means)
            expected = np.exp(-(lost - lost.min()))
            expected[lost - lost.min() > peak_places.FAINTEST] = 0.0
            leader = int(np.argmax(np.where(pulls > 0, means, -1.0)))
            found = weights(*told(graph, family, pulls, means), leader)
            np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-6, atol=1e-14)


def test_each_look_weighs_the_nearest_places_and_some_others_in_turn():
    """Of 60 places those 16 nearest to the leader, and 15 others, so that four looks see all."""
    graph, rng = um.graphs.erdos_renyi(60, 0.08, seed=1), np.random.default_rng(1)
    pulls, means = random_rewards(rng, 60, 12)
    leader, (parts, state) = int(means.argmax()), told(graph, um.Bernoulli(), pulls, means)
    lost = losses_by_distance(graph, um.Bernoulli(), pulls, means)
    seen = set()
    for turn in range(4):
        found = weights(parts, state, leader, turn=turn)
        weighed = parts.arena.weighed[: parts.arena.found[WEIGHED]].copy()
        nearest, others = weighed[:16], weighed[16:]
        farther = np.setdiff1d(np.arange(60), nearest)
        steps = graph.distances(leader)
        assert nearest[0] == leader and steps[nearest].max() <= steps[farther].min()
        assert 5 <= len(others) <= 15
        expected = np.exp(lost[weighed].min() - lost[weighed])
        expected[lost[weighed] - lost[weighed].min() > peak_places.FAINTEST] = 0.0
        expected[16:] *= math.sqrt((60 - 16) / len(others))  # they stand for all 44
        np.testing.assert_allclose(found[weighed], expected / expected.sum(), rtol=1e-6)
        seen |= set(weighed.tolist())
    assert seen == set(range(60))


def test_no_arm_is_looked_at_sooner_because_of_its_number():
    """Of 100 arms every seventh is weighed, from another one on in each trial, in both engines."""
    problem, begin = um.problems.by_distance(um.graphs.star(100), 70), []
    for number in range(70):
        states = [trial_on(problem, kind, number=number).state for kind in (StepTrial, LeapTrial)]
        states[1].rng[:4] += 1  # how many draws there were before says nothing
        scope = record(PEAK.scope(problem.graph))
        numbers = [look_number(scope, state, 0)[0] for state in states]
        assert numbers[0] == numbers[1] >= 0
        states[0].notes[LEADER] = 50  # nor who leads: all leaders look at the same places first
        assert look_number(scope, states[0], 0)[0] == numbers[0]
        begin.append(numbers[0] % 7)
    assert min(np.bincount(begin, minlength=7)) >= 3  # fewer in 1 of 80 cases


@pytest.mark.parametrize("graph", [um.graphs.grid(5, 6), um.graphs.grid(6, 9)], ids=str)
def test_paused_arms_are_no_places_and_make_no_others_weigh_more(graph):
    """One reward says nothing of places, so that the nearest weigh the same, and the others, too.

    Of 30 arms all that are not paused are weighed alike; of 54, of which 34 are left, 18 are far.
    """
    paused = np.random.default_rng(3).permutation(np.arange(1, graph.n_arms))[: graph.n_arms - 34]
    paused = paused if graph.n_arms > 32 else np.arange(6, 12)
    pulls = np.zeros(graph.n_arms, np.int64)
    pulls[0] = 1
    parts, state = told(graph, um.Bernoulli(), pulls, np.full(graph.n_arms, 0.5))
    arena = peak_places.places_arena(bypassed(graph, paused.tolist()))
    seen = {name: getattr(arena, name).view(np.recarray) for name in ("sums", "bins", "pools")}
    for turn in range(4):
        found = weights(parts._replace(arena=arena._replace(**seen)), state, 0, turn=turn)
        weighed = arena.weighed[: arena.found[WEIGHED]]
        assert found[paused].sum() == 0
        if graph.n_arms <= 32:
            assert len(weighed) == 24 and found[weighed] == pytest.approx(1 / 24)
        else:
            far = found[weighed[16:]] / found[0]
            assert found[weighed[:16]] == pytest.approx(found[0])
            assert far == pytest.approx(math.sqrt(18 / len(far)))


def test_the_rewards_of_paused_arms_say_nothing_of_places():
    graph, paused = um.graphs.grid(5, 6), np.arange(6, 12)
    arena = peak_places.places_arena(bypassed(graph, paused.tolist()))
    seen = {name: getattr(arena, name).view(np.recarray) for name in ("sums", "bins", "pools")}
    pulls, means = np.full(30, 20), np.linspace(0.3, 0.6, 30)
    without = np.where(np.isin(np.arange(30), paused), 0, pulls)
    found = []
    for known in (pulls, without):
        parts, state = told(graph, um.Bernoulli(), known, means)
        found.append(weights(parts._replace(arena=arena._replace(**seen)), state, 29))
    np.testing.assert_allclose(found[0], found[1])


def test_between_rewards_of_a_line_one_place_stands_for_all_in_turn():
    """Steep on the left, flat on the right; only some arms of 40 have rewards."""
    graph, pulls = um.graphs.line(40), np.zeros(40, np.int64)
    known = np.array([2, 6, 9, 10, 11, 15, 22, 30, 38])
    pulls[known], means = 300, np.zeros(40)
    means[known] = [0.1, 0.4, 0.8, 0.9, 0.895, 0.89, 0.885, 0.88, 0.87]
    parts, state = told(graph, um.Bernoulli(), pulls, means)
    every = place_probabilities(parts.family, state.arms, np.arange(40))
    for turn in range(12):
        found = weights(parts, state, 10, turn=turn)
        assert found[known] == pytest.approx(every[known])
        for first, last in itertools.pairwise([-1, *known, 40]):
            between = slice(first + 1, last)
            assert found[between].sum() == pytest.approx(every[between].sum())
            assert (found[between] > 0).sum() <= 1
    assert weights(parts, state, 10, turn=1)[17] > 0 and weights(parts, state, 10, turn=2)[18] > 0


def test_on_a_line_one_peak_is_all_that_is_assumed_once_the_rewards_ask_for_it():
    """Steep on the left, flat on the right: no means that fall with the distance fit."""
    graph, pulls = um.graphs.line(12), np.full(12, 60)
    means = np.array([0.1, 0.2, 0.3, 0.5, 0.9, 0.88, 0.86, 0.84, 0.82, 0.8, 0.78, 0.76])
    parts, state = told(graph, um.Bernoulli(), pulls, means)
    by_order = place_probabilities(parts.family, state.arms, np.arange(12))
    np.testing.assert_allclose(weights(parts, state, 4), by_order)
    even = 0.9 - 0.06 * np.abs(np.arange(12) - 4)
    parts, state = told(graph, um.Bernoulli(), pulls, even)
    lost = losses_by_distance(graph, um.Bernoulli(), pulls, even)
    expected = np.where(lost - lost.min() > peak_places.FAINTEST, 0.0, np.exp(lost.min() - lost))
    np.testing.assert_allclose(weights(parts, state, 4), expected / expected.sum(), rtol=1e-6)


@pytest.mark.parametrize(("pulls", "is_one_peak"), [(37, False), (38, True)])
def test_one_peak_must_explain_the_rewards_better_by_log_k(pulls, is_one_peak):
    """Means that fall with the distance lose 0.06673 per reward of each arm, and log 12 = 2.485."""
    graph, means = um.graphs.line(12), 0.9 - 0.02 * np.arange(12.0)
    means[:3] = 0.5, 0.6, 0.7
    lost = losses_by_distance(graph, um.Bernoulli(), np.full(12, pulls), means).min()
    assert (lost > math.log(12)) == is_one_peak  # with one peak, nothing is lost
    parts, state = told(graph, um.Bernoulli(), np.full(12, pulls), means)
    by_order = place_probabilities(parts.family, state.arms, np.arange(12))
    assert np.allclose(weights(parts, state, 3, leads=1000), by_order) == is_one_peak


def test_money_is_compared_where_rewards_have_factors():
    """Arm 2 sells least often and earns most; arm 0 is what sells best."""
    family = um.Scaled(um.Bernoulli(), by=[1.0, 2.0, 4.0, 2.0, 1.0])
    trial = trial_on(um.Problem(um.graphs.line(5), [0.3, 0.5, 0.9, 0.5, 0.3], family))
    arms = trial.state.arms
    arms["pulls"], arms["total"] = 200, np.array([60.0, 50.0, 45.0, 50.0, 60.0])
    assert weights(plain(trial), trial.state, 2)[2] > 0.9


def test_rewards_with_factors_are_pooled_by_how_much_they_tell():
    """Sales at 1 and 2 that earn 0.5 either way: kl(0.5, 0.45) is 2.875 times kl(0.25, 0.225)."""
    family = um.Scaled(um.Bernoulli(), by=[1.0, 2.0])
    trial = trial_on(um.Problem(um.graphs.line(2), [0.5, 0.6], family))
    arms = trial.state.arms.view(np.recarray)
    arms["pulls"], arms["total"] = [99, 40], [49.5, 10.0]
    worth = peak_places._worth(trial.parts.family, arms[0], arms[1], 0.5, 99.0)
    assert worth == pytest.approx(2.875, abs=5e-4)


@pytest.mark.parametrize("places", [3, 10, 17, 100, 1000, 2048])
def test_how_often_a_leader_looks_around(places):
    """2·⌈log₂ places⌉ times in each doubling of its leads, once there are so many leads."""
    scope, every = record(AroundLikelyPeak(places=places)), 2 * math.ceil(math.log2(places))
    assert looks(scope, 0) and looks(scope, 1)
    for begin in (64, 1024, 2**20, 2**40):
        assert sum(looks(scope, leads) for leads in range(begin, min(2 * begin, begin + 2048))) == (
            every if begin <= 2048 else pytest.approx(every * 2048 / begin / math.log(2), abs=1)
        )


@given(st.integers(2, 2**50), st.sampled_from([3, 17, 100, 1000, 2048]))
@settings(max_examples=300)
def test_an_engine_never_leaps_over_a_look(leads, places):
    trial = trial_on(um.problems.triangular(9))
    scope = record(AroundLikelyPeak(places=places))
    trial.state.arms["leads"][4] = leads
    until = steady_until(scope, trial.parts.arena, trial.state, 4)
    steady = range(leads, min(until, leads + 50)), range(max(leads, until - 50), until)
    assert not any(looks(scope, one) for one in itertools.chain(*steady))
    if until > leads and until != 30:  # where its period changes, with three arms
        assert any(looks(scope, one) for one in range(until, until + 3 + (leads >> 42)))


def test_a_young_leader_is_forced_once_in_its_neighbourhood_and_then_every_second_lead():
    scope = record(AroundLikelyPeak(places=9))
    assert [leads for leads in range(50) if forced(scope, leads, 4)] == [
        *(0, 4, 8, 12, 16, 20, 24, 28, 32, 36),
        *(40, 42, 44, 46, 48),
    ]


@given(st.integers(2, 7), st.booleans(), st.integers(0, 20), st.integers(1, 30))
def test_contests_between_forced_rounds(size, is_young, later, contests):
    scope, clock = record(AroundLikelyPeak(places=9)), later + (0 if is_young else 10 * size)
    now, held = clock, 0
    while held < contests:
        held += not forced(scope, now, size)
        now += 1
    if now <= 10 * size or not is_young:
        assert contest_after(scope, clock, size, float(contests)) == now


def test_where_all_arms_compete_nobody_looks_around():
    trial = trial_on(um.problems.by_distance(um.graphs.complete(6), 2), horizon=500)
    trial.finish()
    assert steady_until(trial.parts.scope, trial.parts.arena, trial.state, 2) == ENDLESS
    agent = um.Agent(PEAK, um.graphs.complete(6), seed=1)
    reasons = set()
    for _ in range(100):
        agent.tell(agent.ask(), 1.0)
        reasons.add(agent.reason)
    assert "look around" not in reasons


@pytest.mark.parametrize(("pulls", "is_refuted"), [(1, False), (18, False), (19, True)])
def test_an_arm_is_refuted_by_its_own_rewards(pulls, is_refuted):
    """By hand: log(9·(1 + log₂ 101)) = 4.234, and kl(1/2, 4/5) = log(5/4) = 0.2231 each."""
    parts, state = told(um.graphs.line(9), um.Bernoulli(), np.full(9, 100), np.full(9, 0.8))
    arms = state.arms.view(np.recarray)
    arms[3].pulls, arms[3].total = pulls, 0.5 * pulls
    assert refuted(parts.scope, parts.family, arms, 3, 4, 100) == is_refuted
    assert not refuted(parts.scope, parts.family, arms, 5, 4, 100)  # as good as the leader
    arms[3].pulls = arms[3].total = 0
    assert not refuted(parts.scope, parts.family, arms, 3, 4, 100)


@pytest.mark.parametrize(
    ("pulls", "total", "expected"),
    [
        (10, 8.0, 3),  # as good as the leader: 0 < log(1000/(10·√3))/2
        (577, 462.0, 3),  # just below 1000/√3 rewards, and as good
        (578, 462.0, -1),  # enough
        (2, 0.0, 3),  # 2·log 5 = 3.22 < log(1000·(6/9)²/(2·3)) = 4.31
        (3, 0.0, -1),  # 3·log 5 = 4.83 > log(1000·(6/9)²/(3·3)) = 3.90
        (20, 12.3, 3),  # 20·kl(0.615, 0.8) = 1.81 < log(1000·(6/9)²/(20·3)) = 2.00
        (20, 12.0, -1),  # 20·kl(0.6, 0.8) = 2.09
        (200, 158.0, 3),  # 200·kl(0.79, 0.8) = 0.06 < log(1000/(200·√3))/2 = 0.53
        (200, 152.0, -1),  # 200·kl(0.76, 0.8) = 0.95
        (40, 24.0, -1),  # 40·kl(0.6, 0.8) = 4.18 > log(1000/(40·√3))/2 = 1.33
        (0, 0.0, -1),  # contests are for those
    ],
)
def test_a_neighbour_is_doubtful_that_has_too_few_rewards(pulls, total, expected):
    """By hand, beside a leader with 1,000 rewards of mean 0.8 on a line."""
    parts, state = told(um.graphs.line(9), um.Bernoulli(), np.full(9, 1000), np.full(9, 0.8))
    arms = state.arms.view(np.recarray)
    arms[5].total = 100.0  # the other neighbour is clearly worse
    arms[3].pulls, arms[3].total = pulls, total
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == expected
    arms[6].pulls, arms[6].total = 1, 1.0  # no neighbour
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == expected


def test_the_most_doubtful_neighbour_goes_first():
    parts, state = told(um.graphs.line(9), um.Bernoulli(), np.full(9, 1000), np.full(9, 0.8))
    arms = state.arms.view(np.recarray)
    arms[3].pulls, arms[3].total, arms[5].pulls, arms[5].total = 20, 16.0, 10, 8.0
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == 5


def test_a_run_of_doubtful_neighbours_ends():
    """On a line of 9 with 8 looks per doubling: at most 1/16 of the leads before the look."""
    parts, state = told(um.graphs.line(9), um.Bernoulli(), np.full(9, 10**5), np.full(9, 0.8))
    arms = state.arms.view(np.recarray)
    arms[3].pulls, arms[3].total = 1000, 800.0

    def still(leads):
        return doubtful_still(parts.scope, parts.family, parts.arena, arms, 4, leads)

    begun = 2**14 - 1
    assert looks(parts.scope, begun) and still(begun + 1) == 3
    length = next(n for n in range(1, 3000) if still(begun + n) < 0)
    assert length == begun // 16 + 1
    arms[3].pulls, arms[3].total = 5, 4.0  # where rewards come late: four times as many as it had
    assert next(n for n in range(1, 3000) if still(begun + n) < 0) == 20


def test_a_look_goes_on_until_no_neighbour_is_doubtful():
    """After it, neighbours that are nearly as good have nearly as many rewards as the leader."""
    problem = um.Problem(um.graphs.line(40), 0.7 - 0.001 * np.abs(np.arange(40) - 20.0))
    trial = trial_on(problem, horizon=30_000)
    state = trial.state
    runs, last = [], 0
    for _ in range(30_000):
        trial.advance(1)
        notes = state.notes
        again = notes[REASON] == LOOK and notes[LAST] != notes[LEADER]
        last = last + 1 if again else 0
        runs.append(last)
    assert max(runs) > 40


def test_far_pulls_end_where_rewards_refute_them():
    """All arms but the peak have mean 0.2: after 10⁵ rounds each had few pulls.

    One peak among equals, which no likelihood by distance explains. An arm is refuted after some 10
    pulls, and a neighbour of the leader gets log T/kl = 6 of UTS.
    """
    means = np.full(40, 0.2)
    means[20] = 0.9
    for number in range(5):
        trial = trial_on(um.Problem(um.graphs.line(40), means), LeapTrial, number=number)
        trial.state.begin[:] = 20
        trial.finish()
        assert trial.pulls[20] > 99_000
        assert trial.pulls[np.arange(40) != 20].max() < 60


def test_on_a_large_graph_a_new_leader_has_links_and_no_place_is_drawn():
    """On a line of 3,000 arms: in looks neighbours are pulled, and far arms while links are new."""
    problem = um.problems.by_distance(um.graphs.line(3000), peak=1000)
    trial = trial_on(problem, horizon=4000)
    looked = far = 0
    for _ in range(4000):
        trial.advance(1)
        arm, leader, reason = trial.state.notes[[LAST, LEADER, REASON]]
        arena = trial.parts.arena
        near = arena.near[arena.first[leader] : arena.last[leader]]
        looked += reason == LOOK
        assert reason != LOOK or (arm in near and arm != leader)
        is_far = leader >= 0 and abs(arm - leader) > 1
        far += is_far
        assert not is_far or trial.state.arms["leads"][leader] <= 10 * len(near)
    assert looked > 10 and far > 10


def test_links_are_not_sought_behind_a_wide_shell():
    """A star of stars: 70 arms at distance 1, behind which 3,500 more are at distance 2.

    From the middle, the first shell is too wide. From a leaf, the shells have 1, 50 and 69 arms.
    """
    edges = [(0, 1 + hub) for hub in range(70)]
    edges += [(1 + hub, 71 + 50 * hub + leaf) for hub in range(70) for leaf in range(50)]
    problem = um.problems.by_distance(um.graphs.from_edges(edges), 0)

    def links(leader):
        trial = trial_on(problem, horizon=10)
        arena = trial.parts.arena
        prepare(trial.parts.scope, arena, trial.state, leader)
        linked = arena.near[arena.ends[leader] : arena.last[leader]]
        return problem.graph.distances(leader)[linked].tolist()

    assert links(0) == []
    assert links(71) == [2, 2]  # the next would be at distance 4, behind 69 arms


def test_a_family_without_a_divergence_is_played_by_uts():
    class Coin(um.Family):
        def draw(self, mean, rng):
            return float(um.random.uniform(rng) < mean)

        def posterior(self, arm, rng):
            return um.random.beta(rng, 1.0 + arm.total, 1.0 + arm.pulls - arm.total)

    assert um.Agent(graph=um.graphs.line(5), family=Coin()).policy == um.UTS()
    assert um.Agent(graph=um.graphs.line(5), family=um.Poisson()).policy == um.PeakUTS()


def test_distances_are_searched_once_for_each_graph():
    graph = um.graphs.grid(6, 6)
    one, two = (trial_on(um.problems.by_distance(graph, 3)).parts.arena for _ in range(2))
    assert one.distances is two.distances and one.sums is not two.sums
    steps = np.array([graph.distances(arm) for arm in range(36)])
    np.testing.assert_array_equal(one.distances.reshape(36, 36), distance_bins(36)[steps])


@pytest.mark.parametrize("n_arms", [12, 60])
def test_a_look_falls_on_each_arm_as_often_as_its_probability_says(n_arms):
    """4,000 looks from one state; four standard deviations for some 30 arms: 1 seed in 500."""
    agent = um.Agent(PEAK, um.graphs.line(n_arms), seed=4)
    agent.ask()  # the start
    rewards = {0: [0, 0, 1, 0], 5: [1, 1, 1, 1, 0, 1, 1], 6: [1, 1, 1, 1, 0, 1], 9: [0, 0, 0]}
    for arm, told_of_it in rewards.items():
        agent.tell([arm] * len(told_of_it), told_of_it)
    player, counts = agent._player, np.zeros(n_arms)
    leads, saved = (
        next(n for n in range(40, 80) if looks(player.scope, n)),
        player.state.arms.copy(),
    )
    for _ in range(4000):
        player.state.arms[:] = saved
        player.state.arms["leads"][5] = leads
        counts[agent.ask()] += 1
        assert agent.reason == "look around" and agent.leader == 5
    expected = player.look_probabilities(5)
    assert expected.sum() == pytest.approx(1)
    deviation = np.sqrt(expected * (1 - expected) / 4000)
    assert (np.abs(counts / 4000 - expected) <= 4 * deviation + 1e-9).all()
    assert (counts > 0).sum() > 4


def test_a_session_of_the_leap_engine_ends_when_a_leader_has_grown():
    """Its rivals wait for contests, of which there are fewer from then on: here it never ended."""
    problem = um.problems.by_distance(um.graphs.complete(6), 2)
    trial = LeapTrial(problem, PEAK, 3, 2, np.array([1200]), False)
    parts, state = trial.parts, trial.state
    for leads, until in ((0, 60), (59, 60), (60, 60), (61, ENDLESS)):
        state.arms["leads"][2] = leads
        assert steady_until(parts.scope, parts.arena, state, 2) == until
    state.arms["leads"][2] = 0
    trial.hurry(1.5)
    for _ in range(2000):
        trial.advance(1)
    assert trial.state.notes[ROUND] == 1200


def test_propensities_of_looks_are_those_of_what_was_drawn():
    agent = um.Agent(PEAK, um.graphs.grid(4, 4), seed=2)
    looked = 0
    for _ in range(120):
        decision = agent.decide(propensity=True)
        looked += decision.reason == "look around"
        assert 0 < decision.propensity <= 1
        agent.reward(decision.id, float(decision.arm // 4 == 2))
    assert looked > 30


@pytest.mark.parametrize("graph", [um.graphs.line(3), um.graphs.line(9), um.graphs.grid(8, 8)])
def test_propensities_before_the_first_reward(graph):
    """Who leads without a reward does not look around: there is no mean to compare others with."""
    agent = um.Agent(PEAK, graph, seed=1)
    made = [agent.decide(propensity=True) for _ in range(30)]
    assert {decision.reason for decision in made} <= {"start", "forced leader", "contest"}
    assert all(0 < decision.propensity <= 1 for decision in made)
    agent.reward(made[0].id, 1.0)
    assert 0 < agent.decide(propensity=True).propensity <= 1


@pytest.mark.filterwarnings("error")
def test_the_propensity_of_a_leader_whose_neighbours_are_all_paused():
    """It looks around and weighs nothing, so that there is nothing to divide by."""
    agent = um.Agent(PEAK, um.graphs.line(2), um.Bounded(0, 1), seed=0)
    agent.decide()
    agent.pause(0)
    agent.reward(agent.decide().id, 0.5)
    assert agent.decide(propensity=True).propensity == 1.0


def test_a_saved_agent_goes_on_as_if_it_had_not_been_saved(tmp_path):
    agent = um.Agent(PEAK, um.graphs.grid(5, 5), seed=9)
    for _ in range(60):
        agent.tell(arm := agent.ask(), float(arm // 5 == 2))
    agent.save(tmp_path / "agent.json")
    again = um.Agent.load(tmp_path / "agent.json")
    for _ in range(100):
        arm = agent.ask()
        assert arm == again.ask() and agent.reason == again.reason
        agent.tell(arm, float(arm % 5 == 3))
        again.tell(arm, float(arm % 5 == 3))


def test_a_campaign_explains_looks_and_keeps_them_within_a_cap(tmp_path):
    """On a line of 9 whose arms all pay: looks fall on many of them."""
    path = tmp_path / "looks.db"
    with um.Campaign.open(path, PEAK, um.graphs.line(9), seed=6) as campaign:
        made = []
        for number in range(160):
            if number == 80:
                campaign.cap(0.05, over=20)
            made.append(campaign.decide(propensity=True))
            campaign.reward(made[-1].id, float(number % 5 > 0))
        looked = [one for one in made if one.reason == "look around"]
        far = [one for one in looked if abs(one.arm - one.leader) > 1]
        assert len(looked) > 30 and len(far) > 5
        for one in (looked[0], looked[-1], far[0], far[-1]):
            found = campaign.explain(one.id)
            assert "looked around for the peak by all rewards so far" in found.because
            assert f"(probability {one.propensity:.2g}"[:15] in found.because
            assert [rival.arm for rival in found.competitors if rival.is_chosen] == [one.arm]
        capped = [campaign.explain(one.id).because for one in made if one.reason == "cap"]
        assert any("looked around" in text and "leader was played" in text for text in capped)
        late = [one.arm for one in made[80:]]
        for number, one in enumerate(made[80:]):
            if one.arm != one.leader:
                assert late[max(0, number - 19) : number + 1].count(one.arm) <= 1
    assert um.verify(path)


def test_a_campaign_explains_why_a_doubtful_neighbour_was_pulled(tmp_path):
    """On a line of 5 whose arms all pay as often, neighbours soon have too few rewards."""
    with um.Campaign.open(tmp_path / "c.db", PEAK, um.graphs.line(5), seed=3) as campaign:
        texts = []
        for number in range(200):
            decision = campaign.decide()
            campaign.reward(decision.id, float(number % 3 > 0))
            if decision.reason == "look around" and abs(decision.arm - decision.leader) == 1:
                texts.append(campaign.explain(decision.id).because)
    few = "is a neighbour with few rewards for how little they speak against it (probability 1"
    assert any(few in text for text in texts)


def test_on_a_large_graph_informative_priors_lead():
    """A line of 3,000 arms, of which one is known to be good before the first round."""
    prior = [(1.0, 1.0)] * 3000
    prior[1234] = (900.0, 100.0)
    agent = um.Agent(um.PeakUTS(prior=prior), um.graphs.line(3000), seed=1)
    agent.ask()
    assert agent.leader == 1234
    plain = um.Agent(um.PeakUTS(prior=prior, prior_leads=False), um.graphs.line(3000), seed=1)
    assert plain.ask() != 1234 and plain.leader is None  # the start: one random arm


def test_a_family_of_your_own_needs_a_divergence():
    class Coin(um.Family):
        def draw(self, mean, rng):
            return float(um.random.uniform(rng) < mean)

        def posterior(self, arm, rng):
            return um.random.beta(rng, 1.0 + arm.total, 1.0 + arm.pulls - arm.total)

    problem = um.Problem(um.graphs.line(5), [0.1, 0.5, 0.9, 0.5, 0.1], Coin())
    with pytest.raises(um.UnimodalError, match="divergence"):
        um.simulate(problem, PEAK, horizon=50, trials=1)


def test_reasons_of_a_trial_are_what_the_rounds_were():
    trial = trial_on(um.problems.triangular(17), horizon=300)
    looked = 0
    for _ in range(300):
        trial.advance(1)
        looked += REASONS[trial.state.notes[REASON]] == "look around"
    assert 40 < looked < 200


def test_it_finds_the_peak_of_a_sparse_graph_without_trying_every_arm():
    """Regret 0.75 of ScoutUTS's at most, 40 trials each on the same graph; about 0.6 is usual."""
    graph = um.graphs.erdos_renyi(400, math.log(400) / 400, seed=11)
    problem = um.problems.by_distance(graph, um.problems.random_peak(graph, 3))
    result = um.simulate(problem, [PEAK, um.ScoutUTS()], horizon=3000, trials=40, seed=5)
    mean = {name: result[name].regret[:, -1].mean() for name in result}
    assert mean["PeakUTS"] < 0.75 * mean["ScoutUTS"]


# Factors that differ: an arm is compared with the leader in money.

PRICES = [2.0, 4.0, 8.0, 5.0, 10.0, 20.0, 8.0, 4.0, 2.0]


def told_at_prices(pulls):
    """A leader, arm 4, that earns 4.0 (0.4 at 10), beside arms at 5 and at 20 that could."""
    family = um.Scaled(um.Bernoulli(), by=PRICES)
    trial = trial_on(um.Problem(um.graphs.line(9), np.linspace(1.0, 1.6, 9), family))
    arms = trial.state.arms.view(np.recarray)
    arms["pulls"], arms["total"] = pulls, pulls * 4.0 / np.array(PRICES) * 0.05
    arms[4].total = 0.4 * pulls
    return plain(trial), arms


@pytest.mark.parametrize(("pulls", "is_refuted"), [(18, False), (19, True)])
def test_an_arm_is_refuted_in_money(pulls, is_refuted):
    """At 5 it takes 0.8 to earn 4.0: kl(1/2, 4/5) = 0.2231 each, of log(9·(1 + log₂ 101)) = 4.234.

    Compared as told, 0.5 would be above the leader's 0.4, and never refuted.
    """
    parts, arms = told_at_prices(100)
    arms[3].pulls, arms[3].total = pulls, 0.5 * pulls
    assert refuted(parts.scope, parts.family, arms, 3, 4, 100) == is_refuted


def test_what_sells_less_at_a_higher_price_is_not_refuted():
    """At 20 it takes 0.2 to earn 4.0: 0.25 of 500 is below the leader's 0.4, and earns more."""
    parts, arms = told_at_prices(100)
    arms[5].pulls, arms[5].total = 500, 125.0
    assert not refuted(parts.scope, parts.family, arms, 5, 4, 100)


@pytest.mark.parametrize(
    ("pulls", "total", "expected"),
    [
        (20, 12.3, 3),  # 20·kl(0.615, 0.8) = 1.81 < log(1000·(6/9)²/(20·3)) = 2.00
        (20, 12.0, -1),  # 20·kl(0.6, 0.8) = 2.09
        (200, 158.0, 3),  # 200·kl(0.79, 0.8) = 0.06 < log(1000/(200·√3))/2 = 0.53
        (200, 152.0, -1),  # 200·kl(0.76, 0.8) = 0.95
    ],
)
def test_a_neighbour_is_doubtful_in_money(pulls, total, expected):
    parts, arms = told_at_prices(1000)
    arms[3].pulls, arms[3].total = pulls, total
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == expected
    arms[3].pulls, arms[3].total, arms[5].pulls, arms[5].total = 1000, 10.0, 20, 4.5
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == 5  # 0.225 at 20 earns 4.5


def test_the_propensity_of_a_doubtful_neighbour_has_that_of_all_that_is_not_pulled():
    """Of the leader's own place and of refuted ones; its own place is added where it stays."""
    agent = um.Agent(PEAK, um.graphs.line(9), seed=4)
    agent.ask()
    rewards = {0: (60, 20), 3: (3, 2), 4: (60, 48), 5: (4, 0), 7: (2, 1)}
    for arm, (pulls, total) in rewards.items():
        agent.tell([arm] * pulls, [1.0] * total + [0.0] * (pulls - total))
    player = agent._player
    parts, leads = plain_player(player), next(n for n in range(60, 90) if looks(player.scope, n))
    player.state.arms["leads"][4] = leads
    arms = player.state.arms.view(np.recarray)
    assert doubtful(parts.scope, parts.family, parts.arena, arms, 4) == 3
    share = weights(parts, player.state, 4, leads)
    gone = [a for a in range(9) if a != 4 and refuted(parts.scope, parts.family, arms, a, 4, leads)]
    assert 0 in gone and share[4] > 0.05
    expected = share.copy()
    expected[[4, *gone]] = 0.0
    expected[3] += 1.0 - expected.sum()
    chances = {}
    for _ in range(60):
        player.state.arms["leads"][4] = leads
        arm, reason, leader, _ = player.play()
        assert (reason, leader) == ("look around", 4)
        chances[arm] = player.propensity(arm, leader, reason)
    assert chances[3] > 0.3 and len(chances) > 1
    assert chances == pytest.approx({arm: expected[arm] for arm in chances})


def plain_player(player):
    """The parts of an agent's player for functions that run as plain Python."""
    arena = player.view.arena
    seen = {name: getattr(arena, name).view(np.recarray) for name in ("sums", "bins", "pools")}
    return SimpleNamespace(
        scope=player.scope, family=player.family_record, arena=arena._replace(**seen)
    )


def test_places_weigh_rewards_with_factors_as_those_that_are_worth_most():
    """Against brute force on rewards as told at 20, each of which counts for what it tells there.

    Counted one for one, the weights of some places are off by a factor of three.
    """
    graph, factors = um.graphs.grid(3, 3), np.array(PRICES)
    family, pulls = um.Scaled(um.Bernoulli(), by=PRICES), np.full(9, 60)
    pulls[[0, 3, 7]] = 40, 90, 20
    earned = np.array([1.2, 2.0, 3.2, 2.5, 3.6, 3.0, 2.4, 1.6, 1.0])
    trial = trial_on(um.Problem(graph, np.linspace(1.0, 1.6, 9), family))
    trial.state.arms["pulls"], trial.state.arms["total"] = pulls, pulls * earned / factors
    told_at_20, most = earned / 20.0, 60.0 * earned[5] / 20.0
    counted = []
    for n, factor, mean in zip(pulls, factors, earned / factors, strict=True):
        mean = (n * mean + most / 60.0 * 20.0 / factor) / (n + 1)  # with a reward of the best known
        own, other = (
            um.Bernoulli().divergence(at, 0.9 * at) for at in (mean, mean * factor / 20.0)
        )
        counted.append(n * own / other if factor != 20.0 else n)
    lost = losses_by_distance(graph, um.Bernoulli(), np.array(counted), told_at_20)
    expected = np.exp(lost.min() - lost)
    expected[lost - lost.min() > peak_places.FAINTEST] = 0.0
    found = weights(plain(trial), trial.state, 4)
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-6)
