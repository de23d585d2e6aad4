"""The two walks that docs/architecture.md draws are those that calls take."""

import re
from collections import Counter

import pytest

from tests.walks import walks

# So many calls in so many files, at most: a limit is raised only with a reason.
MOST = {"Campaign.decide": (82, 20), "HTTP": (140, 36)}


def names(line):
    """The functions of a line of the page."""
    return line[42:].split(", ")


@pytest.fixture(scope="module")
def walked():
    return walks.walks()


@pytest.mark.parametrize("title", MOST)
def test_the_page_draws_the_walk(walked, title):
    page = walks.PAGE.read_text(encoding="utf-8")
    block = page.partition(f"<!-- walk: {title} -->")[2].partition("<!-- end of walk -->")[0]
    drawn = re.search("```text\n(.*?)\n```", block, re.DOTALL)[1]
    there = Counter(
        (line[:42].split()[0], name) for line in drawn.split("\n") for name in names(line)
    )
    assert there in map(Counter, walked[title]), "run python -m tests.walks.walks"


@pytest.mark.parametrize("title", MOST)
def test_a_walk_has_no_more_hops_than_it_had(walked, title):
    walk = min(walked[title], key=len)
    most_hops, most_files = MOST[title]
    assert len(walk) <= most_hops and len({file for file, _ in walk}) <= most_files
