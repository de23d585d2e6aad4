"""The report: figures first, then every number of the paper beside ours, then every claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unimodal.report import figures, page
from unimodal.results.statistics import Interval, mean_interval, notes
from unimodal.studies.reproduce.claims import CLAIMS, Claim
from unimodal.studies.reproduce.coverage import Errors
from unimodal.studies.reproduce.findings import Finding, Findings, ratio
from unimodal.studies.reproduce.interim_estimates import InterimEstimates
from unimodal.studies.reproduce.made_connected import SIZES as WAY_SIZES
from unimodal.studies.reproduce.made_connected import WAYS, Fit, connected_share
from unimodal.studies.reproduce.number_agreement import AGREES
from unimodal.studies.reproduce.paper_numbers import DENSITIES, POLICIES, SIZES, TABLE_2, TABLE_3
from unimodal.studies.reproduce.sequential_test import FEWEST_TRIALS, missed_at
from unimodal.studies.reproduce.settings import PEAKS, VARIANTS, Setting
from unimodal.studies.reproduce.tables import Row, all_rows
from unimodal.studies.reproduce.verdicts_in_words import (
    FinalClaim,
    FinalNumber,
    final_claim,
    final_numbers,
    place_of,
)

Begin = Callable[[str], object]
TITLE = "Unimodal Thompson Sampling for Graph-Structured Arms, reproduced"


def report(
    found: Findings,
    scale: str,
    made_with: str,
    decided: InterimEstimates | None = None,
    ways: list[Fit] | None = None,
    begin: Begin = lambda what: None,
) -> str:
    """The main page; with the final verdicts if there are, and with ways to connect graphs.

    `begin` is called with what is drawn next: that takes its time.
    """
    rows = all_rows(found)
    at_scale = [(claim, *claim.rule(found)) for claim in CLAIMS]
    words = Counter(row.verdict.word for row in rows)
    claims = Counter(word for _, word, _ in at_scale)
    numbers = final_numbers(decided) if decided else {}
    finals = [final_claim(decided, claim) for claim in CLAIMS] if decided else []
    more = decided is not None
    return page.page(
        "reproduction.html.j2",
        title=TITLE,
        scale=scale,
        made_with=made_with,
        number_counts=dict(words.most_common()),
        claim_counts=dict(claims.most_common()),
        final_number_counts=dict(Counter(one.word for one in numbers.values()).most_common()),
        final_claim_counts=dict(Counter(one.word for one in finals).most_common()),
        figures=_figures(found, begin),
        tables=[
            (name, note, _lines(name, rows, numbers), table_notes(name, rows))
            for name, note in _TABLES.items()
        ],
        table_columns=(*_COLUMNS[:-1], _AT_SCALE, *_FINAL_COLUMNS) if more else _COLUMNS,
        table_words=(1, 2, 7, 10) if more else (1, 2, 7),
        table_verdicts=(7, 10),
        claims=[
            _ClaimCard(number, *one, finals[number - 1] if finals else None)
            for number, one in enumerate(at_scale, 1)
        ],
        decided=more,
        questions=decided.questions if decided else 0,
        seen_in=f"{FEWEST_TRIALS / missed_at(decided.level):.0f}" if decided else "",
        coverage=coverage_lines(decided.coverage) if decided else [],
        coverage_columns=_COVERAGE,
        ways=way_lines(ways) if ways else [],
        way_fits=way_fits(ways) if ways else [],
        way_columns=("graphs", *(f"{policy}, K = {k}" for policy, k in _WAY_CELLS)),
        connected=[(k, _one_in(connected_share(k, 0.1))) for k in WAY_SIZES],
    )


_COVERAGE = ("setting", "questions", "runs", "the rule errs", "without spending", "Student's")
_WAY_CELLS = [(policy, k) for policy in ("TS", "OSUB") for k in WAY_SIZES]


def coverage_lines(coverage: list[Errors]) -> list[tuple[object, ...]]:
    """How often the rule errs, one line per resampled setting."""
    lines = []
    for one in coverage:
        shares = (one.by_the_rule, one.at_one_look, one.of_student)
        shown = (f"{100 * share:.2f} %" for share in shares)
        lines.append((one.where, one.questions, f"{one.runs:,}", *shown))
    return lines


def way_lines(ways: list[Fit]) -> list[tuple[object, ...]]:
    """Ways to connect graphs, one line each, below the paper's own numbers."""
    by_cell = {(fit.way, fit.policy, fit.n_arms): fit for fit in ways}
    lines: list[tuple[object, ...]] = [("the paper", *(TABLE_3[k, p] for p, k in _WAY_CELLS))]
    for way, said in WAYS.items():
        cells = [by_cell.get((way, policy, k)) for policy, k in _WAY_CELLS]
        lines.append((said, *("–" if c is None else f"{c.ours}, {c.verdict}" for c in cells)))
    return lines


