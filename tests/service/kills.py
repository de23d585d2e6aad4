"""Servers killed at random under clients that retry: nothing acknowledged is lost or done twice.

    python tests/service/kills.py --kills 20 --rewards 5000
    python tests/service/kills.py --store postgresql://… --kills 20 --rewards 5000
    python tests/service/kills.py --sabotage forget     # keys are forgotten at a restart: found

Two servers serve one campaign. Sixteen clients decide, each time under a key of its own, tell
rewards, and ask again now and then; when a server does not answer they try the other one. At the
end the log is compared with what was acknowledged.
"""

import argparse
import collections
import contextlib
import itertools
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import unimodal as um
from unimodal.campaigns import look, verify
from unimodal.campaigns.commands import deciding
from unimodal.errors import ServiceError
from unimodal.service.campaigns.catalog import catalog_of
from unimodal.service.limits import ServiceLimits
from unimodal.service.server.process import serve


def forget_keys():
    """Sabotage: a server knows only the keys that were used since it was started."""
    known, find = set(), deciding._known_under

    def known_under(state, digest, lifetime):
        if digest in known:
            return find(state, digest, lifetime)
        known.add(digest)
        return None

    deciding._known_under = known_under


SABOTAGE = {"none": lambda: None, "forget": forget_keys}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nursery:
    """Forks servers from a process that has imported all and has no threads: a start is quick."""

    def __init__(self, options, ports):
        self._orders, orders = os.pipe()
        answers, self._answers = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(orders)
            os.close(answers)
            self._nurse(options, ports)
        os.close(self._orders)
        os.close(self._answers)
        self._send, self._hear = os.fdopen(orders, "w"), os.fdopen(answers)

    def start(self, number):
        """The process of a new server, which listens on the port with this number."""
        self._send.write(f"{number}\n")
        self._send.flush()
        return int(self._hear.readline())

    def close(self):
        self._send.close()
        os.waitpid(self._process, 0)
        self._hear.close()

    def _nurse(self, options, ports):
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks for what became of them
        with os.fdopen(self._orders) as orders, os.fdopen(self._answers, "w") as answers:
            for line in orders:
                process = os.fork()
                if process == 0:
                    self._serve(options, ports[int(line)])
                answers.write(f"{process}\n")
                answers.flush()
        os._exit(0)

    @staticmethod
    def _serve(options, port):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            SABOTAGE[options.sabotage]()
            serve(
                options.store,
                port=port,
                limits=ServiceLimits(wait=20.0, rate=1e9),
                durability=options.durability,
                ready=lambda address: None,
            )
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


class Client:
    """Decides, tells rewards and asks again, and notes what was acknowledged."""

    def __init__(self, number, ports, options):
        self.rng, self.name = random.Random(f"{options.seed} {number}"), f"c{number}"
        self.campaigns = [
            um.Client(f"http://127.0.0.1:{port}", retries=0, timeout=20).campaign(options.name)
            for port in ports
        ]
        self.keys, self.counted, self.known, self.wrong = {}, {}, 0, []

    def ask(self, work):
        """Do something at one of the servers, and again until one answers."""
        until = time.monotonic() + 120
        while True:
            try:
                return work(self.rng.choice(self.campaigns))
            except ServiceError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def step(self, number):
        key = f"{self.name}-{number}"
        self.keys[key] = None  # it may be in the log from now on
        self.decide(key)
        if self.rng.random() < 0.3:
            self.decide(self.rng.choice(list(self.keys)))  # perhaps one from before a kill
        decision = self.keys[key]
        value = float(decision * 7919 % 10 < 4)
        for _ in range(1 + (self.rng.random() < 0.2)):
            if self.ask(lambda campaign: campaign.reward(decision, value)):
                if decision in self.counted:
                    self.wrong.append(f"the reward of {decision} was counted twice")
                self.counted[decision] = value
            else:
                self.known += 1
                self.counted.setdefault(decision, value)  # an answer was lost; it is there

    def decide(self, key):
        found = self.ask(lambda campaign: campaign.decide(key=key)).id
        if self.keys[key] not in (None, found):
            self.wrong.append(f"{key} gave {self.keys[key]}, then {found}")
        self.keys[key] = found


