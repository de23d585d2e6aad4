"""The parts of a log, on logs of a dozen events whose numbers can be read off."""

import polars as pl
import pytest

from unimodal.inspection import timeline

# Twelve events: a decision and its reward in turns; who led, and what came.
LEADERS = ["a", "a", "b", "a", "b", "b"]
REWARDS = [1.0, 0.0, 4.0, 2.0, 2.0, 6.0]


@pytest.fixture
def history():
    rows = []
    for number, (leader, reward) in enumerate(zip(LEADERS, REWARDS, strict=True)):
        rows.append((2 * number, 10.0 * number, "decide", leader, None))
        rows.append((2 * number + 1, 10.0 * number + 5, "reward", None, reward))
    names = {"seq": pl.Int64, "time": pl.Float64, "kind": pl.String}
    names |= {"leader": pl.String, "reward": pl.Float64}
    return pl.DataFrame(rows, names, orient="row")


def test_parts_have_as_many_events_and_their_own_means(history):
    """Rewards 1 0 4 and 2 2 6: means 5/3 and 10/3, variances 13/3 and 16/3."""
    for rows in (history, history.reverse()):  # by number, in whatever order they come
        first, second = timeline.parts(rows, 2).to_dicts()
        assert (first["began"], second["began"]) == (0.0, 30.0)
        assert (first["decisions"], first["until"]) == (3, 3)
        assert (second["decisions"], second["until"]) == (3, 6)
        assert (first["rewards"], second["rewards"]) == (3, 3)
        assert (first["mean"], second["mean"]) == pytest.approx((5 / 3, 10 / 3))
        assert first["spread"] == pytest.approx((13 / 3) ** 0.5)
        assert second["spread"] == pytest.approx((16 / 3) ** 0.5)
        assert (first["leader"], second["leader"]) == ("a", "b")
        assert first["share"] == pytest.approx(2 / 3) == second["share"]


def test_a_part_in_which_nobody_led_has_no_leader(history):
    after = history.with_columns(leader=pl.when(pl.col("seq") < 6).then("leader").otherwise(None))
    assert timeline.parts(after, 2)["leader"].to_list() == ["a", None]
    assert timeline.parts(after, 2)["share"].to_list() == [pytest.approx(2 / 3), None]


def test_more_parts_than_events_are_as_many_as_events(history):
    assert timeline.parts(history, 100).height == 12
    assert timeline.parts(history, 5)["decisions"].sum() == 6


def test_shares_of_the_lead(history):
    names, shares = timeline.shares(history, 2)
    assert names == ["a", "b"]
    assert shares.tolist() == [pytest.approx([2 / 3, 1 / 3]), pytest.approx([1 / 3, 2 / 3])]
    names, shares = timeline.shares(history.with_columns(leader=pl.col("seq").cast(str)), 1, most=2)
    assert names == ["0", "1", "10 others"]
    assert shares[:, 0] == pytest.approx([1 / 12, 1 / 12, 10 / 12])


def test_those_who_led_most_are_named():
    leaders = ["x"] * 1 + ["y"] * 5 + ["z"] * 3
    history = pl.DataFrame({"seq": range(9), "leader": leaders})
    names, shares = timeline.shares(history, 1, most=2)
    assert names == ["y", "z", "1 others"]
    assert shares[:, 0] == pytest.approx([5 / 9, 3 / 9, 1 / 9])


@pytest.mark.parametrize(
    ("stays", "changes", "held"),
    [
        ([("a", 99), ("b", 1), ("a", 100)], 2, ["a"]),  # b held it for half a hundredth
        ([("a", 99), ("b", 2), ("c", 99)], 2, ["a", "b", "c"]),  # and here for one
        ([("a", 5)], 0, ["a"]),
        ([("a", 100), ("b", 100)], 1, ["a", "b"]),
    ],
)
def test_the_path_of_the_lead(stays, changes, held):
    leaders = [name for name, rounds in stays for _ in range(rounds)]
    history = pl.DataFrame({"seq": range(len(leaders)), "leader": leaders})
    assert timeline.path(history) == (changes, held)
