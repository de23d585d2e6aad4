"""The reproduction of the paper: `unimodal reproduce --full`, its report and the README's figures.

`python docs/studies/reproduction/study.py run [folder]` takes 64 core-minutes.
"""

import shutil
from pathlib import Path

from rich.console import Console

from unimodal.cli.reproduce_output import reproduce
from unimodal.report import figures
from unimodal.results.statistics import mean_interval
from unimodal.studies import pages
from unimodal.studies.reproduce import exports, findings
from unimodal.studies.reproduce.page import table_2_figure
from unimodal.studies.reproduce.paper_numbers import POLICIES

HERE = Path(__file__).parent
FINDINGS = "findings.parquet"
SCOUTING = HERE.parent / "scouting" / pages.DATA
# The stored file was written before files said what made them.
MADE_WITH = "unimodal 0.1.0, sources fb3d522facb3f96b"


def run(folder):
    """Play everything and write findings.parquet."""
    reproduce("full", folder, only="", dask="", console=Console())
    shutil.copy(folder / FINDINGS, HERE / FINDINGS)


def curves(found):
    """Regret of the four policies on the paper's line of 129 arms."""
    ones = {name: found.at("Table 1", 129, "triangle", name) for name in POLICIES[::-1]}
    shown = {name: mean_interval(one.curves) for name, one in ones.items()}
    uts = ones["UTS"]
    axes = figures.regret(None, uts.rounds, shown, uts.setting.problem(0).lower_bound)
    return axes.figure


def render(out):
    """Write the report and the README's figures from findings.parquet."""
    found = findings.load(HERE / FINDINGS)
    made_with = f"Made with {found.made_with or MADE_WITH}."
    exports.write_pages(found, out, "full", made_with)
    beside = findings.load(SCOUTING)  # ScoutUTS, which is not in the paper
    pages.draw(table_2_figure(found, beside), out / "table-2.png")
    pages.draw(curves(found), out / "line-129.png")


if __name__ == "__main__":
    pages.command(run, render, HERE)
