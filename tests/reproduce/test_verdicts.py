"""Verdicts and claims: each word can come out, and comes out for the right reason."""

import dataclasses

import numpy as np
import pytest

from unimodal.analysis import Interval
from unimodal.reproduce import deciders as by
from unimodal.reproduce import findings, paper, rows
from unimodal.reproduce.claims import CLAIMS
from unimodal.reproduce.experiments import FULL, settings
from unimodal.reproduce.findings import Finding, Findings
from unimodal.reproduce.verdicts import judge
from unimodal.simulation import checkpoint_rounds
from unimodal.work.tasks import CHECKPOINTS


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


def test_correcting_for_many_cells_allows_more():
    """3 combined standard errors: beyond 99 % for one cell, within it for the worst of 96."""
    ours, reported = pm(100.0, 1.98), pm(104.24, 1.98)
    assert judge(ours, ours, reported, samples=100, cells=1).word == "differs"
    assert judge(ours, ours, reported, samples=100, cells=96).word == "agrees"


def made_up(change=None):
    """Findings with the paper's own means and spreads everywhere, or with some changed."""
    rng = np.random.default_rng(0)
    found = []
    for setting in settings(FULL):
        for policy in setting.policies:
            key = (setting.n_arms, setting.density, policy)
            mean, spread = 100.0, 1.0
            if setting.experiment == "Table 2":
                mean, spread = paper.TABLE_2[key].value, paper.TABLE_2[key].half_width / 2
            if setting.experiment == "Table 3":
                mean = paper.TABLE_3[setting.n_arms, policy]
            if setting.experiment == "Table 1":
                mean = 100 * paper.TABLE_1[setting.n_arms].get(policy, pm(1, 0)).value
            if change is not None:
                mean = change(setting, policy, mean)
            noise = rng.normal(size=(setting.graphs, setting.trials))
            noise -= noise.mean()
            final = mean + 0.2 * spread * noise
            samples = final[0] if setting.graphs == 1 else final.mean(axis=1)
            checkpoints = len(checkpoint_rounds(setting.horizon, CHECKPOINTS, "log"))
            curves = np.linspace(0.1, 1, checkpoints) * samples[:, None]
            found.append(Finding(setting, policy, final, curves))
    return Findings(found, settings(FULL))


def test_the_papers_own_numbers_agree_with_themselves():
    words = [row.verdict.word for row in rows.all_rows(made_up())]
    assert len(words) == 114 and set(words) == {"agrees"}


def test_a_planted_difference_is_seen_and_named():
    def change(setting, policy, mean):
        wrong = setting.experiment == "Table 2" and setting.n_arms == 50 and policy == "TS"
        return 1.2 * mean if wrong else mean

    off = [row for row in rows.all_rows(made_up(change)) if row.verdict.word != "agrees"]
    assert len(off) == 4 and {(row.n_arms, row.policy) for row in off} == {(50, "TS")}
    assert str(off[0].verdict) == "differs by +20 %"


def test_a_difference_is_explained_by_a_choice_that_removes_it():
    def change(setting, policy, mean):
        if (setting.n_arms, setting.density) != (50, "line"):
            return mean
        if setting.experiment == "Open choices":
            return 156 if policy == "UTS(ties=lowest)" else 400
        return 1000 if policy == "UTS" else mean

    made = [row for row in rows.all_rows(made_up(change)) if row.verdict.word == "contradicts"]
    assert [row.explained for row in made] == ["UTS(ties=lowest)"]


def test_what_is_not_run_is_said_and_never_filled_in():
    none = Findings([], settings(FULL))
    made = rows.all_rows(none)
    assert len(made) == 114
    assert all(row.verdict.word == "not run at this scale" for row in made)
    assert all(row.over_graphs is None for row in made)
    assert {claim.decide(none)[0] for claim in CLAIMS} == {by.WAITS}


def test_every_claim_says_what_decides_it():
    assert all(len(claim.test) > 20 and claim.where for claim in CLAIMS)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS) == 38


def test_claims_on_the_papers_own_numbers():
    """What Table 2 says of the text: most claims hold on its own means, two do not."""
    words = {claim.text: claim.decide(made_up())[0] for claim in CLAIMS}
    assert words["p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K"] == by.HOLDS
    assert words["p = line: OSUB better than TS for K ≥ 20"] == by.HOLDS
    assert words["p = 0.1: OSUB better than TS for K ≥ 10"] == by.HOLDS
    assert words["p = log(K)/K: UTS/TS falls from 0.66 to 0.19"] == by.HOLDS
    # 1000/1151 = 0.87 in the table against 0.94 in the text
    assert words["p = log(K)/K: UTS/OSUB rises from 0.45 to 0.94"] == by.FAILS
    # TS 436 below UTS 437
    assert words["UTS has the smallest regret in every case but K = 1000, p = line"] == by.FAILS


def test_a_claim_turned_around_does_not_hold():
    def change(setting, policy, mean):
        swap = {"UTS": "KLUCB", "KLUCB": "UTS"}
        if setting.experiment == "Table 2":
            return paper.TABLE_2[setting.n_arms, setting.density, swap.get(policy, policy)].value
        return mean

    words = {claim.text: claim.decide(made_up(change))[0] for claim in CLAIMS}
    assert words["p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K"] == by.FAILS
    assert words["p = log(K)/K: UTS is best at every K"] == by.FAILS


def test_findings_survive_a_file(tmp_path):
    found = made_up()
    again = findings.load(findings.save(found, tmp_path / "findings.parquet"))
    assert again.planned == found.planned
    one, two = (f.get("Table 2", 50, "line", "TS") for f in (found, again))
    assert np.allclose(one.final, two.final) and np.allclose(one.curves, two.curves)
    assert dataclasses.asdict(one.setting) == dataclasses.asdict(two.setting)
