"""The token file while others change it, and the key of sessions."""

import os
import re
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from unimodal.cli.app import app
from unimodal.errors import NotAuthenticated, UnimodalError
from unimodal.service.app import SESSION_KEY, create_app
from unimodal.service.security import token_file, tokens
from unimodal.service.security.token_file import TokenFile


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
    token_file.write(path, [])
    path.chmod(0o644)  # for the user of a container, say
    token_file.write(path, [])
    assert modes == [0o600, 0o644] and path.stat().st_mode & 0o777 == 0o644


def test_tokens_that_are_added_at_the_same_time_are_all_there(tmp_path):
    path, made = tmp_path / "tokens.json", []

    def add():
        for _ in range(10):
            token, kept = tokens.make("one of many", ["read"])
            with token_file.changing(path) as known:
                known[kept.id] = kept
            made.append(token)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(token_file.read(path)) == 40
    file = TokenFile(path)
    assert all(file.token_of(token) for token in made)
    assert list(tmp_path.iterdir()) == [path]


def test_a_mistake_in_the_token_file_locks_nobody_out_and_is_logged(tmp_path, caplog):
    (first, one), path = tokens.make("a", ["read"]), tmp_path / "tokens.json"
    token_file.write(path, [one])
    file = TokenFile(path)
    path.write_text("{")
    for _ in range(2):
        file._looked -= 2.0
        assert file.token_of(first) == one
    assert "the tokens of before are in force" in caplog.text
    token_file.write(path, [])
    file._looked -= 2.0
    with pytest.raises(NotAuthenticated):
        file.token_of(first)


# Others than the owner.


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o622, 0o666, 0o664, 0o646])
def test_a_token_file_that_others_may_write_is_refused(tmp_path, mode):
    path = tmp_path / "tokens.json"
    _, one = tokens.make("a", ["read"])
    token_file.write(path, [one])
    path.chmod(mode)
    for call in (lambda: TokenFile(path), lambda: token_file.read(path), lambda: added(path)):
        with pytest.raises(UnimodalError, match=r"others than its owner may write .*chmod go-w"):
            call()
    assert path.stat().st_mode & 0o777 == mode
    for harmless in (0o600, 0o400, 0o644, 0o444):  # a container's user reads what another owns
        path.chmod(harmless)
        assert token_file.read(path) == {one.id: one}


def added(path):
    with token_file.changing(path) as known:
        known.clear()


def test_a_token_file_in_a_folder_that_all_may_write_is_refused(tmp_path):
    """They could put another file in its place; not where the folder has the sticky bit."""
    folder = tmp_path / "open"
    folder.mkdir()
    path = folder / "tokens.json"
    token_file.write(path, [tokens.make("a", ["read"])[1]])
    folder.chmod(0o777)
    with pytest.raises(UnimodalError, match=r"others than its owner may write \S*open, so that"):
        TokenFile(path)
    folder.chmod(0o1777)
    assert TokenFile(path)


def test_a_token_file_that_becomes_writable_is_not_read_again(tmp_path, caplog):
    (first, one), (second, two) = tokens.make("a", ["read"]), tokens.make("b", ["admin"])
    path = tmp_path / "tokens.json"
    token_file.write(path, [one])
    file = TokenFile(path)
    token_file.write(path, [one, two])
    path.chmod(0o666)
    file._looked -= 2.0
    assert file.token_of(first) == one
    with pytest.raises(NotAuthenticated):
        file.token_of(second)
    assert "others than its owner may write" in caplog.text
    path.chmod(0o600)  # which changes nothing else of it
    file._looked -= 2.0
    assert file.token_of(second) == two


# Tokens that expire.


def test_a_token_expires_at_its_moment(tmp_path):
    text, one = tokens.make("shop", ["read"], lasts=90 * 86_400.0)
    other, for_ever = tokens.make("for ever", ["read"])
    assert one.expires == one.created + 90 * 86_400.0 and for_ever.expires is None
    path, now = tmp_path / "tokens.json", [one.created]
    token_file.write(path, [one, for_ever])
    file = TokenFile(path, clock=lambda: now[0])
    assert file.token_of(text) == one == file.by_id(one.id)
    now[0] = one.expires - 0.001
    assert file.token_of(text) == one == file.by_id(one.id)
    now[0] = one.expires
    with pytest.raises(NotAuthenticated, match=r"this token has expired: .*token rotate"):
        file.token_of(text)
    assert file.by_id(one.id) is None and file.token_of(other) == for_ever
    wrong = text[:-1] + ("A" if text[-1] != "A" else "B")
    with pytest.raises(NotAuthenticated, match="does not know"):  # who guesses learns nothing
        file.token_of(wrong)


