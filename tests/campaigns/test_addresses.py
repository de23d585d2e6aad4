"""Addresses of databases: read as libpq reads them, and never quoted where that is not possible."""

import pickle
import traceback
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from typer.testing import CliRunner

import unimodal as um
from unimodal.campaigns.stores import DatabaseAddress, as_place
from unimodal.cli.app import app

# Pieces of a password on both sides of each character that means something in an address.
PASSWORDS = [f"zq7{mark}xw9{more}vk3" for mark in "/@?#%:&=; " for more in ("", "@", "/", "?")]
PIECES = ("zq7", "xw9", "vk3")
MISSPELT = [
    "mysql://app:{}@127.0.0.1:9/shop",
    "postgresq://app:{}@127.0.0.1:9/shop",
    "Postgre SQL://app:{}@127.0.0.1:9/shop",
    " postgresql://app:{}@127.0.0.1:9/shop",
    "postgresql:/app:{}@127.0.0.1:9/shop",
    "postgresql:app:{}@127.0.0.1:9/shop",
    "postgresql//app:{}@127.0.0.1:9/shop",
    "//app:{}@127.0.0.1:9/shop",
    "app:{}@127.0.0.1:9/shop",
    "postgresql+psycopg://app:{}@127.0.0.1:9/shop",
    "postgresql://app:{}@127.0.0.1:9/shop\0",
    "postgresql://app:{}@127.0.0.1:9/shop\n",
    "host=127.0.0.1 user=app password={} dbname=shop",
    "dbname=shop password = {}",
    "host=h sslpassword={}",
]


def shown(text):
    return [piece for piece in PIECES if piece in text]


def told(call, *given):
    """What an error says, with the traceback that a program would print."""
    with pytest.raises(um.UnimodalError) as refused:
        call(*given)
    return "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("password", PASSWORDS)
def test_no_part_of_a_password_is_ever_shown(password, encoded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sent = quote(password, safe="") if encoded else password
    for address in (
        f"postgresql://app:{sent}@127.0.0.1:9/shop?campaign=a&connect_timeout=2",
        f"PostgreSQL://app:{sent}@127.0.0.1:9/shop?campaign=a",
        f"postgres://app@127.0.0.1:9/shop?campaign=a&password={sent}",
        f"postgresql://app@127.0.0.1:9/shop?sslpassword={sent}&campaign=a&port=many",
    ):
        try:
            place = as_place(address, "it")
        except um.UnimodalError as error:
            assert not encoded and not shown(str(error)) and "%2F" in str(error)
            continue
        assert isinstance(place, DatabaseAddress)
        assert not shown(f"{place} {place!r} {[place]}")
        assert not shown(place.without_secrets(f"bad {password} or {sent} in {address}"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("password", [one for one in PASSWORDS if not set("/@&= ") & set(one)])
def test_what_is_read_is_what_libpq_reads(password):
    """Where an address is taken, libpq finds the same password in it."""
    for sent in (quote(password, safe=""), password):
        if sent == password and "%" in password:
            continue  # libpq refuses it, too
        address = as_place(f"PostgreSQL://app:{sent}@a:1,b/shop?campaign=c&sslmode=require", "it")
        found = psycopg.conninfo.conninfo_to_dict(address.conninfo)
        assert found["password"] == password and found["host"] == "a,b"
        assert str(address) == "postgresql://app@a:1,b/shop?campaign=c"


@pytest.mark.parametrize("form", MISSPELT)
def test_what_is_meant_as_an_address_becomes_no_file_and_is_not_quoted(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = form.format("zq7xw9vk3")
    for call in (
        lambda: um.Campaign.open(text, um.UTS(), um.graphs.line(3)),
        lambda: um.verify(text),
        lambda: um.campaigns.copy(text, "there.db"),
        lambda: um.campaigns.copy("here.db", text),
    ):
        said = told(call)
        assert not shown(said.rpartition("Error: ")[2])
    assert not list(tmp_path.iterdir())
    done = CliRunner().invoke(app, ["verify", text])
    assert done.exit_code != 0 and not shown(f"{done.output} {done.exception}")


@pytest.mark.parametrize(
    "query",
    [
        *("campaign=a?password=zq7", "campaign=a&zq7xw9", "campaign=a=zq7", "campaign=a#zq7"),
        *("campaign=a&password=%zz7zq7", "campaign=a&password=zq7%00", "campaign=a;password=zq7"),
    ],
)
def test_what_stands_in_the_wrong_place_is_not_quoted(query):
    for base in ("postgresql://app@127.0.0.1:9/shop?", "postgresql://127.0.0.1?"):
        assert not shown(told(as_place, base + query, "it").rpartition("Error: ")[2])


def test_what_libpq_does_not_know_is_not_quoted():
    for query in ("port=zq7", "connect_timeout=zq7", "zq7=1", "sslmode=zq7"):
        address = f"postgresql://app@127.0.0.1:9/shop?campaign=a&{query}"
        said = told(um.verify, address).rpartition("Error: ")[2]
        assert "libpq" in said and not shown(said)


@pytest.mark.parametrize(
    "name",
    [
        "campaign.db",
        "a/b:c.db",
        "C:/shop/a.db",
        "./a:b@c.db",
        "user=ann/a.db",
        "passengers=3/a.db",
        "x@y.db",
    ],
)
def test_a_file_is_a_file(name, tmp_path):
    assert as_place(name, "it") == Path(name)
    odd = tmp_path / "10:00@shop.db"  # an absolute path is one, whatever is in it
    assert as_place(str(odd), "it") == odd == as_place(odd, "it")


def test_a_copy_of_an_address_shows_no_more():
    address = as_place("postgresql://ann:zq7@host/shop?campaign=a", "it")
    assert repr(pickle.loads(pickle.dumps(address))) == "postgresql://ann@host/shop?campaign=a"
