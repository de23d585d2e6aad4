"""The page: the ranking, then each family of graphs with its picture and its table."""

from __future__ import annotations

from html import escape

from unimodal.compare.cases import UNIT, Case
from unimodal.compare.entries import Comparison, Entry, relative, rounds_of
from unimodal.compare.ranking import Rank, order, ranked
from unimodal.policies import parse
from unimodal.report import page
from unimodal.report.standings import Standing, standings

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
    body = [
        f"<h1>{TITLE}</h1>",
        f"<p>{escape(_size(found))} Made by <code>unimodal compare</code> ({found.made_with}).</p>",
        "<h2>Ranking</h2>",
        page.table(
            (*_RANKING, "what it does"),
            [
                (*line, parse(rank.policy).summary)
                for line, rank in zip(_ranking(ranks), ranks, strict=True)
            ],
            words=(1, 4, 6),
        ),
        _RULES,
        f"<h2>Regret relative to {UNIT}, by family</h2>",
        page.table(("family", *(rank.policy for rank in ranks)), _matrix(found, ranks), words=(0,)),
        *(_family(case, entries) for case, entries in found.cases.items()),
    ]
    return page.page(TITLE, "\n".join(body))


_RULES = f"""<p class="soft">The rank is by the geometric mean, over all families, of the mean
regret divided by that of {UNIT}; its interval is that of new graphs and trials of these families,
not of other families. <i>Best in</i>: families in which no policy has a lower mean.
Intervals of means are over graphs, each with its trials averaged: what a new draw of graphs and
peaks would respect. Policies meet the same graphs, peaks and seeds, so ratios are paired and
narrower than the means let one expect. Regret on lines has a heavy tail: look at the median and the
worst trial too. <i>ms a trial</i> is the time of one core in the median trial; the geometric mean
over families in the ranking.</p>
<p class="soft">OSUB and KLUCB have c = 3, the paper's; c = 0 leaves out the log log term of their
budget, which Garivier and Cappé advise for KL-UCB in practice. UTS, OSUB, IMEDUB and KLUCBUB first
pull each arm once, ScoutUTS does not; TS, KLUCB, IMED and NPTS know nothing of the graph. Rewards
are Bernoulli.</p>"""


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


def _family(case: Case, entries: dict[str, Entry]) -> str:
    problem = case.problem(0)
    about = f"{problem.graph.n_arms} arms ({case.graph}), a random peak. {_MEANS[case.means]}"
    ordered = order(entries)
    shown = {one.policy: _standing(one) for one in ordered}
    positions = {policy: number for number, policy in enumerate(case.policies)}
    drawn = standings(rounds_of(case), shown, positions)
    picture = page.figure(drawn, case.name, f"{case.name}: {about}", wide=True)
    table = page.table(_TABLE, [_line(one, entries[UNIT]) for one in ordered], words=(0,))
    return f"<h2>{escape(case.name)}</h2>{picture}{table}"


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
        f"{_size(found)} Made by `unimodal compare` ({found.made_with}). "
        "Medians, worst trials and pictures are in [index.html](index.html).",
        f"## Ranking, by the geometric mean of regret relative to {UNIT}",
        page.markdown_table(_RANKING, _ranking(ranks)),
        "## Mean regret ± 95 % over graphs",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), means),
        f"## Regret relative to {UNIT}",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), _matrix(found, ranks)),
    ]
    return "\n\n".join(parts) + "\n"
