"""How many functions a first use compiles: exact, and what the time of a cold start follows.

A limit is raised only together with the figure in docs/decisions/0034-fewer-functions.md, after a
look at what is compiled twice: `python tests/kernels/test_functions_compiled.py` lists it.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

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
rewards = um.Scaled(um.Bernoulli(), by=float)
file = tempfile.mkdtemp() + "/prices.db"
with um.Campaign.open(file, um.PeakUTS(), um.graphs.line(prices), rewards) as campaign:
    campaign.reward(campaign.decide().id, 1.0)
""",
}
# Of each by itself; and, by default, of each after those before it, in one process.
LIMITS = {
    "the paper's four policies": (256, 256),
    "PeakUTS": (178, 72),
    "a campaign's first decision and reward": (91, 38),
}
COUNT = """
import json
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


def functions_compiled(*first_uses):
    """The functions that a new process compiles for each, and how often; nothing is optimised."""
    steps = [f"{FIRST_USES[each]}\nprint(json.dumps(Compiled.names))" for each in first_uses]
    code = "\n".join([COUNT, *steps])
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"UNIMODAL_CACHE_DIR": folder, "NUMBA_OPT": "0"}
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    so_far = [Counter(), *(Counter(json.loads(line)) for line in ran.stdout.splitlines())]
    return [after - before for before, after in itertools.pairwise(so_far)]


def test_first_uses_compile_no_more_functions_than():
    found = functions_compiled(*FIRST_USES)
    compiled = {name: each.total() for name, each in zip(FIRST_USES, found, strict=True)}
    assert all(compiled[name] <= LIMITS[name][1] for name in FIRST_USES), compiled


@pytest.mark.full
@pytest.mark.parametrize("first_use", FIRST_USES)
def test_a_first_use_by_itself_compiles_no_more_functions_than(first_use):
    (found,) = functions_compiled(first_use)
    assert found.total() <= LIMITS[first_use][0]


if __name__ == "__main__":
    for name, each in zip(FIRST_USES, functions_compiled(*FIRST_USES), strict=True):
        print(f"{name}: {each.total()} functions, {len(each)} different ones")
        for function, times in each.most_common():
            if times > 1:
                print(f"  {times} {function}")
