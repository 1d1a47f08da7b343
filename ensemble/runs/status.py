"""How a run stands: its states, its status.json, and whether its worker still lives.

queued → starting → training → finished | stopped | diverged | failed

The worker is the only writer. A worker that was killed cannot write that it was: readers
see it in the process table (same host) or by the age of its heartbeat (another host).
"""

import dataclasses
import os
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from ensemble.runs.files import read_json, write_json

STATES = ("queued", "starting", "training", "finished", "stopped", "diverged", "failed")
ACTIVE = ("queued", "starting", "training")
RESUMABLE = ("stopped", "failed")

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 60.0
START_SECONDS = 30.0


@dataclass(frozen=True)
class Status:
    """What status.json says. Times are unix seconds, accuracies in [0, 1], losses in nats."""

    state: str = "queued"
    message: str = ""
    created: float = 0.0
    queued: float = 0.0
    started: float | None = None
    updated: float = 0.0
    epoch: int = 0
    epochs: int = 0
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    img_member_per_s: float | None = None
    pid: int | None = None
    pid_created: float | None = None
    host: str = ""
    ensemble_test_accuracy: float | None = None
    ensemble_test_nll: float | None = None
    member_test_accuracy: list[float] = field(default_factory=list)
    best_ensemble_test_accuracy: float | None = None
    best_epoch: int | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Status":
        """From JSON; names that this version does not know are left out."""
        names = {one.name for one in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    @property
    def alive(self) -> bool:
        """Whether a process is at work on the run, or about to be."""
        if self.state not in ACTIVE:
            return False
        silence = time.time() - self.updated
        if self.pid is None:
            return silence < START_SECONDS
        if self.host != socket.gethostname():
            return silence < SILENCE_SECONDS
        return process_lives(self.pid, self.pid_created)


def process_lives(pid: int, created: float | None) -> bool:
    """Whether the process that had this number then is still the one that has it now."""
    try:
        process = psutil.Process(pid)
        same = created is None or abs(process.create_time() - created) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def read_status(folder: Path) -> Status:
    """The status of the run in `folder`; OSError or ValueError where it cannot be read."""
    return Status.from_dict(read_json(folder / "status.json"))


def write_status(folder: Path, status: Status) -> None:
    """Replace the run's status.json."""
    write_json(folder / "status.json", dataclasses.asdict(status))


class StatusWriter:
    """The worker's hold on status.json: says that it lives while it is open.

    Use as a context manager. `update` writes at once; in between a thread repeats the last
    words every few seconds, since one compiled call or a long compile may say nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        me = psutil.Process()
        self._status = dataclasses.replace(
            read_status(folder),
            pid=os.getpid(),
            pid_created=me.create_time(),
            host=socket.gethostname(),
        )

    @property
    def status(self) -> Status:
        """The last words written."""
        return self._status

    def __enter__(self) -> "StatusWriter":
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
            write_status(self._folder, self._status)

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            try:
                self.update()
            except OSError as error:
                # A full disk must not silence the thread: there may be room again later.
                print(f"The heartbeat could not be written: {error}", flush=True)
