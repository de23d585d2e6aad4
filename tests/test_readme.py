"""The Python of the README and of the pages for production runs as it stands, at a smaller size."""

import re
import textwrap
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_code_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    code = "\n".join(blocks)
    code = code.replace("horizon=100_000, trials=100", "horizon=1_000, trials=4")
    code = code.replace("trials=400", "trials=4")
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert {path.name for path in tmp_path.iterdir()} == {
        "regret.png",
        "result.parquet",
        "prices.json",
        "prices.db",
    }


PAGES = {
    "guide/production": 0,
    "guide/oracles": 0,
    "guide/limits-and-alarms": 1,
    "guide/past-data": 0,
    "guide/certificates": 0,
    "guide/price-ladder": 3,
    "studies/delays/page": 0,
}
# A block of code, and what it prints if the page says so.
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\nprints:\n\n((?:(?:    [^\n]*)?\n)+))?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_in_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (README.parent / "docs" / f"{page}.md").read_text(encoding="utf-8")
    names, compared = {"__name__": page}, 0
    for code, printed in BLOCK.findall(text):
        exec(compile(code, page, "exec"), names)
        out = capsys.readouterr().out
        if printed:
            assert textwrap.dedent(printed).strip() == out.strip()
            compared += 1
    assert compared == PAGES[page]
