"""The application: which address answers what, and every error as one sentence in JSON."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ensemble.errors import EnsembleError
from ensemble.serving import limits
from ensemble.serving.answers import AnswerOptions, serialize_array_answer, serialize_picture_answer
from ensemble.serving.batch_queue import BatchQueue
from ensemble.serving.openapi import build_openapi_document
from ensemble.serving.request_body import BodyReader, ClientGoneError
from ensemble.serving.request_errors import RequestError, build_busy_error
from ensemble.serving.request_guard import RequestGuard
from ensemble.serving.request_images import (
    MULTIPART_TYPE,
    InputImages,
    parse_input_images,
    read_media_type,
    read_multipart_file,
)
from ensemble.serving.served_ensemble import ServedEnsemble, describe_ensemble
from ensemble.serving.server_metrics import TEXT_TYPE, ServerMetrics

_JSON_CONTENT_TYPE = "application/json"
_ANSWER_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
# What takes a moment only is done in the event loop: a thread would take longer to be asked.
_MAX_QUICK_IMAGES, _MAX_QUICK_BYTES = 16, 2**16
_OPTION_VALUES = {"true": True, "false": False}
_FAULT_MESSAGE = "The server met a fault of its own: its log says more."
_SLOW_MESSAGE = "There was no answer in time: try again in a moment, or send fewer images at once."
_MEMORY_MESSAGE = "Memory ran out: send a smaller picture, or fewer images at once."

Result = TypeVar("Result")


class _PredictionService:
    """Answers requests by a served ensemble; used in one event loop, within `run_service`.

    Args:
      served: whose members answer.
      guard: by which it describes whether a token is asked for.
    """

    def __init__(self, served: ServedEnsemble, guard: RequestGuard) -> None:
        self._served = served
        self._bodies, self._max_predictions = BodyReader(), limits.compute_prediction_limit()
        self.metrics = ServerMetrics(read_body_bytes=lambda: self._bodies.bytes_in_hand)
        self._document = build_openapi_document(describe_ensemble(served), bool(guard.token))

    @contextlib.asynccontextmanager
    async def run_service(self, app: Starlette) -> AsyncIterator[None]:
        """Be ready for requests within this."""
        self._threads = ThreadPoolExecutor(max(2, self._served.devices), "requests")
        self._queue = BatchQueue(
            self._served.compute_activations, self._served.devices, observe=self.metrics.count_batch
        )
        self.metrics.read_waiting_images = lambda: self._queue.waiting_images
        yield
        await self._queue.close()
        await asyncio.to_thread(self._threads.shutdown)

    async def answer_prediction(self, request: Request) -> Response:
        """What the ensemble says of the images in a request's body."""
        options = _read_answer_options(request.query_params)
        media_type = read_media_type(request.headers)
        body = await self._bodies.read_body(request.headers, request.receive)
        # Counted only now, so that clients that never finish their bodies keep nobody out.
        self.metrics.predictions_in_hand += 1
        try:
            if self.metrics.predictions_in_hand > self._max_predictions:
                raise build_busy_error(
                    "The server is answering too many requests. Try again in a moment.", limits.RETRY_AFTER_SECONDS
                )
            async with asyncio.timeout(limits.ANSWER_SECONDS):
                if media_type == MULTIPART_TYPE:
                    content = await read_multipart_file(request.headers, body)
                else:
                    content = body
                return Response(await self._answer_content(media_type, content, options), media_type=_JSON_CONTENT_TYPE)
        except TimeoutError:
            raise build_busy_error(_SLOW_MESSAGE, limits.RETRY_AFTER_SECONDS) from None
        except MemoryError:
            raise build_busy_error(_MEMORY_MESSAGE, limits.RETRY_AFTER_SECONDS) from None
        finally:
            self.metrics.predictions_in_hand -= 1
            self._bodies.release_body(body)

    async def _answer_content(self, media_type: str, content: bytes, options: AnswerOptions) -> bytes:
        served = self._served
        images = await self._run(
            len(content) <= _MAX_QUICK_BYTES, lambda: parse_input_images(media_type, content, served.classifier.shape)
        )
        if images is None:
            return await self._answer_picture(content, options)
        return await self._answer_array(images, options)

    async def _answer_array(self, images: InputImages, options: AnswerOptions) -> bytes:
        activations = await self._queue.compute_activations(images.pixels)
        quick = not options.rejection and len(images.pixels) <= _MAX_QUICK_IMAGES
        answer, text = await self._run(
            quick, lambda: _encode_answer(serialize_array_answer(self._served, images, activations, options))
        )
        self._count_answer(answer)
        return text

    async def _answer_picture(self, content: bytes, options: AnswerOptions) -> bytes:
        classifier = self._served.classifier
        prepared = await self._run(False, lambda: classifier.prepare_picture(classifier.open_picture(content)))
        marks, places = classifier.stack_marks(prepared.marks)
        activations = await self._queue.compute_activations(marks) if len(marks) else None
        answer, text = await self._run(
            False,
            lambda: _encode_answer(
                serialize_picture_answer(
                    self._served, prepared, marks=marks, places=places, activations=activations, options=options
                )
            ),
        )
        self._count_answer(answer)
        return text

    def _count_answer(self, answer: dict[str, Any]) -> None:
        rejected = sum(digit.get("rejected", False) for digit in answer["digits"])
        self.metrics.count_images(len(answer["digits"]), rejected)

    async def _run(self, quick: bool, function: Callable[[], Result]) -> Result:
        """Call a function: here where that is quick, else in a thread."""
        if quick:
            return function()
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    async def answer_health(self, request: Request) -> Response:
        """That the server lives."""
        return _build_json_response({"status": "ok"})

    async def answer_metrics(self, request: Request) -> Response:
        """What was counted, for Prometheus."""
        return Response(self.metrics.format_text(), headers={"Content-Type": TEXT_TYPE})

    async def answer_document(self, request: Request) -> Response:
        """What this server answers, as OpenAPI has it."""
        return _build_json_response(self._document)

    async def answer_description(self, request: Request) -> Response:
        """What is served here."""
        return _build_json_response(
            {
                **describe_ensemble(self._served),
                "batch_sizes": list(limits.BATCH_SIZES),
                "limits": limits.describe_limits(),
                "addresses": [route.path for route in self.list_routes()],
            }
        )

    def list_routes(self) -> list[Route]:
        """Every address that there is."""
        return [
            Route("/", self.answer_description),
            Route("/predict", self.answer_prediction, methods=["POST"]),
            Route("/health", self.answer_health),
            Route("/metrics", self.answer_metrics),
            Route("/openapi.json", self.answer_document),
        ]


