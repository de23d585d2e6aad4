"""Which rate to send at, while the channel drifts: the eight rates of an 802.11n stream.

A fast rate carries more and fails more often, so throughput (rate × share of frames that arrive)
has one peak along the rates, and it moves as somebody walks away and back. A round is 16 frames.

    python examples/radio_rates.py [--quick] [--out DIR]      # 15 s of computing without --quick
"""

from itertools import product
from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import unimodal as um
from unimodal.report import figures
from unimodal.report.curve_labels import end_of, label_curves
from unimodal.results.statistics import Interval, mean_interval

RATES = np.array([6.5, 13, 19.5, 26, 39, 52, 58.5, 65])  # Mbit/s: MCS 0 to 7, 20 MHz, long guard
NEEDED = np.array([2.0, 5, 9, 11, 15, 18, 20, 25])  # dB at which half of the frames arrive
LADDER = um.graphs.line(RATES.tolist())
REWARDS = um.Scaled(um.Bounded(0, 1), by=float)  # the share of frames that arrive, times the rate
FRAMES, WINDOWS = 16, [25, 50, 100, 200, 400, 800]  # of a burst; in bursts
SIZES = [str(window) for window in WINDOWS]


def throughput(bursts):
    """Means, a row a burst: the signal goes from 28 dB to 6 dB and back, in waves."""
    snr = 17 + 11 * np.cos(2 * np.pi * np.arange(bursts) / 5000)
    return RATES / (1 + np.exp(-1.5 * (snr[:, None] - NEEDED)))


def numbers_of_rates(policy, means, seed):
    rng, chosen, agent = np.random.default_rng(seed), [], um.Agent(policy, LADDER, REWARDS, seed)
    for mean in means:
        rate = agent.ask()
        chosen.append(LADDER.arm_of(rate))
        agent.tell(rate, rng.binomial(FRAMES, mean[chosen[-1]] / rate) / FRAMES)
    return chosen


def main(quick: bool = False, out: Path = Path()):
    bursts, trials, say = (2000, 2, "roughly {.value:.3g}".format) if quick else (20_000, 10, str)
    now, means, rates, lost = np.arange(bursts), throughput(bursts), {}, {}
    assert um.Moving(LADDER, now + 1, means, REWARDS).check().holds  # one peak in every round
    for plain, window in product((um.TS(), um.UTS()), (0, *WINDOWS)):  # 0: no window
        policy = um.Windowed(plain, window=window) if window else plain
        arms = np.array([numbers_of_rates(policy, means, seed) for seed in range(trials)])
        rates[plain.name, window] = RATES[arms].mean(axis=0).reshape(-1, 50).mean(axis=1)
        kept = means[now, arms].sum(axis=1) / means.max(axis=1).sum()
        lost[plain.name, window] = Interval(*mean_interval(100 * (1 - kept)))
    best = {name: min(WINDOWS, key=lambda w: lost[name, w].value) for name in ("TS", "UTS")}
    above, below = Figure(figsize=(5.8, 6.8), layout="constrained").subplots(2, 1)
    above.plot(now, RATES[means.argmax(axis=1)], color="0.4", linewidth=1, label="best rate")
    for name, window in best.items():
        look = {"color": figures.STYLES[name][0], "label": f"{name}, window {window}"}
        above.plot(now[25::50], rates[name, window], **look)
        look = figures.style(name, 0) | {"label": name}
        below.plot(SIZES, [lost[name, w].value for w in WINDOWS], **look)
    above.set(xlabel="burst", ylabel="Mbit/s, mean of the trials", xlim=(0, bursts), ylim=(0, 85))
    below.plot(SIZES, [lost["UTS", 0].value] * 6, "--", color="0.4", label="UTS, no window")
    below.set(xlabel="window, bursts", ylabel="% of throughput lost", ylim=(0, 55))
    for ax in (above, below):
        label_curves(ax, [end_of(line) for line in ax.lines])
        ax.spines[["top", "right"]].set_visible(False)
    said = {key: say(share) for key, share in lost.items()}
    print(
        f"In {bursts:,} bursts, {trials} trials, UTS with its best window ({best['UTS']}) lost "
        f"{said['UTS', best['UTS']]} % of the throughput and TS with its best ({best['TS']}) "
        f"{said['TS', best['TS']]} %; without one, {said['UTS', 0]} % and {said['TS', 0]} %."
    )
    out.mkdir(parents=True, exist_ok=True)
    above.figure.savefig(out / "radio_rates.png", dpi=130)


if __name__ == "__main__":
    typer.run(main)
