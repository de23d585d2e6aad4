"""What a trial of PeakUTS costs: `python benchmarks/peak.py [TRIALS]`, by default 15 of each.

Milliseconds of CPU of 10⁵ rounds after set-up, medians; the policies take turns. First beside UTS
on lines and on graphs of 1,000 arms, then on Barabási–Albert graphs (m = 2) of 10⁴ to 10⁶ arms
beside UTS with a probe, with the mean regret.
"""

import sys
import time

import numpy as np

import unimodal as um
from unimodal.engines.engine_choice import trial_class
from unimodal.studies.reproduce.setting import Setting

HORIZON = 10**5
PROBED = um.UTS(start="probe(8)")


def trial(problem, policy, number):
    """Milliseconds and regret of one trial."""
    kind = trial_class("auto", problem, policy, HORIZON, False)
    made = kind(problem, policy, 5, number, np.array([HORIZON]), False)
    began = time.thread_time()
    made.finish()
    return 1000 * (time.thread_time() - began), made.output.regret[0]


def in_turn(problems, policies, trials):
    """Median milliseconds and mean regret of each policy; the first trial compiles."""
    for policy in policies:
        trial(problems[0], policy, trials)
    rows = [
        [trial(problems[number % len(problems)], policy, number) for policy in policies]
        for number in range(trials)
    ]
    return [(np.median(one[:, 0]), one[:, 1].mean()) for one in np.moveaxis(np.array(rows), 1, 0)]


def sizes():
    """Problems of up to 1,000 arms by name: Table 2's, on graphs that no table has."""
    yield "line of 17", [um.problems.triangular(17)]
    for density in ("log(K)/K", "1/2", "1", "line"):
        setting = Setting("Table 2", 1000, density, (), 1, 1, 1)
        yield f"{density}, K = 1000", [setting.problem(1000 + graph) for graph in range(3)]


def barabasi_albert(n_arms):
    """Two graphs with a random peak."""
    for seed in (77, 78):
        graph = um.graphs.barabasi_albert(n_arms, 2, seed=seed)
        yield um.problems.by_distance(graph, int(np.random.default_rng(seed).integers(n_arms)))


def main(trials=15):
    for name, problems in sizes():
        (swept, _), (ours, _) = in_turn(problems, [um.UTS(), um.PeakUTS()], trials)
        print(f"{name}: UTS {swept:.2f} ms, PeakUTS {ours:.2f} ms, {ours / swept:.2f}", flush=True)
    first, policies = None, [um.PeakUTS(), PROBED]
    for n_arms in (10**4, 10**5, 10**6):
        found = in_turn(list(barabasi_albert(n_arms)), policies, trials)
        first = first or [ms for ms, _ in found]
        words = (
            f"{policy.name} {ms:.1f} ms ({ms / least:.1f} times 10⁴), regret {regret:,.0f}"
            for policy, (ms, regret), least in zip(policies, found, first, strict=True)
        )
        print(f"Barabási–Albert, K = {n_arms:,}: {'; '.join(words)}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
