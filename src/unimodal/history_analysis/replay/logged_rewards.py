"""What a campaign's log says about its arms: rewards counted, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unimodal.agents.known_arms import is_partial, known_graph
from unimodal.agents.label_text import arms_by_text
from unimodal.agents.recorded_history import Recorded, events_before, history_of
from unimodal.campaigns.reading import with_facts
from unimodal.errors import UnimodalError
from unimodal.families import Bernoulli, Bounded, Family
from unimodal.families.family import ArmsFamily
from unimodal.graphs import Graph
from unimodal.policies import Policy

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class LoggedRewards:
    """The rewards of a campaign, arm by arm."""

    graph: Graph
    family: Family
    policy: Policy
    pulls: Any  # (arms,): rewards of each arm
    totals: Any  # (arms,): and their sums, as they were told
    notes: tuple[str, ...]  # what a reader should know, a sentence each

    @property
    def rounds(self) -> int:
        """How many rewards there are."""
        return int(self.pulls.sum())

    @property
    def earned(self) -> float:
        """What they sum up to."""
        return float(np.sum(self.of_arms.worth(self.totals)))

    @property
    def of_arms(self) -> ArmsFamily:
        """The family for all arms at once."""
        return self.family.of_arms(self.graph.labels)

    @property
    def wins(self) -> Any:
        """Rewards on a scale from 0 to 1, summed arm by arm."""
        told = self.family.told
        scaled = (self.totals - self.pulls * told.low) / (told.high - told.low)
        return np.clip(scaled, 0.0, self.pulls)  # rounding may step outside


def read(campaign: Recorded) -> LoggedRewards:
    """The log of a campaign, or a sentence on why nothing can be estimated from it."""
    import polars as pl

    agent = campaign.agent
    if not isinstance(agent.family.told, Bernoulli | Bounded):
        raise UnimodalError(
            f"replay must know between what bounds rewards lie, as in um.Bernoulli() and "
            f"um.Bounded(a, b), got {agent.family!r}: such a log cannot be replayed."
        )
    history = history_of(campaign)
    graph = known_graph(agent)
    arm_of = arms_by_text(graph)
    by_arm = (
        history.filter(pl.col("reward").is_not_null(), pl.col("kind") != "tell")
        .group_by("arm")
        .agg(pulls=pl.len(), total=pl.col("reward").sum())
    )
    pulls, totals, elsewhere = np.zeros(graph.n_arms), np.zeros(graph.n_arms), 0
    for label, count, total in by_arm.select("arm", "pulls", "total").iter_rows():
        if label in arm_of:
            pulls[arm_of[label]], totals[arm_of[label]] = count, total
        else:
            elsewhere += count
    if not pulls.sum():
        raise UnimodalError("the log must have at least one reward to be replayed, got none.")
    notes = _notes(campaign, history, elsewhere)
    return LoggedRewards(graph, agent.family, agent.policy, pulls, totals, notes)


def _notes(campaign: Recorded, history: pl.DataFrame, elsewhere: int) -> tuple[str, ...]:
    agent, notes = campaign.agent, []
    if is_partial(agent):
        notes.append(
            "The graph is known by look-ups: candidates are confined to the arms that were met, "
            "and begin at any of them and not at the root: even the log's own policy may do worse "
            "than it did."
        )
    expired = int(history["kind"].eq("expire").sum())
    if expired and agent.book.on_expiry == "zero":
        notes.append(f"{expired:,} decisions that expired count as rewards of 0, as they did then.")
    elif expired:
        notes.append(
            f"{expired:,} decisions that expired without a reward are left out, as if it had not "
            "depended on the reward whether it came."
        )
    told, past = int(history["kind"].eq("tell").sum()), int(agent.past.pulls.sum())
    if told or past:
        kinds = [f"{told:,} rewards that were told without a decision"] * (told > 0)
        kinds += [f"past data that count as {past:,} pulls"] * (past > 0)
        notes.append(f"{' and '.join(kinds)} are left out: no candidate begins with them.")
    if elsewhere:
        notes.append(f"{elsewhere:,} rewards of arms that are no longer in the graph are left out.")
    if before := events_before(history):
        notes.append(f"The first {before:,} events are in an archive, and left out.")
    waiting = most_waiting(history)
    if waiting > 1:
        notes.append(
            f"In the log up to {waiting:,} decisions waited for their reward at a time; candidates "
            "are simulated as if each reward came at once."
        )
    if early := with_facts(campaign, lambda _, facts: facts.waiting):
        notes.append(
            f"{early:,} rewards are of decisions behind one that is still open: if successes come "
            "sooner than failures, the means look too high."
        )
    if isinstance(agent.family.told, Bounded):
        notes.append(
            "Rewards between two bounds count as shares of a coin's, which vary at least as much: "
            "so intervals are rather too wide than too narrow."
        )
    return tuple(notes)


def most_waiting(history: pl.DataFrame) -> int:
    """How many decisions waited for their reward at the same time, at most."""
    import polars as pl

    kind = pl.col("kind")
    steps = pl.when(kind == "decide").then(1).when(kind.is_in(["reward", "expire"])).then(-1)
    found = history.select(steps.otherwise(0).cum_sum().max()).item()
    return int(found or 0)
