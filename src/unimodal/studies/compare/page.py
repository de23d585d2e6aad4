"""The page: the ranking, then each family of graphs with its picture and its table."""

from __future__ import annotations

from unimodal.policies import parse
from unimodal.report import page
from unimodal.report.ranking_figure import Standing, standings
from unimodal.studies.compare.cases import UNIT, Case
from unimodal.studies.compare.entries import Comparison, Entry, relative, rounds_of
from unimodal.studies.compare.ranking import Rank, order, ranked

TITLE = "Policies on graphs, compared"
_RANKING = (
    "rank",
    "policy",
    f"regret relative to {UNIT}",
    "best in",
    "highest ratio",
    "ms a trial",
)
_TABLE = ("policy", "mean ± 95 %", f"relative to {UNIT}", "median", "worst trial", "ms a trial")


def report(found: Comparison) -> str:
    """The whole page."""
    ranks = ranked(found)
    return page.page(
        "comparison.html.j2",
        title=TITLE,
        unit=UNIT,
        size=_size(found),
        made_with=found.made_with,
        ranking_columns=(*_RANKING, "what it does"),
        ranking=[
            (*line, parse(rank.policy, own=False).summary)
            for line, rank in zip(_ranking(ranks), ranks, strict=True)
        ],
        matrix_columns=("family", *(rank.policy for rank in ranks)),
        matrix=_matrix(found, ranks),
        families=[_family(case, entries) for case, entries in found.cases.items()],
        family_columns=_TABLE,
    )


def _size(found: Comparison) -> str:
    """How much was run, in a sentence.

    >>> case = Case("line", "line:9", "by distance", ("UTS",), 1000, 2, 3)
    >>> _size(Comparison({case: {}}, ""))
    '1 policies on 1 families of graphs: T = 1,000 rounds, 2 graphs × 3 trials in each.'
    """
    first = next(iter(found.cases))
    return (
        f"{len(first.policies)} policies on {len(found.cases)} families of graphs: "
        f"T = {first.horizon:,} rounds, {first.graphs} graphs × {first.trials} trials in each."
    )


def _ranking(ranks: list[Rank]) -> list[tuple[object, ...]]:
    return [
        (
            number,
            rank.policy,
            rank.relative,
            rank.best_in,
            f"{rank.highest:.2f} ({rank.highest_in})",
            f"{rank.milliseconds:.1f}",
        )
        for number, rank in enumerate(ranks, 1)
    ]


def _matrix(found: Comparison, ranks: list[Rank]) -> list[tuple[str, ...]]:
    return [
        (
            case.name,
            *(f"{relative(entries[rank.policy], entries[UNIT]).value:.2f}" for rank in ranks),
        )
        for case, entries in found.cases.items()
    ]


_MEANS = {
    "by distance": "Means fall evenly with the distance from the peak, from 0.9 to 0.1.",
    "smooth": "Means fall as a bell from 0.9 towards 0.1: flat at the peak, then steep.",
    "rank one": "Arms are pairs with mean u_i·v_j, from 0.9 down to 0.1; neighbours share i or j.",
}


def _family(case: Case, entries: dict[str, Entry]) -> dict[str, object]:
    """A family of graphs with its picture and its table."""
    problem = case.problem(0)
    about = f"{problem.graph.n_arms} arms ({case.graph}), a random peak. {_MEANS[case.means]}"
    ordered = order(entries)
    shown = {one.policy: _standing(one) for one in ordered}
    positions = {policy: number for number, policy in enumerate(case.policies)}
    drawn = standings(rounds_of(case), shown, positions)
    return {
        "name": case.name,
        "figure": page.figure(drawn, case.name, f"{case.name}: {about}", wide=True),
        "rows": [_line(one, entries[UNIT]) for one in ordered],
    }


def _standing(one: Entry) -> Standing:
    return Standing(one.curve, *one.over_graphs, float(one.quantiles["median"]), one.worst)


def _line(one: Entry, unit: Entry) -> tuple[object, ...]:
    return (
        one.policy,
        one.over_graphs,
        relative(one, unit),
        f"{one.quantiles['median']:.0f}",
        f"{one.worst:,.0f}",
        f"{one.milliseconds:.1f}",
    )


def markdown(found: Comparison) -> str:
    """The ranking, and the mean regret of every policy in every family, for reading as text."""
    ranks = ranked(found)
    means = [
        (case.name, *(f"{entries[rank.policy].over_graphs}" for rank in ranks))
        for case, entries in found.cases.items()
    ]
    parts = [
        f"# {TITLE}",
        f"{_size(found)} Made by `unimodal compare` ({page.markdown_text(found.made_with)}). "
        "Medians, worst trials and pictures are in [index.html](index.html).",
        f"## Ranking, by the geometric mean of regret relative to {UNIT}",
        page.markdown_table(_RANKING, _ranking(ranks)),
        "## Mean regret ± 95 % over graphs",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), means),
        f"## Regret relative to {UNIT}",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), _matrix(found, ranks)),
    ]
    return "\n\n".join(parts) + "\n"
