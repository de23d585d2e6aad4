"""Side by side with what people use: rounds per second and regret, in one run.

    python benchmarks/peers.py                 # an hour of one core with the defaults
    python benchmarks/peers.py --repeats 3 --seconds 2 --patience 10

Each library gets an environment of its own, in a cache folder, with what pip finds on the day it is
made (remove the folder for a new one); what cannot be installed or imported is said. All play
the same problems: a line of K arms, Bernoulli rewards, means that fall evenly from 0.9 in the
middle to 0.1 at the ends, T = 10⁵ rounds. Players take turns; times are seconds of the processor on
one core, so that other programs matter little. Who does not end 10⁵ rounds within `--patience`
seconds is timed over fewer, without the first K. The tables are written between the marks in
README.md and in benchmarks/README.md.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

HERE = Path(__file__).resolve().parent
SIZES, ROUNDS = (17, 129, 1000), 100_000

# What pip is asked for, in this order until the library can be imported; and the versions to name.
PACKAGES = {
    "SMPyBandits": (
        [["SMPyBandits", "numba", "tqdm"], ["SMPyBandits", "scipy<1.14", "numpy<2", "tqdm"]],
        ["SMPyBandits", "scipy", "numpy"],
        "from SMPyBandits.Policies.Thompson import Thompson",
    ),
    "MABWiser": ([["mabwiser"]], ["mabwiser", "numpy"], "import mabwiser.mab"),
    "river": ([["river"]], ["river"], "import river.bandit"),
}
# The policies each has, in the order of the tables. Who has no KL-UCB plays its UCB1 there.
POLICIES = {
    "SMPyBandits": ("TS", "KL-UCB"),
    "MABWiser": ("TS", "UCB1"),
    "river": ("TS", "UCB1"),
    "NumPy loop": ("TS", "KL-UCB", "UTS"),
    "C++ -O3 loop": ("TS", "KL-UCB", "UTS"),
    "unimodal, step": ("TS", "KL-UCB", "UTS"),
    "unimodal, leap": ("TS", "KL-UCB", "UTS"),
}
GROUPS = {"TS": ("TS",), "KL-UCB": ("KL-UCB", "UCB1"), "UTS": ("UTS",)}


def environment(name, folder):
    """The Python that can import a library, or a sentence why there is none."""
    attempts, _, probe = PACKAGES[name]
    tried = []
    for number, packages in enumerate(attempts):
        place = folder / f"{name.lower()}-{number}"
        python = place / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True)
        if done.returncode:
            pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
            done = subprocess.run(pip, capture_output=True, text=True)
            if done.returncode == 0:
                done = subprocess.run([python, "-c", probe], capture_output=True, text=True)
        if done.returncode == 0:
            return str(python), "".join(f"{one}; " for one in tried)
        last = done.stderr.strip().splitlines()[-1]
        tried.append(f"`pip install {' '.join(packages)}` cannot be used today ({last})")
    return None, "; ".join(tried)


def compiled(folder):
    """The C++ loops, compiled; with the compiler's version, or why there are none."""
    compiler = next((found for name in ("g++", "clang++") if (found := shutil.which(name))), None)
    if compiler is None:
        return None, "no C++ compiler is installed here"
    target = folder / "plain_loops"
    subprocess.run([compiler, "-O3", "-o", target, HERE / "plain_loops.cpp"], check=True)
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return str(target), said.stdout.splitlines()[0]


class Player:
    """A process that plays one library's policies when it is asked."""

    def __init__(self, name, python, *arguments):
        self.name = name
        source = str(HERE.parent / "src")
        quiet = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [python, str(HERE / "peers_player.py"), name, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **quiet, "PYTHONPATH": source, "PYTHONWARNINGS": "ignore"},
        )

    def ask(self, **question):
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} gave up on {question.get('policy')}")
        return json.loads(answer)

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def players(folder):
    """All that can play, with a line about each: versions, or why it cannot."""
    made, about = {}, {}
    for name, (_, named, _) in PACKAGES.items():
        python, words = environment(name, folder)
        if python is None:
            about[name] = f"not timed: {words}."
            continue
        made[name] = Player(name, python)
        about[name] = f"{words}{made[name].ask(versions=named)['versions']}."
    program, words = compiled(folder)
    about["C++ -O3 loop"] = f"{words}." if program else f"not timed: {words}."
    if program:
        made["C++ -O3 loop"] = Player("C++ -O3 loop", sys.executable, program)
    for name in ("NumPy loop", "unimodal, step", "unimodal, leap"):
        made[name] = Player(name, sys.executable)
    commit = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    at = subprocess.run(commit, capture_output=True, text=True).stdout.strip()
    here = made["NumPy loop"].ask(versions=["numpy", "numba"])["versions"]
    about["NumPy loop"] = f"`benchmarks/plain_loops.py`, {here}."
    about["unimodal"] = f"commit {at}, {here}."
    return made, about


