"""`unimodal compare` at a tiny size: the page, the data, going on, and one sentence a mistake."""

import contextlib
import re
import sqlite3

import numpy as np
import pytest
from typer.testing import CliRunner

from unimodal.cli import app
from unimodal.cli import compare_output as command
from unimodal.errors import UnimodalError
from unimodal.report import progress
from unimodal.studies.compare import comparison
from unimodal.studies.finished_tasks import opened
from unimodal.studies.setting import Setting

# Pairs of policies that share their compiled code: UTS is compiled, and KLUCB.
POLICIES = ("UTS", "KLUCB", "UTS(period=2)", "KLUCB(c=0)")
TINY = [
    Setting("line", "line:9", "by distance", POLICIES, 2000, 2, 3),
    Setting("line, smooth", "line:9", "smooth", POLICIES, 2000, 2, 3),
    Setting("rank one", "rank_one:3x3", "rank one", POLICIES, 2000, 2, 3),
]


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("comparison")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "settings", lambda scale: TINY)
        done = run("--out", out)
    assert done.exit_code == 0, done.output
    assert "over 3 families" in done.stdout
    return out


def test_the_page_has_a_ranking_and_a_picture_and_a_table_a_family(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == 3 and page.count("<table>") == 2 + 3
    assert "://" not in re.sub(r'(xmlns|"-//)[^>]*', "", page)  # nothing is loaded
    text = (folder / "tables.md").read_text(encoding="utf-8")
    for name in (*POLICIES, "line, smooth", "rank one"):
        assert name in page and name in text


def test_numbers_on_the_page_are_those_of_the_run(folder):
    """The mean, median, 99 % quantile and worst trial of a row, from the regrets in the store."""
    with opened(folder / "finished.db") as store:
        kept = store.all_of(TINY[0], "KLUCB")
    final = kept[:, :, -1]
    one = comparison.load(folder / "comparison.parquet").get(TINY[0], "KLUCB")
    assert np.allclose(one.final, final, rtol=1e-6)
    assert one.milliseconds == pytest.approx(1000 * np.median(kept[:, :, 0]), rel=1e-5)
    section = (folder / "index.html").read_text(encoding="utf-8").split("<h2>line</h2>")[1]
    row = re.search(r"<td[^>]*>KLUCB</td>(.*?)</tr>", section)[1]
    cells = re.findall(r"<td>(.*?)</td>", row)
    assert cells[0] == str(one.over_graphs) and float(cells[0].split()[0]) == pytest.approx(
        final.mean(), rel=0.05
    )
    quantiles = (*np.quantile(final, (0.5, 0.99)), final.max())
    assert [float(cell.replace(",", "")) for cell in cells[1:4]] == [
        round(one) for one in quantiles
    ]


def test_the_same_page_comes_from_the_saved_data(folder, tmp_path):
    done = run("--from", folder / "comparison.parquet", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    for name in ("index.html", "tables.md"):
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()


def test_it_goes_on_where_it_was(folder, tmp_path, monkeypatch):
    """What is finished is not run again; --only leaves the other families out."""
    monkeypatch.setattr(command, "settings", lambda scale: TINY)
    assert run("--only", "smooth", "--out", tmp_path).exit_code == 0
    assert (tmp_path / "index.html").read_text(encoding="utf-8").count("<svg ") == 1
    before = _times(tmp_path)
    assert run("--out", tmp_path).exit_code == 0
    after = _times(tmp_path)
    assert before.items() <= after.items() and len(after) == len(_times(folder)) == 3 * len(before)


def test_progress_is_told_in_rounds(tmp_path, monkeypatch):
    """4 policies × 2 graphs × 3 trials × 2,000 rounds; what is finished counts at once."""
    told = []

    @contextlib.contextmanager
    def bar(title, total):
        told.append((title, total))
        yield lambda done: told.append(done)

    monkeypatch.setattr(progress, "bar", bar)
    command.run(TINY, "smooth", tmp_path)
    assert told[0] == ("Comparing", 48_000) and told[-1] == 48_000
    assert told[1:] == sorted(told[1:])
    told.clear()
    assert len(command.run(TINY[:2], "", tmp_path).settings) == 2
    assert told[0] == ("Comparing", 96_000) and told[8:10] == [48_000, 54_000]
    assert len(told) == 1 + 16 and told[-1] == 96_000


def _times(folder):
    """The rows kept, whose first numbers are times and so differ if a task is run again."""
    return dict(sqlite3.connect(folder / "finished.db").execute("SELECT key, regret FROM tasks"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "circle"], "--only must be part of one of 'line'"),
        (["--from", "nowhere"], "nowhere must be the comparison.parquet"),
        (["--from", "FILE"], "must be the comparison.parquet of a comparison"),
        (["--from", "FILE", "--quick"], "leave out --quick and --only"),
        (["--from", "FILE", "--dask", "10.0.0.1:8786"], "leave out --dask"),
        (["--dask", "nonsense"], "no Dask scheduler answers at nonsense"),
        (["--out", "FILE"], "--out must be a folder"),
    ],
)
def test_a_mistake_gets_one_sentence(arguments, words, tmp_path):
    (tmp_path / "file").write_text("no")
    done = run(*(tmp_path / "file" if a == "FILE" else a for a in arguments))
    assert done.exit_code != 0 and words in str(done.exception)
    assert str(done.exception).count("\n") == 0


def test_findings_of_a_reproduction_are_no_comparison():
    done = run("--from", "docs/studies/reproduction/findings.parquet", "--out", "never-made")
    assert "must be the comparison.parquet" in str(done.exception)


def test_unknown_means_get_a_sentence():
    with pytest.raises(UnimodalError, match="did you mean 'smooth'"):
        Setting("line", "line:9", "smoth", POLICIES, 10, 1, 1).problem(0)
