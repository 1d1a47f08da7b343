"""The application that `ensemble serve` builds, asked in the process of the test, without a socket.

Starlette's TestClient warns that it needs another package, takes `..` out of paths, and sends whole bodies alone.
"""

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np
import pytest
from click.testing import CliRunner
from starlette.types import ASGIApp, Message, Scope

from ensemble.cli.program import main
from ensemble.runs import Run
from ensemble.serving import http_server, served_ensemble

Result = TypeVar("Result")

PATIENCE_SECONDS = 60
DISCONNECT: Message = {"type": "http.disconnect"}
# What is counted while nobody but the one who asks is answered.
IDLE = {
    "ensemble_requests_in_hand": 1,
    "ensemble_predictions_in_hand": 0,
    "ensemble_body_bytes_in_hand": 0,
    "ensemble_waiting_images": 0,
}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def read_counts(self, names: Iterable[str]) -> dict[str, float]:
        """The values of these names, as `/metrics` has them."""
        values = dict(line.split(" ") for line in self.body.decode().splitlines() if line[:1] != "#")
        return {name: float(values[name]) for name in names}


@dataclass
class Server:
    """The application in an event loop of its own, which runs while `run` does."""

    ready: dict[str, Any]
    log: str
    app: ASGIApp
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(asyncio.wait_for(work, PATIENCE_SECONDS))

    def ask(self, path: str, body: bytes | None = None, kind: str = "", method: str = "", **headers: str) -> Answer:
        return self.run(self.answer_request(path, body, kind, method, **headers))

    def predict(self, images: np.ndarray, query: str = "") -> dict[str, Any]:
        return self.run(self.answer_images(images, query))

    async def answer_images(self, images: np.ndarray, query: str = "") -> dict[str, Any]:
        return read_prediction(await self.answer_request(f"/predict{query}", write_npy(images), "application/x-npy"))

    async def answer_request(
        self, path: str, body: bytes | None = None, kind: str = "", method: str = "", **headers: str
    ) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if kind:
            sent["Content-Type"] = kind
        if body is not None:
            sent["Content-Length"] = str(len(body))
        method = method or ("GET" if body is None else "POST")
        return await self.answer_messages([build_body_message(body or b"", more=False)], path, method, sent)

    async def answer_messages(
        self, messages: Iterable[Message], path: str, method: str, headers: Mapping[str, str]
    ) -> Answer:
        """The answer to a client that sends these messages, and then nothing more."""
        left, never, answered = iter(messages), asyncio.Event(), list[Message]()

        async def receive() -> Message:
            if (message := next(left, None)) is None:
                await never.wait()
                raise AssertionError
            return message

        async def send(message: Message) -> None:
            answered.append(message)

        plain_path, _, query = path.partition("?")
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(plain_path),
            "raw_path": plain_path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode(), value.encode("latin-1"))
                for name, value in {"Host": "localhost", **headers}.items()
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await self.app(scope, receive, send)
        start, *parts = answered
        names = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
        return Answer(start["status"], names, b"".join(part["body"] for part in parts))

    async def read_counts(self) -> dict[str, float]:
        """What it has in hand, by the names of `IDLE`."""
        return (await self.answer_request("/metrics", Authorization=f"Bearer {self.ready['token']}")).read_counts(IDLE)

    async def wait_for_counts(self, **expected: float) -> None:
        while await self.read_counts() != IDLE | expected:
            await asyncio.sleep(0.001)

    def wait_until_idle(self) -> None:
        try:
            self.run(self.wait_for_counts())
        except TimeoutError:
            raise AssertionError(f"The server still has in hand: {self.run(self.read_counts())}") from None


def read_prediction(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer.body
    found = answer.json
    assert isinstance(found, dict)
    return found


def build_body_message(chunk: bytes, more: bool = True) -> Message:
    """A part of a body; `more`: the body goes on."""
    return {"type": "http.request", "body": chunk, "more_body": more}


def write_npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@contextmanager
def start_server(run: Run, *words: str) -> Iterator[Server]:
    """What `ensemble serve` with these words builds, on two devices: eight take four times as long to compile for."""
    apps = list[ASGIApp]()

    def keep_application(app: ASGIApp, listening: object, announce: Callable[[], None]) -> None:
        apps.append(app)
        announce()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(run.path.parent))
        patch.setattr(http_server, "run_server", keep_application)
        patch.setattr(served_ensemble, "MAX_DEVICES", 2)
        done = CliRunner().invoke(main, ["serve", run.id, "--port", "0", "--json", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    server = Server(json.loads(done.stdout), done.stderr, *apps)
    with server.runner, run_lifespan(server):
        yield server
        server.wait_until_idle()


@contextmanager
def run_lifespan(server: Server) -> Iterator[None]:
    """Start the application's own tasks, and end them."""
    told, said = asyncio.Queue[Message](), asyncio.Queue[Message]()

    async def pass_on(word: str) -> None:
        told.put_nowait({"type": f"lifespan.{word}"})
        assert await said.get() == {"type": f"lifespan.{word}.complete"}

    async def live() -> None:
        await server.app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, told.get, said.put)

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(live())
        await pass_on("startup")
        return task

    async def end() -> None:
        await pass_on("shutdown")
        await task

    task = server.run(begin())
    try:
        yield
    finally:
        server.run(end())
