"""Several processes of one program on this machine, as srun would start them on several hosts."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ensemble import runs
from ensemble.runs import Run

PATIENCE_SECONDS = 240


def free_port() -> int:
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Processes:
    """As many processes of `python` with these words. Use as a context manager: it ends them all.

    Each has one CPU device, a log of its own, and its place among them in the environment.
    """

    def __init__(self, folder: Path, *words: str, count: int = 2, **environment: str) -> None:
        folder.mkdir(exist_ok=True)
        port = free_port()
        self.logs = [folder / f"{time.monotonic_ns()}-{index}.txt" for index in range(count)]
        self.all = [
            self._start(
                words,
                {
                    "JAX_COORDINATOR_ADDRESS": f"localhost:{port}",
                    "ENSEMBLE_PROCESS_ID": str(index),
                    "ENSEMBLE_NUM_PROCESSES": str(count),
                    "JAX_NUM_CPU_DEVICES": "1",
                    **environment,
                },
                log,
            )
            for index, log in enumerate(self.logs)
        ]

    def _start(self, words: tuple[str, ...], environment: dict[str, str], log: Path) -> "subprocess.Popen[bytes]":
        with log.open("wb") as file:
            return subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        for one in self.all:
            if one.poll() is None:
                one.send_signal(signal.SIGKILL)
            one.wait()

    def statuses(self, seconds: float = PATIENCE_SECONDS) -> list[int]:
        """The exit statuses of all, which have to end within so many seconds."""
        end = time.monotonic() + seconds
        try:
            return [one.wait(max(end - time.monotonic(), 0.01)) for one in self.all]
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"not ended within {seconds} s:\n{self.said()}") from error

    def log(self, index: int) -> str:
        return self.logs[index].read_text()

    def said(self) -> str:
        return "\n".join(f"--- {index}\n{self.log(index)}" for index in range(len(self.logs)))

    def answer(self) -> dict[str, Any]:
        """What process 0 printed at its end."""
        lines = [line for line in self.log(0).splitlines() if line.startswith("{")]
        found: dict[str, Any] = json.loads(lines[-1])
        return found

    def run(self) -> Run:
        """The run that they train, as soon as they have begun to."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            for run in runs.list_runs():
                if run.state == "training":
                    return run
            time.sleep(0.05)
        raise AssertionError(f"no run is trained:\n{self.said()}")


def train(folder: Path, *words: str, count: int = 2, **environment: str) -> Processes:
    """They train one run together: a new one, or with `--resume` an old one."""
    command = ("-m", "ensemble", "train", "--distributed", *words)
    return Processes(folder, *command, count=count, **environment)
