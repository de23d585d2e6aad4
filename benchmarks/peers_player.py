"""Plays one library's policies, in whatever environment has it: started by peers.py.

Reads a problem and a seed as a line of JSON from standard input, plays, and answers with a line:
rounds, pseudo-regret, and rounds per second of the processor. It imports nothing of ours unless it
plays ours. Who plays fewer rounds than were asked for is timed after the first K, a sweep, which
is quick and would count for too much.
"""

import contextlib
import importlib.metadata
import json
import random
import subprocess
import sys
import time

import numpy as np

LOOK = 16  # rounds between two looks at the clock


def loop(choose, learn, means, rounds, seconds, seed):
    """The loop around a library that has two calls: choose an arm, and learn its reward."""
    best, regret, done = max(means), 0.0, 0
    draws = np.random.default_rng(seed).random(rounds).tolist()
    begins = [time.process_time()] * 2  # of all, and of what comes after the sweep
    while done < rounds and (done <= len(means) or time.process_time() - begins[1] < seconds):
        until = min(len(means) if done < len(means) else done + LOOK, rounds)
        for draw in draws[done:until]:
            arm = choose()
            learn(arm, 1 if draw < means[arm] else 0)
            regret += best - means[arm]
        done = until
        if done == len(means):
            begins[1] = time.process_time()
    now = time.process_time()
    whole, rest = done / (now - begins[0]), (done - len(means)) / (now - begins[1])
    return {"rounds": done, "rate": whole if done == rounds else rest, "regrets": [regret]}


def smpybandits(policy, means, rounds, seconds, seed):
    with contextlib.redirect_stdout(sys.stderr):  # it speaks of what it misses
        from SMPyBandits.Policies.klUCB import klUCB
        from SMPyBandits.Policies.Thompson import Thompson
    np.random.seed(seed)
    random.seed(seed)
    player = {"TS": Thompson, "KL-UCB": klUCB}[policy](len(means))
    player.startGame()
    return loop(player.choice, player.getReward, means, rounds, seconds, seed)


def mabwiser(policy, means, rounds, seconds, seed):
    from mabwiser.mab import MAB, LearningPolicy

    kinds = {"TS": LearningPolicy.ThompsonSampling, "UCB1": LearningPolicy.UCB1}
    arms = list(range(len(means)))
    player = MAB(arms, kinds[policy](), seed=seed)
    player.fit(arms, [0] * len(arms))  # it must know every arm before it chooses
    learn = lambda arm, reward: player.partial_fit([arm], [reward])  # noqa: E731
    return loop(player.predict, learn, means, rounds, seconds, seed)


def river(policy, means, rounds, seconds, seed):
    from river import bandit, proba

    if policy == "TS":
        player = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed)
    else:
        player = bandit.UCB(delta=1, seed=seed)
    arms = range(len(means))
    choose = lambda: player.pull(arms)  # noqa: E731
    return loop(choose, player.update, means, rounds, seconds, seed)


def numpy_loop(policy, means, rounds, seconds, seed):
    from plain_loops import LOOPS

    problem, play = _problem(means), LOOPS[policy.replace("KL-UCB", "KLUCB")]

    def timed(n):
        began = time.process_time()
        pulls = play(problem, n, seed)
        return time.process_time() - began, float((pulls * problem.gaps).sum())

    sweep, _ = timed(len(means))
    some, _ = timed(len(means) + 200)  # which tells how many rounds the time allows
    fitting = int(min(rounds, len(means) + 200 * max(seconds / max(some - sweep, 1e-3), 1)))
    took, regret = timed(fitting)
    rest = (fitting - len(means)) / (took - sweep)
    rate = fitting / took if fitting == rounds else rest
    return {"rounds": fitting, "rate": rate, "regrets": [regret]}


def cpp(policy, means, rounds, seconds, seed):
    command = [sys.argv[2], policy.replace("-", ""), str(rounds), str(seed), str(seconds)]
    given = " ".join(map(repr, means))
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    played, rate, regret = done.stdout.split()
    return {"rounds": int(played), "rate": float(rate), "regrets": [float(regret)]}


def ours(engine):
    def play(policy, means, rounds, seconds, seed):
        import unimodal as um

        problem = _problem(means)
        made = {"TS": um.TS, "KL-UCB": um.KLUCB, "UTS": um.UTS}[policy]()
        options = {"horizon": rounds, "engine": engine, "workers": 1, "progress": False}
        um.simulate(problem, made, **options | {"horizon": 10}, trials=1)  # compiled
        began, regrets = time.process_time(), []
        while time.process_time() - began < seconds and len(regrets) < 20:
            found = um.simulate(problem, made, **options, trials=1, seed=1000 * seed + len(regrets))
            regrets.append(float(next(iter(found.values())).regret[0, -1]))
        rate = rounds * len(regrets) / (time.process_time() - began)
        return {"rounds": rounds, "rate": rate, "regrets": regrets}

    return play


def _problem(means):
    import unimodal as um

    return um.Problem(um.graphs.line(len(means)), means)


PLAYERS = {
    "SMPyBandits": smpybandits,
    "MABWiser": mabwiser,
    "river": river,
    "NumPy loop": numpy_loop,
    "C++ -O3 loop": cpp,
    "unimodal, step": ours("step"),
    "unimodal, leap": ours("leap"),
}


def versions(names):
    found = {name: importlib.metadata.version(name) for name in names}
    return ", ".join(f"{name} {version}" for name, version in found.items())


def main():
    play = PLAYERS[sys.argv[1]]
    for line in sys.stdin:
        asked = json.loads(line)
        answer = {"versions": versions(asked["versions"])} if "versions" in asked else play(**asked)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
