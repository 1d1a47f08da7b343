"""The end of a process of several, whatever its threads are at.

An ordinary end waits for the others of its program, minutes long; one whose fellow is gone must
not. So it says why, and leaves at once.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

RETRY_EXIT_STATUS = 75  # what `sysexits.h` calls a failure for now: whoever started this may start it again
FATAL_CALLBACK_TIMEOUT_S = 5.0


class EndReason(NamedTuple):
    """Why a program of several processes ends.

    Attributes:
      sentence: why, for people.
      status: its exit status.
      rank: of several that come at once the lowest is said: the others follow from it.
    """

    sentence: str
    status: int
    rank: int = 0


# What people can mend; a process that is gone; a bug; what follows from any of these.
USER_ERROR, PROCESS_LOST, INTERNAL_ERROR, CONSEQUENCE = range(4)


def exit_process(end: EndReason, last_words: Callable[[str], None] | None = None) -> NoReturn:
    """End this process at once, from any thread.

    Args:
      end: why.
      last_words: told why before that; given up where it takes too long (a disk that hangs).
    """
    if last_words is not None:
        telling = threading.Thread(target=last_words, args=(end.sentence,), daemon=True)
        telling.start()
        telling.join(FATAL_CALLBACK_TIMEOUT_S)
    with contextlib.suppress(OSError, ValueError):  # Perhaps nobody reads it any more.
        sys.stderr.write(f"{end.sentence}\n")
        sys.stderr.flush()
        sys.stdout.flush()
    os._exit(end.status)


def call_on_abort(call: Callable[[], None]) -> None:
    """Have `call` called where compiled code gives up on this process.

    JAX's own link between hosts ends a process by abort(), which Python's handlers never hear of.
    Where `call` returns the process ends as it would have.
    """
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)

    def receive_signal(number: int) -> None:
        call()

    _abort_handlers.append(handler(receive_signal))
    ctypes.CDLL(None).signal(signal.SIGABRT, _abort_handlers[-1])


def wait_for_exit(seconds: float) -> None:
    """Give another thread the time to end this process."""
    time.sleep(seconds)


_abort_handlers: list[object] = []  # What compiled code calls has to stay where it is.
