import math

import numpy as np
import pytest

import unimodal as um

LINE = um.graphs.line(7)


def rates(means, pulls=1000):
    """Pulls and totals whose empirical means are these."""
    return {"pulls": np.full(len(means), pulls), "totals": pulls * np.array(means)}


def test_two_hills_with_a_valley_between_are_reported_with_advice():
    found = um.second_peaks(LINE, **rates([0.2, 0.5, 0.8, 0.3, 0.4, 0.6, 0.1]))
    assert found
    assert len(found) == 1
    assert found.best.arm == 2
    assert (found[0].arm, found[0].pulls, found[0].mean) == (5, 1000, 0.6)
    assert found[0].hill == (5,)
    assert found[0].is_lower
    assert found[0].low < 0.6 < found[0].high
    assert found[0].confidence > 0.999999
    assert "add the edge (2, 5) to the graph" in found.advice
    assert "not clear" not in found.advice
    assert str(found).count("\n") == 2


def test_it_says_when_it_is_open_which_peak_is_higher():
    found = um.second_peaks(LINE, **rates([0.2, 0.5, 0.8, 0.3, 0.5, 0.79, 0.1]))
    assert [peak.arm for peak in found] == [5]
    assert not found[0].is_lower
    assert found.advice.endswith("Which of the two is higher is not clear yet.")


def test_a_hill_whose_top_is_open_names_all_arms_it_may_be():
    found = um.second_peaks(LINE, **rates([0.2, 0.5, 0.8, 0.2, 0.6, 0.6, 0.6]))
    assert len(found) == 1
    assert found[0].hill == (4, 5, 6)
    assert "its top is one of 3 arms" in str(found)


def test_three_peaks_are_told_apart():
    found = um.second_peaks(LINE, **rates([0.7, 0.2, 0.8, 0.2, 0.5, 0.2, 0.6]))
    assert found.best.arm == 2
    assert [peak.arm for peak in found] == [0, 6, 4]


PLATEAUS = [
    [0.5] * 7,
    [0.2, 0.2, 0.4, 0.4, 0.4, 0.8, 0.8],
    [0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.1],
    [0.1, 0.5, 0.5, 0.8, 0.5, 0.5, 0.1],
]


@pytest.mark.parametrize("means", PLATEAUS)
def test_plateaus_are_not_peaks(means):
    """However many the pulls are: here the empirical means are exactly equal."""
    for pulls in (10, 1000, 10**8):
        assert not um.second_peaks(LINE, **rates(means, pulls))


def test_a_valley_that_was_not_pulled_shows_nothing():
    pulls = np.array([1000, 1000, 1000, 0, 1000, 1000, 1000])
    means = np.array([0.2, 0.5, 0.8, 0.0, 0.6, 0.5, 0.1])
    found = um.second_peaks(LINE, pulls=pulls, totals=pulls * means)
    assert not found
    assert "1 of 7 arms were never pulled" in str(found)
    assert not um.second_peaks(LINE, pulls=[0] * 7, totals=[0] * 7)


def test_the_confidence_is_the_highest_at_which_the_arm_is_reported():
    data = rates([0.2, 0.5, 0.8, 0.45, 0.45, 0.7, 0.1], pulls=250)
    sure = um.second_peaks(LINE, **data, confidence=0.5)[0].confidence
    assert 0.5 < sure < 0.9999
    assert um.second_peaks(LINE, **data, confidence=sure - 1e-4 * (1 - sure))
    assert not um.second_peaks(LINE, **data, confidence=sure + 1e-2 * (1 - sure))


def half_width(pulls, threshold):
    """Of a Gaussian mean with σ = 1: exp(n²h²/(2(n + 1)))/√(n + 1) reaches exp(threshold)."""
    return math.sqrt(2 * (pulls + 1) * (threshold + 0.5 * math.log(pulls + 1))) / pulls


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_bounds_share_what_may_go_wrong_among_all_arms(confidence):
    """log(7/δ) for seven arms, of which one was never pulled; by hand for Gaussian rewards."""
    pulls, means = np.array([50, 60, 70, 0, 80, 90, 10]), np.array([0, 1, 9, 0, 1, 5, 2.0])
    found = um.second_peaks(
        LINE, pulls, pulls * means, family=um.Gaussian(1.0), confidence=confidence
    )
    half = half_width(70, math.log(7 / (1 - confidence)))
    assert (found.best.arm, found.best.pulls, found.best.mean) == (2, 70, 9.0)
    assert (found.best.low, found.best.high) == pytest.approx((9 - half, 9 + half))
    assert (found.confidence, found.unpulled, found.n_arms) == (confidence, 1, 7)


def test_the_confidence_by_hand():
    """Means 1, 0 and 1 of 100 pulls each are apart until half an interval is 1/2."""
    found = um.second_peaks(
        um.graphs.line(3), [100] * 3, [100, 0, 100], family=um.Gaussian(1.0), confidence=0.5
    )
    threshold = (100 * 0.5) ** 2 / (2 * 101) - 0.5 * math.log(101)
    assert half_width(100, threshold) == pytest.approx(0.5)
    assert found[0].confidence == pytest.approx(1 - 3 * math.exp(-threshold), abs=1e-6)
    assert found.best.confidence == 1.0


