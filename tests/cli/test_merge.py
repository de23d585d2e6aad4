"""`--shard` and `unimodal merge`: separate processes, one of them killed, give one run's bytes."""

import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app

UNIMODAL = [sys.executable, "-c", "from unimodal.cli import main; main()"]
SIMULATE = ["simulate", "--graph", "line:5", "--horizon", 200, "--policies", "uts,osub"]
COMPARE = ["compare", "--quick", "--only", "star, smooth"]
REPRODUCE = ["reproduce", "--only", "Table 1: K = 17"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def sentence(*arguments):
    """What is said of a mistake."""
    done = run(*arguments)
    assert done.exit_code, done.output
    assert isinstance(done.exception, um.UnimodalError), done.exception
    return str(done.exception)


def begun(*arguments):
    command = UNIMODAL + [str(argument) for argument in arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(*arguments):
    process = begun(*arguments)
    _, said = process.communicate()
    assert process.returncode == 0, said


def test_four_processes_one_of_them_killed_are_the_bytes_of_one_run(tmp_path):
    parts, once = tmp_path / "parts", tmp_path / "once"
    command = [*SIMULATE, "--trials", 10]
    killed = begun(*command, "--shard", "4/4", "--out", parts)
    killed.kill()
    killed.communicate()
    for number in (1, 2, 3):
        finished(*command, "--shard", f"{number}/4", "--out", parts)
    assert "but 4/4 is missing in" in sentence("merge", parts)
    assert sorted(path.name for path in parts.iterdir()) == [
        f"shard-{number}-of-4.parquet" for number in (1, 2, 3)
    ]
    finished(*command, "--shard", "4/4", "--out", parts)
    done = run("merge", parts)
    assert done.exit_code == 0 and "10 trials" in done.stdout, done.output
    assert run(*command, "--out", once).exit_code == 0
    for name in ("result.parquet", "summary.csv", "regret.png"):
        assert (parts / name).read_bytes() == (once / name).read_bytes(), name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two shards of five trials."""
    folder = tmp_path_factory.mktemp("made")
    for number in (1, 2):
        done = run(*SIMULATE, "--trials", 5, "--shard", f"{number}/2", "--out", folder)
        assert done.exit_code == 0 and "with all there: unimodal merge" in done.output
    return folder


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--seed", 1], r"same seed, but shard 1/2 and shard 2/2 differ in it (0 and 1)"),
        (["--engine", "step"], "same engine, but shard 1/2 and shard 2/2"),
        (["--trials", 9], "from 2 to 3 are missing between shard 1/2 and shard 2/2"),
        (["--trials", 2], "shard 1/2 and shard 2/2 both have the trials 1 to 1"),
        (["--high", 0.8], "same problem, but shard 1/2 and shard 2/2"),
        (["--policies", "uts"], "same policies, but shard 1/2 and shard 2/2"),
    ],
)
def test_a_foreign_shard_is_refused_by_name(given, said, made, tmp_path):
    (tmp_path / "shard-1-of-2.parquet").write_bytes((made / "shard-1-of-2.parquet").read_bytes())
    done = run(*SIMULATE, "--trials", 5, "--shard", "2/2", "--out", tmp_path, *given)
    assert done.exit_code == 0, done.output
    assert said in sentence("merge", tmp_path)
    assert not (tmp_path / "result.parquet").exists()


def test_a_shard_under_the_name_of_another_is_refused(made, tmp_path):
    for number in (1, 2):
        path = tmp_path / f"shard-{number}-of-2.parquet"
        path.write_bytes((made / "shard-2-of-2.parquet").read_bytes())
    assert "both have the trials 2 to 4" in sentence("merge", tmp_path)


def test_a_damaged_shard_is_refused_by_its_file(made, tmp_path):
    whole = (made / "shard-1-of-2.parquet").read_bytes()
    (tmp_path / "shard-1-of-1.parquet").write_bytes(whole[:-40])
    assert "shard-1-of-1.parquet must be" in sentence("merge", tmp_path)


def test_a_shard_that_is_alone_and_not_the_first_is_refused(made, tmp_path):
    part = (made / "shard-2-of-2.parquet").read_bytes()
    (tmp_path / "shard-1-of-1.parquet").write_bytes(part)
    assert "shard 1/1 must begin with trial 0, got 2" in sentence("merge", tmp_path)


def test_the_merged_files_may_be_elsewhere_and_merged_again(made, tmp_path):
    assert run("merge", made, "--out", tmp_path / "out").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "regret.png", "result.parquet", "summary.csv",
    ]  # fmt: skip
    assert run("merge", made, "--out", tmp_path / "out").exit_code == 0
    assert um.load(tmp_path / "out" / "result.parquet").extend(2).n_trials == 7


def test_policies_of_ones_own_are_named_to_merge(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("import unimodal as um\nclass Mine(um.UTS):\n    pass\n")
    command = ["simulate", "--horizon", 50, "--trials", 2, "--policies", f"{path}:Mine"]
    for number in (1, 2):
        done = run(*command, "--shard", f"{number}/2", "--out", tmp_path / "parts")
        assert done.exit_code == 0, done.output
    assert "Mine" in sentence("merge", tmp_path / "parts")
    done = run("merge", tmp_path / "parts", "--policies", f"{path}:Mine")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([*SIMULATE, "--shard", "1/2"], "--shard needs the folder"),
        ([*SIMULATE, "--shard", "3/2", "--out", "DIR"], "a shard is written number/count"),
        ([*SIMULATE, "--trials", 3, "--shard", "1/4", "--out", "DIR"], "3 trials make at most"),
        (["simulate", "--from", "x", "--shard", "1/2", "--out", "DIR"], "leave out --from"),
        (["reproduce", "--from", "x", "--shard", "1/2"], "leave out --from"),
        (["reproduce", "--decide", "--shard", "1/2"], "leave out --shard"),
        (["compare", "--from", "x", "--shard", "1/2"], "leave out --from"),
        (["compare", "--only", "nothing", "--shard", "1/2", "--out", "DIR"], "--only must be"),
        (["merge", "DIR"], "there is none at"),
        (["merge", ".", "--scale", "cubic"], "--scale must be log or linear"),
    ],
)
def test_mistakes_get_a_sentence_before_any_work(command, said, tmp_path):
    folder = tmp_path / "new"
    assert said in sentence(*(folder if part == "DIR" else part for part in command))
    assert not folder.exists()


def test_shards_of_a_study_of_ones_own_are_merged_by_it(tmp_path):
    setting = um.studies.Setting("line", "line:5", "by distance", ("UTS",), 50, 1, 2)
    um.studies.Study([setting]).run_shard("1/1", tmp_path)
    assert "merge it with that study's merge" in sentence("merge", tmp_path)


def in_four_processes(command, tmp_path):
    """The folders of four merged shards and of one run."""
    parts, once = tmp_path / "parts", tmp_path / "once"
    for number in range(1, 5):
        finished(*command, "--shard", f"{number}/4", "--out", parts)
    done = run("merge", parts)
    assert done.exit_code == 0, done.output
    assert run(*command, "--out", once).exit_code == 0
    return parts, once


@pytest.mark.full
def test_four_processes_compare_as_one_run_does(tmp_path):
    """But for the times that are measured, which no two runs share."""
    folders = in_four_processes(COMPARE, tmp_path)
    one, two = (pl.read_parquet(folder / "comparison.parquet") for folder in folders)
    assert one.drop("milliseconds").equals(two.drop("milliseconds")) and one.height


@pytest.mark.full
def test_four_processes_reproduce_the_bytes_of_one_run(tmp_path):
    parts, once = in_four_processes(REPRODUCE, tmp_path)
    names = sorted(path.name for path in once.iterdir() if path.suffix not in (".db", ".json"))
    assert "findings.parquet" in names and "index.html" in names
    for name in names:
        assert (parts / name).read_bytes() == (once / name).read_bytes(), name
