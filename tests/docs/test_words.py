"""One word per idea: words that we gave up do not come back, and the glossary names what exists."""

import re
import tomllib
from pathlib import Path

import pytest

import unimodal as um

ROOT = Path(__file__).parents[2]
LISTED = tomllib.loads((Path(__file__).parent / "given_up_words.toml").read_text(encoding="utf-8"))
GLOSSARY = (ROOT / "docs" / "guide" / "glossary.md").read_text(encoding="utf-8")
SUFFIXES = (".py", ".pyi", ".md", ".j2")


def texts():
    """Every text of src/ and docs/, by its path; decisions say what was thought at their time."""
    for folder in ("src", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and not name.startswith("docs/decisions/"):
                yield name, path.read_text(encoding="utf-8")


def places(pattern, text):
    """The lines on which a word stands."""
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line, re.IGNORECASE)
    ]


@pytest.mark.parametrize("pattern", LISTED["words"])
def test_words_that_we_gave_up_do_not_come_back(pattern):
    found = {
        name: lines
        for name, text in texts()
        if name not in LISTED["waiting"]["files"] and (lines := places(pattern, text))
    }
    assert not found, f"write '{LISTED['words'][pattern]}' instead"


@pytest.mark.parametrize(
    ("text", "given_up"),
    [
        ("Returns a row a policy.", True),
        ("one number a sample", True),
        ("an array an interval", True),
        ("Returns one row per policy.", False),
        ("a number a little above 1", False),
        ("It is 3 unless told otherwise.", True),
        ("It is 3 by default.", False),
        ("the desk of rivals", True),
        ("Stopped, it goes on where it was.", True),
    ],
)
def test_what_the_patterns_find(text, given_up):
    assert any(places(pattern, text) for pattern in LISTED["words"]) == given_up


def test_the_glossary_names_what_exists():
    names = set(re.findall(r"`(um(?:\.\w+)+)`", GLOSSARY))
    assert len(names) > 15
    for name in names:
        found = um
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    paths = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", GLOSSARY))
    assert len(paths) > 15
    assert [path for path in sorted(paths) if not (ROOT / "src" / "unimodal" / path).exists()] == []


def test_the_glossary_has_every_word_once():
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", GLOSSARY, re.MULTILINE)
    words = [word for row in rows if row != "word" for word in row.split(", ")]
    assert len(words) == len(set(words)) > 60
    some = {"arm", "label", "leader", "lead", "contest", "horizon", "trial", "family", "store"}
    assert some < set(words)
