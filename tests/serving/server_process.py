"""A real `ensemble serve` in a process of its own, and a client that knows nothing of ours."""

import http.client
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import REPO

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
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    process: "subprocess.Popen[bytes]"
    ready: dict[str, Any]
    log: Path

    @property
    def place(self) -> tuple[str, int]:
        return self.ready["host"], self.ready["port"]

    def ask(self, path: str, body: bytes | None = None, kind: str = "", method: str = "", **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(*self.place, timeout=120)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            if kind:
                sent["Content-Type"] = kind
            method = method or ("GET" if body is None else "POST")
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def predict(self, images: np.ndarray, query: str = "") -> dict[str, Any]:
        answer = self.ask(f"/predict{query}", write_npy(images), "application/x-npy")
        assert answer.status == 200, answer.body
        found = answer.json
        assert isinstance(found, dict)
        return found


def write_npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@contextmanager
def start_server(
    run_id: str, *words: str, environment: dict[str, str] | None = None, **changed: float
) -> Iterator[Server]:
    """A server that answers, and is ended with the block."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        process = start_process(["serve", run_id, "--port", "0", "--json", *words], log, environment, changed)
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line, log.read_text()
            yield Server(process, json.loads(line), log)
        finally:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()


def start_process(
    words: Sequence[str], log: Path, environment: dict[str, str] | None = None, changed: dict[str, float] | None = None
) -> "subprocess.Popen[bytes]":
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(SECONDS | (changed or {})), *words],
            stdout=subprocess.PIPE,
            stderr=file,
            cwd=REPO,
            env={**os.environ, "JAX_PLATFORMS": "cpu", **(environment or {})},
        )
