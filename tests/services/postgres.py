"""A real PostgreSQL for the length of a test: its own cluster, on a port of its own."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

USER = "sweeper"
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class AbsentError(Exception):
    """There is no PostgreSQL on this machine, or nobody whom it would run as."""


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs; Debian has them outside PATH."""
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *map(str, BINARIES)]))
    if not found:
        raise AbsentError(f"{name} is not here (Debian's package postgresql)")
    return found


def as_nobody_special(folder: Path) -> list[str]:
    """What to begin a command with so that root does not run it, who may not."""
    if os.getuid():
        return []
    if not (runuser := shutil.which("runuser")):
        raise AbsentError("runuser is not here, and PostgreSQL does not run as root")
    shutil.chown(folder, "nobody")
    return [runuser, "-u", "nobody", "--"]


class Database:
    """An empty database that answers once it is started, and may be killed.

    Args:
      command: what starts its server in the foreground, in the environment that there is now.
      address: of it, with a password in it.
    """

    def __init__(self, command: list[str], address: str) -> None:
        self._command, self.address, self._environment = command, address, dict(os.environ)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start its server; returns once that answers."""
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL, cwd="/", env=self._environment)
        wait_until_it_answers(self.address)

    def kill(self) -> None:
        """SIGKILL to its server and all that has come of it; returns once they are gone."""
        assert self._process
        server = psutil.Process(self._process.pid)
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(20)
        psutil.wait_procs(processes, timeout=20)

    def stop(self) -> None:
        """End its server, as an administrator does; none is no error."""
        if self._process:
            self._process.terminate()
            self._process.wait(20)


@contextmanager
def cluster() -> Iterator[Database]:
    """A new, empty database.

    Raises:
      AbsentError: with what is missing.
    """
    initdb, server = program("initdb"), program("postgres")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="ensemble-postgres-") as made:
        folder, password = Path(made), secrets.token_hex(12)
        begin = as_nobody_special(folder)
        word = folder / "password"
        word.write_text(password)
        word.chmod(0o644)
        data = str(folder / "data")
        new = [initdb, "--no-sync", "-D", data, "-U", USER, "-A", "scram-sha-256"]
        subprocess.run([*begin, *new, f"--pwfile={word}"], check=True, capture_output=True, cwd="/")
        port = free_port()
        where = ["-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", str(folder)]
        database = Database(
            [*begin, server, *where, "-c", "fsync=off"],
            f"postgresql+psycopg://{USER}:{password}@127.0.0.1:{port}/postgres",
        )
        try:
            database.start()
            yield database
        finally:
            database.stop()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until_it_answers(address: str) -> None:
    """Wait up to 20 s for the database."""
    import time

    import psycopg

    end = time.monotonic() + 240
    while True:
        try:
            psycopg.connect(address.replace("+psycopg", "")).close()
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return
