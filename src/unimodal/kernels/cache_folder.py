"""Where compiled code is kept, and what may be kept there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numba

try:
    import fcntl
except ImportError:  # Windows: no lock, so there the first run should be a single process.
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).resolve().parent.parent
# What kernels are made of: an edit anywhere else recompiles nothing.
SOURCES = (
    "kernels",
    "families",
    "graphs",
    "policies",
    "engines",
    "inference/change.py",
    "inference/late_rewards.py",
    "problems/delays.py",
    "results/budget.py",
    "history_analysis/replay/plausible_means.py",
)


def source_hash(folder: Path = PACKAGE, parts: Sequence[str] = (".",)) -> str:
    """A hash of the source files in these parts of a folder and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for part in parts:
        whole = folder / part
        for path in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where this version's compiled code is kept: beside the package, or else in the user's cache.

    `UNIMODAL_CACHE_DIR` overrides it. The folder's name holds the hash of the sources, so code
    compiled from other sources can never be picked up.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unimodal"
    chosen = os.environ.get("UNIMODAL_CACHE_DIR")
    candidates = [Path(chosen)] if chosen else [PACKAGE / "__pycache__", home]
    for parent in candidates:
        with contextlib.suppress(OSError):
            folder = parent / f"kernels-{source_hash(PACKAGE, SOURCES)}"
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                with contextlib.suppress(OSError):  # another process may be dropping them, too
                    _drop_older_siblings(folder)
                return folder
    return Path(tempfile.mkdtemp(prefix="unimodal-kernels-"))


def _drop_older_siblings(folder: Path, keep: int = 4) -> None:
    """Keep the newest few caches only: every edit of a source file starts a new one."""
    siblings = sorted(folder.parent.glob("kernels-*"), key=lambda p: p.stat().st_mtime)
    for old in siblings[:-keep]:
        if old != folder:
            for file in old.glob("*"):
                file.unlink(missing_ok=True)
            old.rmdir()


_folder: Path | None = None


def this_cache_folder() -> Path:
    """The `cache_folder` of this process, found once."""
    global _folder
    if _folder is None:
        _folder = cache_folder()
    return _folder


def is_ours(numba_type: Any) -> bool:
    """Whether a type involves no class but those found in this package's modules."""
    made = getattr(numba_type, "instance_class", None)
    if made is None:
        return True
    found: Any = sys.modules.get(made.__module__)
    for name in made.__qualname__.split("."):
        found = getattr(found, name, None)
    inner = getattr(numba_type, "types", ())
    return is_hashed(made.__module__) and found is made and all(map(is_ours, inner))


def is_hashed(module: str) -> bool:
    """Whether a module is among the sources whose hash names the cache's folder."""
    known = [f"unimodal.{part.removesuffix('.py').replace('/', '.')}" for part in SOURCES]
    return any(module == name or module.startswith(f"{name}.") for name in known)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, where the system has such locks."""
    with path.open("w") as handle:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
