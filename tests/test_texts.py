"""Policies, families and graphs as a stranger may spell them: an answer or one sentence."""

import functools
import math
import random
import warnings

import pytest

import unimodal as um
from unimodal import families, graphs, policies

DEEP = [
    "-" * 490 + "1",
    "-" * 10_000 + "1",
    "not " * 3_000 + "1",
    "(" * 5_000 + "1" + ")" * 5_000,
    "[" * 90 + "]" * 90,
    "1+" * 2_000 + "1",
    "x" + ".y" * 3_000,
    "x" + "()" * 3_000,
    "lambda: " * 100 + "1",
]
VALUES = [
    *DEEP,
    "(" * 150 + "1" + ")" * 150,
    *("1", "0", "-1", "0.5", "1e308", "1e400", "-0.0", "nan", "None", "True", "...", "1j", "b'x'"),
    *("''", "'x'", "0x" + "f" * 300, "0x" + "f" * 5_000, "9" * 400, "9" * 4_000, "9" * 5_000, "[]"),
    *(
        "()",
        "{1: 2}",
        "{1, 2}",
        "[1, 2]",
        "(1, 2)",
        "[(0, 1)]",
        "x",
        "x[0]",
        "f'{x}'",
        "1if 1else 1",
    ),
    *(
        "probe(8)",
        "probe(99999999999999999999)",
        "sweep",
        "literal",
        "degree",
        "uts",
        "uts()",
        "\x00",
    ),
    *(
        "'" + "a" * 100_000 + "'",
        "'\u202e'",
        "\ud800",
        "a := 1",
        "*x",
        "x for x in y",
        "5",
        "10**400",
    ),
]
PARTS = [
    *(
        "1",
        "0",
        "-1",
        "",
        "1e308",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "x",
        "0x5",
        "1_0",
        "٣",
        "²",
        "None",
    ),
    *(
        "9" * 400,
        "9" * 5_000,
        "1e-400",
        "-0.0",
        "\u202e",
        "\x00",
        "\ud800",
        "3",
        "4",
        "7",
        "2",
        "10",
    ),
]
NAMES = [*policies.registry.POLICIES, *policies.registry.WRAPPERS, "", "x", "1"]
PARAMETERS = ["policy", "window", "gamma", "rate", "prior", "period", "start", "ties", "c", "name"]


def refused(parse, text):
    """Whether it is: in one sentence, and without all of a long text in it."""
    try:
        parse(text)
    except um.UnimodalError as error:
        assert "\n" not in str(error) and len(str(error)) <= 2_000, str(error)[:300]
        return True
    return False


@pytest.mark.parametrize("value", DEEP, ids=lambda value: value[:8])
@pytest.mark.parametrize("form", ["osub(c={})", "windowed(policy=osub(c={}), window=5)", "uts({})"])
def test_no_text_of_a_policy_runs_out_of_stack(form, value):
    """A chain of 490 signs, which a request may send, did: a traceback, and 500 over HTTP."""
    for own in (True, False):
        assert refused(functools.partial(policies.parse, own=own), form.format(value))


def test_a_policy_may_be_nested_as_deep_as_anybody_writes():
    assert policies.parse("osub(c=((+1)))").c == 1.0
    assert policies.parse("uts(prior=((1, 2), (3, 4)), start=((((sweep)))))").name.startswith(
        "UTS("
    )
    deep = "windowed(policy=" * 12 + "uts" + ", window=5)" * 12
    with pytest.raises(um.UnimodalError, match="must not forget by itself"):
        policies.parse(deep)
    with pytest.raises(um.UnimodalError, match="nested at most 50 deep, got 'osub"):
        policies.parse("osub(c=" + "-" * 60 + "1)")


def test_a_strangers_text_warns_nobody():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for text in ("osub(c=1if 1else 1)", "uts(period=5or 6)", "uts(name='\\d')"):
            refused(policies.parse, text)
    assert heard == []


def policy(rng, depth=0):
    name = rng.choice(NAMES)
    given = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        value = policy(rng, depth + 1) if rng.random() < 0.1 and depth < 4 else rng.choice(VALUES)
        given.append(value if rng.random() < 0.05 else f"{rng.choice(PARAMETERS)}={value}")
    if name in policies.registry.WRAPPERS and depth < 60:
        given.append(f"policy={policy(rng, depth + 1)}")
    text = f"{name}({', '.join(given)})" if given else name
    place = rng.randrange(len(text) + 1)
    odd = rng.choice(["(", ")", ",", "=", "'", "\\", "\n", "\x00", "\ud800", "#", ";"])
    return text[:place] + odd + text[place:] if rng.random() < 0.05 else text


def parts(rng, kinds):
    """A kind and numbers, in the form of families and graphs."""

    def number():
        return "x".join(rng.choice(PARTS) for _ in range(rng.choice([1, 1, 1, 2, 3, 40])))

    return ":".join([rng.choice(kinds), *(number() for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))])


CASES = {
    "policies": (policy, lambda text: policies.parse(text, own=False)),
    "families": (
        lambda rng: parts(rng, ["bernoulli", "bounded", "gaussian", "poisson", "x"]),
        families.parse,
    ),
    "graphs": (lambda rng: parts(rng, [*graphs.text.FORMS, "x", ""]), graphs.parse),
}


def tried(case, seed, times):
    make, parse = CASES[case]
    rng = random.Random(seed)
    texts = [make(rng) for _ in range(times)]
    return sum(refused(parse, text) for text in texts)


@pytest.mark.parametrize("case", CASES)
def test_any_text_gets_an_answer_or_a_sentence(case):
    assert 100 < tried(case, 0, 400) < 400  # not all of them are wrong


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("case", CASES)
def test_many_more_texts_do(case, seed):
    assert tried(case, seed, 10_000) > 2_000


LONG = [10**5_000, -(10**5_000), math.inf, "x" * 10**6, [1] * 10**6]


@pytest.mark.parametrize("value", LONG, ids=lambda value: type(value).__name__)
def test_a_sentence_is_no_longer_than_a_screen(value):
    """Of a number with more than 4,300 digits Python makes no text at all."""
    for make in (um.graphs.line, um.OSUB, lambda window: um.Windowed(um.UTS(), window)):
        with pytest.raises(um.UnimodalError, match=r"must (be|differ)|at most") as sentence:
            make(value)
        assert len(str(sentence.value)) <= 2_000 and "got" in str(sentence.value)
