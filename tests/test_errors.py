from fractions import Fraction

import numpy as np
import pytest

from unimodal.errors import UnimodalError, real_number, unknown_name, whole_number


def test_an_error_is_a_value_error():
    assert issubclass(UnimodalError, ValueError)


@pytest.mark.parametrize("value", [3, 3.0, np.int32(3), np.float64(3), Fraction(3)])
def test_a_whole_number_may_come_in_any_numeric_type(value):
    found = whole_number(value, "the horizon")
    assert found == 3
    assert type(found) is int


def test_a_whole_number_may_be_larger_than_any_float():
    assert whole_number(10**400, "the seed") == 10**400


@pytest.mark.parametrize(
    "value", [0, -1, 2.5, float("nan"), float("inf"), True, "7", None, [1], 1j, np.bool_(True)]
)
def test_anything_but_a_whole_number_is_refused_in_a_sentence(value):
    with pytest.raises(UnimodalError, match=r"^the horizon must be .* at least 1, got .*\.$"):
        whole_number(value, "the horizon")


def test_the_bound_of_a_whole_number_is_itself_allowed():
    assert whole_number(0, "the seed", at_least=0) == 0
    with pytest.raises(UnimodalError, match="of at least 2, got 1"):
        whole_number(1, "the arms", at_least=2)


def test_a_whole_number_may_have_an_upper_bound_which_is_allowed():
    assert whole_number(9, "the window", at_most=9) == 9
    with pytest.raises(
        UnimodalError, match=r"^the window must be at most 1e\+09, got 10000000001\.$"
    ):
        whole_number(10**10 + 1, "the window", at_most=10**9)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_a_real_number_may_come_in_any_numeric_type(value):
    found = real_number(value, "sigma", above=0)
    assert found == 2.0
    assert type(found) is float


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), 10**400, True, "2", None, [2.0], 1j]
)
def test_anything_but_a_finite_number_is_refused_in_a_sentence(value):
    with pytest.raises(UnimodalError, match=r"^sigma must be a finite number, got .*\.$"):
        real_number(value, "sigma")


def test_the_bound_of_a_real_number_is_excluded():
    with pytest.raises(UnimodalError, match="a finite number greater than 0, got 0"):
        real_number(0, "sigma", above=0)


def test_an_unknown_name_is_answered_with_the_closest_one():
    assert "did you mean 'osub'?" in str(unknown_name("policy", "OSUBB", ["uts", "osub"]))


def test_a_name_close_to_none_gets_the_list_alone():
    sentence = str(unknown_name("policy", "zzz", ["uts", "osub"]))
    assert sentence == "unknown policy 'zzz': Known are uts, osub."
