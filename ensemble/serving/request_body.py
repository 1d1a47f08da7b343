"""The body of a request, read within limits of bytes and of time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from ensemble.serving import limits
from ensemble.serving.request_errors import RequestError, build_busy_error

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_CLOSE_HEADER = {"Connection": "close"}  # nobody knows where the next request would begin


class ClientGoneError(Exception):
    """Whoever asked has gone: there is nobody to answer."""


class BodyReader:
    """Reads bodies; knows how many bytes of all requests are in hand."""

    def __init__(self) -> None:
        self.bytes_in_hand = 0

    async def read_body(self, headers: Headers, receive: Receive) -> bytes:
        """All of a body; its bytes count until `release_body`.

        What is somewhat too large is read all the same, and forgotten, so that the client hears of
        it rather than of a connection that broke.

        Raises:
          RequestError: it is too large, too slow or packed, or too much is in hand already.
          ClientGoneError: the client has gone before it was all there.
        """
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise RequestError(415, "The body is packed (Content-Encoding): send it as it is.", _CLOSE_HEADER)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:18]) > limits.MAX_DRAINED_BYTES:
            raise _build_size_error()
        chunks, size, kept = list[bytes](), 0, 0
        try:
            async with asyncio.timeout(limits.BODY_SECONDS):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGoneError
                    chunk, more = message.get("body", b""), message.get("more_body", False)
                    size += len(chunk)
                    if size > limits.MAX_DRAINED_BYTES:
                        raise _build_size_error()
                    if size <= limits.MAX_BODY_BYTES:
                        self._count_bytes(len(chunk))
                        kept += len(chunk)
                        chunks.append(chunk)
                    else:
                        chunks.clear()
        except TimeoutError:
            self.bytes_in_hand -= kept
            raise RequestError(
                408,
                f"The body did not arrive within {limits.BODY_SECONDS:.0f} s: send it faster, or less of it.",
                _CLOSE_HEADER,
            ) from None
        except BaseException:
            self.bytes_in_hand -= kept
            raise
        if size > limits.MAX_BODY_BYTES:
            self.bytes_in_hand -= kept
            raise _build_size_error()
        return b"".join(chunks)

    def release_body(self, body: bytes) -> None:
        """A body that was read is done with."""
        self.bytes_in_hand -= len(body)

    def _count_bytes(self, count: int) -> None:
        if self.bytes_in_hand + count > limits.MAX_BYTES_IN_HAND:
            raise build_busy_error("Too much is being sent at once: try again in a moment.", limits.RETRY_AFTER_SECONDS)
        self.bytes_in_hand += count


def _build_size_error() -> RequestError:
    return RequestError(
        413,
        f"The body is larger than {limits.MAX_BODY_BYTES // 1024**2} MB: save the picture smaller, "
        "or send fewer images at once.",
        _CLOSE_HEADER,
    )
