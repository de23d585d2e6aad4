"""On a Dask cluster: the same bytes, whoever is lost or joins, on one machine and on two.

Each in a process of its own: Dask leaves threads behind that draw from `random`, which Hypothesis
forbids a test's strategies.
"""

import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import unimodal

pytest.importorskip("distributed")

UNIMODAL = (sys.executable, "-c", "from unimodal.cli import main; main()")

# A worker is killed after three blocks, and another joins. The policy writes down who played it.
DISTURBED = """
import math, os, signal, sys, threading
from pathlib import Path

import unimodal as um
from unimodal.engines import runner

class Signs(um.Policy):
    "Pulls the leader, and says in which process."

    def choose(self, arms, near, leader, clock, rng):
        if clock == 5:
            Path(sys.argv[1], str(os.getpid())).touch()
        return near[um.random.randint(rng, len(near))]

class Coin(um.Family):
    "Rewards of 0 or 1, by hand."

    compiled = True
    low, high = 0.0, 1.0
    prior_names = ("alpha", "beta")

    def draw(self, mean, rng):
        return 1.0 if um.random.uniform(rng) < mean else 0.0

    def posterior(self, arm, rng):
        a, b = arm.prior_a + arm.total, arm.prior_b + arm.pulls - arm.total
        return um.random.beta(rng, a, b)

def play(policies, family=None, **options):
    problem = um.Problem(um.graphs.line(5), [0.1, 0.3, 0.8, 0.4, 0.2], family)
    result = um.simulate(problem, policies, seed=4, **options)
    arrays = {name: run.arrays() for name, run in result.items()}
    return {name: {k: v.tobytes() for k, v in of.items()} for name, of in arrays.items()}

def main():
    from distributed import Client, LocalCluster

    runner.TASK_SECONDS = 0.3
    begun, third = [], threading.Event()

    def disturb():
        third.wait()
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        cluster.scale(3)

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        executor = client.get_executor()
        submit = executor.submit

        def watched(*task):
            future = submit(*task)
            future.add_done_callback(lambda _: (begun.append(1), len(begun) == 3 and third.set()))
            return future

        executor.submit = watched
        disturber = threading.Thread(target=disturb)
        disturber.start()
        long = {"horizon": 2000, "trials": 80}
        there = play(Signs(), **long, executor=executor)
        disturber.join()
        names = len(os.listdir(sys.argv[1]))
        assert names >= 3, f"only {names} processes played"
        assert there == play(Signs(), **long, workers=1)
        short = {"horizon": 300, "trials": 20}
        own = play(um.UTS(), Coin(), **short, executor=executor)
        assert own == play(um.UTS(), Coin(), **short, workers=1)
    print("the same")

if __name__ == "__main__":
    main()
"""


