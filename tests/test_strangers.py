"""Names that somebody else chose, on every page, terminal, figure and sheet: they stay names."""

import io
import json
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import unimodal as um
from unimodal import studies
from unimodal.campaigns.alarm_watch import AlarmWatch
from unimodal.campaigns.alarms import Alarm
from unimodal.campaigns.simulated_campaign import simulated_campaign
from unimodal.cli import app
from unimodal.cli import inspect_output as command
from unimodal.cli import simulate_output as screen
from unimodal.escape_text import printable
from unimodal.history_analysis.replay.replay_result import Estimate, Replay
from unimodal.policies import parse
from unimodal.report import (
    campaign_figures as campaigns,
)
from unimodal.report import (
    figures,
    page,
    progress,
    tables,
)
from unimodal.report import (
    ranking_figure as standings,
)
from unimodal.studies.compare import page as comparison_page
from unimodal.studies.reproduce import page as reproduction_page
from unimodal.studies.reproduce.findings import Finding, Findings
from unimodal.studies.reproduce.settings import Setting

# Each begins or ends something in one of the languages that pages and terminals are written in.
HOSTILE = [
    'agrees"><script>alert(1)</script>',
    "holds' onmouseover='alert(1)' x='",
    "undecided onload=alert(1)",
    "<img src=x onerror=alert(1)>",
    "</style></title></svg><script>alert(1)</script>",
    "<!-- ]]> --><svg/onload=alert(1)>",
    '"><a href="javascript:alert(1)">',
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#60;i&#62;",
    "two\nlines\r\n\u2028and more",
    "\x1b[31mred\x1b]0;title\x07\x9b2J\x00",
    "\u202eright to left\u2066",
    "$x^$ and $\\frac{1}{$",
    "[/x] [b] [link=http://x]",
    "=1+1",
    "_hidden",
    "a|b`c",
]
HIDDEN = ["\u202e", "\u2067", "\xad", "\u180e", "\U000e0041", "\u200b", "\x85"]
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069]")


