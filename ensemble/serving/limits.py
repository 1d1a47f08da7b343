"""What a request may ask for, and how long it may take; `describe_limits` says it to people."""

from ensemble.machine.open_files import raise_open_file_limit
from ensemble.pictures.files.decoding import MAX_BYTES

MAX_BODY_BYTES = MAX_BYTES  # of a request: what one picture may have
MAX_JSON_BYTES = 8 * 1024**2  # of them as JSON, which takes up to 25 times as much once it is read
MAX_DRAINED_BYTES = 64 * 1024**2  # that are read beyond the limit, so that a client hears of it
MAX_IMAGES = 1024  # of one request
MAX_QUEUED_IMAGES = 8192  # of all requests, that wait for the members
MAX_REQUESTS = 512  # complete ones in hand at once
MAX_BYTES_IN_HAND = 256 * 1024**2  # of the bodies of all of them
MAX_CONNECTIONS = 1024  # open at once
_RESERVED_FILES = 128  # of the files that this process may open: not for connections
HEADER_SECONDS = 10.0  # for a request's first lines
BODY_SECONDS = 20.0  # for its body
ANSWER_SECONDS = 60.0  # for an answer, once the body is there
SEND_SECONDS = 20.0  # for a client that reads nothing of its answer
STOP_SECONDS = 30.0  # that requests in hand have once the server is told to stop
RETRY_AFTER_SECONDS = 1  # what a client is told to wait where too much is in hand
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)  # images of a call, each a program compiled ahead
MAX_MULTIPART_FIELDS = 16  # beside the file


def describe_limits() -> dict[str, int | float]:
    """The limits that a client may meet, by name."""
    return {
        "body_bytes": MAX_BODY_BYTES,
        "json_bytes": MAX_JSON_BYTES,
        "images": MAX_IMAGES,
        "body_seconds": BODY_SECONDS,
        "answer_seconds": ANSWER_SECONDS,
    }


def compute_connection_limit() -> int:
    """Return how many connections may be open at once, given the files this process may open.

    They get at most half of those files: `compute_backlog` explains what the other half is for.
    """
    files = raise_open_file_limit()
    if files is None:
        return MAX_CONNECTIONS
    return max(8, min(MAX_CONNECTIONS, (files - _RESERVED_FILES) // 2))


def compute_backlog() -> int:
    """Return how many new connections may wait until they are accepted.

    It is a quarter of the connection limit, because an event loop may accept several backlogs
    before it closes the silent connections that they replace, and each takes a file.
    """
    return compute_connection_limit() // 4


def compute_prediction_limit() -> int:
    """Return how many predictions may be computed at once.

    They use at most half of the connections, so there is always a silent one to close.
    """
    return min(MAX_REQUESTS, compute_connection_limit() // 2)
