"""How many functions a first use compiles: exact, and what the time of a cold start follows.

A limit that is passed is raised only together with the figure in docs/decisions/0012-first-use.md,
after a look at what is compiled twice: `python tests/kernels/test_functions_compiled.py` lists it.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SIMULATE = """
import unimodal as um
um.simulate(um.problems.triangular(17), [{}], horizon=10**5, trials=1, progress=False)
"""
FIRST_USES = {
    "the paper's four policies": SIMULATE.format("um.UTS(), um.OSUB(), um.TS(), um.KLUCB()"),
    "PeakUTS": SIMULATE.format("um.PeakUTS()"),
    "a campaign's first decision and reward": """
import tempfile
import unimodal as um
prices = ["9.90", "12.90", "14.90", "16.90", "19.90"]
ladder = um.graphs.from_edges(zip(prices, prices[1:]))
rewards = um.Scaled(um.Bernoulli(), by=float)
with um.Campaign.open(tempfile.mkdtemp() + "/prices.db", um.PeakUTS(), ladder, rewards) as campaign:
    campaign.reward(campaign.decide().id, 1.0)
""",
}
LIMITS = {
    "the paper's four policies": 256,
    "PeakUTS": 178,
    "a campaign's first decision and reward": 91,
}
COUNT = """
from collections import Counter
from numba.core import event

class Compiled(event.Listener):
    names = Counter()
    def on_start(self, event): pass
    def on_end(self, event):
        function = event.data["dispatcher"].py_func
        self.names[f"{function.__module__}.{function.__qualname__}"] += 1

event.register("numba:compile", Compiled())
"""


def functions_compiled(first_use: str, folder: Path) -> "Counter[str]":
    """The functions that a new process compiles, and how often each; nothing is optimised."""
    code = f"{COUNT}\n{first_use}\nimport json; print(json.dumps(Compiled.names))"
    environment = os.environ | {"UNIMODAL_CACHE_DIR": str(folder), "NUMBA_OPT": "0"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Counter(json.loads(ran.stdout))


@pytest.mark.parametrize("first_use", FIRST_USES)
def test_a_first_use_compiles_no_more_functions_than(first_use, tmp_path):
    assert functions_compiled(FIRST_USES[first_use], tmp_path).total() <= LIMITS[first_use]


if __name__ == "__main__":
    import tempfile

    for name, code in FIRST_USES.items():
        with tempfile.TemporaryDirectory() as folder:
            found = functions_compiled(code, Path(folder))
        print(f"{name}: {found.total()} functions, {len(found)} different ones")
        for function, times in found.most_common():
            if times > 1:
                print(f"  {times} {function}")
