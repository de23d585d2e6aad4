"""The report in docs/studies/reproduction is what this code makes of the findings beside it."""

import html
import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unimodal.studies.reproduce import exports, findings, interim_estimates, made_connected, page
from unimodal.studies.reproduce.tables import all_rows
from unimodal.studies.reproduce.verdicts_in_words import final_numbers

FOLDER = Path(__file__).parents[3] / "docs" / "studies" / "reproduction"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def found():
    return findings.load(FOLDER / "findings.parquet")


@pytest.fixture(scope="module")
def decided():
    """What was decided with samples added; None where that was not run."""
    path = FOLDER / "decided.parquet"
    return interim_estimates.load(path) if path.exists() else None


def alike(text, other):
    """The same words; numbers to one unit of their last digit (the file keeps seven digits)."""
    assert NUMBER.sub("#", text) == NUMBER.sub("#", other)
    for one, two in zip(NUMBER.findall(text), NUMBER.findall(other), strict=True):
        places = len(one.partition(".")[2])
        assert len(two.partition(".")[2]) == places
        apart = abs(float(one.replace(",", "")) - float(two.replace(",", "")))
        assert apart <= 1.01 * 10**-places, (one, two)


def same(made, written):
    """Two tables are the same, up to what the file of findings has rounded."""
    assert made.columns == written.columns and made.height == written.height
    for one, two in zip(made.iter_rows(), written.iter_rows(), strict=True):
        for cell, other in zip(one, two, strict=True):
            if isinstance(cell, float):
                assert cell == pytest.approx(other, rel=1e-5, abs=1e-5), (one, two)
            elif isinstance(cell, str):
                alike(cell, other or "")
            else:
                assert cell == other, (one, two)


def test_claims_are_decided_as_the_page_says(found, decided):
    claims = pl.read_csv(FOLDER / "claims.csv")
    assert claims.height == 38
    same(exports._claims(found, decided), claims)


def test_numbers_are_judged_as_the_page_says(found, decided):
    rows = all_rows(found)
    alike(exports.markdown(rows, decided), (FOLDER / "tables.md").read_text(encoding="utf-8"))
    tables = pl.read_csv(FOLDER / "tables.csv")
    assert tables.height == 114
    same(exports._frame(rows, decided), tables)


