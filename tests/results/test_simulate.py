"""simulate: the same numbers however it runs; prompt to stop; clear about mistakes."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import unimodal as um
from unimodal.engines.engine_choice import checkpoint_rounds, trial_class
from unimodal.engines.leap import LeapTrial
from unimodal.engines.step import StepTrial

PROBLEM = um.problems.triangular(9)
BOTH = [um.UTS(), um.OSUB()]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_worker_and_two_give_the_same_bytes(tmp_path):
    for workers in (1, 2):
        result = um.simulate(PROBLEM, BOTH, horizon=3000, trials=7, seed=1, workers=workers)
        result.save(tmp_path / f"{workers}.parquet")
    assert digest(tmp_path / "1.parquet") == digest(tmp_path / "2.parquet")


def test_a_policy_does_not_depend_on_its_company():
    alone = um.simulate(PROBLEM, um.UTS(), horizon=500, trials=3, seed=1)
    among = um.simulate(PROBLEM, [um.OSUB(), um.UTS()], horizon=500, trials=3, seed=1)
    assert (alone["UTS"].pulls == among["UTS"].pulls).all()


def test_a_trial_does_not_depend_on_how_many_there_are():
    few = um.simulate(PROBLEM, um.UTS(), horizon=500, trials=2, seed=1)
    many = um.simulate(PROBLEM, um.UTS(), horizon=500, trials=5, seed=1)
    assert (many["UTS"].regret[:2] == few["UTS"].regret).all()
    more = few.extend(3)
    assert (more["UTS"].regret == many["UTS"].regret).all()
    assert (more["UTS"].pulls == many["UTS"].pulls).all()


def test_seeds_matter():
    one, two = (um.simulate(PROBLEM, um.UTS(), horizon=500, trials=2, seed=s) for s in (1, 2))
    assert (one["UTS"].pulls != two["UTS"].pulls).any()


def test_checkpoints():
    assert checkpoint_rounds(100, 5, "linear").tolist() == [20, 40, 60, 80, 100]
    assert checkpoint_rounds(100, [7, 3, 7], "log").tolist() == [3, 7, 100]
    assert checkpoint_rounds(1, 200, "log").tolist() == [1]
    assert checkpoint_rounds(10**5, 200, "log")[[0, -1]].tolist() == [1, 10**5]
    result = um.simulate(PROBLEM, um.UTS(), horizon=100, trials=2, checkpoints=4, spacing="linear")
    assert result.rounds.tolist() == [25, 50, 75, 100]


@pytest.mark.parametrize(
    ("horizon", "checkpoints", "spacing", "expected"),
    [
        (1000, 7, "log", [1, 3, 10, 32, 100, 316, 1000]),  # √10 apart
        (10, 4, "linear", [2, 5, 7, 10]),  # 2, 4.67, 7.33 and 10
        (5, 100, "linear", [1, 2, 3, 4, 5]),
        (100, [100, 1], "linear", [1, 100]),
        (100, [], "log", [100]),
    ],
)
def test_checkpoints_by_hand(horizon, checkpoints, spacing, expected):
    assert checkpoint_rounds(horizon, checkpoints, spacing).tolist() == expected


def test_auto_leaps_where_it_can_and_where_it_is_worth_it():
    """From 5,000 rounds on; never with a history, with means that move or for who forgets."""
    moving, forgetful = um.problems.drifting_line(9, 100, 0.01), um.Windowed(um.UTS(), window=9)
    for engine, problem, policy, horizon, history, kind in (
        ("auto", PROBLEM, um.UTS(), 4999, False, StepTrial),
        ("auto", PROBLEM, um.UTS(), 5000, False, LeapTrial),
        ("leap", PROBLEM, um.UTS(), 10, False, LeapTrial),
        ("step", PROBLEM, um.UTS(), 10**6, False, StepTrial),
        ("auto", PROBLEM, um.UTS(), 10**6, True, StepTrial),
        ("auto", moving, um.UTS(), 10**6, False, StepTrial),
        ("auto", PROBLEM, forgetful, 10**6, False, StepTrial),
    ):
        assert trial_class(engine, problem, policy, horizon, history) is kind
    for problem, policy, history, why in (
        (PROBLEM, um.UTS(), True, "history=True asks for each"),
        (moving, um.UTS(), False, "changes from round to round"),
        (PROBLEM, forgetful, False, "changes from round to round"),
    ):
        with pytest.raises(um.UnimodalError, match=why):
            trial_class("leap", problem, policy, 10**6, history)


def test_a_result_says_what_was_asked_for():
    """Regret at the checkpoints, from the history; pulls of each arm; every trial in its row."""
    result = um.simulate(PROBLEM, um.UTS(), horizon=60, trials=3, seed=8, history=True)
    run, gaps = result["UTS"], PROBLEM.means.max() - PROBLEM.means
    assert (result.seed, result.horizon, result.n_trials, result.engine) == (8, 60, 3, "auto")
    for trial in range(3):
        cost = np.cumsum(gaps[run.arms[trial]])
        assert run.regret[trial] == pytest.approx(cost[result.rounds - 1])
        assert run.pulls[trial].tolist() == np.bincount(run.arms[trial], minlength=9).tolist()
    assert len({tuple(arms) for arms in run.arms.tolist()}) == 3


def test_more_trials_of_a_history_come_after_the_first():
    some = um.simulate(PROBLEM, um.UTS(), horizon=60, trials=1, seed=8, history=True)
    whole = um.simulate(PROBLEM, um.UTS(), horizon=60, trials=3, seed=8, history=True)
    more = some.extend(2)
    assert (more["UTS"].arms == whole["UTS"].arms).all()
    assert (more["UTS"].rewards == whole["UTS"].rewards).all()
    assert more.seed == 8 and (more.rerun()["UTS"].arms == whole["UTS"].arms).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"horizon": 0}, "'horizon' must be a whole number of at least 1, got 0"),
        ({"horizon": 1.5}, "'horizon'"),
        ({"horizon": "many"}, "'horizon'"),
        ({"horizon": float("nan")}, "'horizon'"),
        ({"horizon": 10**19}, r"at most 1e\+15, got 10000"),
        ({"trials": 0}, "'trials' must be a whole number of at least 1, got 0"),
        ({"trials": True}, "'trials'"),
        ({"seed": -1}, "'seed'"),
        ({"workers": 0}, "'workers'"),
        ({"engine": "stepp"}, "did you mean 'step'"),
        ({"spacing": "even"}, "spacing"),
        ({"checkpoints": [0]}, "a checkpoint"),
        ({"checkpoints": [101]}, "beyond the horizon of 100, got 101"),
        ({"checkpoints": 0}, "'checkpoints'"),
        ({"policies": []}, "at least one policy"),
        ({"policies": [um.UTS(), um.UTS()]}, "more than one called 'UTS'"),
        ({"policies": um.UTS}, "instance such as um.UTS"),
        ({"policies": ["uts"]}, "instance such as um.UTS"),
        ({"problem": "line"}, "must be a unimodal.Problem"),
        ({"policies": um.TS(prior=[(1, 1)] * 3)}, "each of the 9 arms"),
    ],
)
def test_bad_input_gets_a_sentence(options, words):
    given = {"problem": PROBLEM, "policies": um.UTS(), "horizon": 100, "trials": 2} | options
    with pytest.raises(um.UnimodalError, match=words) as caught:
        um.simulate(given.pop("problem"), given.pop("policies"), **given)
    assert "\n" not in str(caught.value)


INTERRUPTED = """
import os, signal, threading, time
import unimodal as um

