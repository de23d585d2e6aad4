"""Tables and figures for papers: what they say, that LaTeX takes them, and that fonts are whole."""

import re
import shutil
import subprocess

import matplotlib
import numpy as np
import pytest

import unimodal as um
from unimodal.report import paper_figures, printed_tables
from unimodal.report.printed_tables import Cell
from unimodal.results.pictures import KINDS
from unimodal.results.result import Run

ROUNDS = np.array([1, 10, 100, 1000])
NASTY = r"a_b{c} 50% $x^2$ #1 ~ \end & κ 中 |p| `q` <b> é"


def made_up(problem=None, **regrets):
    """A result whose regrets grow evenly to these."""
    runs = {}
    for name, last in regrets.items():
        regret = np.outer(np.asarray(last, dtype=float), [0.1, 0.2, 0.5, 1.0])
        runs[name] = Run(um.UTS(name=name), regret, np.ones((len(last), 9), dtype=np.int64))
    return um.Result(problem or um.problems.triangular(9), 1, ROUNDS, runs)


EVEN = np.arange(11) * 10.0


@pytest.fixture
def result():
    """The best, one that cannot be told from it, and one that can."""
    return made_up(best=EVEN + 10, near=EVEN[::-1] + 12, far=EVEN + 300)


def test_the_best_are_bold_and_digits_follow_the_interval(result):
    lines = result.to_latex().splitlines()
    assert lines[5:8] == [
        r"best & \textbf{60} $\pm$ 22 & 60 & 105 \\",
        r"near & \textbf{62} $\pm$ 22 & 62 & 107 \\",
        r"far & 350 $\pm$ 22 & 350 & 395 \\",
    ]
    assert result.to_markdown().splitlines()[2:5] == [
        "| best | **60** ± 22 | 60 | 105 |",
        "| near | **62** ± 22 | 62 | 107 |",
        "| far | 350 ± 22 | 350 | 395 |",
    ]
    assert "11 trials" in lines[-2] and "Bold" in lines[-2]


def test_what_is_alone_is_not_bold():
    for alone in (made_up(one=EVEN), made_up(one=[1.0], two=[2.0])):
        assert "textbf" not in alone.to_latex() and "**" not in alone.to_markdown()


def test_a_marked_mean_has_its_mark_and_its_note():
    result = made_up(skewed=np.append(np.zeros(10), 1100.0), even=EVEN)
    assert r"$^\dagger$ &" in result.to_latex()
    assert "$^\\dagger$ skewed: 1 of 11 trials" in result.to_latex()
    assert "† skewed: 1 of 11 trials" in result.to_markdown()


def test_names_are_shown_as_they_are():
    result = made_up(**{NASTY: EVEN, "two\nlines": EVEN})
    row = result.to_latex().splitlines()[5]
    assert row.startswith(r"a\_b\{c\} 50\% \$x\textasciicircum{}2\$ \#1 \textasciitilde{}")
    assert r"\textbackslash{}end \& $\kappa$ \texttt{U+4E2D}" in row
    rows = result.to_markdown().splitlines()[2:4]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "\\<b\\>" in rows[0] and "two\\\\nlines" in rows[1]


def test_numbers_in_cells_and_words_in_cells():
    cells = [Cell("3 policies", True), Cell("-5 −12 +6", True), Cell("0.5", True), Cell("–")]
    assert printed_tables.latex(["a"] * 4, [cells]).splitlines()[5] == (
        r"\textbf{3} policies & \textbf{$-$5} $_{-12}^{+6}$ & \textbf{0.5} & -- \\"
    )


def test_a_result_of_a_moving_peak_and_of_no_regret_has_a_table():
    moving = um.problems.drifting_line(9, 1000, 0.01)
    assert made_up(moving, one=EVEN, two=EVEN).to_latex()
    assert "0" in made_up(one=EVEN * 0, two=EVEN * 0).to_markdown()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", ["column", "page", "ieee page", 2, 12.5])
def test_a_figure_has_its_size_and_nothing_is_cut_off(kind, size, result, tmp_path):
    ax = result.plot(kind=kind, size=size)
    figure = ax.figure
    figure.savefig(tmp_path / "x.png")
    assert figure.get_size_inches()[0] == paper_figures.width_of(size)
    for text in [ax.xaxis.label, ax.yaxis.label, *ax.texts]:
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1, text


