"""PostgreSQL over a network: processes in two network namespaces, and PgBouncer in between."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

import unimodal as um
from tests.postgresql_server import PostgresqlServer
from unimodal.campaigns.reading import read

LINE = um.graphs.line(9)
WORKER = """
import json, os, sys
import unimodal as um
campaign = um.Campaign.open(sys.argv[1], um.UTS(), um.graphs.line(9), seed=4)
print(os.readlink("/proc/self/ns/net"), flush=True)
sys.stdin.readline()
acknowledged = []
for turn in range(int(sys.argv[2])):
    for one in [campaign.decide()] if turn % 3 else campaign.decide(4):
        assert campaign.reward(one.id, float(one.id % 3 == 0)) is True
        acknowledged.append(one.id)
print(json.dumps(acknowledged))
campaign.close()
"""
WHAT = ("kind", "decision", "arm", "reason", "leader", "near", "reward")


def played_together(addresses, prefixes, turns):
    """Two processes that play at once; the namespace of each, and what each was told."""
    processes = [
        subprocess.Popen(
            [*prefix, sys.executable, "-c", WORKER, address, str(turns)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for address, prefix in zip(addresses, prefixes, strict=True)
    ]  # fmt: skip
    namespaces = [process.stdout.readline().strip() for process in processes]
    told = []
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        told.append(json.loads(out))
    return namespaces, told


def events(place):
    rows = read(place, lambda store: [row for rows in store.rows() for row in rows])
    return [
        tuple(row[um.campaigns.events.Row._fields.index(name)] for name in WHAT)
        for row in rows
        if row[2] in ("decide", "reward")
    ]


def check_as_one(address, told, path):
    """The log is that of a single process which does the same in the same order."""
    log = events(address)
    with um.Campaign.open(path, um.UTS(), LINE, seed=4, durability="fast") as single:
        for kind, decision, *_, reward in log:
            if kind == "decide":
                assert single.decide().id == decision
            else:
                assert single.reward(decision, reward) is True
    assert events(path) == log
    assert um.verify(address).wrong == []
    assert sorted(told[0] + told[1]) == [event[1] for event in log if event[0] == "decide"]
    owners = [one in told[0] for one in sorted(told[0] + told[1])]
    assert len(set(owners)) == 2


@pytest.fixture
def namespaces():
    """Two network namespaces, each joined to this one: their names, and our address in each."""
    made = []
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("to make network namespaces takes root and the command ip")
    try:
        for number in (1, 2):
            name, net = f"um{os.getpid()}n{number}", f"10.231.{os.getpid() % 120 * 2 + number}"
            inside, outside = f"i{os.getpid()}n{number}", f"o{os.getpid()}n{number}"
            if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
                pytest.skip("network namespaces cannot be made here")
            made.append((name, f"{net}.1"))
            for command in (
                f"ip link add {outside} type veth peer name {inside} netns {name}",
                f"ip addr add {net}.1/24 dev {outside}",
                f"ip link set {outside} up",
                f"ip -n {name} addr add {net}.2/24 dev {inside}",
                f"ip -n {name} link set {inside} up",
            ):
                subprocess.run(command.split(), check=True)
        yield made
    finally:
        for name, _ in made:  # and the links go with it
            subprocess.run(["ip", "netns", "del", name], check=True)


def test_two_network_namespaces_with_one_database_decide_as_one_agent(namespaces, tmp_path):
    hosts = [host for _, host in namespaces]
    with PostgresqlServer(host="127.0.0.1", fsync="off", listen_addresses="*") as server:
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text(f"host all all 10.231.0.0/16 trust\n{rules.read_text()}")
        server.stop()
        server.start()
        direct = server.address("network")
        with um.Campaign.open(direct, um.UTS(), LINE, seed=4):
            pass
        addresses = [direct.replace("127.0.0.1", host) for host in hosts]
        prefixes = [["ip", "netns", "exec", name] for name, _ in namespaces]
        found, told = played_together(addresses, prefixes, 40)
        assert len({*found, os.readlink("/proc/self/ns/net")}) == 3
        check_as_one(direct, told, tmp_path / "single.db")


# PgBouncer.


@pytest.fixture
def pgbouncer(tmp_path):
    """A server, and PgBouncer before it in transaction mode, with fewer connections than users."""
    if shutil.which("pgbouncer") is None:
        pytest.skip("there is no pgbouncer: apt-get install pgbouncer")
    with PostgresqlServer(host="127.0.0.1", fsync="off") as server:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        folder = server.folder / "pgbouncer"
        folder.mkdir()
        (folder / "users").write_text('"postgres" ""\n')
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\npool_mode = transaction\n"
            f"default_pool_size = 3\nauth_type = any\nauth_file = {folder}/users\n"
            f"unix_socket_dir = {folder}\nlogfile = {folder}/log\n"
        )
        settings.write_text(settings.read_text().replace("* =", "postgres = user=postgres"))
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if user:
            for one in (folder, *folder.iterdir()):
                shutil.chown(one, "nobody")
        process = subprocess.Popen(
            ["pgbouncer", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **user,
        )  # fmt: skip
        try:
            until = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert process.poll() is None and time.monotonic() < until
                    time.sleep(0.05)
            yield server, port
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.full
def test_it_works_behind_pgbouncer_in_transaction_mode(pgbouncer, tmp_path):
    server, port = pgbouncer
    direct = server.address("pooled")
    pooled = direct.replace(f":{server.port}/", f":{port}/")
    with um.Campaign.open(pooled, um.UTS(), LINE, seed=4):
        pass
    _, told = played_together([pooled, pooled], [[], []], 60)
    check_as_one(direct, told, tmp_path / "single.db")
    others = [um.Campaign.open(pooled, um.UTS(), LINE, seed=4) for _ in range(8)]
    made = [campaign.decide(key=str(number % 4)) for number, campaign in enumerate(others)]
    assert made[:4] == made[4:]
    for campaign in others:
        campaign.close()
    assert um.verify(pooled) and um.inspect(pooled) is not None
