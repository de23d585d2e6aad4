"""Each private part of Numba may be absent: the numbers are the same, from a public fallback."""

import json
import os
import subprocess
import sys

import pytest

from unimodal.kernels import numba_private

# What takes each private part away before the package is imported, and what is then missing.
ABSENT = {
    "nothing": ("", []),
    "_nrt": (
        """
from numba.core.registry import cpu_target
parse = cpu_target.options.parse_as_flags
def without(flags, options):
    if "_nrt" in options or "forceinline" in options:
        raise KeyError("Unrecognized options")
    return parse(flags, options)
cpu_target.options.parse_as_flags = without
""",
        ["_nrt"],
    ),
    "_CacheLocator": ("import numba.core.caching as c; del c._CacheLocator", ["cache"]),
    "_load_overload": ("import numba.core.caching as c; del c.Cache._load_overload", ["cache"]),
    "JITCodeLibrary": ("import numba.core.codegen as c; del c.JITCodeLibrary", ["pipelines"]),
    # It is there, and no longer does what it did.
    "make_function": (
        """
import unimodal.kernels.whole_kernel_optimisation as whole
whole._dynfunc = None
""",
        ["works"],
    ),
}
COMPUTE = """
import json
from unimodal.kernels import numba_private, random
from unimodal.kernels.compile import _OPTIONS, specialised
from unimodal.families.bernoulli_and_bounded import upper

rng = random.stream(0, 0, 0)
values = [random.gamma(rng, 2.5), specialised(upper, 0.1, 1.0)(0.1, 1.0)]
found = {"_nrt": "_nrt" in _OPTIONS, "cache": numba_private._cache_class() is not None}
found["pipelines"] = bool(numba_private.pipelines()[0])
if found["pipelines"]:
    from unimodal.kernels.whole_kernel_optimisation import works
    found["works"] = works()
print(json.dumps([values, found]))
"""


def computed(before, tmp_path, **environment):
    env = os.environ | {"UNIMODAL_CACHE_DIR": str(tmp_path)} | environment
    command = [sys.executable, "-c", f"{before}\n{COMPUTE}"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return computed("", tmp_path_factory.mktemp("kernels"))


# Each is a process that compiles. By default the two that change most.
BY_DEFAULT = ("nothing", "_load_overload")


@pytest.mark.parametrize(
    "part", [pytest.param(p, marks=() if p in BY_DEFAULT else pytest.mark.full) for p in ABSENT]
)
def test_the_numbers_are_the_same_without(part, usual, tmp_path):
    values, found = computed(ABSENT[part][0], tmp_path)
    assert values == usual[0]
    assert [name for name, there in found.items() if not there] == ABSENT[part][1]
    assert bool(list(tmp_path.rglob("*.nbc"))) == found["cache"]


@pytest.mark.parametrize(
    "locators", ["InTreeCacheLocator", pytest.param("no.such.Locator", marks=pytest.mark.full)]
)
def test_numba_s_variable_for_locators_does_not_move_the_cache(locators, usual, tmp_path):
    """Elsewhere its folder's name would not hold the hash of the sources."""
    chosen = {"NUMBA_CACHE_LOCATOR_CLASSES": locators}
    assert computed("", tmp_path, **chosen) == usual
    names = {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert names == {"random.gamma", "bernoulli_and_bounded.upper"}


class Bare:
    """A dispatcher of which nothing is known but that it can be called."""

    def __call__(self, x):
        return 2 * x


def test_without_entry_points_a_function_is_called_as_it_is():
    assert numba_private.entry_point(Bare(), 1.0)(3.0) == 6.0


def test_without_call_templates_kernels_call_the_function_with_its_entry_from_python():
    bare = Bare()
    numba_private.call_from_kernels(bare, lambda: None)
    assert not vars(bare)
