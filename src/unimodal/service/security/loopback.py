"""A service without tokens: it answers to this machine only, under a name of this machine."""

from __future__ import annotations

import functools
import ipaddress

from starlette.types import Scope

from unimodal.errors import NotAllowed

_OF_PROXIES = (b"forwarded", b"via", b"x-real-ip")


def check_local(scope: Scope) -> None:
    """Refuse other machines, proxies, names that are not this machine's, and other sites."""
    client = (scope.get("client") or ("localhost", 0))[0]
    if not is_loopback(client):
        raise NotAllowed(
            f"a service without tokens answers on its own machine only, got {client!r:.60}: "
            "start it with a token file."
        )
    headers = dict(scope["headers"])
    if any(name in _OF_PROXIES or name.startswith(b"x-forwarded") for name in headers):
        raise NotAllowed(
            "a service without tokens answers on its own machine only, got a request that a "
            "proxy has passed on: start it with a token file."
        )
    host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
    if not is_loopback(host_of(host)):
        raise NotAllowed(
            "a service without tokens answers to names of its own machine only, got "
            f"{host!r:.60}: start it with a token file."
        )
    if origin and origin != f"{scope['scheme']}://{host}":
        raise NotAllowed(
            f"a service without tokens takes no request of a page from {origin!r:.60}: start "
            "it with a token file."
        )


def host_of(text: str) -> str:
    """The host in a Host header.

    >>> host_of("[::1]:8000"), host_of("127.0.0.1:8000"), host_of("localhost")
    ('::1', '127.0.0.1', 'localhost')
    """
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


@functools.lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether an address leads to this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
