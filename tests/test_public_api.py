"""The public names: always there, listed once, typed, documented."""

import ast
import inspect
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest

import unimodal as um

PACKAGE = Path(um.__file__).parent
NAMESPACES = [name for name in um.__all__ if isinstance(getattr(um, name), types.ModuleType)]


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "name", ["policies", "families", "graphs", "problems", "testing", "random"]
)
def test_a_namespace_is_there_before_anything_else_was_used(name):
    assert python(f"import unimodal as um; print(type(um.{name}).__name__)") == "module"


def test_importing_loads_nothing_heavy_and_completion_shows_all():
    loaded = python(
        "import sys, unimodal as um; print(*dir(um)); "
        "assert not {'numba', 'numpy', 'polars', 'matplotlib'} & set(sys.modules)"
    )
    assert {"UTS", "simulate", "policies", "__version__"} <= set(loaded.split())
    assert set(um.__all__) == set(dir(um))


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        um.nothing_like_it  # noqa: B018


def test_the_stub_lists_every_name_once_and_each_exists():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    listed = [alias.name for node in stub.body for alias in node.names]
    assert len(listed) == len(set(listed)) and sorted(listed) == sorted(um.__all__)
    assert (PACKAGE / "py.typed").exists()


def _functions():
    """Every public function and method, by name."""
    for space in [um, *(getattr(um, name) for name in NAMESPACES)]:
        for name in getattr(space, "__all__", ()):
            thing = getattr(space, name)
            if inspect.isfunction(thing):
                yield f"{space.__name__}.{name}", thing
            elif inspect.isclass(thing) and thing.__module__.startswith("unimodal"):
                for method, value in vars(thing).items():
                    value = getattr(value, "__func__", value)  # class methods
                    value = getattr(value, "fget", getattr(value, "func", value))  # properties
                    if inspect.isfunction(value) and not method.startswith("_"):
                        yield f"{name}.{method}", value


def test_no_public_function_returns_just_anything():
    untold = {
        name
        for name, function in _functions()
        if not typing.get_overloads(function)
        and function.__annotations__.get("return", "Any") in ("Any", typing.Any)
    }
    assert untold == set()


def test_every_public_name_has_a_docstring():
    public = [getattr(um, name) for name in um.__all__ if name != "__version__"]
    assert [thing for thing in public if not inspect.getdoc(thing)] == []
