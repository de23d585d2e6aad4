"""The comparison of all policies: `unimodal compare`, and its page.

`python docs/studies/comparison/study.py run [folder]` takes eight core-minutes.
"""

from pathlib import Path

from unimodal.cli.compare_output import run as compare
from unimodal.studies import pages
from unimodal.studies.compare import comparison
from unimodal.studies.compare.graph_families import FULL, settings
from unimodal.studies.compare.page import write

HERE = Path(__file__).parent
DATA = "comparison.parquet"


def run(folder):
    """Play everything and write comparison.parquet."""
    compare(settings(FULL), "", folder).save(HERE / DATA)


def render(out):
    """Write the page and its tables from comparison.parquet."""
    write(comparison.load(HERE / DATA), out)


if __name__ == "__main__":
    pages.command(run, render, HERE)
