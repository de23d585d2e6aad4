import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unimodal.kernels.leaderboard import board, leads_alone, runner_up, show, tied_leader

# Few different values, so that ties are the rule; -inf is what an arm without rewards shows.
VALUES = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 1 / 3, 0.5, 1.0])


@st.composite
def games(draw):
    """Room for some arms, what the first of them show, and who shows what next."""
    slots = draw(st.integers(1, 40))
    shown = draw(st.lists(VALUES, max_size=slots))
    moves = draw(st.lists(st.tuples(st.integers(0, slots - 1), VALUES), max_size=30))
    return slots, shown, moves


def assert_leaders(best, count, values):
    """`values` maps each arm on the board to what it shows."""
    if not values:
        assert count[1] == 0
        return
    top = max(values.values())
    tied = [arm for arm in sorted(values) if values[arm] == top]
    assert best[1] == top
    assert count[1] == len(tied)
    assert [tied_leader(best, count, place) for place in range(len(tied))] == tied
    for arm in values:
        others = [value for other, value in values.items() if other != arm]
        assert leads_alone(best, count, arm) == (tied == [arm])
        assert runner_up(best, arm) == max(others, default=-np.inf)


@settings(max_examples=300)
@given(games())
@example((1, [0.5], [(0, -np.inf), (0, 0.0)]))
@example((3, [], [(2, -np.inf), (0, -np.inf), (1, 0.0)]))
def test_the_board_agrees_with_a_search_of_all_arms_after_every_move(game):
    slots, shown, moves = game
    best, count = board(np.array(shown, dtype=np.float64), slots)
    values = dict(enumerate(shown))
    assert_leaders(best, count, values)
    for arm, value in moves:
        show(best, count, arm, value)
        values[arm] = value
        assert_leaders(best, count, values)


@given(games())
def test_a_board_repaired_move_by_move_is_the_one_built_at_once(game):
    slots, shown, moves = game
    full = np.array(shown + [0.0] * (slots - len(shown)), dtype=np.float64)
    best, count = board(full, slots)
    for arm, value in moves:
        show(best, count, arm, value)
        full[arm] = value
    again, recount = board(full, slots)
    assert best.tolist() == again.tolist()
    assert count.tolist() == recount.tolist()


def test_a_leader_that_falls_gives_way_to_the_next():
    best, count = board(np.array([0.1, 0.9, 0.5]), 3)
    assert tied_leader(best, count, 0) == 1
    show(best, count, 1, 0.2)
    assert tied_leader(best, count, 0) == 2
