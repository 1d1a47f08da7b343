"""How work ends, what asks it to end sooner, and what is written down where it goes wrong."""

import dataclasses
import math
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from ensemble.errors import ConfigError, EnsembleError
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_environment import describe_jax_start_error
from ensemble.machine.memory_errors import is_memory_error
from ensemble.storage.atomic_files import DISK_FULL
from ensemble.storage.disk_errors import describe_disk_error, describe_error_with_path, describe_remedy

Result = TypeVar("Result")

_STOP_CHECK_INTERVAL_S, _PROGRESS_INTERVAL_S = 0.1, 0.25


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a job ended: its final state, and a sentence of advice.

    Attributes:
      state: one of its kind's `ended_states`.
      message: one or two sentences, possibly empty.
      machine_fault: as of a `JobStatus`.
    """

    state: str
    message: str = ""
    machine_fault: bool = False


class _StopRequestedError(Exception):
    """Raised between two steps of work that was asked to stop."""


STOPPED_OUTCOME = Outcome("stopped", "Stopped. Resume continues from here.")


class StopRequest:
    """Whether to stop: a file that somebody made, SIGTERM, or Ctrl-C.

    Within it as a context, SIGTERM and the first Ctrl-C are a request; a second Ctrl-C ends at
    once. After it signals mean what they did before.

    Args:
      files: any of which asks to stop.

    Attributes:
      signalled: whether one came, too late for this work or not: a process that waits for more
        work then ends instead.
    """

    def __init__(self, *files: Path) -> None:
        self._files = files
        self.signalled = False

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return self.signalled or any(file.exists() for file in self._files)

    def __enter__(self) -> "StopRequest":
        self._told = catch_end_signals(self._note_signal)
        self._told.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._told.__exit__(None, None, None)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self.signalled = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def build_progress_callback(status: StatusWriter[Any], stop: Callable[[], bool]) -> Callable[[float | None, str], None]:
    """Return a function that writes the share that is done, in [0, 1], and a message into a job's status.

    It writes a few times per second at most, and raises _StopRequestedError if the job is to stop.
    """
    kind, written_at = status.status.kind, -math.inf

    def report_progress(share: float | None, message: str) -> None:
        nonlocal written_at
        if stop():
            raise _StopRequestedError
        if time.monotonic() - written_at > _PROGRESS_INTERVAL_S:
            written_at = time.monotonic()
            status.update(state=kind.working_state, **{kind.progress_field: share}, message=message)

    return report_progress


def limit_stop_checks(stop: Callable[[], bool]) -> Callable[[], bool]:
    """The same question, which the disk has to answer ten times a second at most."""
    answer, asked = False, -math.inf

    def check_stop() -> bool:
        nonlocal answer, asked
        if not answer and (now := time.monotonic()) - asked >= _STOP_CHECK_INTERVAL_S:
            answer, asked = stop(), now
        return answer

    return check_stop


@contextmanager
def catch_end_signals(note: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C are told to `note` within this; after it they mean what they did."""
    before = {end_signal: signal.signal(end_signal, note) for end_signal in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)


def run_to_outcome(job: Job, work: Callable[[], Result]) -> Result | Outcome:
    """What came of it; what a person can mend is an outcome too, with the kind's advice."""
    kind = job.kind
    try:
        return work()
    except _StopRequestedError:
        return Outcome("stopped", f"Stopped. {kind.stop_help}")
    except EnsembleError as error:
        # Settings that do not fit together fit no better elsewhere.
        return Outcome("failed", str(error), machine_fault=not isinstance(error, ConfigError))
    except OSError as error:
        if is_memory_error(error):
            return _end_without_memory(kind, error)
        # A full disk, or a folder that was deleted, is nobody's bug: no traceback tells more than
        # the sentence does.
        if error.errno not in DISK_FULL and describe_disk_error(error) is None:
            traceback.print_exc()
        mend = describe_remedy(error)
        sentence = (
            f"Could not write to the disk ({describe_error_with_path(error)}). {mend[0].upper()}{mend[1:]}, then "
        )
        sentence += f"{kind.remedy}."
        if kind.saved_progress_entry:
            sentence += f" {kind.describe_kept_work(job.path)}"
        return Outcome("failed", sentence, machine_fault=True)
    except (MemoryError, RuntimeError, ValueError) as error:
        if is_memory_error(error):
            return _end_without_memory(kind, error)
        if (start_error := describe_jax_start_error(error)) is None:
            raise
        return Outcome("failed", start_error, machine_fault=True)


def _end_without_memory(kind: JobKind, error: BaseException) -> Outcome:
    """What a job comes to for which there is not enough memory; nobody's bug, so no traceback."""
    print(f"Memory ran out: {' '.join(str(error).split()):.500}", flush=True)
    return Outcome("failed", f"Out of memory: {kind.memory_advice}.")


@contextmanager
def record_unexpected_error(job: Job, status: StatusWriter[Any]) -> Iterator[None]:
    """An error that nobody expected ends the state as `failed`, and goes on to the log."""
    try:
        yield
    except BaseException as error:
        status.update(
            state="failed",
            message=f"An unexpected error ended {job.kind.noun} ({error!r:.200}). "
            f"The log has its details. {job.kind.describe_kept_work(job.path)}",
        )
        raise
