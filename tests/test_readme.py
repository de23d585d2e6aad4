"""The Python of the README and of the pages for production runs as it stands, at a smaller size."""

import re
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


@pytest.mark.parametrize(
    "page", ["guide/production", "guide/oracles", "guide/limits-and-alarms", "studies/delays/page"]
)
def test_the_code_in_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (README.parent / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": page})


def test_the_explanation_in_the_guide_is_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = README.parent / "docs" / "guide" / "limits-and-alarms.md"
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile("\n".join(blocks[:2]), page, "exec"), {"__name__": "guide"})
    shown = "".join(f"    {line}\n" for line in capsys.readouterr().out.splitlines())
    assert shown in text
