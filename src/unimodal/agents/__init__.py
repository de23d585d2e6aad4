"""Policies running online: ask for an arm, tell its reward, save and continue."""

import unimodal.kernels  # noqa: F401 - near the top of the stack: see results/__init__.py
from unimodal.agents.agent import Agent
from unimodal.agents.decisions import Decision
from unimodal.agents.past_data import PastData
from unimodal.lookup.oracle import Oracle

__all__ = ["Agent", "Decision", "Oracle", "PastData"]
