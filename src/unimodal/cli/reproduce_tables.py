"""The end of `unimodal reproduce` in words and tables: the paper's numbers, and its claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from unimodal.report import tables
from unimodal.report.page import for_number
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.decision_rules_of_tables import FAILS
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.interim_estimates import InterimEstimates
from unimodal.studies.reproduce.number_agreement import AGREES, NOT_RUN, UNDECIDED
from unimodal.studies.reproduce.paper_numbers import POLICIES
from unimodal.studies.reproduce.sequential_test import CLOSE, OPEN
from unimodal.studies.reproduce.tables import Row
from unimodal.studies.reproduce.verdicts_in_words import final_claim, final_numbers, place_of

# Verdicts in a table of eighty columns: a sign each, and none where numbers agree.
_SIGNS = {AGREES: "", UNDECIDED: " ?", OPEN: " ?"}
LEGEND = "above the paper's, below ours; ≠ differs, ? undecided"


def tables_of(rows: Sequence[Row], decided: InterimEstimates | None) -> Iterator[Any]:
    """One table for each of the paper's that was run, one line per setting."""
    finals = final_numbers(decided) if decided else {}
    for name in ("Table 1", "Table 2", "Table 3"):
        run = [row for row in rows if row.table == name and row.over_graphs is not None]
        if not run:
            yield tables.words(f"{name}: {NOT_RUN}")
            continue
        policies = [one for one in POLICIES if any(row.policy == one for row in run)]
        lines = []
        for k, density in dict.fromkeys((row.n_arms, row.density) for row in run):
            cells = {row.policy: row for row in run if (row.n_arms, row.density) == (k, density)}
            row = [cells.get(policy) for policy in policies]
            lines.append((f"{k}, {density}", *("–" if r is None else r.printed for r in row)))
            lines.append(("", *(_ours(r, finals) for r in row)))
        yield tables.table(f"{name} ({LEGEND})", ("K, p", *policies), lines)


def _ours(row: Row | None, finals: Any) -> str:
    if row is None or row.over_graphs is None:
        return "–"
    ours, word = row.over_graphs, row.verdict.word
    if finals:
        ours, word = finals[place_of(row)].ours, finals[place_of(row)].word
    return f"{ours}{_SIGNS.get(word, ' ≠')}"


def summary(
    found: Findings, rows: Sequence[Row], decided: InterimEstimates | None
) -> Iterator[str]:
    """How many verdicts of each kind there are, and by name what does not hold or is open."""
    yield f"Of {len(rows)} numbers: {_listed(Counter(row.verdict.word for row in rows))}."
    words = {claim.text: claim.rule(found)[0] for claim in CLAIMS}
    yield f"Of {len(CLAIMS)} claims: {_listed(Counter(words.values()))}."
    if decided is None:
        yield from _named("Does not hold", [text for text, word in words.items() if word == FAILS])
        return
    finals = final_numbers(decided)
    claims = {claim.text: final_claim(decided, claim) for claim in CLAIMS}
    counted = Counter(one.word for one in finals.values())
    yield f"With trials added, of {len(finals)} numbers: {_listed(counted)}."
    counted = Counter(one.word for one in claims.values())
    yield f"With trials added, of {len(CLAIMS)} claims: {_listed(counted)}."
    for title, word in (
        ("Does not hold", FAILS),
        ("Too close to call", CLOSE),
        ("Open", OPEN),
    ):
        yield from _named(title, [text for text, one in claims.items() if one.word == word])


def _named(title: str, texts: list[str]) -> Iterator[str]:
    if texts:
        yield f"{title}:"
        yield from (f"  - {text}" for text in texts)


def _listed(words: Counter[str]) -> str:
    return ", ".join(f"{number} {for_number(word, number)}" for word, number in words.most_common())
