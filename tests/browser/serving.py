"""The app's own server as a process: started on a free port, ended with all it has started."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

REPO = Path(__file__).resolve().parent.parent.parent
# What opens the app of this clone; options of Streamlit's follow.
OF_THE_CLONE = (sys.executable, "-m", "streamlit", "run", str(REPO / "app.py"))
START_SECONDS = 60.0  # a loaded machine takes its time to import JAX


@dataclass(frozen=True)
class Server:
    """A running Streamlit server: where it answers, where its runs and its output are."""

    url: str
    runs: Path
    log: Path
    process: subprocess.Popen[bytes]


@contextmanager
def serving(folder: Path, program: Sequence[str] = OF_THE_CLONE, cwd: Path = REPO, path: str = "") -> Iterator[Server]:
    """A server that answers, with its runs and its output in `folder`; started in `cwd`.

    `path` is what `program` says that it is under, "/ensemble" say.
    """
    running = start(folder, program, cwd, path)
    try:
        wait_until_healthy(running)
        yield running
    finally:
        end_workers(running)
        running.process.terminate()
        try:
            running.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            running.process.kill()
            running.process.wait()


def start(folder: Path, program: Sequence[str], cwd: Path, path: str = "") -> Server:
    """Starts Streamlit on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return start_on_port(port, folder, program, cwd, path)


def restart(server: Server) -> Server:
    """Kills a server of the clone and starts it anew where it was; returns once it answers."""
    server.process.kill()
    server.process.wait()
    port = int(server.url.rpartition(":")[2])
    running = start_on_port(port, server.log.parent, OF_THE_CLONE, REPO)
    wait_until_healthy(running)
    return running


def start_on_port(port: int, folder: Path, program: Sequence[str], cwd: Path, path: str = "") -> Server:
    """Starts Streamlit on a port that is free."""
    options = {"port": port, "headless": "true", "fileWatcherType": "none"}
    command = [*program, *(f"--server.{name}={value}" for name, value in options.items())]
    log, runs = folder / "server.log", folder / "runs"
    # Two devices, as a person's small machine has them; eight would only take turns.
    # Nor is all garbage collected after each drawing, only when Python thinks it is time.
    own = {
        "ENSEMBLE_RUNS": str(runs),
        "ENSEMBLE_WARM_WORKER": "0",
        "ENSEMBLE_CALIBRATION": "0",
        "JAX_NUM_CPU_DEVICES": "2",
        "STREAMLIT_RUNNER_POST_SCRIPT_GC": "false",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Server(f"http://localhost:{port}{path}", runs, log, process)


def wait_until_healthy(server: Server) -> None:
    """Returns when the server answers; fails with its output when it does not."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"The server did not start. Its log ends:\n{tail(server)}")


def end_workers(server: Server) -> None:
    """Ends what the server has started: all that has its folder of runs but itself."""
    others = (process for process in psutil.process_iter() if process.pid != server.process.pid)
    end([process for process in others if runs_of(process) == server.runs])


def end(processes: list[psutil.Process]) -> None:
    """Asks processes to end, and does not ask a second time."""
    for process in processes:
        try:
            process.terminate()
        except psutil.NoSuchProcess:
            continue
    deadline = time.monotonic() + 240
    while (left := [process for process in processes if at_work(process)]) and (time.monotonic() < deadline):
        time.sleep(0.02)
    for process in left:
        process.kill()


def at_work(process: psutil.Process) -> bool:
    """Whether a process has not ended; one that its parent has not asked after yet has."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def runs_of(process: psutil.Process) -> Path | None:
    """The folder of runs that a process was started with; None where that cannot be told."""
    try:
        runs = process.environ().get("ENSEMBLE_RUNS")
    except psutil.Error:
        return None
    return Path(runs) if runs and process.pid != os.getpid() else None


def tail(server: Server, lines: int = 60) -> str:
    """The end of the server's output."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", server.log.read_text(errors="replace"))
    return "\n".join(plain.splitlines()[-lines:])
