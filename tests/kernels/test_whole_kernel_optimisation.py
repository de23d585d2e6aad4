"""A kernel compiled with all that it calls: the same results, and nothing lost on the way."""

import gc

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache

from unimodal.kernels import random
from unimodal.kernels.compile import inner, jit
from unimodal.kernels.compile_watch import (
    compilation,
    compiled_for,
    compiling_now,
    compiling_seconds,
    kernels_compiled,
)


def ours(function):
    """As if it stood in this package: a user's functions are compiled as Numba does it."""
    function.__module__ = "unimodal.kernels"
    return function


@inner
@ours
def checked(x):
    if x < 0.0:
        raise ValueError("x must not be negative")
    return x


@inner
@ours
def twice(x):
    return 2.0 * checked(x)


@jit
def thrice(x):
    return twice(x) + checked(x)


@njit
def foreign(rng, x):
    """A user's function, which Numba compiles in its own way."""
    held = np.empty(1)
    held[0] = random.uniform(rng)
    return held[0] + thrice(x)


@jit
def over_a_foreign_one(rng, x):
    return foreign(rng, x) + twice(x)


def test_what_a_kernel_calls_is_in_it():
    assert thrice(2.0) == 6.0
    assert [str(each) for each in thrice.nopython_signatures] == ["(float64,) -> float64"]


def test_an_error_of_what_a_kernel_calls_is_raised():
    with pytest.raises(ValueError, match="x must not be negative"):
        thrice(-1.0)


def test_numba_s_own_functions_and_kernels_call_each_other():
    drawn = random.uniform(random.stream(0, 0, 0))
    assert foreign(random.stream(0, 0, 0), 2.0) == drawn + 6.0
    assert over_a_foreign_one(random.stream(0, 0, 0), 2.0) == drawn + 10.0


def test_a_kernel_s_copy_of_a_function_is_called_by_nobody_else():
    """LLVM changes how such a copy takes its arguments; and the linker goes by names."""

    def rates(number):
        rng = random.stream(0, 0, number)
        kernel = jit(lambda rng, x: random.poisson(rng, x) - random.poisson(rng, x + number))
        foreign = njit(lambda rng, x: random.poisson(rng, x) - random.poisson(rng, x + number))
        again = random.stream(0, 0, number)
        return kernel(rng, 30.0), foreign(again, 30.0)

    for number in range(3):
        one, other = rates(number)
        assert one == other


def test_what_a_user_prints_is_printed(capfd):
    @inner
    def told(x):
        print("x is", x)
        return x

    assert jit(lambda x: told(x) + 1.0)(2.0) == 3.0
    assert capfd.readouterr().out == "x is 2.0\n"


def test_compiling_leaves_the_collection_of_garbage_as_it_was():
    before = gc.get_threshold()
    assert jit(lambda x: x + 1.5)(2.0) == 3.5
    assert gc.get_threshold() == before


def test_it_is_known_what_is_compiled_and_for_how_long():
    count, seconds = kernels_compiled(), compiling_seconds()
    with compiled_for("UTS for Bernoulli rewards"):
        assert compiling_now() == ""
        with compilation("leap"):
            assert compiling_now() == "UTS for Bernoulli rewards"
            with compilation("within"):
                pass
            now = compiling_seconds()
    assert compiling_now() == ""
    assert kernels_compiled() == count + 2
    assert seconds < now <= compiling_seconds()
    assert compiling_seconds() == compiling_seconds()  # nothing runs
    with compilation("leap"):
        assert compiling_now() == "leap"  # where nobody said what for


def test_a_kernel_counts_when_it_is_compiled_and_not_when_it_is_called():
    kernel, count = jit(lambda x: x - 1.0), kernels_compiled()
    kernel._cache = NullCache()  # an earlier run of this test may have kept it on disk
    assert kernel(2.0) == 1.0 and kernels_compiled() == count + 1
    assert kernel(3.0) == 2.0 and kernels_compiled() == count + 1
