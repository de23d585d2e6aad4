"""Which chunk size makes NumPy fastest on this machine: measured live, while the work gets done.

A formula over a long array, chunk by chunk. Small chunks cost calls, large ones fall out of the
cache, so speed has one peak over the powers of two; where, depends on the machine. Every job is
work done and a measurement at once. UTS and TS take turns, so that both meet the same disturbances.

    python examples/tuning.py [--quick] [--out DIR]           # 10 s of computing without --quick
"""

import time
from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report import figures
from unimodal.results.statistics import mean_interval, ratio_interval

CHUNKS = [2**n for n in range(8, 19)]
LADDER = um.graphs.line(CHUNKS)
NUMBERS = np.random.default_rng(0).random(CHUNKS[-1])
seconds = {chunk: [] for chunk in CHUNKS}  # every measurement


def job(chunk):
    """How long the work takes with this chunk size: in processor time, whoever else is busy."""
    began = time.thread_time()
    for first in range(0, len(NUMBERS), chunk):
        x = NUMBERS[first : first + chunk]
        np.sqrt(x * x + 1).sum() - (x / 3 + x * 0.5).sum()
    seconds[chunk].append(time.thread_time() - began)
    return seconds[chunk][-1]


def race(jobs, seed, shortest):
    """Seconds that the jobs of each policy took; both decide job by job, by turns."""
    speed = um.Bounded(0, 1)  # 1 is somewhat faster than anything in the warm-up
    agents = {policy.name: um.Agent(policy, LADDER, speed, seed) for policy in (um.TS(), um.UTS())}
    took = {name: [] for name in agents}
    for _ in range(jobs):
        for name, agent in agents.items():
            chunk = agent.ask()
            took[name].append(job(chunk))
            agent.tell(chunk, min(0.8 * shortest / took[name][-1], 1.0))
    return {name: np.cumsum(times) for name, times in took.items()}


def main(quick: bool = False, out: Path = Path()):
    jobs, races, say = (60, 2, "roughly {.value:.3g}".format) if quick else (300, 8, str)
    shortest = min(job(chunk) for _ in range(3) for chunk in CHUNKS)
    runs = [race(jobs, seed, shortest) for seed in range(races)]
    drawn = Figure(figsize=(5.8, 6.8), layout="constrained")
    above, below = drawn.subplots(2, 1, height_ratios=(1, 1.4))
    speeds = [len(NUMBERS) / np.quantile(s, (0.75, 0.5, 0.25)) / 1e6 for s in seconds.values()]
    low, middle, high = np.transpose(speeds)
    ends = (middle - low, high - middle)
    above.errorbar(CHUNKS, middle, ends, color="0.35", marker="o", capsize=2)
    above.set(xscale="log", xlabel="chunk size", ylim=0, ylabel="10⁶ numbers per second, quartiles")
    above.spines[["top", "right"]].set_visible(False)
    best, rounds = min(map(np.mean, seconds.values())), np.arange(1, jobs + 1)
    took = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    lost = {name: mean_interval(rows - best * rounds) for name, rows in took.items()}
    figures.regret(below, rounds, lost, lower_bound=np.nan, scale="linear")
    below.set(xlabel="jobs", ylabel="seconds lost, mean and 95 % interval")
    uts, ts = (took[name][:, -1] for name in ("UTS", "TS"))
    print(
        f"For {jobs} jobs UTS took {uts.mean():.2f} s and TS {ts.mean():.2f} s, a ratio of "
        f"{say(ratio_interval(uts, ts))} in {races} races; always with the chunk size of the "
        f"best mean, they would have taken about {jobs * best:.2f} s."
    )
    out.mkdir(parents=True, exist_ok=True)
    drawn.savefig(out / "tuning.png", dpi=130)


if __name__ == "__main__":
    typer.run(main)
