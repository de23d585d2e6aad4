"""Verdicts on the paper's numbers: each word can come out, and comes out for the right reason."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from unimodal.results.statistics import Interval
from unimodal.studies.reproduce import decision_rules_of_tables as by
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce import paper_numbers as paper
from unimodal.studies.reproduce import tables as rows
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.number_agreement import judge, judge_regret
from unimodal.studies.reproduce.settings import FULL, settings


def pm(value, spread):
    return Interval(value, value - spread, value + spread)


@pytest.mark.parametrize(
    ("ours", "reported", "word"),
    [
        (pm(100, 2), pm(101, 2), "agrees"),
        (pm(100, 2), pm(110, 2), "differs"),
        (pm(100, 2), pm(150, 2), "contradicts"),
        (pm(100, 12), pm(101, 2), "undecided"),
        (pm(100, float("nan")), pm(101, 2), "undecided"),
    ],
)
def test_each_word(ours, reported, word):
    assert judge(ours, ours, reported, samples=100, cells=1).word == word


def allowed(samples, cells, rounding, ours, theirs, their_samples=None):
    """How far two numbers may lie apart, from half of their 95 % intervals (Welch's test)."""
    other = their_samples or samples
    one = ours / stats.t.ppf(0.975, samples - 1)
    two = theirs / stats.t.ppf(0.975, other - 1)
    error = math.sqrt(one**2 + two**2)
    freedom = round((one**2 + two**2) ** 2 / (one**4 / (samples - 1) + two**4 / (other - 1)))
    return float(stats.t.ppf(1 - 0.01 / cells / 2, freedom)) * error + rounding


@pytest.mark.parametrize(
    ("samples", "cells", "rounding", "ours", "theirs"),
    [
        (10, 96, 0.5, 9.0, 5.0),
        (10, 1, 0.0, 9.0, 5.0),
        (100, 6, 0.005, 2.0, 7.0),
        (4, 12, 0.5, 3, 3),
    ],
)
def test_numbers_agree_up_to_the_99_percent_of_all_cells_together(
    samples, cells, rounding, ours, theirs
):
    reach = allowed(samples, cells, rounding, ours, theirs)
    for sign in (-1, 1):
        for margin, word in ((0.999, "agrees"), (1.001, "differs")):
            value = 1000 + sign * margin * reach
            found = judge(
                pm(value, ours), pm(value, 1.0), pm(1000, theirs), samples, cells, rounding
            )
            assert found.word == word, margin
            assert found.off == pytest.approx(sign * margin * reach / 1000)


@pytest.mark.parametrize(("samples", "theirs"), [(1280, 10), (40, 10), (4, 10), (800, 100)])
def test_the_papers_interval_is_that_of_the_papers_own_samples(samples, theirs):
    """However many samples we have, the paper's error is that of its ten graphs or 100 trials."""
    reach = allowed(samples, 96, 0.5, 2.0, 5.0, theirs)
    assert reach != pytest.approx(allowed(samples, 96, 0.5, 2.0, 5.0), rel=0.01)
    for margin, word in ((0.999, "agrees"), (1.001, "differs")):
        ours = pm(1000 + margin * reach, 2.0)
        assert judge(ours, ours, pm(1000, 5.0), samples, 96, 0.5, theirs).word == word


def test_a_difference_beyond_a_quarter_of_the_papers_number_is_a_contradiction():
    for value, word in ((124.9, "differs"), (125.1, "contradicts"), (75.1, "differs")):
        assert judge(pm(value, 1), pm(value, 1), pm(100, 1), 100, 1).word == word
    verdict = judge(pm(74.9, 1), pm(74.9, 1), pm(100, 1), 100, 1)
    assert str(verdict) == "contradicts by -25 %"


def test_it_is_the_precision_and_not_our_interval_that_must_be_within_a_tenth():
    for half_width, word in ((9.99, "agrees"), (10.01, "undecided")):
        found = judge(pm(100, 50), pm(100, half_width), pm(101, 2), 100, 1)
        assert found.word == word
        assert judge(pm(100, 5), pm(100, half_width), pm(150, 2), 100, 1).word != "agrees"
    assert judge(pm(1000, 99), pm(1000, 99), pm(100, 2), 100, 1).word == "contradicts"


def cells():
    """Every number of the paper: its table, cell, policy, what it reports and how it is judged."""
    for k, ratios in paper.TABLE_1.items():
        for policy, reported in ratios.items():
            yield "Table 1", (k, "triangle"), policy, reported, (6, 0.005)
    for (k, p, policy), reported in paper.TABLE_2.items():
        yield "Table 2", (k, p), policy, reported, (96, 0.5)
    for (k, policy), value in paper.TABLE_3.items():
        yield "Table 3", (k, "0.1"), policy, pm(value, 0.02 * value), (12, 0.5)


def planted(made, margin):
    """Findings that lie so many times what is allowed above the paper's, and what to expect."""
    found, expected = [], {}
    for k in (17, 129):
        found.append(made.finding(("Table 1", k, "triangle"), "OSUB", made.base()))
    for table, place, policy, reported, (judged, rounding) in cells():
        half = 0.02 * reported.value
        theirs = 100 if table == "Table 1" else 10  # trials or graphs of the paper
        reach = allowed(10, judged, rounding, half, reported.half_width, theirs)
        value = reported.value + margin * reach
        units = value + half / made.reach(0.95) * made.pattern(0.0)
        if table == "Table 1":
            units = made.over(made.base(), value, half)
        found.append(made.finding((table, *place), policy, units, scatter=0.02 * value))
        off = value / reported.value - 1
        word = "agrees" if margin < 1 else "contradicts" if off > 0.25 else "differs"
        expected[table, place[0], place[1].replace("triangle", "line"), policy] = (
            value,
            half,
            word,
        )
    return made.findings(found), expected


@pytest.mark.parametrize("margin", [0.998, 1.002])
def test_each_of_the_114_numbers_is_judged_by_its_own_finding(made, margin):
    found, expected = planted(made, margin)
    made_rows = rows.all_rows(found)
    assert len(made_rows) == len(expected) == 114
    for row in made_rows:
        value, half, word = expected[row.table, row.n_arms, row.density, row.policy]
        assert row.over_graphs.value == pytest.approx(value)
        assert row.over_graphs.half_width == pytest.approx(half)
        assert row.verdict.word == word, row


def test_both_intervals_of_a_row_are_those_of_its_samples(made):
    """Trials of a graph scatter by ±(3, -1, -1, -1) times `scatter`: a variance of 4 each."""
    found, _ = planted(made, 0.5)
    row = next(row for row in rows.table_2(found) if (row.n_arms, row.policy) == (50, "TS"))
    scatter = 0.02 * row.over_graphs.value
    variances = (scatter * made.pattern(1.0)) ** 2 * 12 / 3
    error = math.sqrt((variances / 4).sum()) / 10
    assert row.over_trials.half_width == pytest.approx(stats.t.ppf(0.975, 30) * error)
    assert row.over_trials.value == pytest.approx(row.over_graphs.value)


@pytest.mark.parametrize(("off", "inside"), [(0.069, True), (0.071, False), (-0.071, False)])
def test_a_ratio_lies_inside_the_papers_interval_if_both_touch(off, inside):
    ours = pm(1 + off, 0.03)
    verdict = judge(ours, ours, pm(1, 0.04), 100, 6)
    row = rows.Row("Table 1", 17, "line", "TS", pm(1, 0.04), ours, ours, verdict)
    assert row.inside == inside
    assert not dataclasses.replace(row, over_graphs=None).inside


def test_one_graph_is_too_few_for_a_verdict(made):
    one = made.finding(("Table 2", 50, "line"), "TS", made.base())
    alone = dataclasses.replace(one, final=one.final[:1, :1])
    verdict = judge_regret(alone, pm(100, 1), 96)
    assert verdict.word == "undecided"
    assert verdict.off == pytest.approx(alone.final.mean() / 100 - 1)


def test_a_planted_difference_is_seen_and_named(made):
    found, _ = planted(made, 0.0)
    wrong = [
        made.finding(("Table 2", 50, p), "TS", 1.2 * one.units, scatter=1.0)
        for p in ("1", "1/2", "log(K)/K", "line")
        for one in found.all
        if (one.setting.n_arms, one.setting.density, one.policy) == (50, p, "TS")
    ]
    off = [row for row in rows.all_rows(made.findings(found.all + wrong)) if row.verdict.off > 1e-9]
    assert len(off) == 4 and {(row.n_arms, row.policy) for row in off} == {(50, "TS")}
    assert str(off[0].verdict) == "differs by +20 %"


@pytest.mark.parametrize(
    ("policy", "k", "value", "explained"),
    [
        ("UTS(ties=lowest)", 50, 156.0, "UTS(ties=lowest)"),
        ("UTS(ties=lowest)", 50, 400.0, ""),  # it is off as well
        ("OSUB(c=1)", 50, 156.0, ""),  # another policy's
        ("UTS", 50, 156.0, ""),  # no other choice
        ("UTS(ties=lowest)", 100, 156.0, ""),  # elsewhere
    ],
)
def test_a_difference_is_explained_by_a_choice_that_removes_it(made, policy, k, value, explained):
    """UTS at K = 50 on the line is 156 ± 30.1 in the paper, and here 1,000."""
    noise = 3.0 * made.pattern(0.0)
    off = made.finding(("Table 2", 50, "line"), "UTS", 1000.0 + noise, scatter=1.0)
    setting = dataclasses.replace(off.setting, experiment="Open choices", n_arms=k)
    choice = made.finding(("Table 2", 50, "line"), policy, value + noise, scatter=1.0)
    choice = dataclasses.replace(choice, setting=setting)
    made_rows = rows.all_rows(made.findings([off, choice]))
    contradicting = [row for row in made_rows if row.verdict.word == "contradicts"]
    assert [row.explained for row in contradicting] == [explained]
    assert all(row.explained == "" for row in made_rows if row not in contradicting)


def test_what_is_not_run_is_said_and_never_filled_in():
    none = Findings([], settings(FULL))
    made_rows = rows.all_rows(none)
    places = [(row.table, row.n_arms, row.density, row.policy) for row in made_rows]
    assert places == [
        (table, k, p.replace("triangle", "line"), policy) for table, (k, p), policy, _, _ in cells()
    ]
    assert all(row.verdict.word == "not run at this scale" for row in made_rows)
    assert all(row.over_graphs is None and not row.inside for row in made_rows)
    waits = "waits for runs not made at this scale"
    assert {claim.rule(none)[0] for claim in CLAIMS} == {waits}


def test_every_claim_says_what_decides_it():
    assert all(len(claim.test) > 20 and claim.where for claim in CLAIMS)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS) == 38


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "undecided at this scale"], "undecided at this scale"),
        (
            ["undecided at this scale", "waits for runs not made at this scale", "holds"],
            "waits for runs not made at this scale",
        ),
        (
            ["holds", "waits for runs not made at this scale", "does not hold"],
            "does not hold",
        ),
        (["undecided at this scale", "does not hold"], "does not hold"),
    ],
)
def test_one_that_fails_decides_then_one_that_waits(words, word):
    assert by.every(words) == word


