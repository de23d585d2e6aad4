"""The reproduction of the paper: `unimodal reproduce --decide`, its report, the README's figures.

`python docs/studies/reproduction/study.py run [folder]` takes the paper's own scale (`--full`), 180
core-minutes of samples added to it, and a few for the ways in which the graphs of Table 3 may have
been connected. It resumes in `folder`.
"""

import shutil
from pathlib import Path

from rich.console import Console

from unimodal.cli.reproduce_output import BUDGET, decide
from unimodal.report import figures
from unimodal.results.statistics import mean_interval
from unimodal.studies import pages
from unimodal.studies.reproduce import exports, findings, interim_estimates, made_connected
from unimodal.studies.reproduce.findings import Finding
from unimodal.studies.reproduce.page import table_2_figure
from unimodal.studies.reproduce.paper_numbers import POLICIES
from unimodal.studies.study import Study

HERE = Path(__file__).parent
FINDINGS, DECIDED, WAYS = "findings.parquet", exports.DECIDED, "made-connected.parquet"
SCOUTING = HERE.parent / "scouting" / pages.DATA
# The stored file was written before files said what made them.
MADE_WITH = "unimodal 0.1.0, sources fb3d522facb3f96b"


def run(folder):
    """Play everything and write the files that `render` reads."""
    decide(folder, BUDGET, dask="", console=Console())
    for name in (FINDINGS, DECIDED, interim_estimates.RATES, "tables.parquet"):
        shutil.copy(folder / name, HERE / name)
    Study(made_connected.planned(), Finding).run(folder / "connected").save(HERE / WAYS)


def curves(found):
    """Regret of the four policies on the paper's line of 129 arms."""
    ones = {name: found.at("Table 1", 129, "triangle", name) for name in POLICIES[::-1]}
    shown = {name: mean_interval(one.curves) for name, one in ones.items()}
    uts = ones["UTS"]
    few = {name: one.over_graphs.few for name, one in ones.items()}
    needed = {name: one.needed for name, one in few.items() if one}
    bound = uts.setting.problem(0).lower_bound
    axes = figures.regret(None, uts.rounds, shown, bound, needed=needed)
    return axes.figure


def render(out):
    """Write the report, its tables and the README's figures from the stored files."""
    found = findings.load(HERE / FINDINGS)
    decided = interim_estimates.load(HERE / DECIDED) if (HERE / DECIDED).exists() else None
    ways = made_connected.fits(made_connected.load(HERE / WAYS))
    made_with = f"Made with {found.made_with or MADE_WITH}."
    exports.write_pages(found, out, "full", made_with, decided, ways)
    exports.write_csv(found, out, decided)
    beside = findings.load(SCOUTING)  # ScoutUTS, which is not in the paper
    pages.draw(table_2_figure(found, beside), out / "table-2.png")
    pages.draw(curves(found), out / "line-129.png")


if __name__ == "__main__":
    pages.command(run, render, HERE)
