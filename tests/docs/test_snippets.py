"""Every snippet of every page runs: Python at a smaller size, commands until they are parsed."""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer

from unimodal.cli import app

ROOT = Path(__file__).parents[2]
PYTHON = re.compile(
    r"^```python\n(.*?)^```$\n(?:\nprints:\n\n((?:(?:    [^\n]*)?\n)+))?", re.M | re.S
)
NOTEBOOK = "file_format: mystnb"
# Run by tests of their own: a service has to be there, or processes that read the file again.
ELSEWHERE = {"docs/guide/service.md", "docs/guide/cluster.md"}
DATABASE = re.compile(r'"postgresql://[^"]*"')
SIZE = re.compile(r"\b(horizon|trials)=([\d_]+)")
LARGEST = {"horizon": 1_000, "trials": 4}


def tracked(*patterns):
    """The files of the project that git knows, or would add; without git, those that are there."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\n")[:-1] if done.returncode == 0 else []
    found = names or [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")]
    return sorted(name for name in found if (ROOT / name).is_file() and ".venv" not in name)


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


PAGES = tracked("*.md")
WITH_PYTHON = [
    page
    for page in PAGES
    if "```python" in text_of(page) and NOTEBOOK not in text_of(page) and page not in ELSEWHERE
]


def smaller(code):
    """The code with horizons and numbers of trials that take no time."""

    def size(found):
        return f"{found[1]}={min(int(found[2]), LARGEST[found[1]])}"

    return SIZE.sub(size, code)


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    text, names = text_of(page), {"__name__": "page"}
    if DATABASE.search("".join(code for code, _ in PYTHON.findall(text))):
        address = request.getfixturevalue("postgresql")()
        text = DATABASE.sub(repr(address), text)
    capture = request.getfixturevalue("capsys")
    blocks = PYTHON.findall(text)
    assert len(blocks) == text.count("```python\n")
    exact = any(printed for _, printed in blocks)
    for code, printed in blocks:
        exec(compile(code if exact else smaller(code), page, "exec"), names)
        out = capture.readouterr().out
        if printed:
            assert textwrap.dedent(printed).strip() == out.strip()


def test_there_are_pages_with_python_and_with_output():
    assert len(WITH_PYTHON) > 20 and {"README.md", "docs/choosing.md"} <= set(WITH_PYTHON)
    printed = sum(bool(out) for page in WITH_PYTHON for _, out in PYTHON.findall(text_of(page)))
    assert printed >= 7


def test_tutorials_are_notebooks():
    tutorials = [
        page for page in PAGES if page.startswith("docs/tutorials/") and "index" not in page
    ]
    assert len(tutorials) >= 4
    for page in tutorials:
        assert NOTEBOOK in text_of(page) and "```python" not in text_of(page)


@pytest.mark.full
def test_the_code_in_the_page_about_clusters_runs(tmp_path):
    """As a script in a process of its own: it starts others, and Dask leaves threads behind."""
    pytest.importorskip("distributed")
    blocks = [code for code, _ in PYTHON.findall(text_of("docs/guide/cluster.md"))]
    assert len(blocks) >= 3
    script = tmp_path / "script.py"
    script.write_text('if __name__ == "__main__":\n' + textwrap.indent("\n".join(blocks), "    "))
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path, timeout=250)
    assert (tmp_path / "line-study" / "finished.db").exists()


# Commands: in indented blocks, in blocks of text or shell, and between backticks.

CODE = re.compile(r"^```(?:text|sh|)\n(.*?)^```|^ {4}((?:unimodal|make|python) .*)$", re.M | re.S)
INLINE = re.compile(r"`((?:unimodal|make|python) [^`]*)`")
LEFT_OUT = ("…", "COMMAND", "NAME", "FILE ", "[", "tests/data", " SOURCE", "$(")


def commands(text):
    """The commands of a page, without their comments, and whether they stand within a sentence."""
    shown = [line for block in CODE.findall(text) for line in "".join(block).split("\n")]
    named = INLINE.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    for line, is_named in [*((line, False) for line in shown), *((line, True) for line in named)]:
        line = re.sub(r"\s+#.*$| &$", "", line.strip())
        known = line.startswith(("unimodal ", "make ", "python "))
        if known and not any(part in line for part in LEFT_OUT):
            yield line, is_named


def mistake(line, is_named=False):
    """What is wrong with a command; None if it would be understood.

    One that is only named, as `unimodal verify`, may leave out what it takes.
    """
    try:
        program, *words = shlex.split(line)
    except ValueError as error:
        return str(error)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE)
        wrong = [word for word in words if "=" not in word and word not in targets]
        return f"no target {wrong}" if wrong else None
    if program == "python":
        return None if words[0].startswith("-") or (ROOT / words[0]).exists() else "no such file"
    command, context = typer.main.get_command(app), None
    try:
        while hasattr(command, "commands"):
            if not words or words[0].startswith("--"):
                return None if is_named else "no command"
            context = typer.Context(command, parent=context, info_name=words[0])
            command, words = command.commands[words[0]], words[1:]
        command.make_context("unimodal", list(words), parent=context)
    except (Exception, SystemExit) as error:
        incomplete = type(error).__name__ in ("MissingParameter", "BadOptionUsage")
        return None if is_named and incomplete else repr(error)
    return None


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(text_of(page)))])
def test_the_commands_of_a_page_are_understood(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = {line: mistake(line, named) for line, named in commands(text_of(page))}
    assert {line: wrong for line, wrong in found.items() if wrong} == {}


def test_a_command_that_is_wrong_is_noticed():
    text = "Use `unimodal nothing`.\n\n    unimodal simulate --grap line:3   # no\n    make teas\n"
    text += "```text\npython tests/none.py\nunimodal policies\n```\n"
    assert [bool(mistake(*each)) for each in commands(text)] == [True, True, True, False, True]
