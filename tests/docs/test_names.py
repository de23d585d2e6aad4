"""Every file and module that pages, decisions, docstrings and comments name is there.

Files are renamed, and whoever reads an old name searches in vain. A name may be short: `round.py`
stands for any file of that name. Names of files that users have are listed in `OF_USERS`.
"""

import ast
import functools
import importlib
import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A path with an ending that our files have; not the end of an address, nor of a longer name.
PATH = re.compile(r"(?<![\w/.*<{-])((?:\.\./)*(?:[\w.-]+/)*[\w.-]*\w\.(?:py|md|j2|toml|js|sql))\b")
MODULE = re.compile(r"(?<![\w./-])unimodal(?:\.[A-Za-z_]\w*)+")
# Folders of the package as modules, in backticks: `policies.registry`.
PACKAGES = sorted(path.name for path in (ROOT / "src/unimodal").iterdir() if path.is_dir())
INNER = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.[a-z_]\w*)+)(?<!\.py)`")
PUBLIC = re.compile(r"(?<![\w.])um((?:\.[A-Za-z_]\w*)+)")
TABLES = {"unimodal.log", "unimodal.settings", "unimodal.snapshots"}  # of a database's schema
OF_USERS = {"FILE.py", "NNNN-title.md", "study.py", "mine.py", "binary.py", "tokens.json"}
SKIPPED = ("CHANGELOG.md", "track-record.md")  # they tell of what was


@functools.cache
def tracked():
    """The files of the project that git knows, or would add; without git, those that are there."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    kept = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.*")]
    names = done.stdout.split("\n")[:-1] if done.returncode == 0 else kept
    return [name for name in names if (ROOT / name).is_file() and ".venv" not in name]


@functools.cache
def files():
    """Where each file of the project is, by every end of its path."""
    return {
        "/".join(parts[place:])
        for name in tracked()
        for parts in [name.split("/")]
        for place in range(len(parts))
    }


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
COMMENT = re.compile(r"(?:^|\s)# (.*)$", re.MULTILINE)


@functools.cache
def words(name):
    """The text of a page; of Python its docstrings and comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if not name.endswith(".py"):
        return text
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED)]
    return "\n".join([*(ast.get_docstring(node) or "" for node in nodes), *COMMENT.findall(text)])


def named_by(name, pattern):
    return {found[found.re.groups] for found in pattern.finditer(words(name))}


def is_there(path, name):
    """Whether a path leads somewhere: from its page, or as the end of a path of the project."""
    return (
        (ROOT / name).parent.joinpath(path).exists()
        or path.rsplit("/", 1)[-1] in OF_USERS
        or path.removeprefix("./") in files()
    )


def is_known(dotted):
    """Whether a dotted name is a module of ours, or something in one."""
    module, parts = "", dotted.split(".")
    for place, part in enumerate(parts):
        longer = f"{module}.{part}".lstrip(".")
        try:
            found = importlib.util.find_spec(longer)
        except ModuleNotFoundError:
            found = None
        if found is None:
            made = importlib.import_module(module)
            for name in parts[place:]:
                made = getattr(made, name, None)
            return made is not None
        module = longer
    return True


ALL = [
    name
    for name in tracked()
    if name.endswith((".md", ".j2", ".py")) and not name.endswith(SKIPPED)
]


def test_every_path_that_is_named_is_there():
    gone = {
        name: lost
        for name in ALL
        if (lost := {path for path in named_by(name, PATH) if not is_there(path, name)})
    }
    assert gone == {}


def test_every_module_that_is_named_is_there():
    named = {}
    for name in ALL:
        for dotted in named_by(name, MODULE):
            named.setdefault(dotted, []).append(name)
        for dotted in named_by(name, INNER):
            named.setdefault(f"unimodal.{dotted}", []).append(name)
        for dotted in named_by(name, PUBLIC):
            named.setdefault(f"unimodal{dotted}", []).append(name)
    assert len(named) > 100  # they were found at all
    gone = {dotted: pages for dotted, pages in named.items() if not is_known(dotted)}
    assert {dotted: pages for dotted, pages in gone.items() if dotted not in TABLES} == {}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("see `policies/skipping.py`.", "policies/skipping.py"),
        ("(`plausible.py`)", "plausible.py"),
        ("[here](../guide/delays.md#what)", "../guide/delays.md"),
        ("https://example.com/a/b.py", None),
        ("src/*/page.md", None),
        ("1.py2", None),
    ],
)
def test_what_counts_as_a_path(text, path):
    found = PATH.search(text)
    assert (found and found[1]) == path
