"""The page on ScoutUTS: python docs/scouting.py [folder for finished work]."""

import dataclasses
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce.live_view import watching
from unimodal.studies.reproduce.paper_numbers import DENSITIES
from unimodal.studies.reproduce.settings import FULL, settings
from unimodal.studies.runner import do
from unimodal.studies.tasks import cut, law_hash

DOCS = Path(__file__).parent
SWEPT, OURS = "UTS", "ScoutUTS"
HORIZONS = (10**3, 10**4, 10**5)

swept = findings.load(DOCS / "reproduction" / "findings.parquet")
plan = [
    dataclasses.replace(setting, policies=(OURS,))
    for setting in settings(FULL)
    if setting.experiment == "Table 2"
]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
began = time.perf_counter()
tasks = list(cut(plan))
with opened(folder / "finished.db") as store:
    with watching(tasks, store) as watch:
        do(tasks, store, None, watch.tell)
    found = findings.collect(plan, store)
findings.save(found, DOCS / "scouting.parquet")
minutes = (time.perf_counter() - began) / 60

lines = [
    "| K | p | UTS with a sweep | ScoutUTS | ratio | worst: UTS, ScoutUTS |",
    "|---|---|---|---|---|---|",
]
ratios, worst, earlier = {}, {}, {}
for one in found.all:
    setting = one.setting
    other = swept.get("Table 2", setting.n_arms, setting.density, SWEPT)
    key = setting.n_arms, setting.density
    ratios[key] = findings.ratio(one, other)
    worst[key] = one.final.max() / other.final.max()
    at = np.searchsorted(one.rounds, HORIZONS)
    earlier[key] = (one.curves.mean(axis=0) / other.curves.mean(axis=0))[at]
    lines.append(
        f"| {setting.n_arms} | {setting.density} | {other.final.mean():,.1f} | "
        f"{one.final.mean():,.1f} | {ratios[key]} | "
        f"{other.final.max():,.0f}, {one.final.max():,.0f} |"
    )

values = np.array([ratio.value for ratio in ratios.values()])
target = ratios[1000, "log(K)/K"]
high = max(ratios, key=lambda key: ratios[key].value)
tail = max(worst, key=lambda key: worst[key])
above = sum(ratio > 2 for ratio in worst.values())
below, clearly = (values < 1).sum(), sum(ratio.high < 1 for ratio in ratios.values())


def said(met):
    """A verdict in a word."""
    return "**met**" if met else "**missed**"


verdict = f"""What was asked of it:
- never above 1.15 times swept UTS: {said(values.max() <= 1.15)}, the largest is {ratios[high]}
  (K = {high[0]}, p = {high[1]});
- below it in at least 16 of 24 settings: {said(below >= 16)}, in {below}, of which in {clearly}
  with the whole interval;
- at most 0.4 at K = 1000, p = log(K)/K: {said(target.value <= 0.4)}, {target};
- no trial worse than twice swept UTS's worst: {said(above == 0)}, the largest ratio of worst trials
  is {worst[tail]:.2f} (K = {tail[0]}, p = {tail[1]});
- on a graph known by look-up, far arms by walks, with the look-ups reported: `agent.look_ups`,
  measured in [oracles.md](oracles.md)."""

behind = [f"K = {k}, p = {p} ({ratio})" for (k, p), ratio in ratios.items() if ratio.value > 1]
columns = np.array(list(earlier.values())).T
sooner = "; ".join(
    f"at T = {horizon:,} it is below swept UTS in {(column < 1).sum()} settings, and at most "
    f"{column.max():.2f} times as high"
    for horizon, column in zip(HORIZONS, columns, strict=True)
)

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for density, marker in zip(DENSITIES, "osD^", strict=True):
    sizes = sorted(k for k, p in ratios if p == density)
    shown = [ratios[k, density] for k in sizes]
    axes.errorbar(
        sizes,
        [ratio.value for ratio in shown],
        [ratio.half_width for ratio in shown],
        marker=marker,
        capsize=3,
        label=f"p = {density}",
    )
axes.axhline(1, color="0.5", linewidth=1, linestyle="--")
axes.set(xscale="log", xlabel="arms K", ylabel="regret relative to swept UTS", ylim=(0, 1.6))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, fontsize=8)
figure.savefig(DOCS / "images" / "scouting.png", dpi=130)

page = (DOCS / "scouting.in.md").read_text(encoding="utf-8")
took = f"{minutes:.0f} minutes" if minutes >= 1 else "under a minute, from finished work"
(DOCS / "scouting.md").write_text(
    page.format(
        table="\n".join(lines),
        verdict=verdict,
        behind="; ".join(behind),
        sooner=sooner,
        minutes=took,
        sources=f"sources {law_hash()}",
    ),
    encoding="utf-8",
)
print(verdict)
