"""Fetching one file over HTTP: watched, checked, tried again, and whole or not there at all."""

import hashlib
import http.client
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from ensemble.datasets.download_manifest import RemoteFile
from ensemble.storage.atomic_files import open_atomic_write

_CHUNK = 64 * 1024
_MIN_BYTES_PER_SECOND = 1024  # bytes per second; below it a transfer counts as stalled
_USER_AGENT = "ensemble-dashboard"


@dataclass(frozen=True)
class TransferSettings:
    """How files are fetched. The defaults are for people; tests shorten the times.

    Attributes:
      base_url: a folder that serves the files in place of their own server, or None.
      stall_seconds: how long to wait for a sign of life.
      attempts: tries per file.
      pause_seconds: pause before the second try; it doubles for each one after.
    """

    base_url: str | None = None
    stall_seconds: float = 20.0
    attempts: int = 3
    pause_seconds: float = 1.0

    def file_url(self, file: RemoteFile) -> str:
        """Where to fetch `file`."""
        return urljoin(self.base_url, file.name) if self.base_url else file.url

    def folder_url(self, file: RemoteFile) -> str:
        """The URL of the folder that serves `file`."""
        return urljoin(self.file_url(file), ".")


DEFAULT_TRANSFER = TransferSettings()


class TransferError(Exception):
    """A file did not arrive. The message says why; `retry` says whether it may go better."""

    def __init__(self, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.retry = retry


def fetch_remote_file(
    file: RemoteFile, target: Path, transfer: TransferSettings, tell: Callable[[int, int], None]
) -> None:
    """Fetches `file` to `target`, which is only there once size and SHA-256 are right.

    Args:
      file: what to fetch.
      target: where to put it; its folder exists.
      transfer: how patient to be.
      tell: called as tell(bytes that have come, number of the attempt).

    Raises:
      TransferError: every attempt failed; nothing is left behind.
      OSError: the disk cannot take it; nothing is left behind.
    """
    for attempt in range(1, transfer.attempts + 1):
        try:
            return _try_remote_fetch(file, target, transfer, lambda done: tell(done, attempt))  # noqa: B023
        except TransferError as error:
            if attempt == transfer.attempts or not error.retry:
                raise
            time.sleep(transfer.pause_seconds * 2 ** (attempt - 1))


def _try_remote_fetch(file: RemoteFile, target: Path, transfer: TransferSettings, tell: Callable[[int], None]) -> None:
    """One attempt of `fetch_remote_file`."""
    digest, done = hashlib.sha256(), 0
    tell(0)
    with open_atomic_write(target, durable=True) as out:
        for chunk in _iterate_response_chunks(transfer.file_url(file), transfer.stall_seconds):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if done > file.size:  # whatever this is, it must not fill the disk
                break
            tell(done)
        _check_transfer_checksum(file, done, digest.hexdigest())


def _check_transfer_checksum(file: RemoteFile, size: int, sha256: str) -> None:
    """Raises TransferError unless these are the size and checksum of `file`."""
    if size < file.size:
        raise TransferError(f"{file.name} broke off after {size:,} of {file.size:,} bytes")
    if size > file.size or sha256 != file.sha256:
        raise TransferError(f"{file.name} came with a wrong checksum")


def _iterate_response_chunks(url: str, stall_seconds: float) -> Iterator[bytes]:
    """The bytes behind `url` as they come.

    Raises:
      TransferError: no network, no such file, a cut, or a stall, be it full or a trickle.
    """
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT})
    try:
        with urllib.request.urlopen(request, timeout=stall_seconds) as response:
            since, arrived = time.monotonic(), 0
            while chunk := response.read1(_CHUNK):
                yield chunk
                arrived += len(chunk)
                if time.monotonic() - since > stall_seconds:
                    if arrived < _MIN_BYTES_PER_SECOND * stall_seconds:
                        raise TransferError(f"the transfer stalled for {stall_seconds:g} s")
                    since, arrived = time.monotonic(), 0
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _build_transfer_error(error, stall_seconds) from error


def _build_transfer_error(error: Exception, stall_seconds: float) -> TransferError:
    """A network error in words."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        busy = error.code in (408, 425, 429) or error.code >= 500
        return TransferError(f"the server answered {error.code} {error.reason}", retry=busy)
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return TransferError(f"the server sent nothing for {stall_seconds:g} s")
    if isinstance(cause, socket.gaierror):
        return TransferError("the server's name could not be looked up (no network?)", retry=False)
    if isinstance(cause, http.client.IncompleteRead):
        return TransferError("the connection was lost")
    words = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return TransferError(words or type(cause).__name__)
