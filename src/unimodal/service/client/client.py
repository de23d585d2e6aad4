"""A client in Python: `um.Client(…).campaign("prices")`, with retries that can do no harm."""

from __future__ import annotations

from typing import Any

from unimodal.service.client.http_connection import HttpConnection
from unimodal.service.client.new_campaign_body import request_of
from unimodal.service.client.remote_campaign import RemoteCampaign


class Client:
    """A service's campaigns, from Python.

    `token` is what `unimodal token add` printed. A request that got no answer is sent again, up to
    `retries` times, as long as that can do no harm: a decision with the same key, a reward, a
    question. Threads may share a client.

    Parameters
    ----------
    url
        Where the service is.
    token
        What `unimodal token add` printed.
    timeout
        Seconds until a request counts as unanswered.
    retries
        How often such a request is sent again.

    Examples
    --------
    >>> import unimodal as um
    >>> um.Client("http://127.0.0.1:8000").campaign("prices")
    RemoteCampaign('prices' at http://127.0.0.1:8000)
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 30.0, retries: int = 8
    ) -> None:
        self._connection = HttpConnection(url, token, timeout, retries)

    def campaign(self, name: str) -> RemoteCampaign:
        """A campaign of the service, by its name; asked for when it is first used."""
        return RemoteCampaign(self._connection, name)

    def campaigns(self) -> list[str]:
        """The names of the campaigns that the token is for."""
        names: list[str] = []
        after: str | None = None
        while True:
            query = {"limit": 1000} | ({"after": after} if after else {})
            page = self._connection.get("/v1/campaigns", query)
            names += [one["name"] for one in page["campaigns"]]
            after = page["next"]
            if after is None:
                return names

    def create(
        self,
        name: str,
        policy: Any = None,
        graph: Any = None,
        family: Any = None,
        *,
        seed: int | None = None,
        time_to_live: float | None = None,
        on_expiry: str | None = None,
        data: Any = None,
    ) -> RemoteCampaign:
        """Make a campaign, with what `Campaign.open` takes; policies and families of this package.

        Each of the first three may be text, too, as on the command line: "uts", "line:17".
        """
        given = {"seed": seed, "time_to_live": time_to_live, "on_expiry": on_expiry}
        body = request_of(name, policy, graph, family, data, given)
        self._connection.post("/v1/campaigns", body, again=False)
        return self.campaign(name)

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._connection.url})"
