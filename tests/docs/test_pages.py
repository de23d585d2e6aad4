"""The pages of studies are what this code makes of the data beside them: `make pages` renews them.

Nothing is simulated and no picture is painted: what a figure shows is compared by its hash.
"""

import re
from pathlib import Path

import pytest

from unimodal.report import page as html
from unimodal.studies import pages

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
NAMES = [folder.name for folder in pages.studies(STUDIES)]
RENEW = "run `make pages`"


def without_pictures(text):
    return re.sub(r"<svg .*?</svg>\n?", "", text, flags=re.DOTALL)


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, by the name of the file: hashes in place of pictures."""
    found = {}

    def draw(figure, path, dpi=130):
        found[path.name] = pages.fingerprint(figure)

    monkeypatch.setattr(pages, "draw", draw)
    monkeypatch.setattr(
        html, "figure", lambda drawn, name, caption, wide=False: html.Figure("", caption, wide)
    )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_up_to_date(name, drawn, tmp_path):
    pages.load(STUDIES / name).render(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made
    for file in made:
        written = (STUDIES / name / file).read_text(encoding="utf-8")
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert without_pictures(written) == text, f"{name}/{file} is out of date: {RENEW}"
    for file, shown in drawn.items():
        stored = pages.fingerprint_in(STUDIES / name / file)
        assert stored == shown, f"{name}/{file} is out of date: {RENEW}"


def test_every_folder_is_a_study_with_all_of_its_files():
    folders = sorted(path.name for path in STUDIES.iterdir() if path.is_dir())
    assert folders == NAMES and len(NAMES) == 15
    for name in set(NAMES) - {"reproduction", "comparison"}:
        for file in (pages.STUDY, pages.TEMPLATE, pages.DATA, pages.PAGE):
            assert (STUDIES / name / file).is_file(), f"{name} has no {file}"


@pytest.mark.parametrize("name", NAMES)
def test_a_study_has_the_two_entries(name):
    study = pages.load(STUDIES / name)
    assert callable(study.run) and callable(study.render)


def test_a_figure_with_other_numbers_is_noticed(tmp_path):
    from matplotlib.figure import Figure

    def figure(height, word="a"):
        made = Figure()
        ax = made.subplots()
        ax.errorbar([1, 2], [1, height], [0.1, 0.2], label=word)
        ax.legend()
        return made

    path = pages.draw(figure(3), tmp_path / "x.png")
    kept = path.read_bytes()
    assert pages.fingerprint_in(path) == pages.fingerprint(figure(3))
    pages.draw(figure(3), path)
    assert path.read_bytes() == kept
    others = {pages.fingerprint(figure(3.001)), pages.fingerprint(figure(3, "b"))}
    assert len(others) == 2 and pages.fingerprint_in(path) not in others
    pages.draw(figure(4), path)
    assert pages.fingerprint_in(path) == pages.fingerprint(figure(4))


def test_a_file_without_a_hash_has_none(tmp_path):
    from matplotlib.figure import Figure

    Figure().savefig(tmp_path / "x.png")
    assert pages.fingerprint_in(tmp_path / "x.png") is None
    assert pages.fingerprint_in(tmp_path / "nowhere.png") is None


def test_a_template_that_names_what_is_not_given_fails(tmp_path):
    (tmp_path / pages.TEMPLATE).write_text("{{ number }} and {{ other }}\n")
    with pytest.raises(Exception, match="'other' is undefined"):
        pages.fill_in(tmp_path / pages.TEMPLATE, tmp_path, number=1)
    page = pages.fill_in(tmp_path / pages.TEMPLATE, tmp_path, number=1, other="<b>")
    assert page.read_text() == "1 and <b>\n"
