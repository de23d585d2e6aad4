"""The same histories on SQLite and PostgreSQL: so the store in memory is held to the real ones.

What is left out is what cannot be done to them at will: to be set back by some commits.
"""

import pytest

from unimodal.campaigns.stores import as_place
from unimodal.testing.simulation import new_history, run
from unimodal.testing.simulation.kept import InDatabase, InFile
from unimodal.testing.simulation.steps import MEMORY_ONLY

HISTORIES, STEPS = 20, 8


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_on_a_file(seed, tmp_path):
    assert run(new_history(seed, STEPS, MEMORY_ONLY), InFile(tmp_path)) is None


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_in_a_database(seed, postgresql):
    import psycopg

    def new_place():
        return as_place(postgresql(), "a test's")

    def rename(old, new):
        with psycopg.connect(new_place().conninfo) as connection:
            statement = "UPDATE unimodal.campaigns SET name = %s WHERE name = %s"
            assert connection.execute(statement, (new, old)).rowcount == 1

    kept = InDatabase(new_place, rename)
    assert run(new_history(seed, STEPS, MEMORY_ONLY), kept) is None