def play(horizon):
    um.simulate(um.problems.triangular(9), um.UTS(), horizon=horizon, engine="step", trials=2)

def interrupt():
    while time.process_time() < begun + 1.5:  # by then pieces have their usual size
        time.sleep(0.01)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

play(1000)  # compiled
begun, sent = time.process_time(), []
threading.Thread(target=interrupt, daemon=True).start()
try:
    play(10**11)
except KeyboardInterrupt:
    for thread in threading.enumerate():
        if thread.name.startswith("unimodal"):
            thread.join()
    print(time.process_time() - sent[0])
"""


def test_ctrl_c_stops_at_once():
    """Within half a second of the process's own time, whatever else the machine does.

    Both threads end their pieces of 0.05 s; the 10¹¹ rounds themselves would take an hour.
    """
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170)
    assert float(done.stdout) < 0.5, done.stderr


def test_an_error_in_a_thread_comes_out():
    class Fails(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            raise RuntimeError("mine")

    with pytest.raises(um.UnimodalError, match="Fails raised RuntimeError: mine") as raised:
        um.simulate(PROBLEM, Fails(), horizon=100, trials=4)
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_no_bar_where_there_is_no_terminal(capfd):
    um.simulate(PROBLEM, um.UTS(), horizon=1000, trials=2)
    assert capfd.readouterr() == ("", "")


def test_a_bar_if_asked(capfd):
    um.simulate(PROBLEM, um.UTS(), horizon=100_000, trials=10, progress=True)
    shown = capfd.readouterr().err
    assert "10 trials" in shown


def test_history_is_kept_only_if_asked():
    run = um.simulate(PROBLEM, um.UTS(), horizon=50, trials=2)["UTS"]
    assert run.arms is None and run.rewards is None
    run = um.simulate(PROBLEM, um.UTS(), horizon=50, trials=2, history=True)["UTS"]
    assert run.arms.shape == run.rewards.shape == (2, 50)
    assert set(np.unique(run.rewards)) <= {0.0, 1.0}


def test_policies_of_one_kind_are_told_apart_by_their_parameters():
    options = {"horizon": 20, "trials": 1, "progress": False}
    result = um.simulate(PROBLEM, [um.UTS(), um.UTS(period=2), um.TS()], **options)
    assert list(result) == ["UTS", "UTS(period=2)", "TS"]
    assert list(um.simulate(PROBLEM, um.UTS(period=2), **options)) == ["UTS"]  # alone, its name
    named = [um.UTS(name="mine"), um.OSUB(name="mine")]
    with pytest.raises(um.UnimodalError, match="more than one called 'mine'"):
        um.simulate(PROBLEM, named, **options)
