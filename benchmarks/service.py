"""How fast the service answers: decisions and rewards, against an endpoint that does nothing.

    python benchmarks/service.py                        # SQLite, full durability; two minutes
    python benchmarks/service.py --seconds 2 --turns 1  # a glance
    python benchmarks/service.py --decisions 1000000 --postgresql    # memory and two servers, too

64 clients with keep-alive connections in a process of their own call one server process. The empty
FastAPI endpoint is measured with the same clients right before and right after.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/one")
async def one(): return {}
@app.post("/two")
async def two(): return {}
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_ID = re.compile(rb'"id": (\d+)')


class Connection:
    """One keep-alive client, with as little of its own as can be."""

    def __init__(self, port):
        self.port = port

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def post(self, path, body=b"", headers=b""):
        head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.writer.write(
            (head + b"%sContent-Length: %d\r\n\r\n%s") % (path, headers, len(body), body)
        )
        answer = await self.reader.readuntil(b"\r\n\r\n")
        text = await self.reader.readexactly(int(_LENGTH.search(answer)[1]))
        if not answer.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(text.decode())
        return text

    def close(self):
        self.writer.close()


async def load(ports, clients, seconds, pair):
    """Pairs per second, and the times of single calls in ms; clients are shared out over ports."""
    times, pairs = [], 0
    end = time.perf_counter() + seconds

    async def client(number):
        nonlocal pairs
        connection = await Connection(ports[number % len(ports)]).open()
        count = 0
        while time.perf_counter() < end:
            times.extend(await pair(connection, f"{number}-{count}"))
            count += 1
        pairs += count
        connection.close()

    begun = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    return pairs / (time.perf_counter() - begun), times


async def timed(call):
    begun = time.perf_counter()
    answer = await call
    return answer, 1e3 * (time.perf_counter() - begun)


async def empty_pair(connection, key):
    _, first = await timed(connection.post(b"/one"))
    _, second = await timed(connection.post(b"/two"))
    return first, second


def campaign_pair(name, tag=""):
    path = f"/v1/campaigns/{name}".encode()

    async def pair(connection, key):
        headers = b"Idempotency-Key: %s%s\r\n" % (tag.encode(), key.encode())
        text, first = await timed(connection.post(path + b"/decisions", b"", headers))
        number = int(_ID.search(text)[1])
        body = b'{"decision": %d, "reward": %d}' % (number, number % 2)
        _, second = await timed(connection.post(path + b"/rewards", body))
        return first, second

    return pair


async def batches(port, process, name, clients, seconds, size=100):
    """Rewards per second that are told in batches, and the CPU of each in µs.

    Decisions are made 10,000 at a time in between, which is not counted.
    """
    path = f"/v1/campaigns/{name}".encode()
    connections = [await Connection(port).open() for _ in range(clients)]
    told = took = spent = 0.0

    async def client(connection, ready):
        while ready:
            some, ready[-size:] = ready[-size:], []
            rewards = [{"decision": number, "reward": number % 2} for number in some]
            await connection.post(path + b"/rewards", json.dumps({"rewards": rewards}).encode())

    while took < seconds:
        text = await connections[0].post(path + b"/decisions", b'{"n": 10000}')
        ready = list(map(int, _ID.findall(text)))
        told += len(ready)
        begun, before = time.perf_counter(), cpu_seconds(process)
        await asyncio.gather(*(client(connection, ready) for connection in connections))
        took += time.perf_counter() - begun
        spent += cpu_seconds(process) - before
    for connection in connections:
        connection.close()
    return told / took, 1e6 * spent / told


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(command, port, path):
    """A server process, once it answers; and the seconds until then."""
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError("the server ended by itself") from None
                time.sleep(0.01)
        process.seconds = time.perf_counter() - begun
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def served(store, port):
    code = "from unimodal.cli import main; main()"
    options = ["--store", store, "--port", port, "--rate", 1e9, "--watch", 3600]
    return ["-c", code, "serve", *options]


def create(port, name):
    body = json.dumps({"name": name, "graph": {"generator": "line:17"}}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/campaigns", body, {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request).close()


def commit_ms(folder):
    """What a commit of the disk itself takes: the median of some synced writes."""
    times = []
    with open(Path(folder) / "probe", "wb") as file:
        for _ in range(100):
            begun = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times)


def memory_mb(process):
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def cpu_seconds(process):
    """What a server has computed: a measure that other programs on the machine disturb less.

    The clock of another process, as clock_getcpuclockid(3) makes its number (on Linux).
    """
    return time.clock_gettime((~process.pid << 3) | 2)


def quantile(times, share):
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def run(options):
    found = {"clients": options.clients, "seconds": options.seconds}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found["commit of the disk, ms"] = round(commit_ms(folder), 3)
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY)
        ports = free_port(), free_port()
        with (
            server([empty, ports[0]], ports[0], "/one") as idle,
            server(served(Path(folder) / "store", ports[1]), ports[1], "/healthz") as process,
        ):
            found["start to first answer, s"] = round(process.seconds, 2)
            create(ports[1], "prices")
            asyncio.run(load(ports[1:], 8, 1.0, campaign_pair("prices", "warm-")))
            found |= pairs(options, ports, (idle, process))
            create(ports[1], "batches")
            rate, cost = asyncio.run(batches(ports[1], process, "batches", 16, options.seconds))
            found["rewards per second in batches of 100"] = round(rate)
            found["CPU per reward in batches, µs"] = round(cost, 1)
            if options.decisions:
                found["memory by decisions, MB"] = memory(ports[1], process, options.decisions)
    if options.postgresql:
        found |= on_postgresql(options)
    return found


def pairs(options, ports, processes):
    """Pairs of a decision and a reward, in turns with two calls of the empty endpoint."""
    ratios, rates, bare, times, costs = [], [], [], [], []
    for turn in range(options.turns):
        before = [cpu_seconds(process) for process in processes]
        nothing, _ = asyncio.run(load(ports[:1], options.clients, options.seconds, empty_pair))
        pair = campaign_pair("prices", f"{turn}-")
        rate, some = asyncio.run(load(ports[1:], options.clients, options.seconds, pair))
        rates.append(rate)
        bare.append(nothing)
        ratios.append(rate / nothing)
        times += some
        spent = [cpu_seconds(p) - b for p, b in zip(processes, before, strict=True)]
        costs.append((spent[0] / nothing, spent[1] / rate))
    empty_cost, cost = (
        1e3 * statistics.median(c) / options.seconds for c in zip(*costs, strict=True)
    )
    return {
        "pairs per second": round(statistics.median(rates)),
        "empty endpoint, pairs per second": round(statistics.median(bare)),
        "share of the empty endpoint": round(statistics.median(ratios), 3),
        "CPU per pair, ms": round(cost, 3),
        "CPU per pair of the empty endpoint, ms": round(empty_cost, 3),
        "p50 of a call, ms": round(quantile(times, 0.5), 1),
        "p99 of a call, ms": round(quantile(times, 0.99), 1),
    }


def on_postgresql(options):
    """Two servers on one database, and half of the clients at each."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.postgresql_server import PostgresqlServer

    ports = free_port(), free_port()
    with (
        PostgresqlServer() as database,
        server(served(database.address(), ports[0]), ports[0], "/healthz"),
        server(served(database.address(), ports[1]), ports[1], "/healthz"),
    ):
        create(ports[0], "prices")
        asyncio.run(load(ports, 8, 1.0, campaign_pair("prices", "warm-")))
        pair = campaign_pair("prices", "p-")
        rate, times = asyncio.run(load(ports, options.clients, options.seconds, pair))
    return {
        "two servers on PostgreSQL, pairs per second": round(rate),
        "two servers on PostgreSQL, p99 of a call, ms": round(quantile(times, 0.99), 1),
    }


def memory(port, process, decisions):
    """Resident memory after each tenth of so many decided and rewarded decisions."""
    create(port, "memory")
    path = b"/v1/campaigns/memory"
    sizes = {0: round(memory_mb(process))}

    async def some(count):
        connection = await Connection(port).open()
        for _ in range(count // 1000):
            text = await connection.post(path + b"/decisions", b'{"n": 1000}')
            rewards = [{"decision": int(n), "reward": 1} for n in _ID.findall(text)]
            await connection.post(path + b"/rewards", json.dumps({"rewards": rewards}).encode())
        connection.close()

    for part in range(1, 11):
        asyncio.run(some(decisions // 10))
        sizes[part * decisions // 10] = round(memory_mb(process))
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=0, help="for the memory; 0: none")
    parser.add_argument("--postgresql", action="store_true", help="two servers on one, too")
    parser.add_argument("--folder", help="on the disk to be measured")
    print(json.dumps(run(parser.parse_args()), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
