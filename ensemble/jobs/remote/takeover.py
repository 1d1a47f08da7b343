"""Two tasks on one group, or one trial, of hosts that do not see each other's locks: one goes on.

A node whose cable is cut goes on computing while its scheduler takes it for dead and starts the
task again elsewhere. Whoever comes second waits while the first is heard of. One that was silent
so long that another took its place exits silently when it wakes.
"""

import math
import os
import secrets
import socket
import time
from pathlib import Path

from ensemble.jobs.job import Job
from ensemble.jobs.status import HEARTBEAT_SECONDS
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.plain_files import open_plain_file

LEASE_FILE, COORDINATOR_FILE = "task.json", "coordinator.json"
# Three heartbeats that did not come.
LEASE_EXPIRY_SECONDS = 3 * HEARTBEAT_SECONDS
_LEASE_CHECK_SECONDS = 1.0


def has_remote_heartbeat(job: Job) -> bool:
    """Whether a task of another host works on a job, by its heartbeat and the disk's own clock."""
    status = job.status
    if status.state not in job.kind.active_states or status.pid is None:
        return False
    if status.host == socket.gethostname():  # Its lock has told.
        return False
    return compute_silence(job) < LEASE_EXPIRY_SECONDS


def compute_silence(job: Job) -> float:
    """Seconds since a job's status was written, by the disk's own clock; infinite if not known."""
    try:
        with open_plain_file(job.status_file) as file:
            beat = os.fstat(file.fileno()).st_mtime
        return _read_disk_time(job.path) - beat
    except OSError:
        return math.inf


class TaskLease:
    """A process's place at a group, or a run, which another may take; made by who is to have it.

    Args:
      file: where it is noted.
      title: what people call the group or the run.

    Raises:
      OSError: the file cannot be written.
    """

    def __init__(self, file: Path, title: str) -> None:
        self._file, self._title = file, title
        self._token, self._looked = secrets.token_hex(8), time.monotonic()
        who = {"host": socket.gethostname(), "pid": os.getpid()}
        write_json(self._file, {"token": self._token, **who})

    def exit_if_taken_over(self, status: object = None) -> None:
        """End this process, here and now, if another has the place: nothing more is written."""
        if time.monotonic() - self._looked < _LEASE_CHECK_SECONDS:
            return
        self._looked = time.monotonic()
        try:
            mine = read_json(self._file).get("token") == self._token
        except (OSError, ValueError):
            return
        if not mine:
            print(f"{self._title} now has another task: this one ends.", flush=True)
            os._exit(0)


def _read_disk_time(folder: Path) -> float:
    """What the disk takes the time to be: it stamps files with it, whoever writes them."""
    path = folder / f".now-{secrets.token_hex(8)}"
    try:
        path.touch()
        return path.stat().st_mtime
    finally:
        path.unlink(missing_ok=True)
