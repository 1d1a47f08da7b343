"""Whether a process is running: what it writes of itself into a status.json, again and again.

That process is the only writer. One that was killed cannot write that it was: readers see it
by the lock that it no longer holds, or (another host) by the age of its heartbeat. No clock is
asked of a process of this host: it may be set while one works.
"""

import dataclasses
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

import psutil

from ensemble.jobs.kinds import JobKind
from ensemble.storage.atomic_files import DISK_FULL, overwrite_json, write_json
from ensemble.storage.records.field_checks import Count, MetricValue, Pid, Time, parse_dataclass, unexpected_value_error

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 60.0
START_SECONDS = 30.0
PROCESS_FOLDER = Path("/proc")


@dataclass(frozen=True)
class JobStatus:
    """What every status says: how far, and which process runs it.

    Attributes:
      state: queued → starting → the kind's own word for running → how it ended.
      message: one or two sentences on the state, possibly empty.
      queued: when it was asked for, which is its place in the queue; unix seconds.
      updated: the last heartbeat; unix seconds.
      pid, pid_created, host: the worker's process, and where it runs. Earlier versions compare
        the second, which moves when the clock is set; nothing here does.
      pid_ticks: when that process began, as `read_start_ticks` has it; None if the system does
        not say.
      seconds_left: about how long it will still take, as of `updated`; None if that is not
        known.
      machine_fault: whether it failed of the machine, a full disk or a lost server, say: the same
        may go well once that is mended.
    """

    kind: ClassVar[JobKind]

    state: str = "queued"
    message: str = ""
    queued: Time = 0.0
    updated: Time = 0.0
    pid: Pid | None = None
    pid_created: Time | None = None
    pid_ticks: Count | None = None
    host: str = ""
    seconds_left: MetricValue | None = None
    machine_fault: bool = False

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From JSON; names that this version does not know are left out.

        Raises:
          ValueError: a field is not what its annotation says, or no job of this kind is in that
            state.
        """
        status = parse_dataclass(cls, values)
        if status.state not in cls.kind.states:
            raise unexpected_value_error("state", status.state)
        return status

    @property
    def job_request(self) -> dict[str, Any]:
        """What of it says what the job is to do, where its folder does not; ready for JSON."""
        return {}

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]."""
        return self.kind.compute_share(self)


@dataclass(frozen=True)
class StoredStatus(JobStatus):
    """The status of a job that has a folder of its own among the runs.

    Attributes:
      created: when it was asked for first, unix seconds.
      started: when its turn came; None before.
    """

    created: Time = 0.0
    started: Time | None = None


AnyStatus = TypeVar("AnyStatus", bound=JobStatus)


def is_worker_alive(status: JobStatus, held: bool | None) -> bool:
    """Whether a process is at a job, or about to be, that says it is in an active state.

    Args:
      status: the job's.
      held: whether somebody holds its worker's lock; None if that is unknown.
    """
    if held:
        return True
    # A heartbeat from the future says as little as an old one: one of the clocks was set.
    silence = abs(time.time() - status.updated)
    if status.pid is None:
        return silence < START_SECONDS
    if status.host != socket.gethostname():
        return silence < SILENCE_SECONDS
    return held is None and is_process_alive(status.pid, status.pid_ticks)


def is_process_alive(pid: int, ticks: int | None) -> bool:
    """Whether the process that had this number then is still the one that has it now.

    Args:
      pid: its number.
      ticks: when it started, from `read_start_ticks`; None if that is not known: then its number alone counts.
    """
    try:
        process = psutil.Process(pid)
        same = ticks is None or read_start_ticks(pid) in (ticks, None)
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):
        return False
    except OSError:  # No more files can be opened, say. What may live is not to be deleted.
        return True


def read_start_ticks(pid: int) -> int | None:
    """When a process began, in a whole number that no other of this number has; None if unknown.

    On Linux in clock ticks since the system began. Where there is no /proc (macOS), in hundredths
    of a second of the clock, as the kernel noted it: on Linux that would move with the clock.
    """
    try:
        # The second field, its name in brackets, may hold anything; this is the 22nd.
        fields = (PROCESS_FOLDER / f"{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19])
    except (OSError, ValueError, IndexError):
        if PROCESS_FOLDER.is_dir():
            return None
    try:
        return round(psutil.Process(pid).create_time() * 100)
    except (psutil.Error, OSError, ValueError, OverflowError):
        return None


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
        self._when = time.monotonic()
        self._thread = threading.Thread(target=self._write_heartbeats, name="heartbeat", daemon=True)
        me = psutil.Process()
        self._status = dataclasses.replace(
            status,
            pid=me.pid,
            pid_created=me.create_time(),
            pid_ticks=read_start_ticks(me.pid),
            host=socket.gethostname(),
            machine_fault=False,
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
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._thread.join()

    def update(self, **changes: Any) -> None:
        """Write the status with these fields changed."""
        with self._lock:
            self._write_changes(changes)

    def note(self, **changes: Any) -> None:
        """Have these fields changed when the status is written next, by `update` or as it lives."""
        with self._lock:
            self._status = dataclasses.replace(self._status, **changes)

    def _write_changes(self, changes: dict[str, Any]) -> None:
        changes = {"updated": time.time(), "seconds_left": self._compute_seconds_left(), **changes}
        self._status = dataclasses.replace(self._status, **changes)
        values = dataclasses.asdict(self._status)
        try:
            write_json(self._file, values)
        except OSError as error:
            # How it ended has to be known even where nothing fits on the disk any more.
            if error.errno not in DISK_FULL or not overwrite_json(self._file, values):
                raise

    def _compute_seconds_left(self) -> float | None:
        left, before, self._when = self._status.seconds_left, self._when, time.monotonic()
        return None if left is None else max(0.0, round(left - (self._when - before), 1))

    def _write_heartbeats(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                self.update()
            except OSError as error:
                # A full disk must not silence the thread: there may be room again later.
                print(f"The heartbeat could not be written: {error}", flush=True)
