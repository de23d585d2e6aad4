"""How often the intervals of a replay hold what was really earned (two core-minutes to run)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unimodal as um
from unimodal.history_analysis.replay import calibration
from unimodal.policies import parse
from unimodal.report.page import markdown_table
from unimodal.studies import pages

HERE = Path(__file__).parent
SCALE = calibration.Scale(arms=7, rounds=300, draws=60, worlds=250)
VERSIONS = {
    "as it is": calibration.as_it_is,
    "`one_peak=False`": calibration.with_any_peaks,
    "the log's empirical means taken for true": calibration.with_empirical_means,
}
CANDIDATES = ("TS", "OSUB")


@dataclass(frozen=True)
class Calibration(um.studies.BaseSetting):
    """One way to estimate; a trial goes through all worlds, which share a generator."""

    name: str
    policies: tuple[str, ...] = CANDIDATES
    horizon: int = SCALE.rounds
    graphs: int = 1
    trials: int = 1

    def measure(self, task):
        """One row: the share of worlds within the interval, and the interval's mean width."""
        version = VERSIONS[self.name]
        _, within, width = calibration.calibrate(parse(task.policy), version, SCALE)
        return np.array([[within, width]])


class Coverage(um.studies.EveryTrial):
    """How often the interval holds what was earned, and how wide it is."""

    columns = ("within", "width")


def run(folder):
    """Draw the worlds, replay them and write data.parquet."""
    settings = [Calibration(name) for name in VERSIONS]
    um.studies.Study(settings, Coverage).run(folder).save(HERE / pages.DATA)


def table(found):
    """One row per version."""
    columns = [cell for name in CANDIDATES for cell in (f"{name}: within", "mean width")]
    rows = []
    for setting, by_policy in found.complete().items():
        cells = []
        for one in by_policy.values():
            cells += [f"{100 * one['within'].item():.1f} %", f"{one['width'].item():.1f}"]
        rows.append(f"| {setting.name} | {' | '.join(cells)} |")  # one name has code in it
    return "\n".join([markdown_table(("", *columns), []).replace("|  |", "| |", 1), *rows])


def render(out):
    """Write the page from data.parquet."""
    found = um.studies.load(HERE / pages.DATA, Calibration, Coverage)
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        arms=SCALE.arms,
        rounds=SCALE.rounds,
        draws=SCALE.draws,
        worlds=SCALE.worlds,
        error=f"{100 * (0.95 * 0.05 / SCALE.worlds) ** 0.5:.1f}",
        made_with=found.made_with,
        table=table(found),
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
