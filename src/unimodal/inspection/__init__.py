"""A campaign, looked at: who leads, what is known around it, how it came there."""

from unimodal.inspection.view import View, inspect

__all__ = ["View", "inspect"]
