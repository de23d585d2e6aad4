"""What a long log costs: `python benchmarks/long_logs.py [EVENTS …]`, by default 10⁴ and 10⁶.

Opening is timed in a process of its own that has opened another campaign before, so that neither
imports nor compiled code count; the memory is by how much its peak grows. Moving is timed once.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import unimodal as um

GIVEN = {"policy": um.UTS(), "graph": um.graphs.line(20), "seed": 1, "time_to_live": 1e9}


def make(path, events):
    with um.Campaign.open(path, **GIVEN, durability="fast") as campaign:
        for _ in range(events // 1000):
            decisions = campaign.decide(500)
            campaign.reward([d.id for d in decisions], [float(d.id % 3 == 0) for d in decisions])


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def opened(path):
    """Milliseconds and megabytes, printed by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        um.Campaign.open(f"{folder}/first.db", **GIVEN).decide()
    before, began = peak(), time.perf_counter()
    campaign = um.Campaign.open(path)
    took = time.perf_counter() - began
    print(f"{1000 * took:.0f} ms, {max(peak() - before, 0):.1f} MB", flush=True)
    campaign.close()


def timed(name, work):
    began, cpu = time.perf_counter(), time.process_time()
    work()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"  {name}: {took:.1f} s ({cpu:.1f} s of CPU), peak {peak():.0f} MB", flush=True)


def main(lengths):
    with tempfile.TemporaryDirectory() as folder:
        for events in lengths:
            path = Path(folder) / f"{events}.db"
            make(path, events)
            print(f"{events:,} events, {path.stat().st_size / 1e6:.1f} MB", flush=True)
            command = [sys.executable, __file__, "--open", str(path)]
            for again in ("opening", "opening again"):
                print(f"  {again}:", subprocess.check_output(command, text=True).strip())
        copy, archive = path.with_suffix(".copy"), path.with_suffix(".parquet")
        timed("copy", lambda: um.campaigns.copy(path, copy, check=False))
        timed("export", lambda: um.campaigns.export(path, archive.with_stem("export")))
        timed("verify", lambda: um.verify(path))
        timed("compact", lambda: um.campaigns.compact(path, archive))
        sizes = [f"{each.stat().st_size / 1e6:.1f} MB" for each in (path, archive)]
        print(f"  the file has {sizes[0]} then, the archive {sizes[1]}")
        timed("verify with the archive", lambda: um.verify(path, archives=[archive]))
        print("  opening:", subprocess.check_output(command, text=True).strip())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--open"]:
        opened(sys.argv[2])
    else:
        main([int(float(each)) for each in sys.argv[1:]] or [10**4, 10**6])