def harmless(names):
    """Names of the same lengths, so that pages have the same parts."""
    return [f"n{number}".ljust(len(name), "n") for number, name in enumerate(names)]


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = Counter(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        assert not any(name.startswith("on") for name, _ in attributes), (tag, attributes)
        fixed = {name: value for name, value in attributes if name in ("class", "href", "src")}
        self.found[tag, tuple(name for name, _ in attributes), tuple(fixed.items())] += 1

    def handle_data(self, data):
        self.text.append(data)


def assert_same_elements(hostile, plain):
    """Hostile names have made no element and no attribute that plain ones do not make."""
    found, expected = Elements(hostile), Elements(plain)
    assert not any(tag == "script" for tag, *_ in found.found)
    assert {key for key in found.found if key[0] not in ("path", "use")} <= set(expected.found)
    assert not STEERING.search(hostile.replace("\n", ""))
    return found


def rehearsed(names):
    graph = um.graphs.star(len(names))  # so that all are around the leader
    graph = um.graphs.from_edges([(names[a], names[b]) for a, b in graph.edges()])
    problem = um.problems.by_distance(graph, names[0])
    return simulated_campaign(um.UTS(name=names[0]), problem, rounds=400, seed=3)


@pytest.fixture(scope="module")
def hostile():
    return rehearsed(HOSTILE)


@pytest.fixture(scope="module")
def plain():
    return rehearsed(harmless(HOSTILE))


def test_the_page_of_a_campaign(hostile, plain):
    found = assert_same_elements(um.inspect(hostile).html(), um.inspect(plain).html())
    for name in HOSTILE:
        assert any(text == printable(name) for text in found.text), name  # in a cell of its own


def compared(names, made_with):
    """A comparison as a file may hold it: any name for a case, and policies with any name."""
    policies = ("UTS", *(f"UTS(name={name!r})" for name in names))
    settings = [
        studies.Setting(name, "line:5", "by distance", policies, 100, 2, 3)
        for name in (names[0], "".join(names[1:]))
    ]
    rng, (rounds,) = np.random.default_rng(0), studies.Regrets.shapes(settings[0])["curve"]
    made = [
        studies.Regrets(setting, policy, rng.uniform(5, 9, (2, 3)), np.linspace(1, 7, rounds), 1.5)
        for setting in settings
        for policy in policies
    ]
    return studies.Outcomes(made, settings, made_with)


def test_the_page_of_a_comparison():
    found, plain = (compared(names, names[0]) for names in (HOSTILE, harmless(HOSTILE)))
    assert_same_elements(comparison_page.report(found), comparison_page.report(plain))
    text, expected = comparison_page.markdown(found), comparison_page.markdown(plain)
    assert "<" not in text and not STEERING.search(text) and "[link" not in text.replace(r"\[", "")
    for line, other in zip(text.splitlines(), expected.splitlines(), strict=True):
        assert line.replace(r"\|", "").count("|") == other.count("|")


def reproduced(names):
    """Both pages, with names where a file or a command can put them."""
    policies = ("UTS", *(f"UTS({name})" for name in names))
    setting = Setting("Open choices", 5, "line", policies, 100, 1, 4)
    rng = np.random.default_rng(0)
    made = [
        Finding(setting, policy, rng.uniform(5, 9, (1, 4)), rng.uniform(1, 9, (4, 3)))
        for policy in policies
    ]
    found = Findings(made, [setting])
    for name in (names[0], "".join(names[1:])):
        yield reproduction_page.report(found, name, names[0])
        yield reproduction_page.open_choices(found, names[0], name)


def test_the_pages_of_a_reproduction():
    names = harmless(HOSTILE)
    for ours, other in zip(reproduced(HOSTILE), reproduced(names), strict=True):
        assert_same_elements(ours, other)


def test_verdicts_have_their_colour_and_nothing_else_has():
    made = page.environment().get_template("parts.html.j2").module
    shown = made.table(("a", "b"), [("agrees", "agrees, +1 %"), ("x", "does not")], verdicts=(1,))
    assert '<td>agrees</td><td><span class="agrees">agrees, +1 %</span>' in shown
    assert '<span class="does">does not</span>' in shown


def test_a_page_runs_no_script_even_if_one_got_in():
    text = page.page("layout.html.j2", title="t")
    assert "Content-Security-Policy" in text and "default-src 'none'" in text
    assert "script-src" not in text


def printed(print_it):
    text = io.StringIO()
    print_it(Console(file=text, width=200, force_terminal=False))
    return text.getvalue()


def test_the_terminal_shows_control_characters_and_obeys_none(hostile, plain):
    text, other = (
        printed(lambda console, one=one: command.show(one, None, None, console))
        for one in (hostile, plain)
    )
    assert not STEERING.search(text) and r"\x1b[31mred" in text and "[/x] [b]" in text
    assert len(text.splitlines()) == len(other.splitlines())
    shown = str(um.inspect(hostile))
    assert not STEERING.search(shown) and len(shown.splitlines()) == 2 + 10


def test_a_policys_name_is_a_name_in_tables_figures_and_sheets(tmp_path):
    policies = [um.UTS(name=name) for name in HOSTILE]
    result = um.simulate(um.problems.triangular(3), policies, horizon=50, trials=2, progress=False)
    text = printed(lambda console: screen.show(console, result))
    assert not STEERING.search(text)
    for name in HOSTILE:
        assert any(line.startswith(f"  {printable(name)[:20]}") for line in text.splitlines())
    written = [text.get_text() for text in result.plot().texts]
    assert written[: len(HOSTILE)] == [figures.literal(name) for name in HOSTILE]
    screen.write(result, tmp_path, "log")
    assert list(um.load(tmp_path / "result.parquet")) == HOSTILE
    sheet = pl.read_csv(tmp_path / "summary.csv")["policy"].unique(maintain_order=True)
    assert sheet.to_list() == ["'=1+1" if name == "=1+1" else name for name in HOSTILE]


def test_a_replay_is_a_table_too():
    made = tuple(Estimate(name, np.arange(20.0), 0.5) for name in HOSTILE)
    found = Replay(10, 5.0, HOSTILE[10], made, ())
    assert len(str(found).splitlines()) == 2 + len(HOSTILE) and not STEERING.search(str(found))
    axes = found.plot()
    axes.figure.savefig(io.BytesIO(), format="png")
    assert json.loads(json.dumps(found.to_data()))["policies"][14]["policy"] == "=1+1"


def test_figures_take_a_name_as_it_is():
    names = ["$x^$", "[/x]", "\x1b[31m", "_hidden"]
    one = standings.Standing(np.arange(1.0, 4.0), 2.0, 1.0, 3.0, 2.0, 3.5, 4.0)
    curves = {name: (np.arange(1.0, 4.0),) * 3 for name in names}
    points = dict.fromkeys(names, dict.fromkeys(names, ([1, 2], [1, 2])))
    places = {name: place for place, name in enumerate(names)}
    drawn = [
        standings.standings([1, 10, 100], dict.fromkeys(names, one), places),
        campaigns.leaders_over_time([1, 2], names, np.ones((4, 2))),
        figures.with_ratio(names[0], [1, 10, 100], curves, 1.0, np.arange(3.0)),
        figures.small_multiples(points, "x", "y"),
    ]
    for each in drawn:
        svg = page.figure(each, "a picture", "$x^$").svg
        assert not STEERING.search(svg.replace("\n", "")) and ">$x^$<" in svg
    written = [text.get_text() for text in drawn[3].axes[0].texts]
    assert written == [figures.literal(name) for name in names]


def test_the_progress_bar_takes_a_name_as_it_is(capsys):
    with progress.bar("[/x] \x1b[31m UTS", 10, show=True) as update:
        update(5)
    shown = capsys.readouterr().err
    assert "[/x]" in shown and r"\x1b[31m UTS" in shown and "\x1b[31m UTS" not in shown


@pytest.mark.parametrize("folder", ["[/x]", "a\x1b[31mb"])
def test_a_folder_is_named_as_it_is(folder, tmp_path):
    arguments = ["simulate", "--graph", "line:3", "--horizon", "50", "--trials", "2"]
    name = "UTS(name='[/x]')"
    done = CliRunner().invoke(
        app, [*arguments, "--policies", name, "--out", str(tmp_path / folder)]
    )
    assert done.exit_code == 0, done.exception
    shown = done.output.replace("\n", "")
    assert printable(folder) in shown and not STEERING.search(shown) and "[/x]" in shown


def test_a_sentence_shows_control_characters_and_obeys_none():
    with pytest.raises(um.UnimodalError) as refused:
        parse("\x1b[31mutss")
    assert str(refused.value).startswith(r"unknown policy '\x1b[31mutss'")


def test_every_character_that_is_not_for_reading_is_written_as_its_escape():
    """Controls, formats (marks of direction, tags, what is not seen), halves, ends of lines."""
    for code in (*range(0x20000), *range(0xE0000, 0xE0200)):  # no others are of these kinds
        letter = chr(code)
        kind = unicodedata.category(letter)
        hidden = kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\u200c\u200d"
        assert (printable(letter) != letter) == hidden, hex(code)
        assert printable(letter).isascii() or not hidden
    assert printable("a\nb\u202e\r", lines=True) == "a\nb\\u202e\\r"
    assert printable("👩\u200d🔬 é") == "👩\u200d🔬 é"


@pytest.mark.parametrize("letter", HIDDEN, ids=ascii)
def test_what_is_not_seen_is_seen_everywhere(letter, tmp_path, capsys, caplog):
    """In a sentence, a page, a figure, a table, a repr, a log, on a terminal."""
    name = f"a{letter}b"
    with pytest.raises(um.UnimodalError) as refused:
        parse(name)
    policies = [um.UTS(name=name), um.UTS()]
    problem = um.problems.triangular(3)
    result = um.simulate(problem, policies, horizon=50, trials=2, progress=False)
    alarm = Alarm("waiting", f"{name} waits", name, None)
    watch = AlarmWatch(lambda: [alarm], lambda _: 1 / 0, 60.0)
    watch.look_once()
    edges = um.graphs.from_edges([(name, "c"), ("c", "d")])
    campaign = um.Campaign.open(tmp_path / "c.db", policies[0], edges, durability="fast")
    campaign.decide(3)
    campaign.close()
    CliRunner().invoke(app, ["backup", str(tmp_path / "c.db"), str(tmp_path / f"{name}.db")])
    shown = {
        "sentence": str(refused.value),
        "page": um.inspect(tmp_path / "c.db").html(),
        "text": str(um.inspect(tmp_path / "c.db")),
        "policy": repr(policies[0]),
        "result": repr(result),
        "table": str(result),
        "notebook": result._repr_html_(),
        "figure": "".join(text.get_text() for text in result.plot().texts),
        "log": "".join(record.getMessage() for record in caplog.records),
        "terminal": printed(lambda console: screen.show(console, result)),
    }
    for where, text in shown.items():
        assert letter not in text and printable(letter) in text, where


def test_what_a_spreadsheet_would_run_is_text():
    names = ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "＝1", "a=1", "1-1", ""]
    kept = tables.for_spreadsheets(pl.DataFrame({"name": names, "number": range(len(names))}))
    assert kept["name"].to_list() == [f"'{n}" for n in names[:8]] + names[8:]
    assert kept["number"].to_list() == list(range(len(names)))


def test_templates_are_in_the_package_and_read_only_when_a_page_is_made(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if "report/templates/" in name}
    known = page.environment().list_templates()
    assert packed == {f"unimodal/report/templates/{name}" for name in known} and len(known) == 9
    loaded = "import sys, unimodal.cli, unimodal.report.page; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True)
    assert done.stdout.strip() == b"False"
