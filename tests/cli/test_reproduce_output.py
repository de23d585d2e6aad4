"""`unimodal reproduce --decide`: what goes together, and one sentence for what does not."""

import pytest

from unimodal.cli.reproduce_output import BUDGET, checked_budget
from unimodal.errors import UnimodalError


def check(decide=True, budget=None, quick=False, only="", source=None):
    return checked_budget(decide, budget, quick, only, source)


@pytest.mark.parametrize(("budget", "minutes"), [(None, BUDGET), ("0.5", 0.5), ("1e3", 1000.0)])
def test_a_budget_is_in_core_minutes(budget, minutes):
    assert check(budget=budget) == minutes


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        *(
            (
                {"budget": budget},
                f"--budget must be a number of core-minutes above 0, such as 180, got '{budget}'.",
            )
            for budget in ("-1", "0", "many", "", "nan", "inf")
        ),
        (
            {"decide": False, "budget": "60"},
            "--budget belongs to --decide: give --decide too, or leave out --budget 60.",
        ),
        ({"quick": True}, "--decide begins with the paper's whole scale: leave out --quick."),
        ({"only": "Table 1"}, "--decide begins with the paper's whole scale: leave out --only."),
        ({"source": "x"}, "--decide begins with the paper's whole scale: leave out --from."),
    ],
)
def test_a_mistake_gets_one_sentence(wrong, sentence):
    with pytest.raises(UnimodalError) as error:
        check(**wrong)
    assert str(error.value) == sentence
