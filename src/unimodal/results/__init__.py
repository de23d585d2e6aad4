"""Simulations and what they found."""
