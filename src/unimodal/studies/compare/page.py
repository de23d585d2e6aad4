"""The page: the ranking, then each family of graphs with its figure and its table."""

from __future__ import annotations

import functools
from pathlib import Path

from unimodal import files
from unimodal.policies import parse
from unimodal.report import page
from unimodal.report.ranking_figure import Standing, standings
from unimodal.report.tables import MARK
from unimodal.results.statistics import Interval, notes
from unimodal.studies.compare.comparison import Comparison
from unimodal.studies.compare.graph_families import UNIT
from unimodal.studies.compare.ranking import Rank, order, ranked
from unimodal.studies.outcome import Regrets, ratio
from unimodal.studies.setting import Setting

TITLE = "Policies on graphs, compared"
_RANKING = (
    "rank",
    "policy",
    f"regret relative to {UNIT}",
    "best in",
    "highest ratio",
    "ms per trial",
)
_TABLE = (
    "policy",
    "mean ± 95 %",
    "median",
    "99 %",
    "worst trial",
    f"relative to {UNIT}",
    "ms per trial",
)


def write(found: Comparison, folder: Path) -> None:
    """Write the page and the tables."""
    for name, text in {"index.html": report(found), "tables.md": markdown(found)}.items():
        files.write(folder / name, functools.partial(Path.write_text, data=text, encoding="utf-8"))


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
        families=[_family(setting, of) for setting, of in found.complete().items()],
        family_columns=_TABLE,
    )


def _size(found: Comparison) -> str:
    """How much was run, in words.

    >>> _size(Comparison([], [Setting("line", "line:9", "by distance", ("UTS",), 1000, 2, 3)]))
    '1 policies on 1 families of graphs: T = 1,000 rounds, 2 graphs × 3 trials in each.'
    """
    first = found.settings[0]
    return (
        f"{len(first.policies)} policies on {len(found.settings)} families of graphs: "
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
            setting.name,
            *(_two_digits(ratio(of[rank.policy], of[UNIT])) for rank in ranks),
        )
        for setting, of in found.complete().items()
    ]


def _two_digits(one: Interval) -> str:
    return f"{one.value:.2f}{f' {MARK}' if one.few else ''}"


_MEANS = {
    "by distance": "Means fall evenly with the distance from the peak, from 0.9 to 0.1.",
    "smooth": "Means fall as a bell from 0.9 towards 0.1: flat at the peak, then steep.",
    "rank one": "Arms are pairs with mean u_i·v_j, from 0.9 down to 0.1; neighbours share i or j.",
}


def _family(setting: Setting, outcomes: dict[str, Regrets]) -> dict[str, object]:
    """A family of graphs with its figure and its table."""
    problem, name = setting.problem(0), setting.name
    about = f"{problem.graph.n_arms} arms ({setting.graph}), a random peak. {_MEANS[setting.means]}"
    ordered = order(outcomes)
    shown = {one.policy: _standing(one) for one in ordered}
    positions = {policy: number for number, policy in enumerate(setting.policies)}
    drawn = standings(ordered[0].rounds, shown, positions)
    return {
        "name": name,
        "figure": page.figure(drawn, name, f"{name}: {about}", wide=True),
        "rows": [_line(one, outcomes[UNIT]) for one in ordered],
        "notes": _notes(ordered, outcomes[UNIT]),
    }


def _standing(one: Regrets) -> Standing:
    mean, (median, most) = one.over_graphs, one.spread
    needed = mean.few.needed if mean.few else None
    return Standing(one.curve, *mean, median, most, one.worst, needed)


def _notes(ones: list[Regrets], unit: Regrets) -> list[str]:
    """Why means and ratios that are marked cannot be trusted."""
    ratios = {f"{one.policy} relative to {UNIT}": ratio(one, unit) for one in ones}
    return notes({one.policy: one.over_graphs for one in ones} | ratios)


def _line(one: Regrets, unit: Regrets) -> tuple[object, ...]:
    return (
        one.policy,
        one.over_graphs,
        *(f"{quantile:,.0f}" for quantile in one.spread),
        f"{one.worst:,.0f}",
        ratio(one, unit),
        f"{one.milliseconds:.1f}",
    )


def _all_notes(found: Comparison) -> list[str]:
    return [
        f"{note[0]} {setting.name}, {page.markdown_text(note[2:])}"
        for setting, of in found.complete().items()
        for note in _notes(order(of), of[UNIT])
    ]


def markdown(found: Comparison) -> str:
    """The ranking, and the mean regret of every policy in every family, as Markdown."""
    ranks = ranked(found)
    means = [
        (setting.name, *(of[rank.policy].with_spread for rank in ranks))
        for setting, of in found.complete().items()
    ]
    parts = [
        f"# {TITLE}",
        f"{_size(found)} Made by `unimodal compare` ({page.markdown_text(found.made_with)}). "
        "Worst trials and figures are in [index.html](index.html).",
        f"## Ranking, by the geometric mean of regret relative to {UNIT}",
        page.markdown_table(_RANKING, _ranking(ranks)),
        "## Mean regret ± 95 % over graphs [median, 99 % quantile of all trials]",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), means),
        f"## Regret relative to {UNIT}",
        page.markdown_table(("family", *(rank.policy for rank in ranks)), _matrix(found, ranks)),
        *_all_notes(found),
    ]
    return "\n\n".join(parts) + "\n"
