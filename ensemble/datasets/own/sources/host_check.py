"""Whether a host answers at all, told in seconds before TensorFlow Datasets downloads from it."""

import queue
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any
from urllib import error, request
from urllib.parse import urlsplit

from ensemble.errors import DataError

_ANSWER_SECONDS = 5.0  # to connect, and then to answer
LOOKUP_SECONDS = 12.0  # for all of it: looking up a name has a limit of its own


@contextmanager
def require_answers(name: str) -> Iterator[None]:
    """Within it, TensorFlow Datasets downloads from hosts alone that answer; others are refused.

    Args:
      name: the dataset's, for the refusal, a DataError.
    """
    from tensorflow_datasets.core.download import downloader

    open_url = downloader._open_url

    def open_answering_url(url: str, **options: Any) -> Any:
        check_host_answers(url, name)
        return open_url(url, **options)

    downloader._open_url = open_answering_url
    try:
        yield
    finally:
        downloader._open_url = open_url


def check_host_answers(url: str, name: str) -> None:
    """DataError unless whatever is at an address answers, through a proxy where one is set.

    Args:
      url: the address; one that is not of the web is not asked.
      name: of the dataset that is to be fetched from there.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        return
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
    # A thread that is not waited for: nothing else bounds the look-up of a name.
    threading.Thread(target=lambda: answers.put(ask_host(url)), daemon=True).start()
    try:
        answered = answers.get(timeout=LOOKUP_SECONDS)
    except queue.Empty:
        answered = False
    if not answered:
        raise DataError(
            f"{name} has to be downloaded from {urlsplit(url).hostname}, which does not answer: "
            "check your network, and HTTPS_PROXY behind a proxy; or where there is a network run "
            f"`tfds build {name} --file_format=array_record`, and point TFDS_DATA_DIR here at the folder that it made."
        )


def ask_host(url: str) -> bool:
    """Whether whatever is at a web address answers, with a refusal or a certificate of its own."""
    try:
        request.urlopen(request.Request(url, method="HEAD"), timeout=_ANSWER_SECONDS).close()
    except error.HTTPError:
        return True
    except error.URLError as refusal:
        return isinstance(refusal.reason, ssl.SSLError)  # whether it is trusted is not asked here
    except (OSError, ValueError, HTTPException):
        return False
    return True
