"""How many files a process may have open at once: browser tabs cost the server some each.

macOS allows 256 unless more is asked for, most Linux systems 1,024. What a process starts has the
same limit.
"""

import contextlib
import errno
import os

# More than any number of tabs needs, and below 10,240, which macOS takes for the most.
TARGET_FILE_LIMIT = 8192
# Of the server, before anybody comes, and of what pages and jobs open for a moment.
_SERVER_FILES = 64
# A tab that is open has its connection and the three of an event loop. Streamlit keeps the
# loops of the last 128 that were closed, as long as `server.disconnectedSessionTTL` says.
_FILES_PER_OPEN_TAB, _FILES_PER_CLOSED_TAB = 4, 3
# From here on there is room for all of those and more tabs than one machine serves.
_AMPLE_FILE_LIMIT = 1024


def raise_open_file_limit() -> int | None:
    """Allow this process as many open files as it may have, up to `TARGET_FILE_LIMIT`.

    None where the system knows no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = TARGET_FILE_LIMIT if hard == resource.RLIM_INFINITY else min(TARGET_FILE_LIMIT, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return None if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(ValueError, OSError):  # A system that has yet another limit.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def count_free_files() -> int | None:
    """How many more files this process may open now; None if that is unknown."""
    if (limit := raise_open_file_limit()) is None:
        return None
    try:
        return limit - len(os.listdir("/dev/fd"))
    except OSError as error:
        return 0 if error.errno == errno.EMFILE else None


def is_file_limit_low(limit: int | None) -> bool:
    """Whether tabs may be refused for want of files."""
    return limit is not None and limit < _AMPLE_FILE_LIMIT


def estimate_served_tabs(limit: int) -> int:
    """About how many tabs can be served at once, each of them reloaded once within moments.

    0 where it is not even enough for the server itself.
    """
    return max(int(limit >= _SERVER_FILES), (limit - _SERVER_FILES) // (_FILES_PER_OPEN_TAB + _FILES_PER_CLOSED_TAB))
