"""The disk cache between processes: never stale, and right when it is filled by two at once."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unimodal

# What each process computes, and how much of it came from the cache.
SNIPPET = """
import json
import unimodal as um
from unimodal.families import bernoulli_and_bounded as binary
from unimodal.kernels import random

rng = random.stream(0, 0, 0)
kernels = [binary.divergence, binary.upper, random.normal, random.gamma]
values = [binary.divergence(0.1, 0.9), binary.upper(0.1, 1.0), random.normal(rng)]
values += [random.gamma(rng, 2.5), um.Bernoulli().divergence(0.1, 0.9)]
hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels)
print(json.dumps({"values": values, "hits": hits, "of": len(kernels), "from": um.__file__}))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package, whose sources may be edited."""
    source = Path(unimodal.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(source, tmp_path / "src" / "unimodal", ignore=ignored))


def start(package):
    env = os.environ | {
        "PYTHONPATH": str(package.parent),
        "UNIMODAL_CACHE_DIR": str(package.parent.parent / "cache"),
    }
    command = [sys.executable, "-c", SNIPPET]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def finish(process, package):
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    found = json.loads(output)
    assert Path(found["from"]).parent == package
    return found


def run(package):
    return finish(start(package), package)


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_a_change_in_a_helper_in_another_file_is_never_run_from_a_stale_cache(package):
    """`divergence` of binary.py calls `log_ratio` of family.py, which is what changes."""
    first = run(package)
    assert first["hits"] == 0
    again = run(package)
    assert again["values"] == first["values"]
    assert again["hits"] == again["of"]  # or else nothing here is about the cache

    helper = package / "families" / "family.py"
    edit(helper, "math.log(x / y)", "2.0 * math.log(x / y)")
    changed = run(package)
    for place in (0, -1):  # the kernel itself, and the method that calls it
        more = changed["values"][place] - first["values"][place]
        assert more == pytest.approx(0.1 * math.log(0.1 / 0.9))

    edit(helper, "2.0 * math.log(x / y)", "math.log(x / y)")
    assert run(package) == again


@pytest.mark.full
def test_two_cold_processes_at_once_are_right_and_a_third_reads_what_they_wrote(package):
    processes = [start(package), start(package)]
    first, second = (finish(process, package) for process in processes)
    third = run(package)
    assert first["values"] == second["values"] == third["values"]
    assert third["values"][0] == pytest.approx(1.7577796618689758)
    assert third["hits"] == third["of"]
    folders = list((package.parent.parent / "cache").iterdir())
    assert len(folders) == 1
    assert not list(folders[0].glob("*.tmp.*"))


LOADED = """
import sys
import unimodal as um
um.simulate(um.problems.triangular(17), um.UTS(), horizon=1000, trials=1)
print(*sys.modules)
"""
# What costs a process 0.05 to 0.3 s and its first simulation does without. The second is what Numba
# compiles with, and the third what a kernel that calls np.searchsorted makes Numba import.
SPARED = ["scipy.sparse", "numba.np.npyimpl", "scipy.linalg", "polars", "rich"]


def test_a_process_that_finds_its_kernels_compiled_imports_nothing_that_it_does_not_need():
    for _ in range(2):  # the first fills the cache, if no other test has
        ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, check=True)
    loaded = ran.stdout.decode().split()
    assert "unimodal.results.simulate" in loaded
    assert not set(SPARED) & set(loaded)