def test_a_hill_is_lower_only_if_all_of_its_arms_are():
    """Arm 5 joins arm 4's hill; with five pulls it may well be better than the best."""
    pulls = np.array([1000, 1000, 1000, 1000, 1000, 5, 1000])
    means = np.array([0.2, 0.5, 0.8, 0.2, 0.6, 0.6, 0.1])
    found = um.second_peaks(LINE, pulls=pulls, totals=pulls * means)
    assert found[0].hill == (4, 5) and found[0].high < found.best.low
    assert not found[0].is_lower
    pulls[5] = 1000
    assert um.second_peaks(LINE, pulls=pulls, totals=pulls * means)[0].is_lower


def test_numbers_may_come_by_label():
    graph = um.graphs.from_edges([("low", "fair"), ("fair", "dear")])
    totals = {"low": 300, "dear": 280, "fair": 100}
    found = um.second_peaks(graph, {"low": 400, "fair": 400, "dear": 400}, totals)
    assert (found.best.arm, found[0].arm) == ("low", "dear")
    assert not um.second_peaks(graph, {"low": 400}, {"low": 300})


@pytest.mark.parametrize(
    "family", [um.Gaussian(1.0), um.Poisson(), um.Exponential(), um.Bounded(0, 10)]
)
def test_every_family_of_rewards(family):
    data = rates([2.0, 5.0, 8.0, 3.0, 4.0, 6.0, 1.0])
    found = um.second_peaks(LINE, **data, family=family)
    assert [peak.arm for peak in found] == [5]
    assert not um.second_peaks(LINE, **rates([2.0, 5.0, 8.0, 6.0, 4.0, 3.0, 1.0]), family=family)


def test_an_agent_and_a_result_bring_their_own_numbers():
    problem = um.Problem(LINE, [0.2, 0.5, 0.9, 0.1, 0.4, 0.8, 0.3])
    result = um.simulate(problem, um.KLUCB(), horizon=4000, trials=2, seed=1, history=True)
    of_result = um.second_peaks(result, trial=1, confidence=0.6)
    run = result["KLUCB"]
    totals = [run.rewards[1][run.arms[1] == arm].sum() for arm in range(7)]
    assert of_result == um.second_peaks(LINE, run.pulls[1], totals, confidence=0.6)
    agent = um.Agent(um.KLUCB(), LINE)
    for arm, reward in zip(run.arms[1].tolist(), run.rewards[1].tolist(), strict=True):
        agent.tell(arm, reward)
    assert um.second_peaks(agent, confidence=0.6) == of_result


def mistaken(**changes):
    return lambda: um.second_peaks(**{"source": LINE, **rates([0.5] * 7), **changes})


SHORT = um.simulate(um.Problem(LINE, [0.5] * 7), [um.UTS(), um.TS()], horizon=5, trials=1)
LONG = um.simulate(SHORT.problem, SHORT.policies, horizon=5, trials=1, history=True).rerun()
NONE = {"pulls": None, "totals": None}
MISTAKES = [
    (mistaken(confidence=1.0), "the 'confidence' must lie between 0 and 1, got 1."),
    (mistaken(confidence=0), "the 'confidence' must be a finite number greater than 0"),
    (mistaken(pulls=[1, 2]), "a finite number for each of the 7 arms, in their order or by label"),
    (mistaken(totals=None), "the 'totals' must be a finite number for each of the 7 arms"),
    (mistaken(pulls=[10**400] * 7), "the 'pulls' must be a finite number for each of the 7 arms"),
    (mistaken(policy="UTS"), "policy and trial choose from a Result, got policy='UTS', trial=0"),
    (mistaken(trial=3), "policy and trial choose from a Result, got policy=None, trial=3"),
    (mistaken(pulls=[1.5] * 7), "the 'pulls' of an arm must be a whole number of at least 0"),
    (mistaken(pulls=[-1] * 7), "the 'pulls' of an arm must be a whole number of at least 0"),
    (mistaken(pulls=[0] * 7), "without pulls must have a total of 0, got 500 for arm 0."),
    (mistaken(totals=[2000] * 7), "a mean of Bernoulli() must be between 0 and 1, got 2.0 for arm"),
    (mistaken(totals={9: 1}), "an arm of this graph is a whole number from 0 to 6, got 9."),
    (mistaken(family="coins"), "the 'family' of second_peaks must be a family"),
    (mistaken(source="line:7"), "an Agent or a Result brings its own"),
    (mistaken(source="line:7", **NONE), "must be given a Graph with pulls and totals, a Campaign"),
    (mistaken(source=SHORT, **NONE), "must have its rewards: simulate with history=True"),
    (mistaken(source=LONG, **NONE), "say which policy to look at: policy='UTS'"),
    (mistaken(source=LONG, **NONE, policy="uts"), "unknown policy in this result 'uts'"),
    (mistaken(source=LONG, **NONE, policy="TS", trial=1), "must be a number below 1"),
    (
        mistaken(source=um.Agent(um.UTS(start="probe(1)"), lambda a: [a + 1], root=0), **NONE),
        "must know every edge, but this agent looks its graph up",
    ),
]


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_a_mistake_gets_its_sentence(mistake, sentence):
    with pytest.raises(um.UnimodalError) as caught:
        mistake()
    assert sentence in str(caught.value)
