"""What a campaign is about: policy, graph, rewards; written once, compared at every opening."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from unimodal import families, graphs, policies
from unimodal.agents.agent import Agent, check_no_root, usual_policy
from unimodal.agents.decisions import Book, check_expiry
from unimodal.agents.past_data import PastData
from unimodal.campaigns.events.json_text import as_json, is_label
from unimodal.errors import (
    DamagedFile,
    OtherCampaign,
    UnimodalError,
    real_number,
    whole_number,
)
from unimodal.families import Family, as_family
from unimodal.graphs import Graph
from unimodal.lookup.oracle import Oracle, as_oracle
from unimodal.policies import Policy, as_policy


@dataclass(frozen=True)
class Settings:
    """What `Campaign.open` is given; None for what is left to the file."""

    policy: Policy | None = None
    graph: Any = None
    family: Family | None = None
    seed: int | None = None
    root: Any = None
    time_to_live: float | None = None
    on_expiry: str | None = None
    cache: int | None = None  # of an oracle
    data: PastData | None = None  # which the log keeps, not the settings of the file

    def __post_init__(self) -> None:
        """Check the kinds; the values are checked by the agent."""
        if self.policy is not None:
            as_policy(self.policy, "the 'policy' of a campaign")
        as_family(self.family, "Campaign")

    def with_defaults(self) -> Settings:
        """For a new file: what was given, and the usual for the rest."""
        if self.graph is None:
            raise UnimodalError(
                "a new campaign needs a graph: pass one of um.graphs, or a function that looks "
                "neighbours up."
            )
        held = isinstance(self.graph, Graph)
        if held:
            check_no_root(self.root)
        family = as_family(self.family, "Campaign")
        return Settings(
            self.policy or usual_policy(family),
            self.graph if held else as_oracle(self.graph, self.root),
            family.on(self.graph if held else None),
            0 if self.seed is None else self.seed,
            self.root,
            self.time_to_live,
            "drop" if self.on_expiry is None else self.on_expiry,
        )

    def agent(self, graph: Any) -> Agent:
        """A new agent, on the graph or on what stands in for it."""
        agent = Agent(self.policy, graph, self.family, 0 if self.seed is None else self.seed)
        expiry = "drop" if self.on_expiry is None else self.on_expiry
        agent.book = Book(agent.family, self.time_to_live, expiry)  # files of before may have any
        return agent

    def check(self) -> None:
        """Refuse, before there is a file, what an agent would refuse."""
        new = self.with_defaults()
        new.to_data()
        check_expiry(as_family(new.family, "Campaign"), str(new.on_expiry))
        if isinstance(new.graph, Graph):
            agent = new.agent(new.graph)
        else:
            root, family = new.graph.root, as_family(new.family, "Campaign")
            family.factors([root])  # not of the arms that follow, which are not those of the graph
            agent = replace(new, family=family.told).agent(Oracle(_somewhere, root=root))
        if self.data is not None:
            agent.begin_with(self.data)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data; None stays None."""
        graph = self.graph
        data = {
            _KEYS.get(field.name, field.name): getattr(self, field.name)
            for field in fields(self)
            if field.name != "data"
        }
        if self.seed is not None:
            data["seed"] = whole_number(self.seed, "the 'seed'", 0)
        if self.time_to_live is not None:
            data["time_to_live"] = real_number(self.time_to_live, "time_to_live", above=0)
        if self.policy is not None:
            data["policy"] = policies.to_data(self.policy)
        if self.family is not None:
            held = graph if isinstance(graph, Graph) else None
            data["rewards"] = families.to_data(self.family.on(held, strict=False))
        if graph is not None:
            data["graph"] = (
                graphs.to_data(graph) if isinstance(graph, Graph) else {"kind": "look-up"}
            )
        if hasattr(graph, "look_up"):  # as `as_oracle` takes it
            data |= {"root": graph.root, "cache": graph.cache}
        labels = getattr(graph, "labels", None) or [data["root"]]
        return dict(json.loads(as_json(data, f"labels such as {labels[0]!r}")))

    def agreed(self, saved: dict[str, Any], path: Any, fingerprints: set[str]) -> Settings:
        """The settings of a file; refused if something else was given than it has.

        `fingerprints` are those of the graphs that its own was changed into.
        """
        given = self.to_data()
        with _told_of(path):
            _check(saved, path)
            return self._agreed(given, saved, path, fingerprints)

    def _agreed(
        self, given: dict[str, Any], saved: dict[str, Any], path: Any, fingerprints: set[str]
    ) -> Settings:
        known = {saved["graph"].get("fingerprint"), *fingerprints}
        policy = self.policy
        if policy is not None:
            older = policies.to_older_data(policy, saved["policy"])
            policy = policies.as_saved(policy, saved["policy"])
            given = {**given, "policy": json.loads(json.dumps(older))}
        differ = [
            f"its {_NAMES.get(name, name + ' is')} {_shown(saved[name])}, not {_shown(given[name])}"
            for name in saved
            if given.get(name) is not None and not _same(given[name], saved[name], known)
        ]
        if differ:
            raise OtherCampaign(
                f"{path} is another campaign: {'; '.join(differ)}. Pass what it has, or leave it "
                "out to take it from the file."
            )
        return Settings(
            policy or policies.from_data(saved["policy"]),
            self._graph(saved),
            families.from_data(saved["rewards"], self.family),
            saved["seed"],
            graphs.as_label(saved["root"]),
            saved["time_to_live"],
            saved["on_expiry"],
            saved["cache"],
        )

    def _graph(self, saved: dict[str, Any]) -> Any:
        if saved["graph"]["kind"] != "look-up":
            return graphs.from_data(saved["graph"])
        if self.graph is None:
            return None  # the file can be read without, but not decide
        return as_oracle(self.graph, graphs.as_label(saved["root"]), saved["cache"])


