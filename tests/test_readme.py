"""The Python of the README and of the pages for production runs as it stands, at a smaller size."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_code_in_the_readme_runs(tmp_path, monkeypatch, postgresql):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    code = "\n".join(blocks)
    code = code.replace("horizon=100_000, trials=100", "horizon=1_000, trials=4")
    code = code.replace("trials=400", "trials=4")
    code = code.replace("postgresql://shop@db/shop?campaign=prices", postgresql())
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
    "guide/moving-and-keeping": 3,
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


@pytest.mark.full
def test_the_code_in_the_page_about_clusters_runs(tmp_path):
    """As a script in a process of its own: it starts others, and Dask leaves threads behind."""
    pytest.importorskip("distributed")
    text = (README.parent / "docs" / "guide" / "cluster.md").read_text(encoding="utf-8")
    blocks = [code for code, _ in BLOCK.findall(text)]
    assert len(blocks) == 4
    script = tmp_path / "script.py"
    script.write_text('if __name__ == "__main__":\n' + textwrap.indent("\n".join(blocks), "    "))
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path, timeout=250)
    assert (tmp_path / "line-study" / "finished.db").exists()