def means_of(arms):
    """From 0.9 in the middle evenly down to 0.1 at the ends."""
    middle = arms // 2
    return [0.9 - 0.8 * abs(arm - middle) / middle for arm in range(arms)]


def measure(made, repeats, seconds, patience):
    """What each player did by (policy, arms, name), after each repeat; all take turns."""
    found = defaultdict(list)
    for repeat in range(repeats):
        for arms in SIZES:
            for name, player in made.items():
                for policy in POLICIES[name]:
                    allowed = patience if repeat == 0 else seconds
                    question = {"policy": policy, "means": means_of(arms), "rounds": ROUNDS}
                    answer = player.ask(**question, seconds=allowed, seed=repeat)
                    found[policy, arms, name].append(answer)
                    did = f"{answer['rounds']} rounds, {short(answer['rate'])} a second"
                    print(f"{repeat}: {name}, {policy}, K = {arms}: {did}", flush=True)
        yield found


def rate(answers):
    """Rounds per second, in the median over repeats."""
    return median(one["rate"] for one in answers)


def regret(answers):
    """Mean regret over the trials of 10⁵ rounds; of the longest trial if none was so long."""
    whole = [value for one in answers if one["rounds"] == ROUNDS for value in one["regrets"]]
    if whole:
        return f"{mean(whole):,.0f} ({len(whole)})"
    longest = max(answers, key=lambda one: one["rounds"])
    return f"{longest['regrets'][0]:,.0f} after {longest['rounds']:,} rounds"


def short(number):
    """Three digits: 12.3 k.

    >>> short(123456), short(42)
    ('123 k', '42')
    """
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rates_table(found):
    """Rounds per second of everybody: for the README."""
    head = ["rounds per second", *(f"{group}, K = {arms}" for group in GROUPS for arms in SIZES)]
    rows = []
    for name in POLICIES:
        cells = []
        for played in GROUPS.values():
            for arms in SIZES:
                known = [(p, found[p, arms, name]) for p in played if (p, arms, name) in found]
                note = " (UCB1)" if known and known[0][0] == "UCB1" else ""
                cells.append(short(rate(known[0][1])) + note if known else "")
        if any(cells):
            rows.append([f"**{name}**" if name.startswith("unimodal") else name, *cells])
    return table(head, rows)


def regret_table(found):
    """Rates beside regrets: for benchmarks/README.md."""
    head = ["policy", "who", *(f"K = {arms}: rounds/s, regret (trials)" for arms in SIZES)]
    rows = []
    for played in GROUPS.values():
        for policy in played:
            for name in POLICIES:
                cells = [
                    f"{short(rate(answers))}, {regret(answers)}"
                    for arms in SIZES
                    if (answers := found.get((policy, arms, name)))
                ]
                if cells:
                    rows.append([policy, name, *cells])
    return table(head, rows)


def written(path, text):
    """Put text between the marks of a page."""
    page = path.read_text(encoding="utf-8")
    marks = r"(<!-- peers: .*? -->\n).*?(<!-- peers end -->)"
    assert len(re.findall(marks, page, re.DOTALL)) == 1, f"{path} has no marks for the table"
    page = re.sub(marks, lambda found: found[1] + text + "\n" + found[2], page, flags=re.DOTALL)
    path.write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a play, at most")
    parser.add_argument("--patience", type=float, default=60.0, help="in the first repeat")
    parser.add_argument("--from", dest="source", type=Path, help="tables of saved answers")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unimodal" / "peers"
    parser.add_argument("--folder", type=Path, default=cache, help="for the environments")
    given = parser.parse_args()
    saved = given.source or given.folder / "answers.json"
    if given.source is None:
        given.folder.mkdir(parents=True, exist_ok=True)
        made, about = players(given.folder)
        machine = (
            f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}, {datetime.date.today()}"
        )
        options = f"--seconds {given.seconds:g} --patience {given.patience:g}"
        played = measure(made, given.repeats, given.seconds, given.patience)
        for repeats, found in enumerate(played, 1):  # each is kept: the run may be interrupted
            command = f"python benchmarks/peers.py --repeats {repeats} {options}"
            about["machine"] = f"{machine}, `{command}`."
            answers = [[*key, value] for key, value in found.items()]
            saved.write_text(json.dumps({"about": about, "answers": answers}))
        for player in made.values():
            player.close()
    kept = json.loads(saved.read_text())
    found = {(policy, arms, name): value for policy, arms, name, value in kept["answers"]}
    lines = [f"- {name}: {words}" for name, words in kept["about"].items()]
    written(
        HERE / "README.md", "\n".join([rates_table(found), "", regret_table(found), "", *lines])
    )


if __name__ == "__main__":
    main()
