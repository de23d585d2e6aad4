"""Boundaries between packages that the import contract cannot see."""

from pathlib import Path

import unimodal as um

PACKAGE = Path(um.__file__).parent


def modules_outside(folder):
    return [path for path in PACKAGE.rglob("*.py") if PACKAGE / folder not in path.parents]


def test_only_agents_reach_into_the_player_of_an_agent():
    inside = [path for path in modules_outside("agents") if "._player" in path.read_text()]
    assert inside == []
