"""Campaigns do what they did before their core was written again: logs, states, answers, files.

`campaign_recording.py` says what is left out of the comparison, and why.
"""

import json
import os
import re

import pytest

from tests.golden import campaign_recording as recording

GOLDEN = f"golden_{os.getpid()}"  # a database of this worker's own
RECORDED = json.loads(recording.RECORDED.read_text())


def on_a_server(address, database):
    """The address of the same campaign in another database."""
    return re.sub(r"/[^/?]*\?", f"/{database}?", address, count=1)


@pytest.fixture(scope="module")
def old_server(postgresql):
    """Makes addresses of campaigns in a database with the tables of then."""
    import psycopg

    given = postgresql("any").partition("campaign=")[0].rstrip("?&")
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {GOLDEN} ENCODING 'UTF8' TEMPLATE template0".encode())
    with psycopg.connect(on_a_server(given, GOLDEN), autocommit=True) as connection:
        tables = (recording.FOLDER / "postgresql-schema-1.sql").read_text()
        connection.execute(tables.encode())
    yield lambda name: on_a_server(postgresql(name), GOLDEN)
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {GOLDEN} WITH (FORCE)".encode())


@pytest.mark.parametrize("scenario", recording.SCENARIOS)
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_a_new_campaign_is_the_recorded_one(scenario, store, tmp_path, request):
    on_server = store == "postgresql"
    place = request.getfixturevalue("postgresql")() if on_server else tmp_path / "a.db"
    recorder = recording.recorder_of(scenario, place, tmp_path)
    recording.SCENARIOS[scenario](recorder)
    recording.compare(recorder.recorded(), RECORDED["scenarios"][scenario])


@pytest.mark.parametrize("name", recording.OLD)
def test_an_old_file_goes_on_as_it_did(name, tmp_path):
    found = recording.gone_on(name, recording.copied(name, tmp_path), tmp_path)
    recording.compare(found, RECORDED["old"][name])


@pytest.mark.parametrize("name", recording.OLD[:4])
def test_an_old_database_goes_on_as_it_did(name, old_server, tmp_path):
    found = recording.gone_on(name, old_server(name), tmp_path)
    recording.compare(found, RECORDED["old"][name])


def test_the_service_answers_as_it_did(tmp_path):
    recording.compare(recording.served_answers(tmp_path), RECORDED["http"])
