"""ScoutUTS: its links are where they should be, come with the first lead and go in time."""

import numpy as np
import pytest
from scipy import stats

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial
from unimodal.kernels.compile import record
from unimodal.policies.leaping import ENDLESS, steady_until
from unimodal.policies.round import ask, observe
from unimodal.policies.scope import contests, forced
from unimodal.policies.scout import Scout, links_of, set_links
from unimodal.policies.state import BEGUN
from unimodal.studies.tasks import Task, run

SCOUT = um.ScoutUTS()


def trial_on(problem, kind=StepTrial, policy=SCOUT, horizon=100_000, number=0):
    return kind(problem, policy, 3, number, np.array([horizon]), True)


def test_links_lie_in_the_shells_and_were_not_pulled():
    problem = um.problems.by_distance(um.graphs.grid(12, 12), peak=70)
    most = []
    for number in range(20):
        trial = trial_on(problem, number=number)
        linked = {}
        for _ in range(400):
            pulled = set(trial.output.arms[: trial.round].tolist())
            trial.advance(1)
            for arm, links in links_of(trial.parts.arena).items():
                if arm not in linked:
                    linked[arm] = links
                    distances = problem.graph.distances(arm)[links]
                    assert set(distances.tolist()) <= {2, 4, 8, 16}
                    most.append(np.bincount(distances).max())
                    assert not pulled & set(links)
                    assert len(set(links)) == len(links)
        assert linked
    assert max(most) == 2  # to each shell


def test_links_are_uniform_in_a_shell():
    """Chi-square over the shell at distance 2 of a star's leaf; false alarms in 1 of 1000 seeds."""
    graph = um.graphs.star(12)
    counts = np.zeros(12)
    for number in range(3000):
        trial = trial_on(um.Problem(graph, np.full(12, 0.5)), number=number)
        while not links_of(trial.parts.arena):
            trial.advance(1)
            if trial.round > 3:
                break
        for arm, links in links_of(trial.parts.arena).items():
            if arm == 1:
                counts[links] += 1
    assert stats.chisquare(counts[2:]).pvalue > 1e-3
    assert counts[:2].sum() == 0


def test_a_leader_drops_its_links_after_its_leads():
    problem = um.problems.triangular(33)
    trial = trial_on(problem, policy=um.ScoutUTS(patience=3))
    arena, size = trial.parts.arena, {}
    for _ in range(3000):
        before = {arm: len(links) for arm, links in links_of(arena).items()}
        leads = trial.state.arms["leads"].copy()
        trial.advance(1)
        for arm in set(before) - set(links_of(arena)):
            size = arena.ends[arm] - arena.first[arm] + before[arm]
            assert leads[arm] == 3 * size  # in the round that begins with so many leads
    assert trial.state.arms["leads"][16] > 100
    assert 16 not in links_of(arena)


def test_a_climbing_leader_is_forced_once_in_its_neighbourhood_and_then_every_second_lead():
    """With a patience of 3 and four arms in the neighbourhood, it climbs for 12 leads."""
    scope = record(Scout(patience=3))
    rounds = [leads for leads in range(20) if forced(scope, leads, 4)]
    assert rounds == [0, 4, 8, 12, 14, 16, 18]


@pytest.mark.parametrize("patience", [1, 3, 10])
@pytest.mark.parametrize(("linked", "bare"), [(2, 2), (3, 2), (7, 3), (9, 9), (20, 2)])
def test_an_arm_is_forced_as_often_as_the_proof_counts(patience, linked, bare):
    """⌊(s - 1)/|N⁺|⌋ times before its s-th lead: docs/studies/scouting/page.md, step 2."""
    scope, times = record(Scout(patience=patience)), 0
    for leads in range(4 * patience * linked):
        assert times >= leads // linked
        times += forced(scope, leads, linked if leads < patience * linked else bare)
    assert times > leads // linked


@pytest.mark.parametrize(
    ("leads", "chance"),
    [(19, 1 / 3), (21, 65 / 81), (15_019, 65 / 81), (15_021, 1 / 3)],
    ids=["climbing", "doubted", "doubted still", "settled"],
)
def test_a_doubted_leader_must_win_four_contests(leads, chance):
    """By hand: a leader at one of one, Beta(2, 1), against a rival never pulled, Beta(1, 1).

    The rival wins a contest with probability E[1 - V] = 1/3, and one of four with 1 - (2/3)⁴.
    With two arms and a patience of 10 it is doubted from 20 leads to 20 + 30,000/2; odd ones are
    contests. 4000 draws, four standard deviations: a false alarm in 1 of 16,000 seeds; three
    contests instead of four would be 15 deviations off.
    """
    trial = trial_on(um.Problem(um.graphs.complete(2), [0.9, 0.1]))
    parts, state = trial.parts, trial.state
    state.notes[BEGUN] = len(state.begin)
    observe(parts.scope, parts.index, parts.family, state, 0, 1.0)
    wins = 0
    for _ in range(4000):
        state.arms["leads"][0] = leads
        wins += ask(*parts, state) == 1
    assert abs(wins / 4000 - chance) < 4 * np.sqrt(chance * (1 - chance) / 4000)


@pytest.mark.parametrize(
    ("size", "patience", "first", "last"),
    [(2, 10, 20, 15_019), (3, 1, 3, 10_002), (7, 3, 21, 4_305)],
)
def test_for_how_many_leads_an_arm_is_doubted(size, patience, first, last):
    """From `patience`·size leads before a round on, for ⌊30,000/size⌋ of them."""
    scope, state = record(Scout(patience=patience)), trial_on(um.problems.triangular(9)).state

    def held(leads):
        state.arms["leads"][4] = leads + 1  # with this round, as in a contest
        return contests(scope, state, 4, size)

    assert [held(leads) for leads in (first - 1, first, last, last + 1)] == [1, 4, 4, 1]


