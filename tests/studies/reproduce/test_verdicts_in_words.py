"""Final verdicts: in a file and back, in words, on the page and in the terminal."""

import re

import pytest

from unimodal.cli import reproduce_tables
from unimodal.errors import UnimodalError
from unimodal.studies.reproduce import exports, interim_estimates, page
from unimodal.studies.reproduce.added_samples import size_at, trials_of
from unimodal.studies.reproduce.claims import CLAIMS
from unimodal.studies.reproduce.coverage import Errors
from unimodal.studies.reproduce.findings import Findings
from unimodal.studies.reproduce.interim_estimates import Cost, InterimEstimates
from unimodal.studies.reproduce.numbers import all_numbers
from unimodal.studies.reproduce.sequential_test import Estimate
from unimodal.studies.reproduce.settings import FULL, settings
from unimodal.studies.reproduce.tables import all_rows
from unimodal.studies.reproduce.verdicts_in_words import final_claim, final_numbers, would_take

CLAIM = {claim.text: claim for claim in CLAIMS}
WINS = "Δ = 0.002, K = 17: UTS is ahead at T = 10⁷"
ORDER = "p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K"
TIE = "line: TS better than OSUB for K ≤ 10"
OPEN = "p = 5/K, K = 1000: UTS is ahead at T = 10⁶"
LOST = "p = 0.1: TS better than OSUB at K = 5"


def sure(value, samples=800):
    """An estimate whose interval is a hundredth of its value."""
    return Estimate(value, abs(value) / 500, 0.0, samples - 1, samples, 20)


def made():
    """All comparisons hold at the second look, but for three claims; numbers are the paper's."""
    looks = {}
    for claim in CLAIMS:
        for one in claim.rule.comparisons:
            looks[one.key] = [Estimate(0.1, 1.0, 0.0, 99, 100, 20), sure(0.3)]
    looks[CLAIM[TIE].rule.comparisons[1].key] = [Estimate(0.001, 0.0005, 0.0, 799, 800, 20)]
    looks[CLAIM[OPEN].rule.comparisons[0].key] = [Estimate(0.1, 0.1, 0.0, 799, 800, 20)]
    looks[CLAIM[LOST].rule.comparisons[0].key] = [sure(-0.2)]
    for number in all_numbers():
        looks[number.key] = [sure(number.reported.value, 100)]
    wide, off = (n for n in all_numbers() if (n.setting.n_arms, n.table) == (20, "Table 3"))
    looks[wide.key] = [Estimate(160.0, 20.0, 0.0, 9, 10, 2)]
    looks[off.key] = [sure(60.0, 100)]
    return InterimEstimates(
        looks, "unimodal x", {"Appendix B: K = 1000, p = 5/K, T = 1000000: UTS": 0.6}
    )


def test_every_word_comes_out_with_what_it_took():
    decided = made()
    words = {claim.text: final_claim(decided, claim) for claim in CLAIMS}
    assert words[WINS].text == "holds" and words[LOST].text == "does not hold"
    assert words[ORDER].note.startswith(
        "All 18 comparisons hold. It rests on no lost trial: one in "
    )
    assert re.fullmatch(r"too close to call, ± 0\.\d+ %", words[TIE].text)
    assert words[OPEN].text == "open"
    assert re.match(r"It would take about [\d,]+ trials more \(", words[OPEN].note)
    assert words[LOST].note.startswith("K = 5, p = 0.1: TS/OSUB 1.20")
    line = CLAIM[WINS].rule.comparisons[0].setting
    assert words[WINS].trials == 2 * trials_of(line, size_at(line, 1)) == 400


def test_numbers_have_a_final_verdict_too():
    finals = final_numbers(made())
    assert len(finals) == 114
    assert finals["Table 2", 50, "line", "UTS"].text == "agrees"
    wide, off = (finals["Table 3", 20, "0.1", policy] for policy in ("TS", "OSUB"))
    assert wide.word == "open" and wide.text.startswith("open: it would take about ")
    assert off.text == "contradicts by -52 %" and off.trials == 1000


