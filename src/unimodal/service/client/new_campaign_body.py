"""What a client sends to make a campaign: policies, families and graphs as text and plain data."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unimodal import families, policies
from unimodal.agents.past_data import as_past_data
from unimodal.errors import UnimodalError
from unimodal.families import Family, Scaled, factors
from unimodal.graphs import Graph
from unimodal.policies import Policy


def request_of(
    name: str, policy: Any, graph: Any, family: Any, data: Any, given: dict[str, Any]
) -> dict[str, Any]:
    """The body of POST /v1/campaigns."""
    body = {"name": name, "graph": graph_data(graph)}
    body |= {key: value for key, value in given.items() if value is not None}
    if policy is not None:
        body["policy"] = policy if isinstance(policy, str) else policy_text(policy)
    if family is not None:
        body |= {"family": family} if isinstance(family, str) else family_data(family)
    if data is not None:
        past = as_past_data(data)
        rows = [list(row) for row in past.rows]
        kinds = {"certify": past.certify, "one_peak": past.one_peak}
        body["data"] = {"rows": rows, "weight": past.weight, **kinds}
    return body


def policy_text(policy: Policy) -> str:
    """A policy as the command line spells it.

    >>> import unimodal as um
    >>> policy_text(um.OSUB(c=0)), policy_text(um.UTS())
    ('osub(c=0.0)', 'uts')
    """
    policy = policies.as_policy(policy, "the 'policy' of a campaign")
    name = type(policy).__name__.lower()
    if policy.is_own:
        raise UnimodalError(
            f"a service knows this package's policies only, got {policy!r}: serve it in Python."
        )
    defaults = {field.name: field.default for field in fields(policy)}
    parts = []
    for key, value in policy.parameters().items():
        if isinstance(value, Policy):
            parts.append(f"{key}={policy_text(value)}")
        elif value != defaults.get(key):
            parts.append(f"{key}={value!r}")
    return f"{name}({', '.join(parts)})" if parts else name


def family_data(family: Family) -> dict[str, Any]:
    """A family as its text, and its factors if it is `Scaled`.

    >>> import unimodal as um
    >>> family_data(um.Scaled(um.Gaussian(0.5), by=float))
    {'family': 'gaussian:0.5', 'scaled_by': 'label'}
    """
    family = families.as_family(family, "Campaign")
    if isinstance(family, Scaled):
        by = factors.to_data(family.by)
        return {**family_data(family.inner), "scaled_by": "label" if by == "float" else by}
    if families.FAMILIES.get(family.name) is not type(family):
        raise UnimodalError(
            f"a service knows this package's families only, got {family!r}: serve it in Python."
        )
    numbers = [getattr(family, field.name) for field in fields(family) if field.type == "float"]
    return {"family": ":".join([family.name, *map(repr, numbers)])}


def graph_data(graph: Any) -> dict[str, Any]:
    """A graph as its edges, or as the text of a generator."""
    if isinstance(graph, str):
        return {"generator": graph}
    if not isinstance(graph, Graph):
        raise UnimodalError(
            "a campaign of a service needs a graph that can be sent, one of um.graphs or the text "
            f"of a generator, got {graph!r:.80}."
        )
    pairs = graph.edges().tolist()
    if not graph.has_labels:
        return {"edges": pairs}
    labels = list(graph.labels)
    return {"edges": [[labels[a], labels[b]] for a, b in pairs], "labels": labels}
