"""What there is to see of a campaign, as tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unimodal import files
from unimodal.agents import Agent
from unimodal.agents.arm_intervals import means_and_intervals
from unimodal.agents.known_arms import (
    is_partial,
    known_graph,
    known_records,
    past_pulls,
    rounds_led,
)
from unimodal.agents.label_text import arms_by_text, shown
from unimodal.agents.recorded_history import COLUMNS, Recorded, events_before, history_of, in_money
from unimodal.campaigns.alarms import Alarm, alarms_of
from unimodal.campaigns.certifying import certificate_of
from unimodal.campaigns.log_facts import LogFacts, facts_of
from unimodal.campaigns.reading import at_one_moment
from unimodal.errors import UnimodalError, whole_number
from unimodal.escape_text import printable
from unimodal.graphs import Graph
from unimodal.inference.certificate import Certificate
from unimodal.inspection import timeline

if TYPE_CHECKING:
    import polars as pl


_NAMED = 5  # paused arms


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """A campaign as it is now; print it, or `save` it as a page.

    Attributes
    ----------
    agent
        The agent with its state.
    graph
        The graph, as far as it is known.
    history
        One row per event.
    centre
        The arm that is looked at.
    why
        Why this one.
    log
        What alarms and certificates count, where it was read with the history.

    Examples
    --------
    >>> import unimodal as um
    >>> from unimodal.campaigns.simulated_campaign import simulated_campaign
    >>> um.inspect(simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=50)).why
    'the leader'
    """

    agent: Agent
    graph: Graph  # as far as it is known
    history: pl.DataFrame  # with rewards as they were told
    centre: int  # the arm looked at
    why: str  # why this one
    log: LogFacts | None = None  # the facts of the history, where they were read with it

    @functools.cached_property
    def records(self) -> NDArray[np.void]:
        """What is known of every arm of the graph."""
        return np.asarray(known_records(self.agent, self.graph))

    def table(self, arms: Iterable[int]) -> pl.DataFrame:
        """One row per arm: pulls, mean reward, 95 % posterior interval of its mean, rounds led.

        With past data, also how many of the pulls are from before (`past`). Where the prior of
        `Bounded` keeps the interval away from the mean reward, it is stretched.
        """
        import polars as pl

        chosen = np.fromiter(arms, dtype=np.int64)
        records = self.records[chosen]
        means, low, high = means_and_intervals(self.agent.family, records)
        past = past_pulls(self.agent, self.graph)
        return pl.DataFrame(
            {
                "arm": [shown(self.graph.label_of(int(arm))) for arm in chosen],
                "pulls": records["pulls"],
                "mean": means,
                "low": low,
                "high": high,
                "leads": rounds_led(self.agent, self.graph)[chosen],
                **({"past": past[chosen]} if past.any() else {}),
            }
        )

    @property
    def neighbourhood(self) -> pl.DataFrame:
        """The arm in the middle and its neighbours, the most pulled first."""
        table = self.table(self.graph.near(self.centre).tolist())
        return table[:1].vstack(table[1:].sort("pulls", descending=True, maintain_order=True))

    def timeline(self, bins: int = 12) -> pl.DataFrame:
        """The log in as many parts: decisions, rewards and their mean, who led most."""
        return timeline.parts(self.earned, whole_number(bins, "the 'bins' of a timeline"))

    @functools.cached_property
    def earned(self) -> pl.DataFrame:
        """The log with what rewards were worth: `Scaled` families are told something else."""
        return in_money(self.history, self.agent, self.graph)

    @functools.cached_property
    def certificate(self) -> Certificate | None:
        """Whether the leader is certified to be the peak; None where that cannot be asked."""
        if self.agent.policy.forgets or self.history.is_empty() or self._log is None:
            return None
        return certificate_of(self.agent, self._log)

    @functools.cached_property
    def alarms(self) -> list[Alarm]:
        """What is wrong, as `um.alarms` finds it; those that need a test, at 99 % confidence."""
        return [] if self._log is None else alarms_of(self.agent, self._log)

    @functools.cached_property
    def _log(self) -> LogFacts | None:
        """What the log says; None of a part of one, which somebody looks at."""
        if self.log is not None or not set(COLUMNS) <= set(self.history.columns):
            return self.log
        return facts_of(self.history, self.agent.book.on_expiry == "zero")

    @property
    def label(self) -> str:
        """What the arm in the middle is called."""
        return shown(self.graph.label_of(self.centre))

    @property
    def facts(self) -> dict[str, str]:
        """A few numbers about the whole, by name."""
        kinds = dict(self.history["kind"].value_counts().iter_rows())
        decided, rewarded, expired = (kinds.get(k, 0) for k in ("decide", "reward", "expire"))
        told, past = kinds.get("tell", 0), int(self.agent.past.pulls.sum())
        mean: Any = self.earned["reward"].mean()
        known = "arms met" if is_partial(self.agent) else "arms"
        before = events_before(self.history)
        waiting = self.agent.outstanding if before else decided - rewarded - expired
        facts = {
            "policy": self.agent.policy.name,
            **({"events before, in an archive": f"{before:,}"} if before else {}),
            "decisions": f"{decided:,}",
            "rewards": f"{rewarded:,}",
            "waiting": f"{max(waiting, 0):,}",
        }
        if expired:
            as_zero = self.agent.book.on_expiry == "zero"
            facts["expired, as 0" if as_zero else "expired"] = f"{expired:,}"
        if told:
            facts["told without a decision"] = f"{told:,}"
        if past:
            facts["pulls from past data"] = f"{past:,}"
        if self.agent.paused:
            names = list(map(shown, self.agent.paused))
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            facts["paused"] = ", ".join(names[:_NAMED]) + more
        if (cap := self.agent.limits.cap) is not None:
            facts["cap"] = f"{cap.share:g} of {cap.over:,}"
        facts["mean reward"] = "–" if mean is None else f"{mean:.4g}"
        facts[known] = f"{self.agent.known_arms:,}"
        if is_partial(self.agent):
            facts["look-ups"] = f"{self.agent.look_ups:,}"
        return facts

    def __str__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        lines = [
            f"  {row['arm']}: {_pulls(row)}, mean {row['mean']:.4g} "
            f"({row['low']:.3g} to {row['high']:.3g})"
            for row in self.neighbourhood[:10].iter_rows(named=True)
        ]
        warned = [f"Alarm: {alarm}" for alarm in self.alarms]
        around = f"Around {self.label} ({self.why}):"
        return "\n".join(map(printable, [facts, *warned, around, *lines]))

    def __repr__(self) -> str:
        return f"View(around {self.label}, {self.facts['decisions']} decisions)"

    def _repr_html_(self) -> str:
        from unimodal.inspection.page import near_columns, near_rows
        from unimodal.report import page

        facts = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        return page.notebook_table(facts, near_columns(self), near_rows(self)[:10])

    def html(self) -> str:
        """One self-contained page."""
        from unimodal.inspection.page import report

        return report(self)

    def save(self, path: str | Path) -> Path:
        """Write the page."""
        text = self.html()
        return files.write(path, lambda to: to.write_text(text, encoding="utf-8"))


def _pulls(row: dict[str, Any]) -> str:
    past = row.get("past", 0)
    apart = f" and {past:,} from past data" if past else ""
    return f"{row['pulls'] - past:,.6g} pulls{apart}"


def inspect(campaign: Recorded | str | Path, around: Any = None) -> View:
    """Look at a campaign, or at its file: at its leader, or `around` another arm.

    Parameters
    ----------
    campaign
        A campaign, or the path of its file.
    around
        The label of the arm to look at; the leader by default.

    Returns
    -------
    View
        What is known; print it, save it as a page, or show it in a notebook.

    Examples
    --------
    >>> import unimodal as um
    >>> from unimodal.campaigns.simulated_campaign import simulated_campaign
    >>> campaign = simulated_campaign(um.UTS(), um.problems.triangular(5), rounds=300, seed=1)
    >>> print(um.inspect(campaign, around=0))
    policy UTS, decisions 300, rewards 300, waiting 0, mean reward 0.8533, arms 5
    Around 0 (you asked for it):
      0: 2 pulls, mean 0.5 (0.0943 to 0.906)
      1: 3 pulls, mean 0.3333 (0.0676 to 0.806)
    """
    campaign = at_one_moment(campaign)
    agent, log = campaign.agent, getattr(campaign, "facts", None)
    graph = known_graph(agent)
    history = history_of(campaign)
    if around is not None:
        arm_of = arms_by_text(graph)
        text = shown(around)
        if text not in arm_of:  # on the command line a tuple may be written as Python has it
            written = {str(graph.label_of(arm)): text for text, arm in arm_of.items()}
            text = written.get(text, text)
        if text not in arm_of:
            some = ", ".join(list(arm_of)[:3])
            raise UnimodalError(
                f"the arm to look around must be one of this campaign's, such as {some}, "
                f"got '{text}'."
            )
        return View(agent, graph, history, arm_of[text], "you asked for it", log)
    if agent.leader is not None:
        return View(agent, graph, history, graph.arm_of(agent.leader), "the leader", log)
    pulls = known_records(agent, graph)["pulls"]
    why = "nobody leads: the most pulled arm" if pulls.any() else "no rewards yet: the first arm"
    return View(agent, graph, history, int(np.argmax(pulls)), why, log)
