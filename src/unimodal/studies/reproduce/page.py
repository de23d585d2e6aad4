"""The report: figures first, then every number of the paper beside ours, then every claim."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from unimodal.report import figures, page
from unimodal.results.statistics import Interval, mean_interval
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.findings import Finding, Findings, ratio
from unimodal.studies.reproduce.paper_numbers import DENSITIES, POLICIES, SIZES, TABLE_2
from unimodal.studies.reproduce.settings import PEAKS, VARIANTS, Setting
from unimodal.studies.reproduce.tables import Row, all_rows

TITLE = "Unimodal Thompson Sampling for Graph-Structured Arms, reproduced"


def report(found: Findings, scale: str, made_with: str) -> str:
    """The main page."""
    rows = all_rows(found)
    decided = [(claim, *claim.decide(found)) for claim in CLAIMS]
    words = Counter(row.verdict.word for row in rows)
    claims = Counter(word for _, word, _ in decided)
    return page.page(
        "reproduction.html.j2",
        title=TITLE,
        scale=scale,
        made_with=made_with,
        number_counts=dict(words.most_common()),
        claim_counts=dict(claims.most_common()),
        figures=_figures(found),
        tables=[(name, note, _lines(name, rows)) for name, note in _TABLES.items()],
        table_columns=_COLUMNS,
        claim_columns=_CLAIM_COLUMNS,
        claims=[(c.text, c.where, word, note, c.test, c.remark) for c, word, note in decided],
    )


_REGRET = "regret at T = 10⁵"
_TABLES = {"Table 1": "R%, relative to OSUB", "Table 2": _REGRET, "Table 3": _REGRET}
_COLUMNS = ("K", "p", "policy", "paper", "ours, over graphs", "over trials", "verdict")
_CLAIM_COLUMNS = (
    "claim",
    "in the paper",
    "verdict",
    "what we find",
    "what decides it",
    "remark",
)


def _lines(name: str, rows: list[Row]) -> list[tuple[object, ...]]:
    """One of the paper's tables, one line per number."""
    lines: list[tuple[object, ...]] = []
    for row in rows:
        if row.table != name:
            continue
        verdict = str(row.verdict)
        if row.explained:
            verdict += f" (explained by {row.explained})"
        ours = (_shown(row.over_graphs), _shown(row.over_trials))
        lines.append((row.n_arms, row.density, row.policy, row.printed, *ours, verdict))
    return lines


def _shown(interval: Interval | None) -> str:
    return str(interval) if interval is not None else "–"


def _figures(found: Findings) -> list[page.Figure]:
    made = [_multiples(found)]
    chosen = [
        ("Figure 1a", "Table 1", 17, "triangle", 0.9),
        ("Figure 1b", "Table 1", 129, "triangle", 0.9),
        ("Figure 2", "Table 2", 5, "1", 0.9),
        ("Figure 3a", "Table 2", 5, "log(K)/K", 0.9),
        ("Figure 3b", "Table 2", 20, "log(K)/K", 0.9),
    ]
    for k, peaks in PEAKS.items():
        chosen += [
            (f"Appendix B, Δ = {step}", "Appendix B", k, "triangle", high)
            for step, high in peaks.items()
        ]
    chosen += [("Appendix B", "Appendix B", 1000, p, 0.9) for p in ("5/K", "10/K")]
    for title, experiment, k, density, high in chosen:
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
    place = "line" if setting.density == "triangle" else f"p = {setting.density}"
    heading = f"{title}: K = {setting.n_arms}, {place}"
    drawn = figures.with_ratio(heading, rounds, curves, constant, theorem_2)
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
    return page.figure(table_2_figure(found), "table 2", caption, wide=True)


def table_2_figure(found: Findings, beside: Findings | None = None) -> Any:
    """Table 2 as small multiples: regret relative to UTS against K, one panel per density.

    `beside` has policies that the paper does not, on the same graphs.
    """
    more = [one.policy for one in beside.all] if beside else []
    ours: dict[str, dict[str, Any]] = {}
    theirs: dict[str, dict[str, Any]] = {}
    for density in DENSITIES:
        title = f"p = {density}"
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
    return "–" if one is None else f"{one.over_graphs} [{np.median(one.final):,.0f}]"


def _relative(found: Findings, setting: Setting, name: str) -> str:
    of = found.of(setting)
    return str(ratio(of["UTS"], of[name])) if {"UTS", name} <= set(of) else "–"
