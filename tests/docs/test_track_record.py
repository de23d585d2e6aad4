"""Every row of the track record names a test that is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "track-record.md"
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("| fault |", "|---"))
]


def functions_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_fault_has_all_of_its_cells_and_a_test_that_exists(row):
    assert len(row) == 4 and all(row)
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[3])
    assert named and re.sub(r"`tests/[\w/]+\.py::test_\w+`(, )?", "", row[3]) == ""
    for file, name in named:
        assert (ROOT / file).is_file(), f"there is no file {file}"
        assert name in functions_in(ROOT / file), f"there is no {name} in {file}"


def test_no_fault_stands_there_twice():
    faults = [row[0] for row in ROWS]
    assert len(faults) > 30 and len(set(faults)) == len(faults)


def test_the_page_is_found_from_where_people_look():
    for page in ("docs/reference/index.md", "docs/guide/production.md", "SECURITY.md"):
        assert "track-record.md" in (ROOT / page).read_text(encoding="utf-8"), page
