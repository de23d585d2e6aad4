"""A campaign from what a request says: policies, families and generators of this package only."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unimodal import families, graphs, policies
from unimodal.agents.past_data import PastData
from unimodal.errors import InvalidRequest, TooLarge, unknown_name
from unimodal.families import Family, Scaled
from unimodal.graphs import Graph
from unimodal.graphs.text import as_label
from unimodal.policies import Policy
from unimodal.policies.forgetting import Forgetful
from unimodal.service.http.models import EdgeFile, Edges, Generator, NewCampaign
from unimodal.service.limits import LONGEST_LABEL, ServiceLimits

_WORK = 1e7  # arms or edges that may be drawn in search of a random graph that is connected
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,20})?(e-\d{1,2})?")


def settings_of(body: NewCampaign, limits: ServiceLimits) -> dict[str, Any]:
    """What `Campaign.open` is to be given."""
    graph, policy = graph_of(body.graph, limits), policies.parse(body.policy, own=False)
    check_room(policy, graph.n_arms, limits)
    data = body.data
    past = None
    if data is not None:
        rows = [(as_label(row[0]), *row[1:]) for row in data.rows]
        past = PastData(rows, weight=data.weight, certify=data.certify, one_peak=data.one_peak)
    return {
        "policy": policy,
        "graph": graph,
        "family": _family(body),
        "seed": body.seed,
        "time_to_live": body.time_to_live,
        "on_expiry": body.on_expiry,
        "data": past,
    }


def check_room(policy: Policy, n_arms: int, limits: ServiceLimits) -> None:
    """Refuse a policy that makes room for more rewards than a service takes."""
    if isinstance(policy, Forgetful) and policy.room(n_arms) > limits.rewards:
        raise TooLarge(
            f"a policy must keep at most {limits.rewards:,} rewards here, got {policy.name}, which "
            f"makes room for {policy.room(n_arms):,} on {n_arms:,} arms: take a smaller window, or "
            "have the service's owner raise the limit."
        )


def _family(body: NewCampaign) -> Family:
    family = families.parse(body.family)
    by = body.scaled_by
    if by is None:
        return family
    if by == "label":
        return Scaled(family, by=float)
    if isinstance(by, list):
        return Scaled(family, by={as_label(label): factor for label, factor in by})
    return Scaled(family, by=by)


def graph_of(body: Edges | Generator | EdgeFile, limits: ServiceLimits) -> Graph:
    """A graph from its edges, the text of a generator, or the text of a file."""
    if isinstance(body, Generator):
        graph = _generated(body, limits)
    elif isinstance(body, EdgeFile):
        _check_size(0, body.csv.count("\n"), limits)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "edges.csv"
            file.write_text(body.csv, encoding="utf-8", errors="replace")
            try:
                graph = graphs.read_edges(file)
            except ValueError as error:
                raise InvalidRequest(str(error).replace(str(file), "the csv")) from None
    else:
        _check_size(0, len(body.edges), limits)
        labels = None if body.labels is None else [as_label(label) for label in body.labels]
        pairs = [(as_label(a), as_label(b)) for a, b in body.edges]
        graph = graphs.from_edges(pairs, labels)
    _check_size(graph.n_arms, graph.n_edges, limits)
    if any(isinstance(label, str) and len(label) > LONGEST_LABEL for label in graph.labels):
        raise TooLarge(f"a label must have at most {LONGEST_LABEL} characters: use shorter ones.")
    return graph


def _generated(body: Generator, limits: ServiceLimits) -> Graph:
    kind, *parts = body.generator.split(":")
    if kind == "edges":
        raise InvalidRequest(
            "a request cannot name a file of the server, got the generator 'edges': send the edges "
            "themselves, or the text of the file as csv."
        )
    numbers = [part for text in parts for part in text.split("x")]
    if kind in graphs.text.FORMS and all(map(_NUMBER.fullmatch, numbers)) and numbers:
        arms, edges = _size(kind, [float(number) for number in numbers])
        _check_size(arms, edges, limits)
        if kind == "er" and len(numbers) == 2 and float(numbers[0]).is_integer():
            tries = int(min(max(_WORK / max(arms, edges, 1.0), 20), 1_000))
            return graphs.erdos_renyi(
                int(float(numbers[0])), float(numbers[1]), body.seed, tries=tries
            )
    else:
        graphs.parse(f"{kind[:40]}:-" if numbers else kind[:40])  # which says how it is written
    return graphs.parse(body.generator, body.seed)


# About how many arms and edges a generator makes, from its numbers, before it makes them.
_SIZES: dict[str, Callable[..., tuple[float, float]]] = {
    **dict.fromkeys(("line", "star", "tree"), lambda arms, *_: (arms, arms)),
    "complete": lambda arms, *_: (arms, arms**2 / 2),
    "er": lambda arms, *p: (arms, arms**2 / 2 * min((1.0, *p))),
    "ba": lambda arms, *m: (arms, arms * max((1.0, *m))),
    **dict.fromkeys(
        ("grid", "torus", "lattice"),
        lambda *sides: (math.prod(sides), math.prod(sides) * len(sides)),
    ),
    "hypercube": lambda dimension, *_: (
        2.0 ** min(dimension, 100),
        dimension * 2.0 ** min(dimension, 100),
    ),
    "rank_one": lambda *sides: (math.prod(sides), math.prod(sides) * sum(sides) / 2),
}


def _size(kind: str, numbers: list[float]) -> tuple[float, float]:
    """About how many arms and edges a generator makes; refused if nobody knows."""
    if kind not in _SIZES:
        raise unknown_name("generator", kind, _SIZES)
    return _SIZES[kind](*numbers)


def _check_size(arms: float, edges: float, limits: ServiceLimits) -> None:
    if arms > limits.arms or edges > limits.edges:
        raise TooLarge(
            f"a graph must have at most {limits.arms:,} arms and {limits.edges:,} edges here, got "
            "more: take a part of it, or have the service's owner raise the limit."
        )
