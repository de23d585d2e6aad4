"""Table 2 for the graphs that the paper leaves as future work, and for some more.

`python docs/studies/other-graphs/study.py run [folder]` took 14 minutes on two shared
cores. It resumes after an interruption if it is given a folder.
"""

from pathlib import Path

import unimodal as um
from unimodal.report import figures
from unimodal.report.page import markdown_table
from unimodal.studies import pages, ratio

HERE = Path(__file__).parent
UNIT = "UTS"
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


def settings():
    """Every setting; pairs have means of their own, whatever the others have."""
    for name, sizes in FAMILIES.items():
        for means in ["rank one"] if name == "rank one" else MEANS:
            for graph in sizes:
                setting = f"{name}, {graph}, {means}"
                yield um.studies.Setting(setting, graph, means, POLICIES, HORIZON, GRAPHS, TRIALS)


def run(folder):
    """Play everything and write data.parquet."""
    um.studies.Study(list(settings())).run(folder).save(HERE / pages.DATA)


def family(setting):
    """The family that a setting is of."""
    return next(name for name, sizes in FAMILIES.items() if setting.graph in sizes)


def table(found):
    """Mean regret of each policy, the least in bold, and UTS relative to OSUB."""
    rows = []
    for setting, ones in found:
        least = min(ones.values(), key=lambda one: one.final.mean())
        cells = [
            f"**{one.with_spread}**" if one is least else one.with_spread for one in ones.values()
        ]
        arms = setting.problem(0).graph.n_arms
        rows.append((family(setting), arms, *cells, ratio(ones["UTS"], ones["OSUB"])))
    return markdown_table(("family", "K", *POLICIES, "UTS/OSUB"), rows)


def beaten(found, over, under):
    """In how many settings one policy's regret is below another's, with its whole interval."""
    ratios = [ratio(ones[over], ones[under]) for _, ones in found]
    return sum(ratio.high < 1 for ratio in ratios), sum(ratio.low > 1 for ratio in ratios)


def claim(found, over, under):
    """Who is ahead of whom, in words."""
    ahead, behind = beaten(found, over, under)
    values = [ratio(ones[over], ones[under]).value for _, ones in found]
    return (
        f"{over} is below {under} in {ahead} of {len(found)} rows and above it in {behind} (whole "
        f"intervals); the ratio goes from {min(values):.2f} to {max(values):.2f}"
    )


def swept(found):
    """How much of UTS's regret is its sweep, if there are many arms, in words."""
    shares = []
    for setting, ones in found:
        problems = [setting.problem(graph) for graph in range(GRAPHS)]
        if problems[0].graph.n_arms >= 1000:
            cost = sum(problem.gaps.sum() for problem in problems) / GRAPHS
            shares.append(cost / ones["UTS"].final.mean())
    return (
        f"With about 1000 arms, pulling each once is {min(shares):.0%} to {max(shares):.0%} of "
        "UTS's regret. OSUB pays the same, so they come close; ScoutUTS does not"
    )


def panels(found):
    """Regret relative to UTS against K, one panel per family."""
    drawn = {}
    for name in FAMILIES:
        rows = [(setting, ones) for setting, ones in found if family(setting) == name]
        arms = [setting.problem(0).graph.n_arms for setting, _ in rows]
        drawn[name] = {
            policy: (arms, [ratio(ones[policy], ones[UNIT]).value for _, ones in rows])
            for policy in POLICIES
        }
    return drawn


def render(out):
    """Write the page and its figure from data.parquet."""
    found = um.studies.load(HERE / pages.DATA)
    every = list(found.complete().items())
    by_distance = [row for row in every if row[0].means != "smooth"]
    smooth = [row for row in every if row[0].means == "smooth"]
    figure = figures.small_multiples(panels(by_distance), "arms K", "regret relative to UTS")
    pages.draw(figure, out / "figure.png", dpi=110)
    pairs = [("UTS", "OSUB"), ("UTS", "TS"), ("UTS", "KLUCB"), ("ScoutUTS", "UTS")]
    claims = [*(claim(every, *pair) for pair in pairs), swept(every)]
    pages.fill_in(
        HERE / pages.TEMPLATE,
        out,
        by_distance=table(by_distance),
        smooth=table(smooth),
        claims="\n".join(f"- {said}." for said in claims),
        made_with=found.made_with,
    )


if __name__ == "__main__":
    pages.command(run, render, HERE)
