"""Stopping rules of a user's own, outside of the package: both engines, files, mistakes."""

import concurrent.futures
import importlib.util
import multiprocessing
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.leap import LeapTrial
from unimodal.engines.rewards import Tabled
from unimodal.engines.step import StepTrial
from unimodal.results.stopping import StopTest
from unimodal.results.trial_plan import Pieces

PROBLEM = um.Problem(um.graphs.line(4), [0.1, 0.3, 0.9, 0.2])
MINE = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class MostPulled:
    """Ends with the arm that has been pulled more often than all the others together."""

    pulls: int = 30
    every: int = 7

    def next_look(self, last):
        return last + self.every

    def test(self, problem):
        def arm(pulls, sums):
            most = pulls.argmax()
            ended = pulls[most] >= self.pulls and 2 * pulls[most] > pulls.sum()
            return most if ended else None
        return arm
'''


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("mine") / "my_rules.py"
    path.write_text(MINE)
    spec = importlib.util.spec_from_file_location("my_rules", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_rules"] = module
    sys.path.append(str(path.parent))
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(path.parent))
    del sys.modules["my_rules"]


def played(rule, **more):
    settings = {"horizon": 300, "trials": 5, "seed": 2, "engine": "step", "progress": False, **more}
    return um.simulate(PROBLEM, um.UTS(), stop=rule, **settings)


def test_a_trial_ends_in_the_first_round_of_the_rules_own_in_which_it_says_so(mine):
    rule = mine.MostPulled()
    run = played(rule, history=True, checkpoints=[100, 300])["UTS"]
    assert len(set(run.stopped.tolist())) > 1
    for row, (end, arm) in enumerate(zip(run.stopped, run.certified, strict=True)):
        for now in (*range(7, 300, 7), 300):
            pulls = np.bincount(run.arms[row][:now], minlength=4)
            found = rule.test(PROBLEM)(pulls, None)
            if found is not None or now == 300:
                break
        assert (end, arm) == (now, -1 if found is None else found)
        assert run.is_right[row] == (arm == 2)
        assert run.regret[row, -1] == pytest.approx(
            run.pulls[row] @ PROBLEM.gaps + (300 - end) * PROBLEM.gaps[arm]
        )


def test_a_rule_that_ends_no_trial_is_asked_at_the_horizon_and_changes_nothing(mine):
    never, plain = played(mine.MostPulled(pulls=301))["UTS"], played(None)["UTS"]
    assert (never.stopped == 300).all() and (never.certified == -1).all()
    assert np.array_equal(never.regret, plain.regret)
    late = played(mine.MostPulled(every=10**6))["UTS"]  # only at the horizon
    assert (late.stopped == 300).all() and (late.certified == 2).all()


@pytest.mark.parametrize("every", [1, 7, 50])
def test_both_engines_end_in_the_same_rounds_on_the_same_rewards(mine, every):
    """A table fixes the rewards, and OSUB draws nothing but ties: the engines must see the same."""
    rule, problem = mine.MostPulled(40, every), um.Problem(um.graphs.line(3), [0.1, 0.6, 0.1])
    ends = []
    for seed in range(6):
        coins = np.random.default_rng(seed).random((3, 1001))
        table, pair = (coins < problem.means[:, None]).astype(float), []
        for kind in (StepTrial, LeapTrial):
            trial = kind(problem, um.OSUB(), seed, 0, np.array([1000]), True)
            trial.rewards = Tabled(table)
            if kind is LeapTrial:
                trial.hurry(1.0)
            found = Pieces().finish(trial, um.OSUB(), StopTest(rule, problem))
            pair.append((trial.round, found, *trial.state.arms["total"]))
        assert pair[0] == pair[1]
        ends.append(pair[0][0])
    assert len(set(ends)) > 1 and all(end % every == 0 for end in ends)


def test_results_are_saved_loaded_rerun_and_extended(mine, tmp_path):
    rule = mine.MostPulled()
    made = played(rule)
    path = made.save(tmp_path / "r.parquet")
    loaded = um.load(path, stop=rule)
    again = loaded.rerun(progress=False)
    for key, array in made["UTS"].arrays().items():
        assert np.array_equal(array, getattr(loaded["UTS"], key))
        assert np.array_equal(array, getattr(again["UTS"], key))
    assert loaded.extend(trials=1, progress=False)["UTS"].stopped.shape == (6,)
    assert "until MostPulled(pulls=30, every=7)" in repr(made)
    for other in (None, mine.MostPulled(31), um.Certified()):
        with pytest.raises(um.UnimodalError, match="pass the same one as 'stop' of load, got"):
            um.load(path, stop=other)


def test_trials_on_processes_and_threads_end_alike(mine):
    here = played(mine.MostPulled(), workers=2)["UTS"]
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1, context) as executor:
        there = played(mine.MostPulled(), executor=executor)["UTS"]
    assert np.array_equal(here.stopped, there.stopped)


def test_identification_by_a_rule_of_ones_own(mine):
    found = um.identify(
        PROBLEM, um.UniTT(), stop=mine.MostPulled(), trials=4, horizon=200, progress=False
    )
    assert found.result.stop == mine.MostPulled()
    assert repr(found).startswith("Identification(UniTT: 4 trials until MostPulled(pulls=30")
    assert found.bound == um.identify(PROBLEM, um.UniTT(), trials=1, horizon=50).bound


@dataclass
class Rule:
    """Answers what it is told to."""

    look: object = 10
    arm: object = None

    def next_look(self, last):
        return self.look

    def test(self, problem):
        return (lambda pulls, sums: self.arm) if self.arm != "no function" else "no function"


class NoTest:
    next_look = Rule.next_look

    def __repr__(self):
        return "NoTest()"  # without a place in memory: workers must collect the same names


class Raising(Rule):
    def next_look(self, last):
        return last / 0


class RaisingInside(Rule):
    def test(self, problem):
        def writes(pulls, sums):
            pulls[0] = 1

        return writes


class TwoArguments(Rule):
    def next_look(self, last, problem):
        return last + 1


class OneArgument(Rule):
    def test(self, problem):
        return lambda pulls: None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (NoTest(), "another object with the methods next_look"),
        (Rule, "another object with the methods next_look.* instead"),
        (Rule(0), "Rule.next_look must return a round after 0, got 0 instead"),
        (Rule(10), "Rule.next_look must return a round after 10, got 10 instead"),
        (Rule(True), "must return a round after 0, got True instead"),
        (Rule(2.5), "must return a round after 0, got 2.5 instead"),
        (Rule(arm=4), "Rule.test must return a function that answers None or an arm from 0 to 3, "),
        (Rule(arm=-1), "got -1 instead"),
        (Rule(arm=True), "got True instead"),
        (Rule(arm="no function"), "Rule.test must return a function of pulls and sums, got 'no fu"),
        (Raising(), r"the next_look of Raising raised ZeroDivisionError: .*test_stopping_rules.py"),
        (RaisingInside(), r"the test of RaisingInside returned raised ValueError: .*read-only"),
        (TwoArguments(), r"the next_look of TwoArguments must be written next_look\(last\), got"),
        (OneArgument(), r"returned must be written \(pulls, sums\), got \(pulls\)"),
    ],
    ids=str,
)
def test_mistakes_get_one_sentence(rule, words):
    with pytest.raises(um.UnimodalError, match=words) as sentence:
        played(rule, trials=1)
    assert str(sentence.value).endswith(".") and "\n" not in str(sentence.value)
