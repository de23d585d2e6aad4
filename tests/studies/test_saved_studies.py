"""Saved comparisons and findings of others: a page is made of them, or there is one sentence."""

import contextlib
import json
import sqlite3

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.cli import app
from unimodal.studies import parquet
from unimodal.studies.compare import comparison as comparisons
from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce import findings
from unimodal.studies.reproduce.findings import Finding, Findings
from unimodal.studies.reproduce.settings import Setting
from unimodal.studies.tasks import cut

POLICIES = ("UTS", "TS")


def comparison(path):
    setting = um.studies.Setting("line", "line:5", "by distance", POLICIES, 100, 2, 3)
    final = np.arange(1.0, 7.0).reshape(2, 3)
    curve = np.linspace(1, 7, *um.studies.Regrets.shapes(setting)["curve"])
    made = [um.studies.Regrets(setting, policy, final, curve, 1.5) for policy in POLICIES]
    return um.studies.Outcomes(made, [setting], "unimodal").save(path)


def reproduction(path):
    setting = Setting("Table 2", 5, "line", POLICIES, 100, 2, 3)
    rng = np.random.default_rng(0)
    rounds = len(Finding(setting, "UTS", None, None).rounds)
    made = [
        Finding(setting, policy, rng.uniform(5, 9, (2, 3)), rng.uniform(1, 9, (2, rounds)))
        for policy in POLICIES
    ]
    return Findings(made, [setting]).save(path)


def changed(path, change):
    """Change the rows or the notes of a file."""
    rows, about = parquet.read(path)
    change(rows, about)
    about.pop("ARROW:schema", None)
    return parquet.write(path, rows, about)


def inside(column, **values):
    """Change what the JSON of a column says."""

    def change(rows, about):
        for row in rows:
            row[column] = json.dumps(json.loads(row[column]) | values)

    return change


def put(column, value):
    def change(rows, about):
        rows[0][column] = value

    return change


def refused(load, path):
    with pytest.raises(um.UnimodalError, match=r"damaged|must|unknown|cannot be read") as sentence:
        load(path)
    assert "\n" not in str(sentence.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows, about: rows.clear(),
        lambda rows, about: rows.pop(),
        lambda rows, about: about.clear(),
        put("setting", "{}"),
        put("setting", "[" * 10_000 + "]" * 10_000),
        put("policy", "KLUCB"),
        put("final", [1.0]),
        put("final", [float("nan")] * 6),
        put("curve", [1.0]),
        put("milliseconds", [0.0]),
        put("milliseconds", []),
        inside("setting", horizon="long"),
        inside("setting", horizon=10**30),
        inside("setting", trials=-3),
        inside("setting", name=5),
        inside("setting", graph="edges:/etc/passwd"),
        inside("setting", policies=["UTS", "nobody"]),
        inside("setting", more=1),
    ],
)
def test_a_changed_comparison_gets_a_sentence(tmp_path, change):
    path = comparison(tmp_path / "comparison.parquet")
    assert len(comparisons.load(path).settings) == 1
    refused(comparisons.load, changed(path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda rows, about: about.clear(),
        lambda rows, about: about.update(planned="[]"),
        lambda rows, about: about.update(planned="[" * 10_000 + "]" * 10_000),
        put("setting", "{}"),
        put("setting", "null"),
        put("final", [1.0]),
        put("final", [float("inf")] * 6),
        put("curves", [1.0]),
        inside("setting", horizon=0),
        inside("setting", horizon=10**30),
        inside("setting", graphs="2"),
        inside("setting", high=None),
        inside("setting", experiment=5),
    ],
)
def test_changed_findings_get_a_sentence(tmp_path, change):
    path = reproduction(tmp_path / "findings.parquet")
    assert len(findings.load(path).all) == 2
    refused(findings.load, changed(path, change))


def test_columns_of_another_kind_get_a_sentence(tmp_path):
    for load in (comparisons.load, findings.load):
        pl.DataFrame({"setting": [1]}).write_parquet(tmp_path / "x.parquet")
        refused(load, tmp_path / "x.parquet")
        refused(load, tmp_path)


@pytest.mark.parametrize("text", ["EVIL:Own", "windowed(policy=EVIL:Own, window=5)"])
def test_a_file_cannot_name_code_to_run(tmp_path, text):
    """At ac7e735 the page of a comparison ran the file that a policy's text named."""
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    policy = text.replace("EVIL", str(tmp_path / "evil.py"))
    path = comparison(tmp_path / "comparison.parquet")

    def change(rows, about):
        inside("setting", policies=["UTS", policy])(rows, about)
        rows[1]["policy"] = policy

    changed(path, change)
    done = CliRunner().invoke(app, ["compare", "--from", str(path), "--out", str(tmp_path / "out")])
    assert "unknown policy" in str(done.exception) and not (tmp_path / "ran").exists()


def test_numbers_of_which_no_page_can_be_made_get_a_sentence(tmp_path):
    path = comparison(tmp_path / "comparison.parquet")
    changed(
        path, lambda rows, about: rows[0].update(final=[-1.0] * 6)
    )  # a ratio below 0 has no log
    done = CliRunner().invoke(app, ["compare", "--from", str(path), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, um.UnimodalError) and "damaged" in str(done.exception)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tasks SET regret = x'00'",
        "UPDATE tasks SET regret = 'text'",
        "UPDATE tasks SET regret = NULL",
        "UPDATE tasks SET regret = zeroblob(2 * length(regret)) WHERE key = "
        "(SELECT min(key) FROM tasks)",
        "ALTER TABLE tasks RENAME COLUMN regret TO regrets",
        "DROP TABLE tasks; CREATE TABLE tasks (a INT)",
    ],
)
def test_finished_work_that_was_changed_gets_a_sentence(tmp_path, statement):
    setting = Setting("Table 2", 5, "line", POLICIES, 100, 2, 3)
    path = tmp_path / "finished.db"
    with opened(path) as store:
        for task in cut([setting]):
            store.put(task, np.ones((task.last - task.first, 4)))
        assert store.all_of(setting, "UTS").shape == (2, 3, 4)
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.executescript(statement)
    with (
        opened(path) as store,
        pytest.raises(um.UnimodalError, match=r"finished work in .* cannot be used .* remove the"),
    ):
        for policy in POLICIES:
            store.all_of(setting, policy)
