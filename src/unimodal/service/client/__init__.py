"""A client in Python: `um.Client`, for those who call a service."""

from unimodal.service.client.client import Client

__all__ = ["Client"]