@pytest.mark.parametrize(
    ("table", "first"),
    [
        ("Table 1", ["17", "line", "KLUCB", "3.08 ± 0.05"]),
        ("Table 2", ["5", "1", "KLUCB", "34 ± 0.4"]),
        ("Table 3", ["5", "0.1", "TS", "25"]),
    ],
)
def test_the_tables_of_the_page_are_its_rows(found, decided, table, first):
    written = (FOLDER / "index.html").read_text(encoding="utf-8")
    start = written.index(f"<h3>{table} ")
    written = written[start : written.index("</table>", start)]
    texts = (re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", written))
    cells = [html.unescape(text) for text in texts]
    finals = final_numbers(decided) if decided else None
    made = [str(cell) for line in page._lines(table, all_rows(found), finals) for cell in line]
    assert cells[:4] == first
    for one, two in zip(cells, made, strict=True):
        alike(one, two)


def test_the_figure_of_table_2_has_our_ratios_and_the_papers(found):
    """p = 1/2, the second panel: TS relative to UTS, ours beside 23/15, 50/35, … of the paper."""
    panel = page.table_2_figure(found).axes[1]
    assert panel.get_title("left") == "p = 1/2"
    means = {}
    for name in ("TS", "UTS"):
        means[name] = [
            found.at("Table 2", k, "1/2", name).final.mean() for k in (5, 10, 20, 50, 100, 1000)
        ]
    ours = [ts / uts for ts, uts in zip(means["TS"], means["UTS"], strict=True)]
    theirs = [23 / 15, 50 / 35, 102 / 70, 262 / 182, 528 / 372, 5262 / 3718]
    drawn = [list(line.get_ydata()) for line in panel.lines if len(line.get_ydata()) == 6]
    for expected in (ours, theirs, [1.0] * 6):
        assert any(one == pytest.approx(expected) for one in drawn)


def test_the_pictures_are_the_papers_figures(found, monkeypatch):
    """Which cells are drawn, by the numbers of the paper's figures; and the page has them all."""

    def named(title, complete):
        (setting,) = {one.setting for one in complete.values()}
        return f"{title} | {setting.name} | {' '.join(complete)};"

    monkeypatch.setattr(page, "_curves", named)
    monkeypatch.setattr(page, "_multiples", lambda found: "")
    drawn = [curves.removesuffix(";") for curves in page._figures(found)[1:]]
    four = "UTS OSUB TS KLUCB"
    assert drawn == [
        f"Figure 1a | Table 1: K = 17, p = triangle | {four}",
        f"Figure 1b | Table 1: K = 129, p = triangle | {four}",
        f"Figure 2 | Table 2: K = 5, p = 1 | {four}",
        f"Figure 3a | Table 2: K = 5, p = log(K)/K | {four}",
        f"Figure 3b | Table 2: K = 20, p = log(K)/K | {four}",
        *(
            f"Appendix B, Δ = {step} | Appendix B: K = {k}, p = triangle, peak {high} | UTS OSUB"
            for k, step, high in (
                (17, 0.001, 0.108),
                (17, 0.002, 0.116),
                (17, 0.005, 0.14),
                (129, 0.001, 0.165),
                (129, 0.002, 0.23),
                (129, 0.005, 0.425),
            )
        ),
        *(f"Appendix B | Appendix B: K = 1000, p = {p} | UTS OSUB" for p in ("5/K", "10/K")),
    ]
    written = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert written.count("<figcaption>") == 1 + len(drawn)


def test_a_picture_has_means_intervals_and_both_theorems(made, monkeypatch):
    """Two policies on ten graphs: bounds are means over graphs, with log T + log log T at 10⁵."""
    seen = []
    monkeypatch.setattr(page.figures, "with_ratio", lambda *told: seen.extend(told))
    monkeypatch.setattr(page.page, "figure", lambda drawn, name, caption: caption)
    cell = ("Table 2", 5, "1")
    complete = {name: made.finding(cell, name, made.base()) for name in ("UTS", "TS")}
    caption = page._curves("Figure 2", complete)
    heading, rounds, curves, constant, theorem_2, needed = seen
    assert needed == {}
    assert heading == "Figure 2: K = 5, p = 1" and rounds[-1] == 10**5
    mean, low, high = curves["TS"]
    half = made.reach(0.95, 20.0)
    assert (mean[-1], low[-1], high[-1]) == pytest.approx((100, 100 - half, 100 + half))
    # Four neighbours with mean 0.1: 4·0.8/kl(0.1, 0.9), and kl(0.1, 0.9) = 0.8·log 9.
    assert constant == pytest.approx(4 / math.log(9))
    logs = math.log(1e5)
    assert theorem_2[-1] == pytest.approx(1.1 * constant * (logs + math.log(logs)))
    assert "10 graphs, 4 trials each" in caption and "c(μ) = 1.82;" in caption


def test_a_policy_beside_the_papers_is_drawn_relative_to_the_same_uts(made):
    """UTS has 100; beside it IMED has 50, and a KLUCB of 900 that is drawn instead of ours."""
    cell = ("Table 2", 20, "1/2")
    found = made.findings(
        made.finding(cell, name, factor * made.base())
        for name, factor in (("UTS", 1.0), ("KLUCB", 3.0))
    )
    beside = made.findings(
        made.finding(cell, name, factor * made.base())
        for name, factor in (("IMED", 0.5), ("KLUCB", 9.0))
    )
    drawn = sorted(
        float(line.get_ydata()[0])
        for line in page.table_2_figure(found, beside).axes[1].lines
        if list(line.get_xdata()) == [20]
    )
    assert drawn == pytest.approx([0.5, 1.0, 9.0])


def test_the_page_has_a_link_to_every_table_and_claim(found):
    written = (FOLDER / "index.html").read_text(encoding="utf-8")
    written = re.sub(r"<svg .*?</svg>", "", written, flags=re.DOTALL)
    links = re.findall(r'href="#([^"]*)"', written)
    assert {"table-1", "table-2", "table-3", "verdicts", "claim-1", "claim-38"} <= set(links)
    assert all(written.count(f'id="{link}"') == 1 for link in links)
    assert written.index("<i>Agrees</i>") < written.index("<h3>Table 1")  # the rule comes first


def test_a_line_and_no_other_way_fits_the_papers_numbers_of_few_arms():
    """Six numbers of K = 5, 10 and 20; two of K = 50, where graphs are mostly connected."""
    fits = made_connected.fits(made_connected.load(FOLDER / "made-connected.parquet"))
    assert len(fits) == 40
    agree = {said: counts for said, *counts, _ in page.way_fits(fits)}
    assert agree.pop("a line") == [6, 0]
    assert all(few < 6 and many == 2 for few, many in agree.values())


@pytest.mark.parametrize(("n_arms", "share"), [(2, 0.1), (3, 0.028), (5, 0.0080975), (50, 0.75)])
def test_the_share_of_connected_graphs(n_arms, share):
    """Of three arms 3·0.1²·0.9 + 0.1³ = 0.028; of five, trees alone are 125·0.1⁴·0.9⁶ = 0.0066."""
    assert made_connected.connected_share(n_arms, 0.1) == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize("way", made_connected.WAYS)
def test_every_way_makes_connected_graphs_of_its_kind(way):
    setting = made_connected.MadeConnected(way, 20, ("TS",), 10, 30, 1)
    edges = [setting.problem(graph).graph.n_edges for graph in range(30)]
    assert min(edges) >= 19  # a graph of ours is connected, or there is an error
    mean = {"line": 19, "rejection": 26, "joined": 22, "path": 36, "tree": 36}[way]
    assert np.mean(edges) == pytest.approx(mean, abs=3)
    assert (len(set(edges)) > 1) == (way != "line")


def test_open_choices_are_the_pages(found):
    written = (FOLDER / "open-choices.html").read_text(encoding="utf-8")
    again = page.open_choices(found, "full", "")
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text) for text in (written, again)]
    assert len(cells[0]) == 8 * 13 + 8 * 4
    for one, two in zip(*cells, strict=True):
        alike(one, two)