def saved_family(saved: dict[str, Any], path: Any) -> Family:
    """The rewards of a file, as far as its settings tell them: without a draw of one's own."""
    with _told_of(path):
        known = {name: value for name, value in saved["rewards"].items() if name != "draw"}
        return families.from_data(known)


@contextlib.contextmanager
def _told_of(path: Any) -> Iterator[None]:
    """Say of whatever is wrong with settings in which file it is."""
    try:
        yield
    except UnimodalError:
        raise
    except MemoryError:
        raise DamagedFile(
            f"the settings in {path} are about a graph that the memory here does not hold, or they "
            "are damaged: open it on a larger machine, or go back to a copy of the file."
        ) from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise DamagedFile(
            f"the settings in {path} are damaged: go back to a copy of the file."
        ) from None


def _check(saved: dict[str, Any], path: Any) -> None:
    """Refuse what nobody else would; whatever else is wrong shows when it is used."""
    for name, needed in _KINDS.items():
        if not isinstance(saved[name], needed) or isinstance(saved[name], bool):
            raise ValueError(f"a {name} of another kind")
    graph = saved["graph"]
    if graph["kind"] == "edges" and graph["n_arms"] - 1 > len(graph["edges"]):
        raise ValueError("arms without edges, which may be more than there is memory")
    if graph["kind"] == "look-up" and not is_label(graphs.as_label(saved["root"])):
        raise ValueError("a root that is no label")
    try:
        whole_number(saved["seed"], "the seed", 0)
        whole_number(1 if saved["cache"] is None else saved["cache"], "the cache")
        lives = saved["time_to_live"]
        real_number(1 if lives is None else lives, "the time to live", above=0)
    except UnimodalError as error:
        raise DamagedFile(
            f"the settings in {path} are damaged ({str(error).removesuffix('.')}): go back to a "
            "copy of the file."
        ) from None


_KINDS: dict[str, Any] = {
    **{"policy": dict, "graph": dict, "rewards": dict, "seed": int, "on_expiry": str},
    **{"cache": int | None, "time_to_live": int | float | None},
}
_KEYS = {"family": "rewards"}  # what format 2 calls it
_NAMES = {"rewards": "rewards are", "time_to_live": "time to live is"}


def _somewhere(arm: Any) -> list[Any]:
    """Neighbours for an agent that is only made to see whether it can be."""
    return [(arm, 1), (arm, 2)]


def _same(given: Any, saved: Any, fingerprints: set[str]) -> bool:
    if isinstance(given, dict) and "fingerprint" in given:
        return given["fingerprint"] in fingerprints
    return bool(given == saved)


def _shown(data: Any) -> str:
    """Settings as a person would write them."""
    if not isinstance(data, dict):
        return repr(data)
    if "fingerprint" in data:
        return f"a graph of kind {data['kind']} (fingerprint {data['fingerprint']})"
    if "policy" in data:
        parameters = ", ".join(f"{key}={value!r}" for key, value in data["parameters"].items())
        return f"{data['policy']}({parameters})"
    if "family" in data:
        rest = ", ".join(f"{key}={value!r}" for key, value in data.items() if key != "family")
        return f"{data['family']}({rest})"
    return "known by look-up"
