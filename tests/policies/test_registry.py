"""Policies as text and as data."""

import pytest

import unimodal as um
from unimodal.policies import POLICIES, from_data, parse, split, to_data


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
def test_data_round_trip(make):
    assert from_data(to_data(make(name="mine"))) == make(name="mine")


def test_parameters_survive_the_round_trip():
    policy = um.UTS(prior=[(1, 2), (3, 4)], period=5, start=um.Probe(3), ties="lowest")
    assert from_data(to_data(policy)) == policy
    assert repr(policy) == (
        "UTS(prior=((1.0, 2.0), (3.0, 4.0)), period=5, start='probe(3)', ties='lowest')"
    )


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("uts", um.UTS()),
        (" UTS ", um.UTS()),
        ("osub(c=0)", um.OSUB(c=0, name="OSUB(c=0)")),
        ("ts(prior=(2, 3))", um.TS(prior=(2, 3), name="TS(prior=(2, 3))")),
        ("uts(start=probe(4), name=few)", um.UTS(start="probe(4)", name="few")),
    ],
)
def test_text(text, policy):
    assert parse(text) == policy


def test_split_leaves_parentheses_alone():
    assert split("uts, osub(c=0, start=literal),ts") == ["uts", "osub(c=0, start=literal)", "ts"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("utss", "did you mean 'uts'"),
        ("uts(perod=3)", "did you mean 'period'"),
        ("uts(3)", "name=value"),
        ("osub(c=x)", "'c' of OSUB"),
        (
            "npts(start=sweep)",
            r"parameter of NPTS 'start': Known are name\.$",
        ),  # a ClassVar is none
        ("windowed(window=5)", r"Windowed must be given policy=…, got 'windowed\(window=5\)'"),
        ("discounted", "Discounted must be given policy=…, gamma=…, got 'discounted'"),
        ("", "must have a name"),
    ],
)
def test_wrong_text_gets_a_sentence(text, words):
    with pytest.raises(um.UnimodalError, match=words):
        parse(text)


def test_own_policies_are_not_made_from_data():
    class Mine(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return leader

    with pytest.raises(um.UnimodalError, match="a policy of your own, Mine"):
        from_data(to_data(Mine()))


def test_policies_are_frozen_and_hashable():
    with pytest.raises(AttributeError):
        um.UTS().period = 3
    assert len({um.UTS(), um.UTS(), um.TS()}) == 2
