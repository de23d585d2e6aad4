"""The paper's tables with ours beside them: one row per number, each with a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unimodal.results.skewed_means import student
from unimodal.results.statistics import Interval
from unimodal.studies.reproduce import paper_numbers as paper
from unimodal.studies.reproduce.findings import Finding, Findings, ratio
from unimodal.studies.reproduce.number_agreement import NOT_RUN, Agreement, judge, judge_regret
from unimodal.studies.reproduce.paper_numbers import as_printed
from unimodal.studies.sample_intervals import quantiles_in_words


@dataclass(frozen=True)
class Row:
    """One number of the paper, ours with both intervals, and the verdict."""

    table: str
    n_arms: int
    density: str
    policy: str
    reported: Interval
    over_graphs: Interval | None
    over_trials: Interval | None
    verdict: Agreement
    explained: str = ""  # the open choice that moves it into agreement, if one does
    spread: tuple[float, float] | None = None  # median and 99 % quantile over all trials

    @property
    def printed(self) -> str:
        """The paper's number as printed; Table 3 has no intervals."""
        return f"{self.reported.value:g}" if self.table == "Table 3" else as_printed(self.reported)

    @property
    def shown_spread(self) -> str:
        """Median and 99 % quantile, in words."""
        return "–" if self.spread is None else quantiles_in_words(*self.spread)

    @property
    def named(self) -> dict[str, Interval]:
        """Our intervals, by what a note below the table calls them."""
        where = f"K = {self.n_arms}, {self.density}, {self.policy}"
        both = {"over graphs": self.over_graphs, "over trials": self.over_trials}
        found = {what: one for what, one in both.items() if one is not None}
        if self.over_graphs is not None and self.over_graphs == self.over_trials:
            return {where: self.over_graphs}
        return {f"{where}, {what}": one for what, one in found.items()}

    @property
    def inside(self) -> bool:
        """Whether ours lies in the paper's interval, widened by ours: simpler than the verdict."""
        if self.over_graphs is None:
            return False
        room = self.reported.room(self.over_graphs)
        return abs(self.over_graphs.value - self.reported.value) <= room


_NOTHING = Agreement(NOT_RUN, float("nan"))


def table_1(found: Findings) -> list[Row]:
    """R%(policy, OSUB) on the two lines."""
    rows = []
    for k, cells in paper.TABLE_1.items():
        osub = found.at("Table 1", k, "triangle", "OSUB")
        for policy, reported in cells.items():
            one = found.at("Table 1", k, "triangle", policy)
            if one is None or osub is None:
                rows.append(Row("Table 1", k, "line", policy, reported, None, None, _NOTHING))
                continue
            ours = ratio(one, osub)
            trials = one.setting.trials
            verdict = judge(ours, ours, reported, trials, 6, 0.005, paper.PAPER_TRIALS)
            at = ("Table 1", k, "line", policy, reported, ours, ours, verdict)
            rows.append(Row(*at, spread=_relative_to(one, osub)))
    return rows


def table_2(found: Findings) -> list[Row]:
    """Regret at T = 10⁵, 96 cells."""
    rows = []
    for (k, p, policy), reported in paper.TABLE_2.items():
        one = found.at("Table 2", k, p, policy)
        row = _row("Table 2", k, p, policy, reported, one, len(paper.TABLE_2))
        rows.append(row)
    return rows


def table_3(found: Findings) -> list[Row]:
    """Regret for p = 0.1. The paper gives no intervals: ours stand in, as of ten graphs."""
    rows = []
    for (k, policy), value in paper.TABLE_3.items():
        one = found.at("Table 3", k, "0.1", policy)
        several = one is not None and len(one.units) > 1
        spread = half_width_of_ten(one) if one and several else 0.0
        reported = Interval(value, value - spread, value + spread)
        rows.append(_row("Table 3", k, "0.1", policy, reported, one, len(paper.TABLE_3)))
    return rows


def half_width_of_ten(one: Finding) -> float:
    """Half of Student's interval that as many graphs as the paper's would have, from ours."""
    deviation = float(one.units.std(ddof=1))
    return deviation / math.sqrt(paper.PAPER_GRAPHS) * student(paper.PAPER_GRAPHS)


def _row(
    table: str, k: int, p: str, policy: str, reported: Interval, one: Finding | None, cells: int
) -> Row:
    if one is None:
        return Row(table, k, p, policy, reported, None, None, _NOTHING)
    verdict = judge_regret(one, reported, cells)
    at = (table, k, p, policy, reported, one.over_graphs, one.over_trials, verdict)
    return Row(*at, spread=one.spread)


def _relative_to(one: Finding, other: Finding) -> tuple[float, float]:
    """Median and 99 % quantile of a policy's trials, relative to another's mean."""
    mean = float(other.final.mean())
    median, most = one.spread
    return median / mean, most / mean


def explained(rows: list[Row], found: Findings) -> list[Row]:
    """The rows; those that do not agree name the open choice that makes them agree, if any does."""
    return [_explain(row, found) for row in rows]


def _explain(row: Row, found: Findings) -> Row:
    if row.verdict.word not in ("differs", "contradicts"):
        return row
    for one in found.all:
        same = (one.setting.n_arms, one.setting.density) == (row.n_arms, row.density)
        variant = one.policy.startswith(row.policy + "(")
        if one.setting.experiment == "Open choices" and same and variant:
            verdict = judge_regret(one, row.reported, len(paper.TABLE_2))
            if verdict.word == "agrees":
                values = {**row.__dict__, "explained": one.policy}
                return Row(**values)
    return row


def all_rows(found: Findings) -> list[Row]:
    """Every number of the three tables."""
    return explained(table_1(found) + table_2(found) + table_3(found), found)
