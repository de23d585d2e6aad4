"""The command line, as a person runs it: tables, files, and one sentence for a mistake."""

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import unimodal as um
from unimodal import graphs
from unimodal.cli import app
from unimodal.studies.reproduce.settings import Setting
from unimodal.version import __version__

COMMAND = Path(sys.executable).parent / "unimodal"
VERDICTS = ["agrees", "differs", "contradicts", "undecided", "not run at this scale"]
POLICIES = ("KLUCB", "TS", "OSUB", "UTS")
SMALL = ["simulate", "--horizon", "300", "--trials", "3"]


def run(*arguments):
    """In this process: quick, and enough where the exit code is not the point."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_simulate_prints_a_table_and_writes_result_and_figure(tmp_path):
    done = run(*SMALL, "--graph", "line:9", "--seed", 2, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    for name in ("PeakUTS", "UTS", "OSUB", "TS", "KLUCB"):  # the default policy, and the paper's
        assert f" {name} " in done.stdout
    assert "Theorem 1" in done.stdout
    assert (tmp_path / "out" / "regret.png").read_bytes()[:4] == b"\x89PNG"
    assert pl.read_csv(tmp_path / "out" / "summary.csv").columns[:3] == ["policy", "round", "mean"]
    again = run("simulate", "--from", tmp_path / "out" / "result.parquet", "--out", tmp_path / "2")
    assert again.exit_code == 0, again.output
    first, second = (tmp_path / folder / "result.parquet" for folder in ("out", "2"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("graph", ["er:30:0.2", "ba:40:2", "grid:3x4", "complete:6", "edges:FILE"])
def test_every_kind_of_graph(graph, tmp_path):
    (tmp_path / "friends.csv").write_text("source,target\nann,bob\nbob,cy\n")
    graph = graph.replace("FILE", str(tmp_path / "friends.csv"))
    done = run(*SMALL, "--graph", graph, "--policies", "uts,uts(start=literal)", "--peak", "random")
    assert done.exit_code == 0, done.output
    assert "UTS(start=literal)" in done.stdout


def test_a_peak_may_be_named_by_the_pair_that_it_is():
    done = run(*SMALL, "--graph", "rank_one:3x4", "--policies", "uts", "--peak", "(1, 2)")
    assert done.exit_code == 0, done.output
    assert "at arm (1, 2)" in done.stdout


def test_the_help_names_every_kind_of_graph():
    text = run("simulate", "--help").stdout
    assert [kind for kind in graphs.text.FORMS if f"{kind}:" not in text] == []


def test_the_version():
    done = run("--version")
    assert done.exit_code == 0 and done.stdout == f"unimodal {__version__}\n"


def test_commands_are_listed_in_groups():
    """Every command once, under the heading of its group, and the groups in their order."""
    text = run("--help").stdout
    commands = typer.main.get_command(app).commands
    groups = re.findall(r"^([A-Z][a-z ]+):\n((?:  .*\n?)+)", text, re.MULTILINE)
    listed = {name: re.findall(r"^  (\w+)", rows, re.MULTILINE) for name, rows in groups}
    del listed["Options"]
    assert sorted(name for names in listed.values() for name in names) == sorted(commands)
    assert list(listed) == [
        "Campaigns online",
        "Keep and move campaigns",
        "Simulation and studies",
        "This machine",
    ]
    for group, names in listed.items():
        assert {commands[name].rich_help_panel for name in names} == {group}


def test_backup_offers_what_it_does(tmp_path):
    """The help says what goes where; what it refuses is what the help sends elsewhere."""
    text = " ".join(run("backup", "--help").stdout.split())
    assert "of a campaign in a database, a new one of the same" in text
    assert "From a file into a database, or back, `unimodal copy` goes" in text
    um.Campaign.open(tmp_path / "ads.db", um.UTS(), um.graphs.line(3)).close()
    arguments = [tmp_path / "ads.db", "postgresql://user@host/shop?campaign=ads"]
    done = subprocess.run([COMMAND, "backup", *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "unimodal copy" in done.stderr


def test_policies_lists_each_with_its_source():
    done = run("policies")
    for word in ("uts", "osub", "ts", "klucb", "Paladino", "Combes", "Thompson 1933", "Garivier"):
        assert word in done.stdout


@pytest.mark.parametrize("command", ["simulate", "policies", "reproduce", "compare"])
def test_help_has_examples(command):
    done = run(command, "--help")
    assert done.exit_code == 0 and f"unimodal {command}" in done.stdout and "Example" in done.stdout


def small_plan(scale):
    """Table 1 and a corner of Table 2, at short horizons."""
    table_1 = [Setting("Table 1", k, "triangle", POLICIES, 300, 1, 4) for k in (17, 129)]
    return [*table_1, Setting("Table 2", 5, "line", POLICIES, 300, 2, 2)]


def test_reproduce_writes_a_report_beside_the_papers_numbers(monkeypatch, tmp_path):
    monkeypatch.setattr("unimodal.cli.reproduce_output.settings", small_plan)
    done = run("reproduce", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    for number in ("3.08 ± 0.05", "1.34 ± 0.07", "0.52 ± 0.07", "6.51 ± 0.07", "0.76 ± 0.15"):
        assert number in done.stdout
    assert "6 ratios lie in the paper's 95 % interval" in done.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == 3 and "://" not in re.sub(r'(xmlns|"-//)[^>]*', "", page)
    tables = pl.read_csv(tmp_path / "tables.csv")
    ran = tables.filter(pl.col("ours").is_not_null())
    assert ran.height == 6 + 4 and (ran["verdict"] != "not run at this scale").all()
    assert "Of 38 claims: " in done.stdout and " wait for runs not made" in done.stdout
    assert f"Of 114 numbers: {114 - 10} not run at this scale" in done.stdout
    assert tables.height == 114 and tables["verdict"].is_in(VERDICTS).all()
    again = run("reproduce", "--from", tmp_path / "findings.parquet", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    first, second = (pl.read_csv(tmp_path / f / "tables.csv")["ours"] for f in (".", "again"))
    assert (first - second).abs().max() < 1e-4


def test_reproduce_runs_only_what_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr("unimodal.cli.reproduce_output.settings", small_plan)
    done = run("reproduce", "--only", "K = 5,", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    ran = pl.read_csv(tmp_path / "tables.csv").filter(pl.col("ours").is_not_null())
    assert set(ran.select("table", "K", "p").iter_rows()) == {("Table 2", 5, "line")}
    assert ran.height == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quick", "--full"], "exclude each other"),
        (["--only", "Table 9"], "part of a setting's name"),
        (["--from", "nowhere"], "findings.parquet of a reproduction"),
        (["--out", "FILE"], "must be a folder"),
        (["--budget", "60"], "belongs to --decide"),
        (["--decide", "--budget", "many"], "core-minutes above 0"),
        (["--decide", "--budget", "-1"], "core-minutes above 0"),
    ],
)
def test_a_mistake_in_reproduce_gets_one_sentence(arguments, words, tmp_path):
    (tmp_path / "file").write_text("no")
    arguments = [str(tmp_path / "file") if a == "FILE" else a for a in arguments]
    done = run("reproduce", *arguments)
    assert done.exit_code != 0 and words in str(done.exception)


MISTAKES = [
    ("--graph line", "is written line:K, got 'line'"),
    ("--graph lin:5", "did you mean 'line'"),
    ("--graph line:1", "at least 2"),
    ("--graph er:100:0.001", "was connected"),
    ("--graph edges:nowhere.csv", "nowhere.csv cannot be read"),
    ("--graph edges:LOOP", "self-loop"),
    ("--graph edges:TWICE", "twice"),
    ("--graph edges:APART", "must be connected"),
    ("--policies utss", "did you mean 'uts'"),
    ("--policies uts,uts", "more than one called 'UTS'"),
    ("--policies ,", "at least one policy"),
    ("--horizon 0", "at least 1"),
    ("--horizon many", "such as 1000 or 1e5, got 'many'"),
    ("--horizon nan", "at least 1"),
    ("--trials 0", "at least 1"),
    ("--trials 1.5", "whole number"),
    ("--seed -1", "at least 0"),
    ("--high 1.5", "between 0 and 1, got 1.15 for arm 6"),
    ("--low 0.95", "'low' must be smaller"),
    ("--family bernouli", "did you mean 'bernoulli'"),
    ("--family gaussian:x", "is written gaussian:sigma"),
    ("--peak 99", "from 0 to 16, got 99"),
    ("--peak up", "got 'up'"),
    ("--scale cubic", "log or linear"),
    ("--workers 0", "at least 1"),
    ("--dask nonsense", "no Dask scheduler answers at nonsense"),
    ("--dask 10.0.0.1:8786 --workers 2", "leave it out with --dask"),
    ("--out FILE", "must be a folder"),
    ("--out FILE/deeper", "cannot be written"),
    ("--from FILE", "must be a result"),
    ("--from nowhere", "there is no file"),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_a_mistake_gets_one_sentence(arguments, words, tmp_path):
    (tmp_path / "loop.csv").write_text("0,1\n1,1\n")
    (tmp_path / "twice.csv").write_text("0,1\n1,0\n")
    (tmp_path / "apart.csv").write_text("0,1\n2,3\n")
    (tmp_path / "file").write_text("no")
    for word in ("LOOP", "TWICE", "APART"):
        arguments = arguments.replace(word, f"{tmp_path}/{word.lower()}.csv")
    arguments = arguments.replace("FILE", f"{tmp_path}/file")
    done = run(*SMALL, *arguments.split(" "))
    assert done.exit_code != 0
    assert words in str(done.exception) and "\n" not in str(done.exception)
    assert (tmp_path / "file").read_text() == "no"


def test_a_mistake_exits_with_2_and_no_traceback():
    done = subprocess.run(
        [COMMAND, *SMALL, "--graph", "line:0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("unimodal: ") and done.stderr.count("\n") == 1


def test_an_unknown_option_exits_with_2():
    done = subprocess.run([COMMAND, "simulate", "--arms", "5"], capture_output=True, check=False)
    assert done.returncode == 2 and b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", [each.callback.__name__ for each in app.registered_commands])
def test_examples_in_the_help_keep_their_lines(command):
    lines = [line.strip() for line in run(command, "--help").output.splitlines()]
    assert "\\b" not in "".join(lines)
    if "Examples:" in app_help(command):
        following = lines[lines.index("Examples:") + 1 :]
        assert following[0].startswith("unimodal ")


def app_help(command):
    (found,) = [each for each in app.registered_commands if each.callback.__name__ == command]
    return found.callback.__doc__
