"""Graphs known by look-up: an oracle, what it answered, and the part of the graph seen so far."""

from unimodal.lookup.oracle import Oracle

__all__ = ["Oracle"]
