"""What compiled code is made of: its cache, random numbers, densities, the leader board."""

from unimodal.kernels import random

__all__ = ["random"]
