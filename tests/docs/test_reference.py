"""The reference has an entry for every public name, which says what it takes and gives."""

import importlib
import inspect
import re
import types
from pathlib import Path

import pytest

import unimodal as um
from unimodal import errors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ENTRY = re.compile(r"^\.\. (?:auto\w+|py:data):: (unimodal[\w.]*)$", re.MULTILINE)
MEMBERS = re.compile(r"^\.\. automodule:: (unimodal[\w.]*)\n +:members: (.*)$", re.MULTILINE)
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]+\n-+$|\Z)", re.M | re.S)


def public():
    """Every public name: of the package, and of the modules that list theirs."""
    for space in [um, *(getattr(um, name) for name in um.__all__)]:
        if isinstance(space, types.ModuleType):
            for name in getattr(space, "__all__", ()):
                if not isinstance(getattr(space, name), types.ModuleType):
                    yield f"{space.__name__}.{name}"


def resolved(path):
    """What a dotted path leads to."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return getattr(resolved(module), name)


def entries():
    """What the pages of the reference have entries for."""
    for page in sorted((DOCS / "reference").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        yield from ENTRY.findall(text)
        for module, members in MEMBERS.findall(text):
            yield from (f"{module}.{name.strip()}" for name in members.split(","))


NAMES = sorted(public())
THINGS = {id(resolved(name)): name for name in NAMES if callable(resolved(name))}


def test_every_public_name_has_an_entry():
    listed = {id(resolved(path)) for path in entries() if path not in ("unimodal.kernels.random",)}
    assert [name for name in NAMES if id(resolved(name)) not in listed] == []


def test_every_entry_exists_and_stands_once():
    paths = [path for path in entries() if path != "unimodal.kernels.random"]
    assert len(paths) == len(set(paths)) > 150
    for path in paths:
        resolved(path)


def test_every_class_of_error_is_in_the_guide():
    guide = (DOCS / "guide" / "errors.md").read_text(encoding="utf-8")
    kinds = [
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.UnimodalError)
    ]
    assert len(kinds) > 15
    assert [name for name in kinds if f"| `{name}` |" not in guide] == []


def parameters(thing):
    """The names that a call takes; none where nothing is said of them."""
    try:
        given = inspect.signature(thing).parameters.values()
    except ValueError:
        return []
    star = {inspect.Parameter.VAR_POSITIONAL: "*"}
    return [star.get(one.kind, "") + one.name for one in given]


def untold(thing):
    """What the docstring of a public name leaves out."""
    doc = inspect.getdoc(thing) or ""
    told = "".join(SECTION.findall(doc))
    described = re.findall(r"^(\*?\w+)(?: : .*)?$", told, re.MULTILINE)
    missing = [f"parameter {name}" for name in parameters(thing) if name not in described]
    if inspect.isfunction(thing):
        returns = thing.__annotations__.get("return")
        if returns not in (None, "None") and "Returns\n-------" not in doc:
            missing.append("what it returns")
    if ">>>" not in doc:
        missing.append("an example")
    return missing


@pytest.mark.parametrize("name", sorted(THINGS.values()))
def test_a_docstring_tells_parameters_results_and_an_example(name):
    assert untold(resolved(name)) == []


def test_what_a_docstring_leaves_out_is_noticed():
    def well(a: int, *rest: int) -> int:
        """Add.

        Parameters
        ----------
        a
            A number.
        *rest
            More of them.

        Returns
        -------
        int
            Their sum.

        Examples
        --------
        >>> 1 + 1
        2
        """

    def badly(a: int, b: int) -> int:
        """Add.

        Parameters
        ----------
        a
            A number.
        """

    assert untold(well) == []
    assert untold(badly) == ["parameter b", "what it returns", "an example"]


def test_every_type_of_the_http_reference_is_described(monkeypatch):
    """Those that a table names, such as Past or Edges, have a heading with a sentence and fields.

    Only what an address takes or answers as a whole has its fields with the address instead.
    """
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    text = "\n".join(importlib.import_module("generated_pages").addresses())
    rows = re.findall(r"^\| `\w+` \| ([^|]+) \|", text, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"\b[A-Z][A-Za-z]+\b", row)}
    named -= {"JSON", "True", "False"}
    assert {"Past", "Edges", "ArmAnswer", "TellBody"} <= named
    for name in sorted(named):
        described = re.search(rf"^### {name}\n\n(\S.*)\n\nIt has:\n\n\| field ", text, re.MULTILINE)
        assert described, f"{name} is named and not described"