class Storm:
    """Starts servers, kills them, and starts them again, while clients call them."""

    def __init__(self, options):
        self.options, self.rng = options, random.Random(options.seed)
        self.ports = [free_port() for _ in range(options.servers)]
        self.nursery = Nursery(options, self.ports)  # before there are threads
        self.processes = [self.nursery.start(number) for number in range(options.servers)]
        self.kills = 0
        self.over = threading.Event()
        self.clients = [Client(n, self.ports, options) for n in range(options.clients)]
        self.failures = []

    def rage(self):
        self._create()
        threads = [threading.Thread(target=self._live, args=(one,)) for one in self.clients]
        for thread in threads:
            thread.start()
        wanted, kills = self.options.rewards, self.options.kills
        while not self.failures and (self._told() < wanted or self.kills < kills):
            time.sleep(self.rng.uniform(0.0, 0.1))
            if self.kills < min(self._told() / wanted, 1) * kills:
                victim = self.rng.randrange(len(self.processes))
                os.kill(self.processes[victim], signal.SIGKILL)
                while _is_alive(self.processes[victim]):
                    time.sleep(0.005)  # it has its port until then
                self.kills += 1
                self.processes[victim] = self.nursery.start(victim)
        self.over.set()
        for thread in threads:
            thread.join()
        self._stop(signal.SIGTERM)
        self._wait_for_the_end()

    def close(self):
        """Leave nobody behind, whatever happened."""
        self.over.set()
        self._stop(signal.SIGKILL)
        self.nursery.close()

    def _stop(self, number):
        for pid in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _create(self):
        """Wait for the first server, and make the campaign."""
        while True:
            with contextlib.suppress(ServiceError):
                with um.Client(f"http://127.0.0.1:{self.ports[0]}", retries=5) as client:
                    client.create(self.options.name, "uts", "line:9", seed=4)
                return

    def _live(self, client):
        try:
            for number in itertools.count():
                if self.over.is_set():
                    return
                client.step(number)
        except BaseException as error:
            traceback.print_exc()
            self.failures.append(repr(error))

    def _told(self):
        return sum(len(client.counted) for client in self.clients)

    def _wait_for_the_end(self):
        """Until SIGTERM has been obeyed: what is in flight is finished, campaigns are closed."""
        until = time.monotonic() + 30
        while any(_is_alive(process) for process in self.processes):
            if time.monotonic() > until:
                self.failures.append("a server did not end after SIGTERM")
                return
            time.sleep(0.02)


def _is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def findings(storm):
    """What was acknowledged, and what is wrong with it: nothing, all zeros, on sound code."""
    address = catalog_of(storm.options.store, 30.0).address(storm.options.name)
    history = look(address).history()
    made = history.filter(history["kind"] == "decide")["decision"].to_list()
    rows = history.filter(history["kind"] == "reward").select("decision", "reward").rows()
    rewards = collections.defaultdict(list)
    for decision, value in rows:
        rewards[decision].append(value)
    keys = [pair for client in storm.clients for pair in client.keys.items()]
    told = [pair for client in storm.clients for pair in client.counted.items()]
    handed = collections.Counter(decision for _, decision in keys if decision is not None)
    wrong = {
        "decisions lost": sum(decision not in set(made) for decision in handed),
        "decisions for two keys": sum(times > 1 for times in handed.values()),
        "decisions without a key": len(made) - len(keys),
        "answers that differ": sum(len(client.wrong) for client in storm.clients),
        "rewards lost": sum(value not in rewards[decision] for decision, value in told),
        "rewards double": sum(len(values) > 1 for values in rewards.values()),
        "verify": len(verify(address).wrong),
        "failures": len(storm.failures),
    }
    known = sum(client.known for client in storm.clients)
    return {"keys": len(keys), "rewards": len(told), "told again": known}, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--rewards", type=int, default=300)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a folder, or postgresql://…; a new folder by default")
    parser.add_argument("--name", default="prices", help="of a campaign that is not there yet")
    parser.add_argument("--durability", choices=("full", "fast"), default="full")
    parser.add_argument("--sabotage", choices=SABOTAGE, default="none")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        options.store = options.store or str(Path(folder) / "store")
        storm = Storm(options)
        try:
            storm.rage()
        finally:
            storm.close()
        acknowledged, wrong = findings(storm)
    seconds = round(time.monotonic() - begun, 1)
    print(json.dumps({"kills": storm.kills, "seconds": seconds, **acknowledged, "wrong": wrong}))
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
