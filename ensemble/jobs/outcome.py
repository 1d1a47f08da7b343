"""How work ends, what asks it to end sooner, and what is written down where it goes wrong."""

import dataclasses
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job
from ensemble.jobs.status import StatusWriter
from ensemble.storage.atomic import DISK_FULL
from ensemble.storage.refusals import named, remedy, said_of

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job ended: its final state, and a sentence of advice."""

    state: str
    message: str = ""


class StopRequest:
    """Whether to stop: a file that somebody made, SIGTERM, or Ctrl-C.

    Within it as a context, SIGTERM and the first Ctrl-C are a request; a second Ctrl-C ends at
    once. After it signals mean what they did before.

    Attributes:
      signalled: whether one came, too late for this work or not: a process that waits for more
        work then ends instead.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.signalled = False

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return self.signalled or self._file.exists()

    def __enter__(self) -> "StopRequest":
        self._told = told_to_end(self._note)
        self._told.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._told.__exit__(None, None, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signalled = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def told_to_end(note: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C are told to `note` within this; after it they mean what they did."""
    before = {one: signal.signal(one, note) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def outcome_of(job: Job, work: Callable[[], Result]) -> Result | Outcome:
    """What came of it; what a person can mend is an outcome too, with the kind's advice."""
    kind = job.kind
    try:
        return work()
    except EnsembleError as error:
        return Outcome("failed", str(error))
    except OSError as error:
        # A full disk, or a folder that was deleted, is nobody's bug: no traceback tells more than
        # the sentence does.
        if error.errno not in DISK_FULL and said_of(error) is None:
            traceback.print_exc()
        mend = remedy(error)
        said = f"Could not write to the disk ({named(error)}). {mend[0].upper()}{mend[1:]}, then "
        said += f"{kind.go_on}."
        if kind.kept_in:
            said += f" {kind.what_is_kept(job.path)}"
        return Outcome("failed", said)
    except MemoryError:
        traceback.print_exc()
        return Outcome("failed", f"Memory ran out: {kind.too_large}.")


@contextmanager
def bugs_written_down(job: Job, status: StatusWriter[Any]) -> Iterator[None]:
    """An error that nobody expected ends the state as `failed`, and goes on to the log."""
    try:
        yield
    except BaseException as error:
        status.update(
            state="failed",
            message=f"An unexpected error ended {job.kind.doing} ({error!r:.200}). "
            f"The log has its details. {job.kind.what_is_kept(job.path)}",
        )
        raise
