"""Requests and answers: their models, errors as problem documents, and what all requests pass."""
