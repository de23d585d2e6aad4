"""Try what `make dist` built as a stranger would: in new environments, without the repository.

    python packaging/check_distribution.py dist
    python packaging/check_distribution.py dist --python 3.12 --no-doctests

For every Python 3.11 to 3.14 of this machine: install the wheel with the versions of the lock file,
import, simulate, serve, reproduce the whole paper with few trials, run the doctests.
"""

import argparse
import contextlib
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SIMULATE = "simulate --graph line:17 --horizon 1e4 --trials 10 --policies uts,ts"
REPRODUCE = ["reproduce", "--quick"]
PATIENCE = 1800  # seconds, on a busy machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--python", action="append", help="only this version, as 3.12")
    parser.add_argument("--no-doctests", action="store_true")
    given = parser.parse_args()
    wheel, sdist = one(given.dist, "*.whl"), one(given.dist, "*.tar.gz")
    check_files(wheel, sdist)
    found = pythons()
    for version in given.python or VERSIONS:
        if version not in found:
            print(f"Python {version}: not on this machine, not tried")
            continue
        begin = time.monotonic()
        try_wheel(found[version], wheel, doctests=not given.no_doctests)
        print(f"Python {version}: all well ({time.monotonic() - begin:.0f} s)", flush=True)


def one(folder, pattern):
    """The only file of a kind."""
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        sys.exit(f"{folder} must have one {pattern}, got {len(files)}: run `make dist`.")
    return files[0].resolve()


def check_files(wheel, sdist):
    """Whatever git knows of the package is in the wheel; the sdist can build it again."""
    command = ["git", "ls-files", "src/unimodal"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    package = {name.removeprefix("src/") for name in listed.stdout.split()}
    packed = set(zipfile.ZipFile(wheel).namelist())
    if package - packed:
        sys.exit(f"{wheel.name} lacks {sorted(package - packed)}.")
    strange = {name for name in packed - package if ".dist-info/" not in name}
    if strange:
        sys.exit(f"{wheel.name} has {sorted(strange)[:9]}, which git does not know.")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CITATION.cff"}
    lacking = (needed | {f"src/{name}" for name in package}) - inside
    if lacking:
        sys.exit(f"{sdist.name} lacks {sorted(lacking)}.")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        run(build, source)
        again = set(zipfile.ZipFile(one(source / "dist", "*.whl")).namelist())
    if again != packed:
        sys.exit(f"the wheel of {sdist.name} differs: {sorted(again ^ packed)[:9]}.")
    print(f"{wheel.name}: {len(packed)} files; {sdist.name} builds the same")


def pythons():
    """The Pythons of this machine, by version; those of pyenv, too."""
    found = {}
    kept = sorted(Path.home().glob(".pyenv/versions/*/bin/python3"))
    names = [shutil.which(f"python{version}") for version in VERSIONS]
    for path in [*map(str, kept), *filter(None, names)]:
        told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"Python (3\.\d+)\.", told.stdout)
        if told.returncode == 0 and version and version[1] in VERSIONS:
            found[version[1]] = path
    return found


def try_wheel(python, wheel, doctests):
    """Install the wheel in an environment of its own, and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([python, "-m", "venv", "env"], folder)
        pip = [folder / "env/bin/python", "-m", "pip", "install", "--quiet", "--no-compile"]
        text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
        pinned = re.findall(r"^[\w.-]+==[^\s\\]+(?: ; [^\\\n]*)?", text, re.MULTILINE)
        (folder / "versions.txt").write_text("\n".join(pinned))
        extras = "networkx,serve,postgresql,dask"
        run([*pip, "-c", "versions.txt", f"{wheel}[{extras}]", "pytest"], folder)
        own, command = folder / "env/bin/python", folder / "env/bin/unimodal"
        code = "import unimodal as um; print(um.__file__); um.UTS; um.simulate; um.Campaign"
        told = run([own, "-c", code], folder)
        if str(folder) not in told:
            sys.exit(f"this is not the wheel: {told}")
        run([command, *SIMULATE.split()], folder)
        serve(command, folder)
        run([command, *REPRODUCE], folder)
        if not (folder / "report/index.html").exists():
            sys.exit("reproduce wrote no report.")
        if doctests:
            options = ["-q", "-p", "no:cacheprovider", "--doctest-modules"]
            flags = ["-o", "doctest_optionflags=ELLIPSIS NORMALIZE_WHITESPACE"]
            run([own, "-m", "pytest", *options, *flags, "--pyargs", "unimodal"], folder)


def serve(command, folder):
    """Start a server, and ask for its health, the dashboard and a file of it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [command, "serve", "--store", "campaigns", "--port", str(port)]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            answer(f"{address}/healthz", server)
            (style,) = re.findall(r'"(/static/[^"]*/style\.css)"', answer(address, server))
            answer(address + style, server)
        finally:
            server.terminate()
            server.wait(60)


def answer(address, server):
    """Wait for a good answer, and return its text."""
    end = time.monotonic() + 120
    while time.monotonic() < end and server.poll() is None:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(address, timeout=10) as found,
        ):
            return found.read().decode()
        time.sleep(0.3)
    sys.exit(f"{address} did not answer.")


def run(words, folder):
    """Run a command; what it printed, or the end with it."""
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
