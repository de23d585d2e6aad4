"""The report: pictures first, then every number of the paper beside ours, then every claim."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from unimodal.analysis import Interval, mean_interval
from unimodal.report import figures, page
from unimodal.reproduce.claims import CLAIMS
from unimodal.reproduce.experiments import PEAKS, VARIANTS, Setting
from unimodal.reproduce.findings import Finding, Findings, ratio
from unimodal.reproduce.paper import DENSITIES, POLICIES, SIZES, TABLE_2
from unimodal.reproduce.rows import Row, all_rows

TITLE = "Unimodal Thompson Sampling for Graph-Structured Arms, reproduced"


def report(found: Findings, scale: str, made_with: str) -> str:
    """The main page."""
    rows = all_rows(found)
    decided = [(claim, *claim.decide(found)) for claim in CLAIMS]
    words = Counter(row.verdict.word for row in rows)
    claims = Counter(word for _, word, _ in decided)
    body = [
        f"<h1>{TITLE}</h1>",
        "<p>Paladino, Trovò, Restelli, Gatti, AAAI 2017: each number of its evaluation beside "
        f"ours. Scale: <b>{scale}</b>. {made_with}</p>",
        "<p><b>The numbers of Tables 1 to 3</b></p>",
        page.counts(dict(words.most_common())),
        "<p><b>The claims of the text</b></p>",
        page.counts(dict(claims.most_common())),
        _pictures(found),
        "<h2>Tables 1 to 3</h2>",
        _RULE,
        *(_table(name, rows) for name in ("Table 1", "Table 2", "Table 3")),
        "<h2>Claims</h2>",
        page.table(
            ("claim", "in the paper", "verdict", "what we find", "what decides it", "remark"),
            [(c.text, c.where, word, note, c.test, c.remark) for c, word, note in decided],
            words=(0, 1, 2, 3, 4, 5),
        ),
        _DISAGREEMENTS,
        "<h2>What the paper does not say</h2><p>How UTS begins, who leads among ties and the "
        "constant c of KL-UCB change these numbers: see "
        '<a href="open-choices.html">the page on open choices</a>.</p>',
    ]
    return page.page(TITLE, "\n".join(body))


_RULE = """<p>Two intervals of ours: <i>over graphs</i> is what a new draw of graphs would
respect (as the paper's seem to be), <i>over trials</i> holds for these very graphs.
<i>Agrees</i>: the difference is within the combined standard error over graphs at 99 %, corrected
for the number of cells, plus half of the last digit printed. <i>Contradicts</i>: it is not, and is
above 25 %. <i>Differs</i>: anything between. <i>Undecided</i>: our interval over trials is wider
than ±10 %. Table 3 gives no intervals; ours, from the same design, stand in.</p>"""

_DISAGREEMENTS = """<h2>Where the paper disagrees with itself</h2><ul>
<li>UTS/OSUB at p = log(K)/K, K = 1000: 0.94 in the text; 1000/1151 = 0.87 in Table 2.</li>
<li>UTS is said to be always slightly better than TS at p = 1; Table 2 has TS 436 and UTS 437 at
K = 100.</li>
<li>Δ = 0.001 at K = 129 with a peak of 0.165: over 64 steps from 0.1 that is Δ = 0.00102. We use
0.165.</li>
<li>The middle arm of 17 is a_9 in the main text and a_8 in Appendix B.</li>
<li>At Δ = 0.001 and T = 10⁷ UTS is ahead of OSUB in the main text, and not yet in Appendix B.</li>
<li>Theorem 1 prints "=" for "≥"; Algorithm 1 writes G = (V, E) for (A, E).</li></ul>"""


def _table(name: str, rows: list[Row]) -> str:
    columns = ("K", "p", "policy", "paper", "ours, over graphs", "over trials", "verdict")
    lines = []
    for row in rows:
        if row.table != name:
            continue
        verdict = str(row.verdict)
        if row.explained:
            verdict += f" (explained by {row.explained})"
        ours = (_shown(row.over_graphs), _shown(row.over_trials))
        lines.append((row.n_arms, row.density, row.policy, row.printed, *ours, verdict))
    note = " (R%, relative to OSUB)" if name == "Table 1" else " (regret at T = 10⁵)"
    return f"<h3>{name}{note}</h3>" + page.table(columns, lines, words=(1, 2, 6))


def _shown(interval: Interval | None) -> str:
    return str(interval) if interval is not None else "–"


def _pictures(found: Findings) -> str:
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
        pairs = [(name, found.get(experiment, k, density, name, high)) for name in POLICIES[::-1]]
        complete = {name: one for name, one in pairs if one is not None}
        if complete:
            made.append(_curves(title, complete))
    return f'<h2>Pictures</h2><div class="figures">{"".join(made)}</div>'


def _curves(title: str, complete: dict[str, Finding]) -> str:
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


def _multiples(found: Findings) -> str:
    caption = (
        "Table 2 as ratios to UTS: ours filled with solid lines, the paper's hollow and dotted."
    )
    return page.figure(table_2_figure(found), "table 2", caption, wide=True)


def table_2_figure(found: Findings, beside: Findings | None = None) -> Any:
    """Table 2 as small multiples: regret relative to UTS against K, a panel a density.

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
                one = source.get("Table 2", k, density, name)
                uts = found.get("Table 2", k, density, "UTS")
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
    settings = [s for s in found.planned if s.experiment == "Open choices"]
    columns = ("variant", *(_place(setting) for setting in settings))
    lines = []
    for variant in VARIANTS:
        ones = [found.of(setting).get(variant) for setting in settings]
        lines.append((variant, *(_cell(one) for one in ones)))
    body = [
        "<h1>What the paper does not say</h1>",
        f"<p>Scale: <b>{scale}</b>. {made_with} <a href='index.html'>The main page</a>.</p>",
        _LESSONS,
        "<h2>Mean regret at T = 10⁵, with the median</h2>",
        page.table(columns, lines, words=(0,)),
        "<h2>UTS relative to OSUB, by c</h2>",
        page.table(
            ("UTS relative to", *(_place(setting) for setting in settings)),
            [
                (name, *(_relative(found, setting, name) for setting in settings))
                for name in ("OSUB", "OSUB(c=1)", "OSUB(c=0)")
            ],
            words=(0,),
        ),
    ]
    return page.page("What the paper does not say", "\n".join(body))


_LESSONS = """<p>Algorithm 1 as printed (<i>start=literal</i>: nothing is pulled first, an arm
without rewards has mean 0 and may lead) gives other numbers than the paper's, by a factor that
grows with the length of the line. Pulling each arm once first (<i>sweep</i>, our default) gives the
paper's. After a sweep the rule for ties hardly matters. The constant c = 3 of the budget
f(x) = log x + c·log log x is a large part of the published margin of UTS over OSUB: with c = 0,
OSUB loses much less.</p>"""


def _place(setting: Setting) -> str:
    kind = "triangle" if setting.density == "triangle" else "random peak"
    return f"line K = {setting.n_arms}, {kind}"


def _cell(one: Finding | None) -> str:
    return "–" if one is None else f"{one.over_graphs} [{np.median(one.final):,.0f}]"


def _relative(found: Findings, setting: Setting, name: str) -> str:
    of = found.of(setting)
    return str(ratio(of["UTS"], of[name])) if {"UTS", name} <= set(of) else "–"
