"""Components and generic functions; and a disk cache that never holds what it must not."""

import re
from typing import ClassVar, NamedTuple

import pytest
from numba import njit, typeof

from unimodal import UTS, Bernoulli, Bounded, EveryArm, Gaussian
from unimodal.kernels import cache_folder as caching
from unimodal.kernels.cache_folder import PACKAGE, SOURCES, source_hash
from unimodal.kernels.compile import component, generic, jit, record
from unimodal.policies.index import Thompson
from unimodal.policies.policy import Parts


@component
class Box:
    width: float = 2.0
    sides: int = 4
    open: bool = False
    colour: str = "red"


@component
class Cube(Box):
    derived_numbers: ClassVar[dict[str, type]] = {"volume": float}

    @property
    def volume(self):
        return self.width**3


class Parcel(NamedTuple):
    content: object
    weight: float


@generic
def area(shape, x):
    """The area of a shape, times x."""


@area.register(Box)
def _area(shape, x):
    return shape.width * shape.width * x


@njit
def twice_the_area(shape, x):
    return 2.0 * area(shape, x)


def test_a_component_is_frozen_and_comparable():
    assert Box() == Box(2.0)
    assert Box(3) != Box()
    with pytest.raises(AttributeError):
        Box().width = 3.0


def test_a_record_holds_the_numbers_alone_each_in_its_own_type():
    made = record(Box(width=3, sides=5.0, open=1))
    assert made._fields == ("width", "sides", "open")
    assert made == (3.0, 5, True)
    assert [type(number) for number in made] == [float, int, bool]


def test_a_record_holds_derived_numbers_too():
    assert record(Cube(3.0)).volume == 27.0


def test_a_generic_function_chooses_by_type_called_from_python_and_from_compiled_code():
    assert area(record(Box(3.0)), 2.0) == 18.0
    assert twice_the_area(record(Box(3.0)), 2.0) == 36.0


def test_a_component_inherits_what_its_base_has():
    assert area(record(Cube(3.0)), 2.0) == 18.0
    assert twice_the_area(record(Cube(3.0)), 2.0) == 36.0


def test_new_numbers_need_no_new_compilation():
    assert twice_the_area(record(Box(2.0)), 1.0) == 8.0
    compiled = len(twice_the_area.signatures)
    assert twice_the_area(record(Box(5.0, sides=9)), 1.0) == 50.0
    assert len(twice_the_area.signatures) == compiled


def test_a_plain_implementation_may_do_what_numba_cannot():
    @generic
    def describe(shape):
        """A description."""

    @describe.register(Box, plain=True)
    def _describe(shape):
        return {"width": f"{shape.width:g} m"}

    assert describe(record(Box())) == {"width": "2 m"}


def test_calling_a_generic_function_with_something_unknown_names_both():
    with pytest.raises(AssertionError, match=r"area has nothing for 'square'"):
        area("square", 2.0)


@pytest.fixture
def folder(tmp_path):
    for name in ("one.py", "deep/two.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


def test_the_hash_of_sources_is_a_function_of_the_sources(folder):
    before = source_hash(folder)
    assert source_hash(folder) == before
    (folder / "notes.txt").write_text("not a source")
    assert source_hash(folder) == before


@pytest.mark.parametrize("name", ["one.py", "deep/two.py", "three.py", "deep/__init__.py"])
def test_the_hash_of_sources_changes_with_any_file_changed_or_added(folder, name):
    before = source_hash(folder)
    (folder / name).write_text("x = 2\n")
    assert source_hash(folder) != before


def test_the_hash_of_sources_changes_when_a_file_is_renamed(folder):
    before = source_hash(folder)
    (folder / "one.py").rename(folder / "other.py")
    assert source_hash(folder) != before


def test_an_edit_elsewhere_recompiles_nothing(folder):
    before = source_hash(folder, ("deep",))
    (folder / "one.py").write_text("x = 3\n")
    assert source_hash(folder, ("deep",)) == before
    (folder / "deep" / "two.py").write_text("x = 3\n")
    assert source_hash(folder, ("deep",)) != before


def test_every_module_with_kernels_is_among_the_hashed_sources():
    """Or else an edit there would run old code."""
    with_kernels = re.compile(r"import .*\b(jit|inner|generic|component)\b|@(jit|inner|generic)\b")
    for path in PACKAGE.rglob("*.py"):
        if with_kernels.search(path.read_text()):
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            assert caching.is_hashed(module), path


def test_our_own_types_may_be_cached_and_a_users_may_not():
    def own_draw(mean, rng):
        return mean

    assert caching.is_ours(typeof(1.0))
    assert caching.is_ours(typeof(record(Gaussian())))
    assert caching.is_ours(typeof(record(UTS().index())))
    assert not caching.is_ours(typeof(record(Box())))
    assert not caching.is_ours(typeof(record(Bounded(draw=own_draw))))
    assert not caching.is_ours(typeof(Parcel(record(Bernoulli()), 1.0)))
    parts = Parts(*(record(part) for part in (EveryArm(), Thompson(), Bernoulli())), None)
    assert caching.is_ours(typeof(parts))
    assert not caching.is_ours(typeof(parts._replace(family=record(Box()))))  # within ours


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(caching, "_folder", tmp_path / "kernels")
    (tmp_path / "kernels").mkdir()
    return tmp_path / "kernels"


def first_number(numbers):
    return numbers[0]


def test_code_for_our_types_is_written_to_the_cache_and_a_users_is_not(cache):
    kernel = jit(first_number)
    assert kernel(record(Box(7.0))) == 7.0
    assert not list(cache.glob("*.nb?"))
    assert kernel(record(Gaussian(3.0))) == 3.0
    assert sorted(path.suffix for path in cache.glob("*.nb?")) == [".nbc", ".nbi"]


def test_a_cache_that_was_deleted_meanwhile_costs_nothing_but_the_cache(cache):
    kernel = jit(first_number)
    cache.rmdir()
    assert kernel(record(Gaussian(3.0))) == 3.0


def test_only_the_newest_few_caches_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("UNIMODAL_CACHE_DIR", str(tmp_path))
    for number in range(8):
        (tmp_path / f"kernels-{number}").mkdir()
        (tmp_path / f"kernels-{number}" / "code.nbc").write_text("old")
    chosen = caching.cache_folder()
    assert chosen == tmp_path / f"kernels-{source_hash(PACKAGE, SOURCES)}"
    assert chosen.is_dir()
    assert len(list(tmp_path.iterdir())) <= 5


def test_an_old_cache_that_cannot_be_dropped_does_not_cost_the_new_one(tmp_path, monkeypatch):
    """As when a second process is dropping it at the same time."""
    monkeypatch.setenv("UNIMODAL_CACHE_DIR", str(tmp_path))
    for number in range(8):
        (tmp_path / f"kernels-{number}" / "a folder").mkdir(parents=True)
    assert caching.cache_folder().parent == tmp_path