def test_an_expired_token_gets_401_and_the_log_a_sentence(serving, tmp_path, caplog):
    text, one = tokens.make("shop", ["read"], lasts=3600.0)
    path = tmp_path / "tokens.json"
    token_file.write(path, [one])
    with serving(tmp_path / "store", path, text) as served:
        assert served.http.get("/v1/campaigns").status_code == 200
        session = served.http.post("/session", json={"token": text})
        assert session.status_code == 200
        served.app.state.service.access.tokens._clock = lambda: one.expires
        for answer in (
            served.http.get("/v1/campaigns"),
            served.http.post("/session", json={"token": text}),
            served.http.get("/session"),
        ):
            assert answer.status_code == 401, answer.text
        del served.http.headers["Authorization"]  # the session alone
        assert served.http.get("/v1/campaigns").status_code == 401
    (line,) = [one for one in caplog.messages if "log-in" in one]
    assert f"{one.id} 'shop'" in line and "has expired" in line and "token rotate" in line
    assert text.rpartition("_")[2] not in caplog.text


def test_a_file_without_expiries_is_as_it_was(tmp_path):
    """So an earlier version reads it, too; and one that has none in it is read."""
    path = tmp_path / "tokens.json"
    token_file.write(path, [tokens.make("a", ["read"])[1]])
    assert "expires" not in path.read_text()


@pytest.mark.parametrize("expires", ["NaN", "Infinity", '"soon"', "[]", "{}"])
def test_an_expiry_that_is_no_time_is_refused(tmp_path, expires):
    path = tmp_path / "tokens.json"
    token_file.write(path, [tokens.make("a", ["read"], lasts=1.0)[1]])
    text = re.sub(r'"expires": [0-9.]+', f'"expires": {expires}', path.read_text())
    path.write_text(text)
    with pytest.raises(UnimodalError, match="must be a token file"):
        TokenFile(path)


# The commands.


def run(*arguments):
    done = CliRunner().invoke(app, ["token", *map(str, arguments)])
    if isinstance(done.exception, UnimodalError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output.strip()


def test_tokens_are_added_with_an_expiry_and_listed(tmp_path):
    path, before = tmp_path / "tokens.json", time.time()
    run("add", path, "--role", "read", "--name", "shop", "--expires", "90d")
    run("add", path, "--role", "read", "--name", "other")
    shop, other = token_file.read(path).values()
    assert 0 <= shop.expires - before - 90 * 86_400 < 60 and other.expires is None
    listed = run("list", path)
    assert f"{datetime.fromtimestamp(shop.expires, UTC):%Y-%m-%d}" in listed and "never" in listed
    for wrong in ("90", "d", "-1d", "1.5d", "90 d", "nan", "1y"):
        with pytest.raises(UnimodalError, match="a length of time must be a number with s, m, h"):
            run("add", path, "--role", "read", "--expires", wrong)
    assert len(token_file.read(path)) == 2


def test_a_token_is_rotated(tmp_path):
    path = tmp_path / "tokens.json"
    limits = ("--role", "decide", "--role", "read", "--campaign", "prices", "--expires", "2h")
    first = run("add", path, *limits, "--name", "shop")
    run("add", path, "--role", "admin", "--name", "me")
    second = run("rotate", path, "shop")
    file = TokenFile(path)
    with pytest.raises(NotAuthenticated):
        file.token_of(first)
    new = file.token_of(second)
    assert (new.name, new.roles, new.campaigns) == ("shop", ("decide", "read"), ("prices",))
    assert new.expires - new.created == pytest.approx(7200.0)  # as long as the other one
    third = run("rotate", path, new.id, "--grace", "1h", "--expires", "30d")
    file = TokenFile(path)
    old, new = file.token_of(second), file.token_of(third)
    assert old.expires - new.created == pytest.approx(3600.0, abs=60)
    assert new.expires - new.created == pytest.approx(30 * 86_400.0)
    assert len(token_file.read(path)) == 3
    with pytest.raises(UnimodalError, match=f"name an id, one of {old.id}, {new.id}"):
        run("rotate", path, "shop")  # two have that name now
    with pytest.raises(UnimodalError, match="did you mean 'shop'"):
        run("rotate", path, "shpo")
    assert len(token_file.read(path)) == 3
    run("rotate", path, old.id, "--grace", "9h")  # it does not live longer by that
    assert token_file.read(path)[old.id].expires == old.expires


def test_a_token_that_has_expired_is_rotated(tmp_path):
    path = tmp_path / "tokens.json"
    _, gone = tokens.make("shop", ["read"], lasts=-10.0)
    token_file.write(path, [replace(gone, created=gone.created - 100.0)])
    text = run("rotate", path, "shop", "--grace", "1h")
    (new,) = token_file.read(path).values()
    assert TokenFile(path).token_of(text) == new
    assert new.expires - new.created == pytest.approx(90.0)