def build_application(served: ServedEnsemble, guard: RequestGuard) -> ASGIApp:
    """The ASGI application that serves an ensemble."""
    service = _PredictionService(served, guard)
    routes = service.list_routes()
    app = Starlette(
        routes=routes,
        lifespan=service.run_service,
        exception_handlers={
            EnsembleError: _answer_known_error,
            HTTPException: _answer_http_error,
            ClientGoneError: _answer_nobody,
            Exception: _answer_fault,
        },
    )
    app.router.redirect_slashes = False
    return _GuardMiddleware(app, guard, service.metrics, {route.path for route in routes})


class _GuardMiddleware:
    """Lets those requests pass that may, adds `_ANSWER_HEADERS`, and counts."""

    def __init__(self, app: ASGIApp, guard: RequestGuard, metrics: ServerMetrics, paths: set[str]) -> None:
        self._app, self._guard, self._metrics, self._paths = app, guard, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as ASGI has it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began, status = time.monotonic(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(_ANSWER_HEADERS)
            await send(message)

        app = self._app
        try:
            self._guard.check_request(scope["path"], Headers(scope=scope))
        except RequestError as error:
            app = _build_error_response(error.status, str(error), error.headers)
        self._metrics.requests_in_hand += 1
        try:
            await app(scope, receive, send_with_headers)
        finally:
            self._metrics.requests_in_hand -= 1
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._metrics.count_request(path, status, time.monotonic() - began)


def _read_answer_options(query: QueryParams) -> AnswerOptions:
    """What a request asks for behind the question mark.

    Raises:
      RequestError: there is no such option, or no such value.
    """
    known = AnswerOptions().__dict__
    for name, value in query.multi_items():
        if name not in known or value not in _OPTION_VALUES:
            raise RequestError(
                422,
                f"The query {name[:40]}={value[:40]} is not understood: there are "
                f"{' and '.join(known)}, each true or false.",
            )
    return AnswerOptions(**{name: _OPTION_VALUES[value] for name, value in query.items()})


def _encode_answer(answer: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    return answer, json.dumps(answer, separators=(",", ":"), allow_nan=False).encode()


def _build_json_response(content: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(_encode_answer(content)[1], status, headers, _JSON_CONTENT_TYPE)


def _build_error_response(status: int, message: str, headers: dict[str, str]) -> Response:
    return _build_json_response({"error": message}, status, headers)


async def _answer_known_error(request: Request, error: Exception) -> Response:
    if isinstance(error, RequestError):
        return _build_error_response(error.status, str(error), error.headers)
    return _build_error_response(422, str(error), {})


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        message = f"This address takes {allowed}: see /openapi.json."
    else:
        message = "There is nothing at this address: POST to /predict, or see /openapi.json."
    return _build_error_response(error.status_code, message, dict(error.headers or {}))


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return _build_error_response(400, "The request was broken off.", {})


async def _answer_fault(request: Request, error: Exception) -> Response:
    """A bug: its traceback goes to the log."""
    return _build_error_response(500, _FAULT_MESSAGE, {})
