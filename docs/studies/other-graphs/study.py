"""docs/other-graphs.md and its figure: python docs/other_graphs.py [folder for finished work].

Table 2 for the graphs that the paper leaves as future work, and for some more: 14 minutes on two
shared cores. Stopped, it goes on where it was, if a folder is named.
"""

import sys
import tempfile
from pathlib import Path

from unimodal.cli.compare_output import run
from unimodal.report import figures
from unimodal.report.page import markdown_table
from unimodal.studies.compare import entries
from unimodal.studies.compare.cases import UNIT, Case

DOCS = Path(__file__).parent
HORIZON, GRAPHS, TRIALS = 10**5, 10, 10
POLICIES = ("KLUCB", "TS", "OSUB", "UTS", "ScoutUTS")
MEANS = {"by distance": "Means by distance, as the paper's", "smooth": "Smooth peaks"}
FAMILIES = {  # with about 20, 100 and 1000 arms
    **{f"Barabási–Albert, m = {m}": [f"ba:{k}:{m}" for k in (20, 100, 1000)] for m in (1, 2, 5)},
    "line": ["line:20", "line:100", "line:1000"],
    "grid": ["grid:5x4", "grid:10x10", "grid:32x32"],
    "torus": ["torus:5x4", "torus:10x10", "torus:32x32"],
    "3-D lattice": ["lattice:3x3x2", "lattice:5x5x4", "lattice:10x10x10"],
    "star": ["star:20", "star:100", "star:1000"],
    "binary tree": ["tree:15", "tree:127", "tree:1023"],
    "hypercube": ["hypercube:4", "hypercube:7", "hypercube:10"],
    "rank one": ["rank_one:5x4", "rank_one:10x10", "rank_one:32x32"],
}


def planned():
    """Every case; pairs have means of their own, whatever the others have."""
    for name, sizes in FAMILIES.items():
        for means in ["rank one"] if name == "rank one" else MEANS:
            for graph in sizes:
                case = f"{name}, {graph}, {means}"
                yield Case(case, graph, means, POLICIES, HORIZON, GRAPHS, TRIALS)


def family(case):
    """The family that a case is of."""
    return next(name for name, sizes in FAMILIES.items() if case.graph in sizes)


def table(found):
    """Mean regret of each policy, the least in bold, and UTS relative to OSUB."""
    rows = []
    for case, ones in found:
        least = min(ones.values(), key=lambda one: one.final.mean())
        cells = [
            f"**{one.over_graphs}**" if one is least else one.over_graphs for one in ones.values()
        ]
        arms = case.problem(0).graph.n_arms
        rows.append((family(case), arms, *cells, entries.relative(ones["UTS"], ones["OSUB"])))
    return markdown_table(("family", "K", *POLICIES, "UTS/OSUB"), rows)


def beaten(found, over, under):
    """In how many cases one policy's regret is below another's, with its whole interval."""
    ratios = [entries.relative(ones[over], ones[under]) for _, ones in found]
    return sum(ratio.high < 1 for ratio in ratios), sum(ratio.low > 1 for ratio in ratios)


def claim(found, over, under):
    """Who is ahead of whom, in a sentence."""
    ahead, behind = beaten(found, over, under)
    values = [entries.relative(ones[over], ones[under]).value for _, ones in found]
    return (
        f"{over} is below {under} in {ahead} of {len(found)} rows and above it in {behind} (whole "
        f"intervals); the ratio goes from {min(values):.2f} to {max(values):.2f}"
    )


def swept(found):
    """How much of UTS's regret is its sweep, where there are many arms, in a sentence."""
    shares = []
    for case, ones in found:
        problems = [case.problem(graph) for graph in range(GRAPHS)]
        if problems[0].graph.n_arms >= 1000:
            cost = sum(problem.gaps.sum() for problem in problems) / GRAPHS
            shares.append(cost / ones["UTS"].final.mean())
    return (
        f"With about 1000 arms, pulling each once is {min(shares):.0%} to {max(shares):.0%} of "
        "UTS's regret. OSUB pays the same, so they come close; ScoutUTS does not"
    )


def panels(found):
    """Regret relative to UTS against K, a panel a family."""
    drawn = {}
    for name in FAMILIES:
        rows = [(case, ones) for case, ones in found if family(case) == name]
        arms = [case.problem(0).graph.n_arms for case, _ in rows]
        drawn[name] = {
            policy: (arms, [entries.relative(ones[policy], ones[UNIT]).value for _, ones in rows])
            for policy in POLICIES
        }
    return drawn


folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
comparison = run(list(planned()), "", folder)
entries.save(comparison, DOCS / "other-graphs.parquet")
every = list(comparison.cases.items())
by_distance = [row for row in every if row[0].means != "smooth"]
smooth = [row for row in every if row[0].means == "smooth"]
figure = figures.small_multiples(panels(by_distance), "arms K", "regret relative to UTS")
figure.savefig(DOCS / "images" / "other-graphs.png", dpi=110)
page = (DOCS / "other-graphs.in.md").read_text(encoding="utf-8")
pairs = [("UTS", "OSUB"), ("UTS", "TS"), ("UTS", "KLUCB"), ("ScoutUTS", "UTS")]
(DOCS / "other-graphs.md").write_text(
    page.format(
        by_distance=table(by_distance),
        smooth=table(smooth),
        claims="\n".join(
            f"- {said}." for said in [*(claim(every, *pair) for pair in pairs), swept(every)]
        ),
        made_with=comparison.made_with,
    ),
    encoding="utf-8",
)
