"""Whether a process is at work: what it writes of itself into a status.json, again and again.

That process is the only writer. One that was killed cannot write that it was: readers see it
in the process table (same host) or by the age of its heartbeat (another host).
"""

import dataclasses
import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

import psutil

from ensemble.jobs.kinds import Kind
from ensemble.storage.atomic import write_json
from ensemble.storage.fields import Figure, Pid, Time, odd, read_as

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 60.0
START_SECONDS = 30.0


@dataclass(frozen=True)
class JobStatus:
    """What every status says: how far, and who is at it.

    Attributes:
      state: queued → starting → the kind's own word for being at it → how it ended.
      message: one or two sentences on the state, possibly empty.
      queued: when it was asked for, which is its place in the queue; unix seconds.
      updated: the last heartbeat; unix seconds.
      pid, pid_created, host: the worker's process, and where it runs.
      seconds_left: about how long it will still take; None where that is not known.
    """

    kind: ClassVar[Kind]

    state: str = "queued"
    message: str = ""
    queued: Time = 0.0
    updated: Time = 0.0
    pid: Pid | None = None
    pid_created: Time | None = None
    host: str = ""
    seconds_left: Figure | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON; names that this version does not know are left out.

        Raises:
          ValueError: a field is not what its annotation says, or no job of this kind is in that
            state.
        """
        status = read_as(cls, values)
        if status.state not in cls.kind.states:
            raise odd("state", status.state)
        return status

    @property
    def alive(self) -> bool:
        """Whether a process is at work, or about to be."""
        return is_alive(self, self.kind)

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]."""
        return self.kind.share(self)


AnyStatus = TypeVar("AnyStatus", bound=JobStatus)


def is_alive(status: JobStatus, kind: Kind) -> bool:
    """Whether a process is at work on a job of this kind, or about to be."""
    if status.state not in kind.active:
        return False
    silence = time.time() - status.updated
    if status.pid is None:
        return silence < START_SECONDS
    if status.host != socket.gethostname():
        return silence < SILENCE_SECONDS
    return process_lives(status.pid, status.pid_created)


def process_lives(pid: int, created: float | None) -> bool:
    """Whether the process that had this number then is still the one that has it now."""
    try:
        process = psutil.Process(pid)
        same = created is None or abs(process.create_time() - created) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def write_status(folder: Path, status: JobStatus) -> None:
    """Replace the status.json in `folder`."""
    write_json(folder / "status.json", dataclasses.asdict(status))


class StatusWriter(Generic[AnyStatus]):
    """A process's hold on a job's status: says that it lives while it is open.

    Use as a context manager. `update` writes at once; in between a thread repeats the last
    words every few seconds, since one compiled call or a long compile may say nothing.

    Args:
      file: the status.json.
      status: what it says so far.
    """

    def __init__(self, file: Path, status: AnyStatus) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        me = psutil.Process()
        self._status = dataclasses.replace(
            status, pid=os.getpid(), pid_created=me.create_time(), host=socket.gethostname()
        )

    @property
    def status(self) -> AnyStatus:
        """The last words written."""
        return self._status

    def __enter__(self) -> Self:
        self.update()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._closed.set()
        self._thread.join()

    def update(self, **changes: Any) -> None:
        """Write the status with these fields changed."""
        with self._lock:
            self._status = dataclasses.replace(self._status, updated=time.time(), **changes)
            write_json(self._file, dataclasses.asdict(self._status))

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                self.update()
            except OSError as error:
                # A full disk must not silence the thread: there may be room again later.
                print(f"The heartbeat could not be written: {error}", flush=True)
