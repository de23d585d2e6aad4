"""Every claim of the paper about regrets, with the rule that decides it."""

from __future__ import annotations

from dataclasses import dataclass

from unimodal.studies.reproduce import decision_rules_of_lines as on_lines
from unimodal.studies.reproduce import decision_rules_of_tables as by
from unimodal.studies.reproduce.decision_rule import DecisionRule
from unimodal.studies.reproduce.paper_numbers import DENSITIES, SIZES


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, its place there, and the rule that decides it."""

    text: str
    where: str
    rule: DecisionRule
    # Some of the paper's sentences contradict its own tables or each other.
    remark: str = ""

    @property
    def test(self) -> str:
        """What decides it, in words."""
        return self.rule.words


_ALL_BUT_ONE = [(k, p) for p in DENSITIES for k in SIZES if (k, p) != (1000, "line")]
_LOG, _LINE = "log(K)/K", "line"
_T2 = "Table 2"

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "UTS has the smallest regret in every case but K = 1000, line",
        "Evaluation, Table 2",
        by.is_best(_T2, _ALL_BUT_ONE, "UTS"),
        "Table 2 itself has TS 436 below UTS 437 at K = 100, p = 1.",
    ),
    Claim("UTS is best along the whole horizon, K = 17", "Fig. 1a", on_lines.best_all_along(17)),
    Claim("UTS is best along the whole horizon, K = 129", "Fig. 1b", on_lines.best_all_along(129)),
    Claim(
        "On lines, from K = 17 to 129, UTS gains on TS and loses on OSUB",
        "Line graphs",
        on_lines.changes_sides(),
    ),
    Claim(
        "p = 1: UTS slightly better than TS, less so as K grows", "Fig. 2", by.fades("UTS", "TS")
    ),
    Claim(
        "p = 1: OSUB slightly better than KLUCB, less so as K grows",
        "Fig. 2",
        by.fades("OSUB", "KLUCB"),
    ),
    Claim(
        "p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K",
        "p = 1/2",
        by.in_order(_T2, "1/2", SIZES, ("UTS", "TS", "OSUB", "KLUCB")),
    ),
    Claim(
        "p = 1/2: UTS/TS = 0.68 ± 0.03 at every K",
        "p = 1/2",
        by.is_constant("UTS", "TS", 0.68, 0.03),
    ),
    Claim(
        "p = 1/2: UTS/OSUB = 0.47 ± 0.01 at every K",
        "p = 1/2",
        by.is_constant("UTS", "OSUB", 0.47, 0.01),
    ),
    Claim(
        "p = 1/2: OSUB/KLUCB = 0.68 ± 0.03 at every K",
        "p = 1/2",
        by.is_constant("OSUB", "KLUCB", 0.68, 0.03),
    ),
    Claim(
        "p = 0.1: OSUB better than TS for K ≥ 10",
        "Table 3",
        by.in_order("Table 3", "0.1", SIZES[1:], ("OSUB", "TS")),
    ),
    Claim(
        "p = 0.1: TS better than OSUB at K = 5",
        "Table 3",
        by.in_order("Table 3", "0.1", (5,), ("TS", "OSUB")),
    ),
    Claim(
        "p = log(K)/K: UTS is best at every K",
        "p = log(K)/K",
        by.is_best(_T2, [(k, _LOG) for k in SIZES], "UTS"),
    ),
    Claim(
        "p = log(K)/K: KLUCB is worst at every K",
        "p = log(K)/K",
        by.is_worst(_T2, [(k, _LOG) for k in SIZES], "KLUCB"),
    ),
    *(
        claim
        for density, graphs in ((_LOG, f"p = {_LOG}"), (_LINE, _LINE))
        for claim in (
            Claim(
                f"{graphs}: TS better than OSUB for K ≤ 10",
                graphs,
                by.in_order(_T2, density, (5, 10), ("TS", "OSUB")),
            ),
            Claim(
                f"{graphs}: OSUB better than TS for K ≥ 20",
                graphs,
                by.in_order(_T2, density, SIZES[2:], ("OSUB", "TS")),
            ),
        )
    ),
    Claim(
        "p = log(K)/K: UTS/TS falls from 0.66 to 0.19",
        _LOG,
        by.moves("UTS", "TS", _LOG, (0.66, 0.19)),
    ),
    Claim(
        "p = log(K)/K: UTS/OSUB rises from 0.45 to 0.94",
        _LOG,
        by.moves("UTS", "OSUB", _LOG, (0.45, 0.94)),
        "Table 2 gives 1000/1151 = 0.87 at K = 1000, not 0.94.",
    ),
    Claim(
        "line: UTS/TS falls from 0.58 to 0.18",
        _LINE,
        by.moves("UTS", "TS", _LINE, (0.58, 0.18)),
    ),
    Claim(
        "line: UTS/OSUB rises from 0.45 to 1.00",
        _LINE,
        by.moves("UTS", "OSUB", _LINE, (0.45, 1.0)),
    ),
    *(
        Claim(
            f"Δ = 0.001, K = {k}: OSUB is ahead at T = 10⁵",
            "lines, main text",
            on_lines.wins_line(k, 0.001, "OSUB", at=10**5),
        )
        for k in (17, 129)
    ),
    *(
        Claim(
            f"Δ = {step}, K = {k}: {winner} is ahead at T = 10⁷",
            "Appendix B",
            on_lines.wins_line(k, step, winner),
            remark,
        )
        for k, step, winner, remark in (
            (17, 0.001, "OSUB", "The main text says that UTS is ahead by then."),
            (17, 0.002, "UTS", ""),
            (17, 0.005, "UTS", ""),
            (129, 0.001, "OSUB", "The main text says that UTS is ahead by then."),
            (129, 0.002, "OSUB", ""),
            (129, 0.005, "UTS", ""),
        )
    ),
    *(
        Claim(
            f"Δ = 0.001, K = {k}: UTS is ahead at T = 10⁷",
            "lines, main text",
            on_lines.wins_line(k, 0.001, "UTS"),
            "Appendix B says the opposite.",
        )
        for k in (17, 129)
    ),
    *(
        Claim(
            f"Δ = 0.001, K = {k}: the two averages cross a number of times",
            "lines, main text",
            on_lines.cross(k, 0.001),
        )
        for k in (17, 129)
    ),
    *(
        Claim(
            f"K = {k}: the smaller Δ, the better OSUB does relative to UTS",
            "Appendix B",
            on_lines.gains_as_steps_shrink(k),
        )
        for k in (17, 129)
    ),
    *(
        Claim(f"p = {p}, K = 1000: UTS is ahead at T = 10⁶", "Appendix B", on_lines.wins_sparse(p))
        for p in ("5/K", "10/K")
    ),
)