def way_fits(ways: list[Fit]) -> list[tuple[str, int, int, str]]:
    """Of each way: how many numbers agree for few arms and for 50, and how far the farthest is."""
    made = []
    for way, said in WAYS.items():
        own = [fit for fit in ways if fit.way == way]
        small = [fit for fit in own if fit.n_arms <= 20]
        agree = [fit for fit in own if fit.verdict.word == AGREES]
        worst = max((fit.verdict.off for fit in small), key=abs)
        few = sum(fit in small for fit in agree)
        made.append((said, few, len(agree) - few, f"{100 * worst:+.0f} %"))
    return made


def _one_in(share: float) -> str:
    return f"1 in {1 / share:,.0f}" if share < 0.5 else f"{100 * share:.0f} %"


@dataclass(frozen=True)
class _ClaimCard:
    """A claim as the page shows it."""

    number: int
    claim: Claim
    word: str  # at the paper's scale
    note: str
    final: FinalClaim | None


_REGRET = "regret at T = 10⁵"
_TABLES = {"Table 1": "R%, relative to OSUB", "Table 2": _REGRET, "Table 3": _REGRET}
_SPREAD = "median / 99 %"
_COLUMNS = ("K", "p", "policy", "paper", "ours, over graphs", "over trials", _SPREAD, "verdict")
_FINAL_COLUMNS = ("ours in the end", "trials", "final verdict")
_AT_SCALE = "at the paper's scale"


def _lines(
    name: str,
    rows: list[Row],
    numbers: Mapping[tuple[str, int, str, str], FinalNumber] | None = None,
) -> list[tuple[object, ...]]:
    """One of the paper's tables, one line per number."""
    lines: list[tuple[object, ...]] = []
    for row in rows:
        if row.table != name:
            continue
        verdict = str(row.verdict)
        if row.explained:
            verdict += f" (explained by {row.explained})"
        ours = (_shown(row.over_graphs), _shown(row.over_trials))
        line: tuple[object, ...] = (
            row.n_arms,
            row.density,
            row.policy,
            row.printed,
            *ours,
            row.shown_spread,
            verdict,
        )
        if numbers:
            final = numbers[place_of(row)]
            line = (*line, str(final.ours), f"{final.trials:,}", final.text)
        lines.append(line)
    return lines


def table_notes(name: str, rows: list[Row]) -> list[str]:
    """Why numbers of ours that are marked cannot be trusted."""
    return [note for row in rows if row.table == name for note in notes(row.named)]


def _shown(interval: Interval | None) -> str:
    return str(interval) if interval is not None else "–"


# The figures of the paper: title, experiment, arms, density, highest mean.
PICTURES = [
    ("Figure 1a", "Table 1", 17, "triangle", 0.9),
    ("Figure 1b", "Table 1", 129, "triangle", 0.9),
    ("Figure 2", "Table 2", 5, "1", 0.9),
    ("Figure 3a", "Table 2", 5, "log(K)/K", 0.9),
    ("Figure 3b", "Table 2", 20, "log(K)/K", 0.9),
    *(
        (f"Appendix B, Δ = {step}", "Appendix B", k, "triangle", high)
        for k, peaks in PEAKS.items()
        for step, high in peaks.items()
    ),
    *(("Appendix B", "Appendix B", 1000, p, 0.9) for p in ("5/K", "10/K")),
]


def _figures(found: Findings, begin: Begin = lambda what: None) -> list[page.Figure]:
    begin("drawing Table 2")
    made = [_multiples(found)]
    for title, experiment, k, density, high in PICTURES:
        begin(f"drawing {title}, K = {k}")
        pairs = [(name, found.at(experiment, k, density, name, high)) for name in POLICIES[::-1]]
        complete = {name: one for name, one in pairs if one is not None}
        if complete:
            made.append(_curves(title, complete))
    return made


