"""Another label for an arm, wherever a campaign writes it: settings, events, states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from unimodal import graphs
from unimodal.agents.label_text import as_text, shown
from unimodal.campaigns.events import KINDS, Damage, Revised, Row
from unimodal.campaigns.events.json_text import as_json, parsed
from unimodal.errors import DamagedFile, UnimodalError
from unimodal.graphs.build import checked

NEUTRAL = "erased-"


class Relabelling:
    """Puts the label `new` in the place of `old`; what does not have it comes back as it was."""

    def __init__(self, old: Any, new: str, settings: dict[str, Any], revisions: Iterable[Row]):
        self._old, self.new = old, new
        self._old_text, self._old_json = as_text(old), json.loads(json.dumps(old))
        self.settings = self._settings(settings)
        self.revisions = dict(self._revised(settings["graph"], revisions))

    def row(self, row: Row) -> Row:
        """A row with the new label."""
        return KINDS[row.kind].relabelled(row, self)

    def state(self, text: str) -> str:
        """A state with the new label, which stands there only if the graph is looked up."""
        data = parsed(text)
        if "graph" not in data:
            return text
        graph = data["graph"]
        graph["labels"] = self.labels(graph["labels"])
        graph["answers"] = [[self.label(a), self.labels(near)] for a, near in graph["answers"]]
        graph["checksums"] = [[self.label(a), number] for a, number in graph["checksums"]]
        return json.dumps(data, separators=(",", ":"))

    def text(self, text: Any) -> Any:
        """An arm as a log writes it."""
        is_old = text.__class__ is self._old_text.__class__ and text == self._old_text
        return self.new if is_old else text

    def label(self, label: Any) -> Any:
        """A label in JSON data."""
        is_old = label.__class__ is self._old_json.__class__ and label == self._old_json
        return self.new if is_old else label

    def labels(self, labels: Any) -> Any:
        """A list of labels in JSON data; None stays None."""
        return None if labels is None else [self.label(label) for label in labels]

    def _settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        found = {**settings, "root": self.label(settings["root"])}
        rewards = settings["rewards"]
        if rewards.get("by") == "float":
            raise UnimodalError(
                f"the label {self._old!r} cannot be erased, since it is also the factor of its arm "
                "(Scaled with by=float): retire the arm, and erase its data."
            )
        if isinstance(rewards.get("by"), list) and isinstance(rewards["by"][0], list):
            by = [[self.label(label), factor] for label, factor in rewards["by"]]
            found["rewards"] = {**rewards, "by": by}
        graph = settings["graph"]
        if graph["kind"] != "look-up" and self._old in graphs.from_data(graph).labels:
            found["graph"] = self._graph(graph)
        return found

    def _graph(self, data: dict[str, Any]) -> dict[str, Any]:
        if "labels" not in data:
            raise UnimodalError(
                f"the label {self._old!r} is the number of its arm, which nobody gave it, so there "
                "is nothing to erase."
            )
        graph = graphs.from_data(data)
        ends = graph.edges()
        labels = [self.new if label == self._old else label for label in graph.labels]
        recipe = {"kind": "edges"}
        return graphs.to_data(checked(graph.n_arms, ends[:, 0], ends[:, 1], recipe, labels))

    def _revised(
        self, graph_data: dict[str, Any], revisions: Iterable[Row]
    ) -> Iterator[tuple[int, Row]]:
        """The changes of the graph, with the fingerprints of the graphs that they make now."""
        graph = (
            None if graph_data["kind"] == "look-up" else graphs.from_data(self.settings["graph"])
        )
        for row in revisions:
            assert graph is not None
            data = parsed(row.data)
            for edges in ("add", "remove"):
                if edges in data:
                    data[edges] = [self.labels(edge) for edge in data[edges]]
            data["retire"] = self.labels(data["retire"])
            made = Revised.of(row._replace(data=json.dumps(data)))
            graph = graphs.revised(graph, made.add, made.retire, made.remove)
            data["fingerprint"] = graph.fingerprint
            yield row.seq, row._replace(data=as_json(data, repr(self.new)))


def labels_in(settings: dict[str, Any], rows: Iterable[Row]) -> dict[str, Any]:
    """All labels that a campaign ever had, by how they are shown."""
    found = {shown(settings["root"]): graphs.as_label(settings["root"])}
    if settings["graph"]["kind"] != "look-up":
        found = {shown(label): label for label in graphs.from_data(settings["graph"]).labels}
    for row in rows:
        try:
            found |= {shown(label): label for label in KINDS[row.kind].labels(row)}
        except (LookupError, Damage):
            raise DamagedFile(f"event {row.seq} is damaged: `unimodal verify` says more.") from None
    return found


def neutral(labels: Iterable[str], number: int) -> str:
    """A label that says nothing and that no arm has."""
    taken = set(labels)
    while f"{NEUTRAL}{number}" in taken:
        number += 1
    return f"{NEUTRAL}{number}"
