"""What `unimodal simulate` shows of a result, with numbers made up."""

import io

import numpy as np
from rich.console import Console

import unimodal as um
from unimodal.cli import simulate_output as screen
from unimodal.results.result import Run


def shown(problem, result=None):
    result = result or um.simulate(problem, um.UTS(), horizon=200, trials=2, workers=1)
    text = io.StringIO()
    screen.show(Console(file=text, width=140), result)
    return text.getvalue()


def test_the_bound_is_shown_for_means_that_stay_and_only_for_them():
    assert "Theorem 1: c(μ) = " in shown(um.problems.triangular(7))
    moving = shown(um.problems.drifting_line(7, 200, 0.01))
    assert "Moving(" in moving and "UTS" in moving
    assert "Theorem 1" not in moving and "nan" not in moving


def made_up(**regrets):
    """A result at 1,000 rounds with these regrets at its end (and others before)."""
    runs = {}
    for name, last in regrets.items():
        regret = np.column_stack([np.full(len(last), 77.0), last])
        pulls = np.zeros((len(last), 17), dtype=np.int64)
        runs[name] = Run(um.UTS(name=name), regret, pulls)
    return um.Result(um.problems.triangular(17), 6, np.array([10, 1000]), runs)


def test_each_policy_has_its_mean_median_quantiles_and_ratio_to_the_best():
    """0, 10, …, 100 has mean and median 50, its 5 % and 99 % are 5 and 99; the other is half."""
    even = np.arange(11) * 10.0
    result = made_up(worse=even, better=even / 2, skewed=np.append(np.zeros(10), 1100.0))
    text = shown(None, result)
    assert "Regret after 1,000 rounds, 11 trials, seed 6" in text
    assert "relative to better" in text
    rows = {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if line.strip()}
    assert rows["worse"] == "worse 50 ± 22 50.0 5.0 … 99.0 2"
    assert rows["better"] == "better 25 ± 11 25.0 2.5 … 49.5 1"
    assert " † 0.0 0.0 … 990.0 " in rows["skewed"]
    note = " ".join(text.split())  # a terminal breaks the line
    assert "† skewed: 1 of 11 trials has 100 % of the mean and 91 % of the variance" in note
    # c(μ) = 0.2/kl(0.8, 0.9) = 4.504, and log 1000 = 6.908.
    assert "Theorem 1: c(μ) = 4.5, c(μ)·log T = 31.11" in text


def test_no_ratio_to_a_regret_of_nothing():
    text = shown(None, made_up(worse=[1.0, 2.0], better=[0.0, 0.0]))
    assert [line.split()[-1] for line in text.splitlines() if line.strip()[:5] == "worse"] == ["–"]
