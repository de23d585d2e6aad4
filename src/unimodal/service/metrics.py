"""Figures for Prometheus: what the campaigns of this process did, and how long answers took."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from unimodal.agents.decisions import Decision
from unimodal.campaigns import Campaign

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Counts what happens; one registry per application, so that tests do not share them."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        of = ["campaign"]
        self.decisions = Counter(
            "unimodal_decisions",
            "Decisions that were made; a key that is sent again makes none",
            of,
            registry=registry,
        )
        self.rewards = Counter(
            "unimodal_rewards", "Rewards by outcome", [*of, "outcome"], registry=registry
        )
        self.leader_changes = Counter(
            "unimodal_leader_changes", "How often another arm led", of, registry=registry
        )
        self.outstanding = Gauge(
            "unimodal_outstanding", "Decisions without a reward", of, registry=registry
        )
        self.look_up_failures = Gauge(
            "unimodal_look_up_failures", "Look-ups that failed", of, registry=registry
        )
        self.alarms = Gauge(
            "unimodal_alarms", "Alarms, as they were last looked for", of, registry=registry
        )
        self.waiting = Gauge("unimodal_calls_waiting", "Calls in the queue", registry=registry)
        self.latency = Histogram(
            "unimodal_request_seconds",
            "Seconds until an answer was sent",
            ["route", "status"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._leaders: dict[str, Any] = {}
        self._by_route: dict[tuple[str, int], Any] = {}

    def decided(self, name: str, decisions: Sequence[Decision]) -> None:
        """Count decisions that were made just now, and whether somebody else led."""
        for decision in decisions:
            before = self._leaders.get(name)
            if decision.leader is not None and decision.leader != before:
                self._leaders[name] = decision.leader
                if before is not None:
                    self.leader_changes.labels(name).inc()
        self.decisions.labels(name).inc(len(decisions))

    def rewarded(self, name: str, outcomes: Iterable[str]) -> None:
        """Count rewards by what became of them."""
        for outcome, times in collections.Counter(outcomes).items():
            self.rewards.labels(name, outcome).inc(times)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Note how long an answer took."""
        known = self._by_route.get((route, status))
        if known is None:
            known = self._by_route[route, status] = self.latency.labels(route, str(status))
        known.observe(seconds)

    def look_at(self, name: str, campaign: Campaign) -> None:
        """Note what a campaign has now."""
        agent = campaign.agent
        self.outstanding.labels(name).set(agent.outstanding)
        self.look_up_failures.labels(name).set(agent.look_up_counts.get("failed", 0))

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return bytes(generate_latest(self.registry))
