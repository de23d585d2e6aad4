"""The README's pictures, from the findings in docs/reproduction: python docs/pictures.py."""

from pathlib import Path

from unimodal.report import figures
from unimodal.results.statistics import mean_interval
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce.page import table_2_figure
from unimodal.studies.reproduce.paper_numbers import POLICIES

DOCS = Path(__file__).parent
found = findings.load(DOCS / "reproduction" / "findings.parquet")

beside = findings.load(DOCS / "scouting.parquet")  # ScoutUTS, which is not in the paper
table_2_figure(found, beside).savefig(DOCS / "images" / "table-2.png", dpi=130)

ones = {name: found.get("Table 1", 129, "triangle", name) for name in POLICIES[::-1]}
curves = {name: mean_interval(one.curves) for name, one in ones.items()}
setting = ones["UTS"].setting
axes = figures.regret(None, ones["UTS"].rounds, curves, setting.problem(0).lower_bound)
axes.figure.savefig(DOCS / "images" / "line-129.png", dpi=130)