def test_what_the_papers_own_table_says_of_its_text(made):
    """Most claims about means hold on Table 2's own numbers if these were exact; two do not."""
    found = []
    for (k, p, policy), reported in paper.TABLE_2.items():
        units = reported.value + 0.01 * made.pattern(len(policy))
        found.append(made.finding(("Table 2", k, p), policy, units))
    words = {claim.text: claim.rule(made.findings(found))[0] for claim in CLAIMS}
    assert words["p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K"] == "holds"
    assert words["line: OSUB better than TS for K ≥ 20"] == "holds"
    assert words["p = log(K)/K: UTS/TS falls from 0.66 to 0.19"] == "holds"
    assert words["p = log(K)/K: KLUCB is worst at every K"] == "holds"
    # 1000/1151 = 0.87 in the table against 0.94 in the text
    assert words["p = log(K)/K: UTS/OSUB rises from 0.45 to 0.94"] == "does not hold"
    # TS 436 below UTS 437
    text = "UTS has the smallest regret in every case but K = 1000, line"
    assert words[text] == "does not hold"


def test_findings_survive_a_file(made, tmp_path):
    """Graphs and trials, samples and checkpoints, each in their place."""
    rng = np.random.default_rng(0)
    kept = []
    for cell in (("Table 2", 50, "line"), ("Table 1", 17, "triangle")):
        one = made.finding(cell, "TS", made.base())
        shuffled = dataclasses.replace(
            one, final=rng.random(one.final.shape), curves=rng.random(one.curves.shape)
        )
        kept.append(shuffled)
    planned = [one.setting for one in kept]
    found = Findings(kept, planned)
    again = findings.load(found.save(tmp_path / "findings.parquet"))
    assert list(again.settings) == planned
    for one, two in zip(kept, again.all, strict=True):
        assert two.final.shape == one.final.shape and two.curves.shape == one.curves.shape
        assert np.allclose(one.final, two.final) and np.allclose(one.curves, two.curves)
        assert one.setting == two.setting and one.policy == two.policy
