"""Findings made up so that every interval is known: of means, of differences and of ratios."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from unimodal.studies.reproduce.findings import Finding, Findings
from unimodal.studies.reproduce.settings import Setting

SAMPLES = 10
HORIZONS = {"Table 1": 10**5, "Table 2": 10**5, "Table 3": 10**5, "Appendix B": 10**7}
# A policy's own noise: any two of these differ, so paired differences have a noise of their own.
OWN = {"UTS": 1.0, "TS": 3.0, "OSUB": 6.0, "KLUCB": 10.0}


@functools.cache
def pattern(phase):
    """Ten numbers with mean 0 and a standard deviation of exactly 1 (of a sample)."""
    numbers = np.sin(2.3 * np.arange(SAMPLES) + phase)
    numbers -= numbers.mean()
    return numbers / np.sqrt((numbers**2).sum() / (SAMPLES - 1))


def reach(level, deviation=1.0):
    """Half of the two-sided Student interval of the mean of ten with this standard deviation."""
    return float(stats.t.ppf(0.5 + level / 2, SAMPLES - 1)) * deviation / np.sqrt(SAMPLES)


def setting(experiment, k, density, high=0.9, horizon=None):
    graphs, trials = (1, SAMPLES) if density == "triangle" else (SAMPLES, 4)
    rounds = horizon or (10**6 if density in ("5/K", "10/K") else HORIZONS[experiment])
    return Setting(experiment, k, density, tuple(OWN), rounds, graphs, trials, high)


def finding(cell, policy, units, curves=None, scatter=40.0):
    """A finding with these samples: trials of one graph on lines, else graphs of four trials."""
    at = setting(*cell)
    units = np.asarray(units, dtype=float)
    if at.graphs == 1:
        final = units[None, :]
    else:  # trials scatter more than graphs do, without moving any graph's mean
        final = units[:, None] + scatter * np.outer(pattern(1.0), [3.0, -1.0, -1.0, -1.0])
    if curves is None:
        curves = np.broadcast_to(units[:, None], (SAMPLES, checkpoints(at)))
    return Finding(at, policy, final, curves)


@functools.cache
def checkpoints(at):
    return len(Finding(at, "", None, None).rounds)


def paired(means):
    """Samples of policies with these means; what graphs have in common is far more than the rest.

    The difference of two has the standard deviation that `own_reach` takes for granted.
    """
    common = 60.0 * pattern(0.4)
    return {name: mean + common + OWN[name] * pattern(2.0) for name, mean in means.items()}


def own_reach(one, other, level=0.99):
    """Half of the interval of the difference of two policies that `paired` made."""
    return reach(level, abs(OWN[one] - OWN[other]))


def over(denominator, ratio, half_width, level=0.95):
    """Samples whose mean is `ratio` times that of others, with this half-width (delta method)."""
    mean = float(np.mean(denominator))
    return ratio * denominator + half_width * mean / reach(level) * pattern(3.0)


def under(numerator, ratio, half_width, level=0.95):
    """Samples to which others have this ratio, with this half-width."""
    mean = float(np.mean(numerator)) / ratio
    return (numerator - half_width * mean / reach(level) * pattern(3.0)) / ratio


def base():
    """Samples with a mean of 100."""
    return 100.0 + 20.0 * pattern(5.0)


@pytest.fixture(scope="session")
def made():
    """What tests of verdicts and claims make findings with."""
    return SimpleNamespace(
        finding=finding,
        findings=lambda ones: Findings(list(ones), []),
        paired=paired,
        own_reach=own_reach,
        over=over,
        under=under,
        base=base,
        reach=reach,
        pattern=pattern,
        samples=SAMPLES,
    )
