"""A user's own policy: plain and compiled, in a file of its own, and what goes wrong."""

import numpy as np
import pytest

import unimodal as um
from unimodal.kernels.compile import component
from unimodal.policies import parse
from unimodal.policies.index import Thompson

SOURCE = '''
import unimodal as um

class {name}(um.Policy):
    """Pull the leader, and now and then any arm around it."""
    summary = "epsilon-greedy around the leader"
    epsilon: float = 0.1
    compiled = {compiled}

    def choose(self, arms, near, leader, clock, rng):
        if um.random.uniform(rng) < self.epsilon:
            return near[um.random.randint(rng, len(near))]
        best = near[0]
        for arm in near:
            if arms[arm].total * arms[best].pulls > arms[best].total * arms[arm].pulls:
                best = arm
        return best
'''


def written(folder, name, compiled):
    path = folder / f"{name.lower()}.py"
    path.write_text(SOURCE.format(name=name, compiled=compiled))
    return parse(f"{path}:{name}(epsilon=0.2)")


def test_plain_and_compiled_do_the_same(tmp_path):
    problem = um.problems.triangular(5)
    plain, compiled = (
        um.simulate(problem, written(tmp_path, name, flag), horizon=500, trials=2, history=True)
        for name, flag in (("Plain", False), ("Fast", True))
    )
    assert (plain["Plain(epsilon=0.2)"].arms == compiled["Fast(epsilon=0.2)"].arms).all()


def test_parameters_are_read_at_run_time(tmp_path):
    problem = um.problems.triangular(5)
    never = written(tmp_path, "Fast", True)
    never = type(never)(epsilon=0.0, name="never")
    often = type(never)(epsilon=0.9, name="often")
    result = um.simulate(problem, [never, often], horizon=2000, trials=4)
    assert result["often"].regret[:, -1].mean() > result["never"].regret[:, -1].mean()


class Lost(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        return 99


class LostCompiled(um.Policy):
    compiled = True

    def choose(self, arms, near, leader, clock, rng):
        return 99


class NotCompilable(um.Policy):
    compiled = True

    def choose(self, arms, near, leader, clock, rng):
        return open("somewhere")


@pytest.mark.parametrize("policy", [Lost(), LostCompiled()])
def test_an_arm_outside_is_refused(policy):
    with pytest.raises(um.UnimodalError, match="must return one of the arms in 'near'"):
        um.simulate(um.problems.triangular(5), policy, horizon=100, trials=1)


def test_code_that_does_not_compile_gets_a_sentence():
    with pytest.raises(um.UnimodalError, match="NotCompilable cannot be compiled"):
        um.simulate(um.problems.triangular(5), NotCompilable(), horizon=100, trials=1)
    with pytest.raises(um.UnimodalError, match="NotCompilable cannot be compiled"):
        um.Agent(NotCompilable(), um.graphs.line(5))


def test_a_file_that_is_wrong_gets_a_sentence(tmp_path):
    (tmp_path / "broken.py").write_text("1/0")
    (tmp_path / "empty.py").write_text("")
    for text, words in [
        (f"{tmp_path}/none.py:X", "does not exist"),
        (f"{tmp_path}/broken.py:X", "ZeroDivisionError"),
        (f"{tmp_path}/empty.py:X", "must define a class X"),
    ]:
        with pytest.raises(um.UnimodalError, match=words):
            parse(text)


def test_all_arms_may_compete():
    class Uniform(um.Policy):
        def scope(self, graph):
            return um.EveryArm()

        def choose(self, arms, near, leader, clock, rng):
            assert leader == -1
            return near[um.random.randint(rng, len(near))]

    result = um.simulate(um.problems.triangular(5), Uniform(), horizon=500, trials=1)
    assert (result["Uniform"].pulls > 50).all()


def test_vectors_work_in_plain_python():
    """Columns of the arms under a list of them: the same as one arm after the other."""

    class Vectors(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return near[np.argmax((arms.total[near] + 1) / (arms.pulls[near] + 1))]

    class Loop(um.Policy):
        def choose(self, arms, near, leader, clock, rng):
            return max(near, key=lambda arm: (arms[arm].total + 1) / (arms[arm].pulls + 1))

    problem = um.problems.triangular(5)
    runs = um.simulate(problem, [Vectors(), Loop()], horizon=300, trials=3, history=True)
    assert (runs["Vectors"].arms == runs["Loop"].arms).all()
    assert all(len(set(arms)) == 5 for arms in runs["Vectors"].arms.tolist())  # it did choose


class PlainLeader(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        return near[um.random.randint(rng, len(near))]


class CompiledLeader(PlainLeader):
    """The same `choose`, which Numba compiles now."""

    compiled = True


def test_a_subclass_may_compile_what_it_inherits():
    result = um.simulate(
        um.problems.triangular(5),
        [PlainLeader(), CompiledLeader()],
        horizon=100,
        trials=2,
        history=True,
    )
    assert (result["PlainLeader"].arms == result["CompiledLeader"].arms).all()


class NoComponent:
    pass


@component
class NoArena:
    pass


@component
class NoRules:
    def arena(self, graph):
        return um.policies.AroundLeader().arena(graph)


class OwnScope(um.Policy):
    def scope(self, graph):
        return self.made

    def index(self):
        return Thompson()


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (NoComponent(), r"must be AroundLeader\(…\), EveryArm\(\) or a @component .* got <"),
        (None, "or a @component with a method arena.* got None"),
        (NoArena(), r"a method arena\(graph\), as in .*scope.py, got NoArena\(\)"),
        (NoRules(), "must have lead, prepare, span, forced, clock, has_leader registered"),
    ],
)
def test_what_is_no_scope_gets_a_sentence(made, sentence):
    policy = type("Wrong", (OwnScope,), {"made": made})()
    with pytest.raises(um.UnimodalError, match=f"the scope of Wrong.*{sentence}"):
        um.simulate(um.problems.triangular(5), policy, horizon=50, trials=1)
    with pytest.raises(um.UnimodalError, match=f"the scope of Wrong.*{sentence}"):
        um.Agent(policy, um.graphs.line(5))


def test_what_is_no_index_gets_a_sentence():
    policy = type("Wrong", (um.Policy,), {"index": lambda self: NoComponent()})()
    for use in (
        lambda: um.simulate(um.problems.triangular(5), policy, horizon=50, trials=1),
        lambda: um.Agent(policy, um.graphs.line(5)),
    ):
        with pytest.raises(um.UnimodalError, match="an index must be a class with @component"):
            use()