def test_letters_of_a_pdf_are_embedded_and_have_the_font(result, tmp_path):
    result.plot(size="column", font="serif", kind="ratio").figure.savefig(tmp_path / "x.pdf")
    data = (tmp_path / "x.pdf").read_bytes()
    assert b"/Subtype /Type3" not in data and b"/FontFile2" in data and b"Serif" in data
    assert matplotlib.rcParams["pdf.fonttype"] == 3  # nothing else is changed


def test_the_lower_bound_is_drawn(result):
    c = result.problem.lower_bound
    bound = result.plot(kind="log-log").lines[-1]
    assert np.allclose(bound.get_ydata(), c * np.log(bound.get_xdata()))
    assert result.plot(kind="tail").lines[-1].get_xdata()[0] == pytest.approx(c * np.log(1000))
    ratio = result.plot(kind="ratio")
    assert ratio.lines[0].get_ydata()[-1] == pytest.approx(60 / (c * np.log(1000)))
    assert ratio.lines[-1].get_ydata()[0] == 1


def test_the_tail_is_the_share_of_trials_above(result):
    line = result.plot(kind="tail").lines[0]
    share = {x: y for x, y in zip(*line.get_data(), strict=True)}
    assert share[10.0] == pytest.approx(10 / 11) and share[100.0] == pytest.approx(1 / 11)
    assert line.get_ydata()[0] == 1.0


@pytest.mark.parametrize("kind", ["regret", "log-log", "tail"])
@pytest.mark.parametrize("size", [None, "column"])
def test_edges_have_a_figure(kind, size, tmp_path):
    moving = um.problems.drifting_line(9, 1000, 0.01)
    none = made_up(one=EVEN * 0)
    single = um.simulate(um.problems.triangular(3), um.UTS(), horizon=1, trials=1)
    for made in (made_up(moving, one=EVEN), none, single, made_up(**{NASTY[:20]: EVEN})):
        made.plot(kind=kind, size=size).figure.savefig(tmp_path / "x.png")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": "colum"}, "did you mean 'column'"),
        ({"size": 0}, "must be from 2.0 to 40 inches"),
        ({"size": float("nan")}, "'size' of a figure"),
        ({"size": [3]}, "'size' of a figure"),
        ({"font": "Comic Sons"}, "unknown font on this machine"),
        ({"font": 7}, "unknown font on this machine"),
        ({"kind": "pie"}, "Known are regret, log-log, ratio, tail"),
        ({"scale": "cubic"}, "Known are log, linear"),
        ({"ax": 1, "size": "page"}, "leave out 'ax'"),
    ],
)
def test_mistakes_get_a_sentence(given, said, result):
    with pytest.raises(um.UnimodalError, match=said):
        result.plot(**given)


def test_no_ratio_where_there_is_no_bound():
    moving = um.problems.drifting_line(9, 1000, 0.01)
    tied = um.Problem(um.graphs.line(9), [0.5] * 9)
    for problem in (moving, tied):
        with pytest.raises(um.UnimodalError, match="take another kind"):
            made_up(problem, one=EVEN).plot(kind="ratio")
    short = um.simulate(um.problems.triangular(3), um.UTS(), horizon=1, trials=1)
    with pytest.raises(um.UnimodalError, match="a longer horizon"):
        short.plot(kind="ratio")


@pytest.mark.full
def test_latex_compiles_tables_and_figures(result, tmp_path):
    """With Debian's texlive-latex-recommended; what it says of a letter is an error."""
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex here: apt install texlive-latex-recommended")
    nasty = made_up(**{NASTY: EVEN, "skewed": np.append(np.zeros(10), 1100.0)})
    body = [result.to_latex(), nasty.to_latex()]
    for size in ("column", "page"):
        for kind in KINDS:
            name = f"{kind}-{size}.pdf"
            result.plot(kind=kind, size=size).figure.savefig(tmp_path / name)
            body.append(rf"\includegraphics{{{name}}}")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx,textcomp}"
    text = "\n\n".join([head, r"\begin{document}", *body, r"\end{document}"])
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "LaTeX Error" not in done.stdout and "not set up" not in done.stdout
