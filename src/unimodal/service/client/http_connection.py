"""Requests of the client: sent again where that can do no harm, and errors as their own classes."""

from __future__ import annotations

import json
import random
import time
from typing import Any
from urllib.parse import quote

from unimodal import errors
from unimodal.errors import URN, Overloaded, ServiceError, UnimodalError, real_number, whole_number

_LONGEST_PAUSE = 5.0  # seconds between two tries


class HttpConnection:
    """Keep-alive connections to one service."""

    def __init__(self, url: str, token: str | None, timeout: float, retries: int) -> None:
        try:
            import httpx
        except ModuleNotFoundError:
            raise UnimodalError(
                "a client needs httpx, which is not installed: pip install 'unimodal[serve]'."
            ) from None
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise UnimodalError(
                f"the address of a service must begin with http:// or https://, got {url!r:.80}."
            )
        self.url = url.rstrip("/")
        self._retries = whole_number(retries, "the 'retries' of a client", 0)
        seconds = real_number(timeout, "the 'timeout' of a client", above=0)
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._unsent: tuple[type[Exception], ...] = (httpx.ConnectError, httpx.ConnectTimeout)
        self._lost: tuple[type[Exception], ...] = (httpx.TransportError,)
        named: dict[str, Any] = {"base_url": self.url, "headers": headers, "timeout": seconds}
        if self.url.startswith("http://"):
            named["verify"] = False  # certificates take longer to load than a request takes
        self._http = httpx.Client(**named)

    @staticmethod
    def quoted(name: object) -> str:
        """A name as one part of a path."""
        return quote(str(name), safe="") or "-"

    def get(self, path: str, query: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a question."""
        return self._request("GET", path, query=query)

    def post(
        self, path: str, body: Any, *, headers: dict[str, str] | None = None, again: bool = True
    ) -> dict[str, Any]:
        """The answer to a request; `again`: doing it twice does no harm."""
        return self._request("POST", path, body, headers=headers, again=again)

    def patch(self, path: str, body: Any) -> dict[str, Any]:
        """The answer to a change that may be made twice."""
        return self._request("PATCH", path, body)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        again: bool = True,
    ) -> dict[str, Any]:
        content = None if body is None else _encoded(body)
        for attempt in range(self._retries + 1):
            try:
                answer = self._http.request(
                    method, path, content=content, params=query, headers=headers
                )
            except self._lost as error:
                if isinstance(error, self._unsent) or again:
                    failure: UnimodalError = Overloaded(
                        f"{self.url} does not answer ({type(error).__name__}): see whether the "
                        "service runs, and try again."
                    )
                else:
                    raise ServiceError(
                        f"{self.url} did not answer ({type(error).__name__}), and the change may "
                        "have been made or not: look, before you make it again."
                    ) from None
                after = 0.0
            else:
                if answer.status_code < 400:
                    found: dict[str, Any] = answer.json()
                    return found
                failure = _failure(answer)
                if answer.status_code not in (429, 503):  # in which cases nothing was done
                    raise failure
                after = _seconds(answer.headers.get("retry-after"))
            if attempt < self._retries:
                time.sleep(max(after, _pause(attempt)))
        raise failure


def _encoded(body: Any) -> bytes:
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError, RecursionError):
        raise UnimodalError(
            f"what is sent to a service must be numbers, text and lists of them, got {body!r:.80}."
        ) from None


def _failure(answer: Any) -> UnimodalError:
    """The error that a problem document tells."""
    try:
        problem = answer.json()
        kind = str(problem["type"]).removeprefix(URN)
        found = getattr(errors, kind, ServiceError)
        if isinstance(found, type) and issubclass(found, UnimodalError):
            return found(problem["detail"])
    except (ValueError, KeyError, TypeError):
        pass
    return ServiceError(f"the service answered with the status {answer.status_code}.")


def _pause(attempt: int) -> float:
    """Longer with each try, and not the same for all clients."""
    return float(min(0.05 * 2**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0))


def _seconds(text: str | None) -> float:
    return min(float(text), _LONGEST_PAUSE) if text is not None and text.isdecimal() else 0.0
