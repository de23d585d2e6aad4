"""The token file while others change it, and the key of sessions."""

import os
import threading

import pytest

from unimodal.errors import NotAuthenticated, UnimodalError
from unimodal.service import tokens
from unimodal.service.app import SESSION_KEY, create_app
from unimodal.service.tokens import TokenFile


def test_a_session_key_that_can_be_guessed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(SESSION_KEY, "secret")
    with pytest.raises(UnimodalError, match="at least 32 characters, got 6"):
        create_app(tmp_path)


def test_a_token_file_is_its_owners_from_the_first_moment(tmp_path, monkeypatch):
    modes, replace = [], os.replace

    def noted(old, new):
        modes.append(os.stat(old).st_mode & 0o777)
        replace(old, new)

    monkeypatch.setattr(os, "replace", noted)
    path = tmp_path / "tokens.json"
    tokens.write(path, [])
    path.chmod(0o644)  # for the user of a container, say
    tokens.write(path, [])
    assert modes == [0o600, 0o644] and path.stat().st_mode & 0o777 == 0o644


def test_tokens_that_are_added_at_the_same_time_are_all_there(tmp_path):
    path, made = tmp_path / "tokens.json", []

    def add():
        for _ in range(10):
            token, kept = tokens.make("one of many", ["read"])
            with tokens.changing(path) as known:
                known[kept.id] = kept
            made.append(token)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens.read(path)) == 40
    file = TokenFile(path)
    assert all(file.token_of(token) for token in made)
    assert list(tmp_path.iterdir()) == [path]


def test_a_mistake_in_the_token_file_locks_nobody_out_and_is_logged(tmp_path, caplog):
    (first, one), path = tokens.make("a", ["read"]), tmp_path / "tokens.json"
    tokens.write(path, [one])
    file = TokenFile(path)
    path.write_text("{")
    for _ in range(2):
        file._looked -= 2.0
        assert file.token_of(first) == one
    assert "the tokens of before are in force" in caplog.text
    tokens.write(path, [])
    file._looked -= 2.0
    with pytest.raises(NotAuthenticated):
        file.token_of(first)