def _curves(title: str, complete: dict[str, Finding]) -> page.Figure:
    first = next(iter(complete.values()))
    setting, rounds = first.setting, first.rounds
    bounds = [setting.problem(graph) for graph in range(setting.graphs)]
    constant = float(np.mean([problem.lower_bound for problem in bounds]))
    theorem_2 = np.mean([problem.regret_bound(rounds) for problem in bounds], axis=0)
    curves = {name: mean_interval(one.curves) for name, one in complete.items()}
    place = "line" if setting.density in ("line", "triangle") else f"p = {setting.density}"
    heading = f"{title}: K = {setting.n_arms}, {place}"
    marked = {name: one.over_graphs.few for name, one in complete.items()}
    needed = {name: few.needed for name, few in marked.items() if few}
    drawn = figures.with_ratio(heading, rounds, curves, constant, theorem_2, needed)
    caption = (
        f"{heading}. {_size(setting)}. Dashed: Theorem 1, "
        f"c(μ) = {constant:.3g}; dotted: Theorem 2 with ε = 0.1, without its constant."
    )
    return page.figure(drawn, heading, caption)


def _size(setting: Setting) -> str:
    if setting.graphs == 1:
        return f"{setting.trials} trials"
    return f"{setting.graphs} graphs, {setting.trials} trials each"


def _multiples(found: Findings) -> page.Figure:
    caption = (
        "Table 2 as ratios to UTS: ours filled with solid lines, the paper's hollow and dotted."
    )
    return page.figure(table_2_figure(found), "table 2", caption)


def table_2_figure(found: Findings, beside: Findings | None = None) -> Any:
    """Table 2 as small multiples: regret relative to UTS against K, one panel per density.

    `beside` has policies that the paper does not, on the same graphs.
    """
    more = [one.policy for one in beside.all] if beside else []
    ours: dict[str, dict[str, Any]] = {}
    theirs: dict[str, dict[str, Any]] = {}
    for density in DENSITIES:
        title = "line" if density == "line" else f"p = {density}"
        ours[title], theirs[title] = {}, {}
        for name in dict.fromkeys([*POLICIES[::-1], *more]):
            source = beside if beside and name in more else found
            points = []
            for k in SIZES:
                one = source.at("Table 2", k, density, name)
                uts = found.at("Table 2", k, density, "UTS")
                if one is not None and uts is not None:
                    points.append((k, ratio(one, uts).value))
            ours[title][name] = tuple(zip(*points, strict=True)) if points else ((), ())
            if name in POLICIES:
                paper = [TABLE_2[k, density, name] for k in SIZES]
                base = [TABLE_2[k, density, "UTS"] for k in SIZES]
                shares = [one.value / uts.value for one, uts in zip(paper, base, strict=True)]
                theirs[title][name] = (SIZES, shares)
    return figures.small_multiples(ours, "arms K", "regret relative to UTS", theirs)


def open_choices(found: Findings, scale: str, made_with: str) -> str:
    """The page on what the paper leaves open."""
    settings = [s for s in found.settings if s.experiment == "Open choices"]
    columns = ("variant", *(_place(setting) for setting in settings))
    lines = []
    for variant in VARIANTS:
        ones = [found.of(setting).get(variant) for setting in settings]
        lines.append((variant, *(_cell(one) for one in ones)))
    return page.page(
        "open-choices.html.j2",
        title="What the paper does not say",
        scale=scale,
        made_with=made_with,
        columns=columns,
        regrets=lines,
        notes=[
            note
            for setting in settings
            for note in notes(
                {
                    f"{one.policy}, {_place(setting)}": one.over_graphs
                    for one in found.of(setting).values()
                }
            )
        ],
        ratio_columns=("UTS relative to", *columns[1:]),
        ratios=[
            (name, *(_relative(found, setting, name) for setting in settings))
            for name in ("OSUB", "OSUB(c=1)", "OSUB(c=0)")
        ],
    )


def _place(setting: Setting) -> str:
    kind = "triangle" if setting.density == "triangle" else "random peak"
    return f"line K = {setting.n_arms}, {kind}"


def _cell(one: Finding | None) -> str:
    return "–" if one is None else one.with_spread


def _relative(found: Findings, setting: Setting, name: str) -> str:
    of = found.of(setting)
    return str(ratio(of["UTS"], of[name])) if {"UTS", name} <= set(of) else "–"
