"""Simulations and what they found."""

# Numba first, near the top of the stack. Deep in a chain of imports CPython 3.11 may get and give
# back a piece of its stack with every call of Numba's set-up, and start 0.1 s later.
import unimodal.kernels  # noqa: F401