def test_measured_times_stand_in_for_the_model():
    decided = made()
    ruling = decided.ruling(CLAIM[OPEN])
    setting = ruling.parts[0][0].setting
    cost = decided.would_take(ruling)
    each = 0.6 + setting.seconds_a_trial("OSUB")
    assert cost.seconds == pytest.approx(cost.trials / 2 * each)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (None, "no number of trials that we could run would be enough"),
        (Cost(400, 2.0), "it would take about 400 trials more (seconds)"),
        (Cost(12000, 90.0), "it would take about 12,000 trials more (1.5 core-minutes)"),
        (Cost(10**6, 72000.0), "it would take about 1,000,000 trials more (1,200 core-minutes)"),
    ],
)
def test_what_it_would_take_in_words(cost, words):
    assert would_take(cost) == words


def test_a_file_keeps_it_to_the_last_digit(tmp_path):
    decided = made()
    decided.coverage = [Errors("K = 17, Δ = 0.001", 1, 5000, 0.004, 0.03, 0.06)]
    path = decided.save(tmp_path / "decided.parquet")
    decided.save_rates(tmp_path / interim_estimates.RATES)
    again = interim_estimates.load(path)
    assert again.estimates == decided.estimates and again.rates == decided.rates
    assert again.coverage == decided.coverage and again.made_with == "unimodal x"
    assert again.save(tmp_path / "again.parquet").read_bytes() == path.read_bytes()


def test_a_file_of_another_kind_gets_one_sentence(tmp_path):
    decided = made()
    del decided.estimates[all_numbers()[0].key]
    lacking = decided.save(tmp_path / "lacking.parquet")
    (tmp_path / "text.parquet").write_text("no")
    for path in (lacking, tmp_path / "text.parquet"):
        with pytest.raises(UnimodalError, match=r"decided\.parquet of a reproduction"):
            interim_estimates.load(path)
    path = made().save(tmp_path / "decided.parquet")
    (tmp_path / interim_estimates.RATES).write_text('{"x": -1.0}')
    with pytest.raises(UnimodalError, match=r"decided\.parquet of a reproduction"):
        interim_estimates.load(path)


def test_the_page_shows_both_verdicts(monkeypatch):
    monkeypatch.setattr(page, "_figures", lambda found, begin: [])
    decided, nothing = made(), Findings([], settings(FULL))
    decided.coverage = [Errors("K = 17, Δ = 0.001", 1, 5000, 0.004, 0.03, 0.06)]
    written = page.report(nothing, "full", "", decided)
    text = " ".join(re.sub(r"<[^>]*>", " ", written).split())
    assert "In the end, with 400 trials: holds" in text
    assert "At the paper's scale: waits for runs not made at this scale" in text
    assert f"for all {decided.questions} comparisons and numbers together" in text
    assert "K = 17, Δ = 0.001 1 5,000 0.40 % 3.00 % 6.00 %" in text
    assert "Too close to call: within ± 3 %" in text
    without = page.report(nothing, "full", "")
    assert "In the end" not in without and 'id="method"' not in without


def test_tables_for_programs_have_both():
    decided, nothing = made(), Findings([], settings(FULL))
    claims = exports._claims(nothing, decided)
    assert claims.columns[-3:] == ["final_verdict", "final_trials", "final_finding"]
    frame = exports._frame(all_rows(nothing), decided)
    assert frame.columns[-4:] == ["final", "final_half_width", "final_trials", "final_verdict"]
    assert "final" not in exports._frame(all_rows(nothing)).columns


def test_the_terminal_names_what_does_not_hold_and_what_is_open():
    decided, nothing = made(), Findings([], settings(FULL))
    lines = list(reproduce_tables.summary(nothing, all_rows(nothing), decided))
    assert "With trials added, of 114 numbers: 112 agree, 1 open, 1 contradicts." in lines
    for title, text in (("Does not hold:", LOST), ("Too close to call:", TIE), ("Open:", OPEN)):
        assert f"  - {text}" in lines[lines.index(title) :]
