"""A user's code in compiled code: errors say where it is wrong, and the right code is run."""

import re
from pathlib import Path

import pytest
from numba import njit

import unimodal as um

HERE = Path(__file__).name
PROBLEM = um.problems.triangular(3)


class Right(um.Family):
    compiled = True

    def draw(self, mean, rng):
        return mean

    def divergence(self, p, q):
        return (p - q) ** 2

    def posterior(self, arm, rng):
        return um.random.normal(rng)


class OpensAFile(Right):
    def draw(self, mean, rng):
        mean += 1.0
        return open(str(mean))  # here: Untyped global name 'open'


class ReadsTooMuch(Right):
    def posterior(self, arm, rng):
        return arm.sum  # here: an arm has no 'sum'


class NeverDefined(Right):
    def posterior(self, arm, rng):
        return arm.total + frobnicate(2)  # noqa: F821 - here: name 'frobnicate' is not defined


class ReturnsNothing(Right):
    def draw(self, mean, rng):  # here: it returns none
        pass


class RaisesCompiled(Right):
    def draw(self, mean, rng):
        if mean > 0.1:
            raise ValueError("too much")  # here: raised ValueError: too much
        return mean


class RaisesPlain(Right):
    compiled = False

    def draw(self, mean, rng):
        return {}["key"]  # here: raised KeyError: 'key'


class TakesTooFew(um.Policy):
    def choose(self, arms):  # here: must be written choose(self, arms, near, leader, clock, rng)
        return 0


class TakesTooFewCompiled(um.Policy):
    compiled = True

    def choose(self, arms):  # here: must be written choose(self, arms, near, leader, clock, rng)
        return 0


class AttributeOfAnArray(um.Policy):
    compiled = True

    def choose(self, arms, near, leader, clock, rng):
        first = near[0]
        return near.nothing + first  # here: Unknown attribute 'nothing'


class RaisesInAContest(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        return near[1 // 0]  # here: raised ZeroDivisionError


WRONG = [
    *(OpensAFile, ReadsTooMuch, NeverDefined, ReturnsNothing, RaisesCompiled, RaisesPlain),
    *(TakesTooFew, TakesTooFewCompiled, AttributeOfAnArray, RaisesInAContest),
]


def told_in(cls):
    """The line of a class that says "here", and what it says."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"class {cls.__name__}("))
    number = next(n for n in range(begin, len(lines)) if "here: " in lines[n])
    return number + 1, lines[number].partition("here: ")[2]


@pytest.mark.parametrize("cls", WRONG, ids=lambda cls: cls.__name__)
def test_one_sentence_names_the_class_the_file_the_line_and_the_cause(cls):
    made = cls()
    policy, family = (made, None) if isinstance(made, um.Policy) else (um.UTS(), made)
    line, cause = told_in(cls)
    with pytest.raises(um.UnimodalError) as raised:
        um.simulate(um.Problem(PROBLEM.graph, PROBLEM.means, family), policy, horizon=50, trials=1)
    sentence = str(raised.value)
    assert cls.__name__ in sentence and cause in sentence and "\n" not in sentence
    assert re.search(rf"{re.escape(HERE)}, line {line}\)", sentence)


@pytest.mark.parametrize("cls", [TakesTooFew, RaisesInAContest, ReadsTooMuch])
def test_an_agent_says_the_same(cls):
    made = cls()
    policy, family = (made, None) if isinstance(made, um.Policy) else (um.UTS(), made)
    line, cause = told_in(cls)
    with pytest.raises(um.UnimodalError, match=re.escape(cause)) as raised:
        agent = um.Agent(policy, PROBLEM.graph, family)
        for _ in range(10):
            agent.tell(agent.ask(), 1.0)
    assert f"{HERE}, line {line})" in str(raised.value)


def test_a_method_that_takes_other_arguments_is_refused_when_it_is_written():
    with pytest.raises(um.UnimodalError, match=r"draw of Sample must be written draw\(self, mean"):

        class Sample(um.Family):
            def draw(self, mean):
                return mean


def test_a_method_must_be_plain():
    with pytest.raises(um.UnimodalError, match=r"draw of Sample must be a plain method"):

        class Sample(um.Family):
            @staticmethod
            def draw(mean, rng):
                return mean


def test_a_draw_that_returns_no_number():
    class Silent(Right):
        compiled = False

        def draw(self, mean, rng):
            return None

    with pytest.raises(um.UnimodalError, match="draw of Silent must return a number, got None"):
        Silent().sample(0.5, um.kernels.random.stream(0, 0, 0))


@pytest.mark.full
def test_the_draw_of_bounded_is_explained_too():
    def alone(mean):
        return mean

    def by_zero(mean, rng):
        return mean / 0

    for draw, words in (
        (alone, r"draw of Bounded must be written draw\(mean, rng\), got draw\(mean\)"),
        (by_zero, "draw of Bounded raised ZeroDivisionError"),
    ):
        problem = um.Problem(PROBLEM.graph, PROBLEM.means, um.Bounded(draw=draw))
        with pytest.raises(um.UnimodalError, match=words):
            um.simulate(problem, um.UTS(), horizon=50, trials=1)


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(njit, id="compiled"),
        pytest.param(lambda function: function, id="plain", marks=pytest.mark.full),
    ],
)
def test_two_draws_are_not_mixed_up(wrap):
    """Two types of one name: Numba once linked the code of the first for both."""
    for value in (0.25, 0.75):
        family = um.Bounded(draw=wrap(lambda mean, rng, value=value: value))
        problem = um.Problem(PROBLEM.graph, PROBLEM.means, family)
        run = um.simulate(problem, um.UTS(), horizon=9, trials=1, history=True)["UTS"]
        assert (run.rewards == value).all()


def test_a_class_that_is_defined_again_does_what_it_says_now():
    """As in a notebook, where a cell is run a second time."""
    for last in (False, True):

        class Again(um.Policy):
            compiled = True

            def choose(self, arms, near, leader, clock, rng, last=last):
                return near[len(near) - 1] if last else near[0]

        run = um.simulate(PROBLEM, Again(), horizon=100, trials=1)["Again"]
        assert run.pulls.argmax() == (2 if last else 1)