def test_until_when_an_engine_may_leap():
    """By hand, for a patience of 3 on a line: up to the lead that drops the links, or ends a climb.

    With two links |N⁺| is 5, without 3. The first lead and the 10,000 of doubt are played one by
    one; afterwards nothing changes any more.
    """
    scope, trial = record(Scout(patience=3)), trial_on(um.problems.triangular(9))
    arena, arms = trial.parts.arena, trial.state.arms
    set_links(arena, {4: [1, 8]})

    def until(arm, leads):
        arms["leads"][arm] = leads
        return steady_until(scope, arena, trial.state, arm)

    assert [until(4, leads) for leads in (0, 1, 14, 15)] == [0, 15, 15, 0]
    assert [until(2, leads) for leads in (0, 1, 8, 9, 10_008)] == [0, 9, 9, 0, 0]
    assert until(2, 10_009) == ENDLESS


@pytest.mark.parametrize(
    ("graph", "patience"),
    [
        pytest.param(um.graphs.line(40), 10, marks=pytest.mark.full),
        pytest.param(um.graphs.complete(30), 10, marks=pytest.mark.full),
        pytest.param(um.graphs.grid(6, 6), 10, marks=pytest.mark.full),
        (um.graphs.line(9), 1),
        pytest.param(um.graphs.complete(30), 1, marks=pytest.mark.full),
    ],
    ids=str,
)
def test_both_engines_have_one_law(graph, patience):
    """Kolmogorov and Smirnov's test of regrets; a false alarm in 1 of 1000 seeds for each.

    On a complete graph of 30 with a patience of 1 doubt ends after 1030 leads, so that most rounds
    are those of a settled leader. If leaping took a period of |N⁺| for that of 2, its regret would
    be larger by half a standard deviation or more, found in more than 999 of 1000 seeds.
    """
    problem = um.problems.by_distance(graph)
    sample = {
        kind: [_regret(kind, problem, patience, number) for number in range(500)]
        for kind in (StepTrial, LeapTrial)
    }
    assert stats.ks_2samp(sample[StepTrial], sample[LeapTrial]).pvalue > 1e-3


def _regret(kind, problem, patience, number):
    seed = 1 if kind is StepTrial else 2
    policy = um.ScoutUTS(patience=patience)
    trial = kind(problem, policy, seed, number, np.array([3000]), False)
    trial.finish()
    return trial.output.regret[-1]


def test_it_crosses_a_long_line_where_algorithm_1_is_lost():
    problem = um.problems.triangular(129)
    policies = [um.ScoutUTS(), um.UTS(start="literal", name="literal")]
    result = um.simulate(problem, policies, horizon=20_000, trials=20, checkpoints=1)
    assert result.regret("ScoutUTS").value < 0.2 * result.regret("literal").value


def test_links_go_and_come_back():
    arena = um.ScoutUTS().scope(None).arena(um.graphs.line(9))
    assert links_of(arena) == {}
    set_links(arena, {4: [2, 8]})
    assert links_of(arena) == {4: [2, 8]}


def test_far_arms_are_reached_by_walks_where_the_graph_is_looked_up(tmp_path):
    """A line of a billion arms: the peak is 400 arms away from the root."""

    def neighbours(arm):
        return [other for other in (arm - 1, arm + 1) if 0 <= other < 10**9]

    def play(agent, rounds):
        rng = np.random.default_rng(agent.round)
        for _ in range(rounds):
            arm = agent.ask()
            agent.tell(arm, float(rng.random() < max(0.9 - 0.002 * abs(arm - 5_000_400), 0.0)))

    agent = um.Agent(um.ScoutUTS(), neighbours, seed=1, root=5_000_000)
    play(agent, 6000)
    assert abs(agent.leader - 5_000_400) < 40
    assert 0 < agent.look_ups < 4000
    agent.save(tmp_path / "agent.json")
    again = um.Agent.load(tmp_path / "agent.json", graph=neighbours)
    for _ in range(300):
        arm = agent.ask()
        assert again.ask() == arm
        agent.tell(arm, 1.0)
        again.tell(arm, 1.0)


class Line:
    """The setting of a study, in which trial 3 has more looks that leap nowhere than leaps."""

    horizon = 10_000

    def problem(self, graph=0):
        return um.problems.by_distance(um.graphs.line(1000), 333)

    def seed(self, graph):
        return 0


def test_trials_end_with_their_last_round_whatever_their_looks_cost():
    """So `advance(horizon)` is no way to play to the end, and what it did not reach is no number.

    Here, because other policies would have to be compiled for it.
    """
    simulated = um.simulate(Line().problem(), SCOUT, horizon=Line.horizon, trials=4, seed=0)
    expected = simulated["ScoutUTS"].regret[:, -1].tolist()
    trial = LeapTrial(Line().problem(), SCOUT, 0, 3, np.array([Line.horizon]), False)
    trial.advance(trial.horizon)
    assert trial.round < trial.horizon and np.isnan(trial.output.regret).all()
    trial.finish()
    assert trial.output.regret[-1] == expected[3]
    rows = run(Task(Line(), "ScoutUTS", 0, 0, 4))
    assert rows[:, -1].tolist() == expected and (np.diff(rows) >= 0).all()
