"""A real `ensemble serve` in a process of its own, and a client that knows nothing of ours."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from ensemble.runs import Run
from tests.conftest import REPO
from tests.serving.in_process import IDLE, PATIENCE_SECONDS, Answer, read_prediction, write_npy

# Shorter times than a person's, so that a test can wait for their end.
SECONDS = {"BODY_SECONDS": 8.0, "HEADER_SECONDS": 8.0, "SEND_SECONDS": 8.0}
PROGRAM = """
import json, sys
from ensemble.serving import limits
for name, value in json.loads(sys.argv.pop(1)).items():
    assert hasattr(limits, name)
    setattr(limits, name, value)
from ensemble.cli.program import main
main(sys.argv[1:])
"""


@dataclass
class ServerProcess:
    process: "subprocess.Popen[bytes]"
    lines: list[str]  # that it has printed once it answers
    log: Path
    port: int = 0
    token: str = ""

    def ask(self, path: str, body: bytes | None = None, kind: str = "", method: str = "", **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            if kind:
                sent["Content-Type"] = kind
            if self.token:
                sent.setdefault("Authorization", f"Bearer {self.token}")
            connection.request(method or ("GET" if body is None else "POST"), path, body, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def predict(self, images: np.ndarray, query: str = "") -> dict[str, Any]:
        return read_prediction(self.ask(f"/predict{query}", write_npy(images), "application/x-npy"))

    def wait_until_idle(self) -> None:
        """Until it has nothing in hand and no connection is open; nothing went wrong meanwhile."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.ask("/metrics").read_counts(IDLE) != IDLE or self.count_connections():
            assert time.monotonic() < deadline, (self.count_connections(), self.ask("/metrics").body)
            time.sleep(0.02)
        assert "Traceback" not in self.log.read_text(), self.log.read_text()

    def count_connections(self) -> int:
        sockets = psutil.Process(self.process.pid).net_connections("tcp")
        return sum(one.status != psutil.CONN_LISTEN for one in sockets)


@contextmanager
def start_server(run: Run, *words: str, lines: int = 1, **changed: float) -> Iterator[ServerProcess]:
    """A server that answers, and is ended with the block; two devices compile sooner than eight.

    Args:
      run: what it serves.
      words: of the command.
      lines: how many it prints once it answers.
      changed: limits by their names.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, json.dumps(SECONDS | changed), "serve", run.id, "--port", "0", *words],
                stdout=subprocess.PIPE,
                stderr=file,
                cwd=REPO,
                env={
                    **os.environ,
                    "ENSEMBLE_RUNS": str(run.path.parent),
                    "JAX_PLATFORMS": "cpu",
                    "JAX_NUM_CPU_DEVICES": "2",
                },
            )
        with process:
            try:
                assert process.stdout
                printed = [process.stdout.readline().decode() for _ in range(lines)]
                assert all(printed), log.read_text()
                yield ServerProcess(process, printed, log)
            finally:
                process.kill()


@contextmanager
def start_server_for_programs(run: Run, *words: str, **changed: float) -> Iterator[ServerProcess]:
    """The same with `--json`."""
    with start_server(run, "--json", *words, **changed) as server:
        ready = json.loads(server.lines[0])
        assert ready["pid"] == server.process.pid
        server.port = ready["port"]
        yield server
