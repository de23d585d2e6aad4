import io

from rich.console import Console

import unimodal as um
from unimodal import screen


def shown(problem):
    result = um.simulate(problem, um.UTS(), horizon=200, trials=2, workers=1)
    text = io.StringIO()
    screen.show(Console(file=text, width=120), result)
    return text.getvalue()


def test_the_bound_is_shown_for_means_that_stay_and_only_for_them():
    assert "Theorem 1: c(μ) = " in shown(um.problems.triangular(7))
    moving = shown(um.problems.drifting_line(7, 200, 0.01))
    assert "Moving(" in moving and "UTS" in moving
    assert "Theorem 1" not in moving and "nan" not in moving