@pytest.mark.full
def test_simulate_gives_the_same_bytes_though_a_worker_dies_and_one_joins(tmp_path):
    """With a policy and a family of the script itself, which workers cannot import."""
    script, signed = tmp_path / "disturbed.py", tmp_path / "signed"
    signed.mkdir()
    script.write_text(DISTURBED)
    command = [sys.executable, str(script), str(signed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.stdout == "the same\n", done.stderr[-3000:]


def started(log, *command, inside=(), **environment):
    """A process whose words go to a file."""
    with log.open("w") as words:
        return subprocess.Popen(
            [*inside, sys.executable, "-m", *command],
            stdout=words,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            cwd=log.parent,
        )


def wait_for(words, log, seconds=60):
    end = time.monotonic() + seconds
    while words not in log.read_text():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


def scheduler(folder, host, inside=()):
    """A running scheduler, and its address."""
    log = folder / "scheduler.log"
    command = ("distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--no-dashboard")
    process = started(log, *command, inside=inside)
    wait_for("Scheduler at:", log)
    line = next(line for line in log.read_text().splitlines() if "Scheduler at:" in line)
    return process, line.split()[-1]


def worker(log, address, inside=(), **environment):
    command = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard")
    return started(log, *command, "--no-nanny", inside=inside, **environment)


@pytest.fixture
def ends():
    """Processes that are ended after the test."""
    processes = []
    yield processes
    for process in processes:
        process.kill()
        process.wait(60)


def simulated(folder, *options, inside=()):
    command = [*inside, *UNIMODAL, "simulate", "--graph", "line:9"]
    command += ["--policies", "uts,osub", "--horizon", "2e4", "--trials", "60"]
    command += ["--out", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return (folder / "result.parquet").read_bytes()


@pytest.mark.full
def test_the_command_gives_the_same_file_and_refuses_workers_with_other_sources(tmp_path, ends):
    here = simulated(tmp_path / "here")
    process, address = scheduler(tmp_path, "127.0.0.1")
    ends.append(process)
    ends += [worker(tmp_path / f"{name}.log", address) for name in "ab"]
    assert simulated(tmp_path / "there", "--dask", address) == here
    again = ("--from", str(tmp_path / "there" / "result.parquet"), "--dask", address)
    assert simulated(tmp_path / "again", *again) == here

    package = Path(unimodal.__file__).parent
    shutil.copytree(package, tmp_path / "other" / "unimodal")
    with (tmp_path / "other" / "unimodal" / "version.py").open("a") as source:
        source.write("# not the same\n")
    for process in ends[1:]:
        process.kill()
    ends.append(worker(tmp_path / "c.log", address, PYTHONPATH=str(tmp_path / "other")))
    command = [*UNIMODAL, "simulate", "--horizon", "10"]
    done = subprocess.run([*command, "--dask", address], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "another version of unimodal, Numba or NumPy" in done.stderr


def netns(*command):
    return subprocess.run(["ip", *command], capture_output=True, text=True)


@pytest.fixture
def two_machines():
    """Two network namespaces with a cable between them; nothing else connects them."""
    if shutil.which("ip") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("needs root and the command `ip`, to make network namespaces")
    one, two = (f"unimodal{os.getpid()}{side}" for side in "ab")
    cable = [f"um{os.getpid()}{side}" for side in "ab"]
    try:
        made = netns("netns", "add", one)
        if made.returncode:
            pytest.skip(f"network namespaces cannot be made here: {made.stderr.strip()}")
        netns("netns", "add", two)
        netns("link", "add", cable[0], "type", "veth", "peer", "name", cable[1])
        for name, end, address in ((one, cable[0], "10.99.0.1"), (two, cable[1], "10.99.0.2")):
            netns("link", "set", end, "netns", name)
            netns("-n", name, "addr", "add", f"{address}/24", "dev", end)
            netns("-n", name, "link", "set", "lo", "up")
            up = netns("-n", name, "link", "set", end, "up")
            if up.returncode:
                pytest.skip(f"network namespaces cannot be joined here: {up.stderr.strip()}")
        yield [("ip", "netns", "exec", name) for name in (one, two)]
    finally:
        netns("netns", "del", one)
        netns("netns", "del", two)


@pytest.mark.full
def test_two_machines_give_the_same_file(tmp_path, ends, two_machines):
    """Scheduler, client and a worker in one network namespace, the other worker in another."""
    one, two = two_machines
    here = simulated(tmp_path / "here")
    process, address = scheduler(tmp_path, "10.99.0.1", inside=one)
    ends.append(process)
    assert address.startswith("tcp://10.99.0.1:")
    ends.append(worker(tmp_path / "far.log", address, inside=two))
    wait_for("Registered to:", tmp_path / "far.log")
    assert simulated(tmp_path / "far", "--dask", address, inside=one) == here  # it alone
    ends.append(worker(tmp_path / "near.log", address, inside=one))
    wait_for("Registered to:", tmp_path / "near.log")
    assert simulated(tmp_path / "both", "--dask", address, inside=one) == here
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from unimodal.cli.compare_output import run
        from unimodal.studies import Setting
        star = Setting("star", "star:9", "by distance", ("UTS", "OSUB"), 20_000, 3, 4)
        found = run([star], "star", Path(sys.argv[1]), sys.argv[2])
        for one in found.all:
            print(one.policy, one.final.tobytes().hex())
        """
    )
    command = [*one, sys.executable, "-c", script]
    outputs = [
        subprocess.run(
            [*command, str(tmp_path / name), at], capture_output=True, text=True, check=True
        ).stdout
        for name, at in (("alone", ""), ("together", address))
    ]
    assert outputs[0] == outputs[1] and outputs[0].count("\n") == 2
