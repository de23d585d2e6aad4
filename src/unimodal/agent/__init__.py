"""Policies running online: ask for an arm, tell its reward, save and go on."""

from unimodal.agent.decisions import Decision
from unimodal.agent.online import Agent
from unimodal.agent.oracle import Oracle

__all__ = ["Agent", "Decision", "Oracle"]
