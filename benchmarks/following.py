"""What it costs to follow a log: `python benchmarks/following.py [EVENTS …]`, by default 2·10⁶.

Alarms and a certificate of an open campaign: the first time, and then after each thousand further
events, the median of ten. Seconds of a processor, and megabytes at most, of a process of its own.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import unimodal as um

ARMS, TOGETHER = 50, 500


def play(campaign, decisions):
    """Decide, and tell what comes of it."""
    made = campaign.decide(decisions)
    rewards = [float(one.id * 7919 % 100 < one.arm) for one in made]
    campaign.reward([one.id for one in made], rewards)


def make(path, events):
    """A campaign with so many events."""
    given = {"policy": um.UTS(), "graph": um.graphs.line(ARMS), "seed": 1}
    with um.Campaign.open(path, **given, durability="fast") as campaign:
        for _ in range(events // (2 * TOGETHER)):
            play(campaign, TOGETHER)


def peak():
    """Megabytes of this process at most; what getrusage tells also counts the one before it."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def timed(work):
    """Seconds of a processor."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measure(path):
    """Ask, and ask again."""
    with um.Campaign.open(path, durability="fast") as campaign:
        before, first = peak(), timed(campaign.alarms)
        campaign.certificate()  # which imports and compiles
        megabytes, alarms, certificates = peak(), [], []
        for _ in range(10):
            play(campaign, TOGETHER)
            alarms.append(timed(campaign.alarms))
            play(campaign, TOGETHER)
            certificates.append(timed(campaign.certificate))
    again = (1000 * statistics.median(some) for some in (alarms, certificates))
    alarm, certificate = again
    print(f"first alarms {first:.2f} s; {before:.0f} MB before, {megabytes:.0f} MB at most;")
    print(f"after 1,000 more events: alarms {alarm:.1f} ms, certificate {certificate:.1f} ms")


def main():
    """Make and measure each size."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
        return
    for events in map(int, sys.argv[1:] or ["2000000"]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "campaign.db"
            make(path, events)
            print(f"{events:,} events:", flush=True)
            subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)


if __name__ == "__main__":
    main()
