"""Result files that somebody else made: `um.load` gives a result, or says in a sentence why not."""

import json
import os

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app
from unimodal.errors import check_memory


@pytest.fixture(scope="module")
def result():
    problem = um.problems.triangular(5)
    return um.simulate(problem, um.UTS(), horizon=60, trials=3, history=True, progress=False)


@pytest.fixture(scope="module")
def parts(result, tmp_path_factory):
    path = result.save(tmp_path_factory.mktemp("results") / "result.parquet")
    return pl.read_parquet(path), json.loads(pl.read_parquet_metadata(path)["unimodal"])


def written(path, frame, about):
    frame.write_parquet(path, metadata={"unimodal": json.dumps(about)})
    return path


def refused(path, words="another kind, or damaged|must be|unknown|at most|memory"):
    with pytest.raises(um.UnimodalError, match=words) as sentence:
        um.load(path)
    assert "\n" not in str(sentence.value)


def test_what_was_written_is_loaded(parts, result, tmp_path):
    loaded = um.load(written(tmp_path / "r.parquet", *parts))
    assert (loaded["UTS"].pulls == result["UTS"].pulls).all() and loaded.n_trials == 3
    assert (loaded.rerun()["UTS"].regret == result["UTS"].regret).all()


NOT_THERE = object()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(((key,), NOT_THERE) for key in ("policies", "problem", "rounds", "seed", "trials")),
        (("policies",), 5),
        (("policies",), []),
        (("policies", 0, "parameters"), NOT_THERE),
        (("policies", 0, "parameters"), {"perio": 2}),
        (("policies", 0, "policy"), ["UTS"]),
        (("policies", 0, "name"), 5),
        (("problem", "means"), [0.5, 0.6]),
        (("problem", "means"), [10**400] * 5),
        (("problem", "rewards"), {"family": "gaussian", "sigma": 1e-300}),
        (("problem", "rewards"), "bernoulli"),
        (("problem", "graph", "n_arms"), 10**12),
        (("problem", "graph", "kind"), "edges"),
        (("rounds",), []),
        (("rounds",), [60, 1]),
        (("rounds", 0), 2**63),
        (("rounds", 0), "1"),
        (("rounds", 0), 0.5),
        (("trials",), 10**15),
        (("trials",), 2),
        (("trials",), "3"),
        (("seed",), -1),
        (("seed",), "zero"),
        (("engine",), "jump"),
        (("engine",), ["leap"]),
        (("format",), 2),
        (("format",), {}),
    ],
)
def test_a_specification_that_cannot_be_gets_a_sentence(parts, tmp_path, place, value):
    frame, about = parts
    about = json.loads(json.dumps(about))
    inside = about
    for step in place[:-1]:
        inside = inside[step]
    if value is NOT_THERE:
        del inside[place[-1]]
    else:
        inside[place[-1]] = value
    refused(
        written(tmp_path / "r.parquet", frame, about), "damaged|must|unknown|format|at most|memory"
    )


def with_pulls(row):
    """The frame with these pulls in its first row."""
    return lambda frame: frame.with_columns(
        pulls=np.vstack([np.array([row]), frame["pulls"].to_numpy()[1:]])
    )


@pytest.mark.parametrize(
    "change",
    [
        with_pulls([2**62, 2**62, 2**62, 2**62, 60]),  # which add up to 60, in 64 bits
        with_pulls([61, -1, 0, 0, 0]),
        with_pulls([59, 0, 0, 0, 0]),
        lambda frame: frame.drop("pulls"),
        lambda frame: frame.drop("arms"),
        lambda frame: frame.drop("policy"),
        lambda frame: frame[:2],
        lambda frame: frame[::-1],
        lambda frame: pl.concat([frame, frame]),
        lambda frame: frame.with_columns(regret=pl.lit("much")),
        lambda frame: frame.with_columns(regret=frame["regret"].to_numpy()[:, :-1]),
        lambda frame: frame.with_columns(regret=frame["regret"].to_numpy() * np.nan),
        lambda frame: frame.with_columns(pl.col("regret").arr.to_list()),
        lambda frame: frame.with_columns(arms=np.full((3, 60), 5, np.int32)),
        lambda frame: frame.with_columns(rewards=np.full((3, 60), np.inf)),
        lambda frame: frame.with_columns(restarts=pl.lit(-1)),
        lambda frame: frame.with_columns(policy=pl.lit("TS")),
        lambda frame: frame.with_columns(more=pl.lit(1)),
    ],
)
def test_numbers_that_cannot_be_get_a_sentence(parts, tmp_path, change):
    frame, about = parts
    refused(written(tmp_path / "r.parquet", change(frame), about), "another kind, or damaged")


def test_files_of_other_kinds_get_a_sentence(parts, tmp_path):
    frame, _ = parts
    deep = "[" * 100_000 + "]" * 100_000
    for name, text in {"deep": deep, "null": "null", "list": "[]", "number": "1e999"}.items():
        frame.write_parquet(tmp_path / name, metadata={"unimodal": text})
        refused(tmp_path / name)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "magic").write_bytes(b"PAR1" * 20)
    (tmp_path / "zeros").write_bytes(b"PAR1" + bytes(400) + b"PAR1")
    for name in ("empty", "magic", "zeros"):
        refused(tmp_path / name)
    refused(tmp_path, "cannot be read")  # a folder


@pytest.mark.parametrize("path", [None, 5, b"x", "a\0b", ["x"]])
def test_what_is_no_path_gets_a_sentence(path):
    refused(path, "the path of a result or an agent must be a file's name")


@pytest.mark.parametrize("path", ["*.parquet", "http://127.0.0.1:9/x.parquet", "s3://x/y"])
def test_a_path_is_a_file_and_no_pattern_or_place_on_the_web(path, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "r.parquet", *parts)
    refused(path, "there is no file")


@pytest.mark.parametrize("given", [5, [5], "UTS", {um.UTS()}])
def test_policies_of_ones_own_are_a_list(given, parts, tmp_path):
    path = written(tmp_path / "r.parquet", *parts)
    with pytest.raises(um.UnimodalError, match="must be"):
        um.load(path, policies=given)


def test_a_panic_of_polars_is_a_sentence(parts, tmp_path, monkeypatch, capfd):
    """It is no Exception, so it passes by who catches those; and it is told on stderr in pages."""
    path = written(tmp_path / "r.parquet", *parts)

    def panic(*_):
        os.write(2, b"thread 'async-executor-0' panicked at ...\n" * 20)
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pl, "read_parquet", panic)
    refused(path, "must be a result that Result.save wrote.*; it is another kind, or damaged")
    capfd.readouterr()
    for arguments in (["simulate", "--from", path], ["compare", "--from", path, "--out", tmp_path]):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert "or damaged" in str(done.exception) and capfd.readouterr().err == ""


def test_what_memory_does_not_hold_is_not_asked_for():
    check_memory(1e6, "this")
    with pytest.raises(um.UnimodalError, match=r"^this would take 9.09e\+08 GiB of memory, more"):
        check_memory(1e18 * 0.976, "this")
