"""Make docs/replay.md: how often the intervals of a replay hold what was really earned.

python docs/replay.py        (two minutes of one core)
"""

from pathlib import Path

import unimodal as um
from unimodal.inference.replay import calibration

HERE = Path(__file__).parent
SCALE = calibration.Scale(arms=7, rounds=300, draws=60, worlds=250)
VERSIONS = {
    "as it is": calibration.as_it_is,
    "`one_peak=False`": calibration.with_any_peaks,
    "the log's empirical means taken for true": calibration.with_empirical_means,
}


def table() -> str:
    """A row a version, and what came of it for TS and OSUB."""
    rows = ["| | TS: within | mean width | OSUB: within | mean width |", "|---|---|---|---|---|"]
    for name, estimator in VERSIONS.items():
        cells = []
        for candidate in (um.TS(), um.OSUB()):
            _, within, width = calibration.calibrate(candidate, estimator, SCALE)
            cells += [f"{100 * within:.1f} %", f"{width:.1f}"]
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


def main() -> None:
    """Measure, and fill in the page."""
    numbers = {
        "arms": SCALE.arms,
        "rounds": SCALE.rounds,
        "draws": SCALE.draws,
        "worlds": SCALE.worlds,
        "error": f"{100 * (0.95 * 0.05 / SCALE.worlds) ** 0.5:.1f}",
        "version": um.__version__,
        "table": table(),
    }
    page = (HERE / "replay.in.md").read_text(encoding="utf-8")
    for name, value in numbers.items():
        page = page.replace("{" + name + "}", str(value))
    (HERE / "replay.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
