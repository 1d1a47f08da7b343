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

from ensemble.storage.atomic import write_json

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 60.0
START_SECONDS = 30.0


@dataclass(frozen=True)
class JobStatus:
    """What every status says: how far, and who is at it. Times are unix seconds."""

    active_states: ClassVar[tuple[str, ...]] = ("queued",)

    state: str = "queued"
    message: str = ""
    queued: float = 0.0
    updated: float = 0.0
    pid: int | None = None
    pid_created: float | None = None
    host: str = ""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON; names that this version does not know are left out."""
        names = {one.name for one in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    @property
    def alive(self) -> bool:
        """Whether a process is at work, or about to be."""
        if self.state not in self.active_states:
            return False
        silence = time.time() - self.updated
        if self.pid is None:
            return silence < START_SECONDS
        if self.host != socket.gethostname():
            return silence < SILENCE_SECONDS
        return process_lives(self.pid, self.pid_created)


class Job:
    """Work that a process does and tells of, as it stood when it was read.

    Attributes:
      status: what its worker last wrote.
      dead: what to say where that worker ended without a word.
    """

    status: JobStatus
    dead: ClassVar[str]

    @property
    def died(self) -> bool:
        """Whether the worker ended without saying so."""
        return self.status.state in self.status.active_states and not self.status.alive

    @property
    def state(self) -> str:
        """The state, but `failed` where the worker that should be there is not."""
        return "failed" if self.died else self.status.state

    @property
    def active(self) -> bool:
        """Whether a worker waits, starts or is at it."""
        return self.state in self.status.active_states

    @property
    def message(self) -> str:
        """One or two sentences on the state, possibly empty."""
        return self.dead if self.died else self.status.message


AnyStatus = TypeVar("AnyStatus", bound=JobStatus)


def process_lives(pid: int, created: float | None) -> bool:
    """Whether the process that had this number then is still the one that has it now."""
    try:
        process = psutil.Process(pid)
        same = created is None or abs(process.create_time() - created) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def write(folder: Path, status: JobStatus) -> None:
    """Replace the status.json in `folder`."""
    write_json(folder / "status.json", dataclasses.asdict(status))


class Writer(Generic[AnyStatus]):
    """A process's hold on a status.json: says that it lives while it is open.

    Use as a context manager. `update` writes at once; in between a thread repeats the last
    words every few seconds, since one compiled call or a long compile may say nothing.

    Args:
      folder: where the file is.
      status: what it says so far.
    """

    def __init__(self, folder: Path, status: AnyStatus) -> None:
        self._folder = folder
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
            write(self._folder, self._status)

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                self.update()
            except OSError as error:
                # A full disk must not silence the thread: there may be room again later.
                print(f"The heartbeat could not be written: {error}", flush=True)
