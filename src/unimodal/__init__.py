"""Bandits whose arms lie on a graph and whose reward has one peak.

>>> import unimodal as um
>>> problem = um.problems.triangular(17)
>>> result = um.simulate(problem, [um.UTS(), um.TS()], horizon=1000, trials=4, seed=0)
>>> result["UTS"].regret.shape == (4, len(result.rounds))
True
"""

import lazy_loader

# The public names are listed in __init__.pyi. Each is imported when it is first used: importing
# Numba takes most of the time, and `unimodal --help` can do without it.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
