"""Many campaigns at few descriptors: clients decide and reward, and note status and latency.

    python tests/service/descriptor_load.py

walks through 330 campaigns at 256 descriptors with 64 clients, then uses 10 and 40 of them in turn.
"""

import collections
import contextlib
import http.client
import itertools
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import unimodal as um

COMMAND = [sys.executable, "-c", "from unimodal.cli import main; main()"]


def fill(folder, count):
    """A folder of campaigns; copies of one, since each takes its time to be made."""
    with um.Campaign.open(folder / "c0.db", um.UTS(), um.graphs.line(5), seed=4) as campaign:
        campaign.decide()
    for number in range(1, count):
        shutil.copy(folder / "c0.db", folder / f"c{number}.db")


@contextlib.contextmanager
def served(folder, descriptors, *arguments):
    """The port of a server process that may have so many descriptors, and the process."""

    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    command = [*COMMAND, "serve", "--store", str(folder), "--port", "0", "--durability", "fast"]
    server = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
    )
    try:
        yield int(re.search(r":(\d+) \(", server.stdout.readline())[1]), server
    finally:
        server.kill()
        server.communicate()


def call(connection, method, path, body=None):
    headers = {} if body is None else {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def load(port, names, clients, seconds=60.0, calls=10**9):
    """How often each status came, and the latencies of `clients` that take the names in turn.

    It ends after `calls` pairs of a decision and a reward, or after some seconds.
    """
    turn, statuses, latencies = itertools.count(), collections.Counter(), []
    until = time.monotonic() + seconds

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (number := next(turn)) < calls and time.monotonic() < until:
            path = f"/v1/campaigns/{names[number % len(names)]}"
            begun = time.monotonic()
            status, text = call(connection, "POST", f"{path}/decisions", {})
            latencies.append(time.monotonic() - begun)
            statuses[status] += 1
            if status != 200:
                statuses[text] += 1
                continue
            told = {"decision": json.loads(text)["decisions"][0]["id"], "reward": 1}
            statuses[call(connection, "POST", f"{path}/rewards", told)[0]] += 1
            if number % 50 == 0:
                statuses[call(connection, "GET", "/v1/campaigns?limit=20")[0]] += 1
                statuses[call(connection, "GET", "/readyz")[0]] += 1
        connection.close()

    def noted():
        try:
            client()
        except Exception as error:
            statuses[repr(error)] += 1

    threads = [threading.Thread(target=noted) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses, latencies


def p99(latencies):
    return sorted(latencies)[int(0.99 * len(latencies))]


def open_descriptors(server):
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def report(seconds=60.0):
    """Print what the done-criterion of the limit of descriptors asks."""
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder), 330)
        with served(folder, 256) as (port, server):
            names = [f"c{number}" for number in range(330)]
            statuses, _ = load(port, names, 64, calls=2 * len(names))
            print("330 one after the other:", dict(statuses), open_descriptors(server))
            for count in (10, 40):
                load(port, names[:count], 64, calls=2 * count)
                statuses, latencies = load(port, names[:count], 64, seconds)
                print(
                    f"{count} in turn: {dict(statuses)}, p99 {1000 * p99(latencies):.0f} ms, "
                    f"{len(latencies) / seconds:.0f} pairs/s, {open_descriptors(server)} open"
                )


if __name__ == "__main__":
    report(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
