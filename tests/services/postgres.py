"""A real PostgreSQL for the length of a test: its own cluster, on a port of its own."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def cluster() -> Iterator[str]:
    """The address of a new, empty database, with a password in it.

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
        subprocess.run(
            [
                *begin,
                initdb,
                "--no-sync",
                "-D",
                folder / "data",
                "-U",
                USER,
                "-A",
                "scram-sha-256",
                f"--pwfile={word}",
            ],
            check=True,
            capture_output=True,
            cwd="/",
        )
        port = free_port()
        with subprocess.Popen(
            [
                *begin,
                server,
                "-D",
                folder / "data",
                "-p",
                str(port),
                "-h",
                "127.0.0.1",
                "-k",
                folder,
                "-c",
                "fsync=off",
            ],
            stderr=subprocess.DEVNULL,
            cwd="/",
        ) as process:
            try:
                address = f"postgresql+psycopg://{USER}:{password}@127.0.0.1:{port}/postgres"
                wait_until_it_answers(address)
                yield address
            finally:
                process.terminate()
                process.wait(20)


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
