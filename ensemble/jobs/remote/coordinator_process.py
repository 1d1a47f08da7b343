"""Within a task at a scheduler: a process that follows the whole job if nobody else does.

Whoever submitted a job follows it as long as that process lives. Once it is silent, one of the job's tasks
does, as long as it has its own work: then another. The last to end stays until the job's end is recorded.
So nothing is needed where the tasks were submitted.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from ensemble.errors import EnsembleError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import LOCK_FILE, Job, is_stop_requested
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.remote.takeover import LEASE_EXPIRY_SECONDS, compute_silence, has_remote_heartbeat
from ensemble.jobs.remote.task_process import TASK_VARIABLE
from ensemble.jobs.remote.worker_variables import PARENT_VARIABLE
from ensemble.machine.python_command import build_python_command
from ensemble.storage.file_lock import is_locked, try_lock
from ensemble.storage.plain_files import open_plain_append

# Only one task of a host, or of a disk with locks, starts the process.
_ELECTION_FILE = "coordinator.lock"
_CHECK_SECONDS = 3.0
_POLL_SECONDS = 0.2
# How long the last task waits for the end of others, which died; and for a stop.
_LAST_WAIT_SECONDS, _STOP_WAIT_SECONDS = 30.0, 60.0


class CoordinatorProcess:
    """Sees to it that somebody follows a task's job, within this as a context.

    Args:
      find_job: reads the job.
      list_parts: reads what its tasks do; none if they share their work.
      part_id: the id of what this task does; "" if it has no part of its own.
      stop: whether this task was told to stop, or to give its node back at once.
    """

    def __init__(
        self, find_job: Callable[[], Job], list_parts: Callable[[], Sequence[Job]], part_id: str, stop: StopRequest
    ) -> None:
        self._find_job, self._list_parts, self._part_id, self._stop = find_job, list_parts, part_id, stop
        self._child: subprocess.Popen[bytes] | None = None
        self._election = ExitStack()  # held until the process that this task started follows the job
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch_job, name="coordinator", daemon=True)

    def __enter__(self) -> "CoordinatorProcess":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed.set()
        self._thread.join()
        try:
            self._wait_for_others()
        finally:
            self._end_child()

    def _watch_job(self) -> None:
        while not self._closed.wait(_CHECK_SECONDS):
            self._start_if_needed()

    def _start_if_needed(self) -> None:
        """Start the process, unless the job has one or another task is about to start it."""
        try:
            job = self._find_job()
            is_followed = _is_followed(job)
            if self._is_child_alive() and not is_followed:
                return  # It is about to.
            self._election.close()
            if is_followed or (lock := try_lock(job.path / _ELECTION_FILE)) is None:
                return
            self._election.enter_context(lock)
            print("Nobody follows the job any more: this task does.", flush=True)
            self._child = start_child_worker(job)
        except (EnsembleError, OSError) as error:
            print(f"The job cannot be followed from here: {error}", flush=True)

    def _wait_for_others(self) -> None:
        """Stay if this is the last of the job's tasks, until its end is recorded."""
        begun, heard = time.monotonic(), None
        while not self._stop.signalled:
            try:
                job = self._find_job()
                others = [part for part in self._list_parts() if part.id != self._part_id]
            except EnsembleError:
                return
            waited = time.monotonic() - begun
            stopping = is_stop_requested(job) or self._stop()
            if job.status.state not in job.kind.active_states:
                return
            if not stopping and any(map(_is_part_at_work, others)):
                return
            over = all(part.status.state in part.kind.ended_states for part in others)
            if waited > (_STOP_WAIT_SECONDS if stopping else _LAST_WAIT_SECONDS) and not (
                over and self._is_child_alive()
            ):
                return
            if not self._is_child_alive():
                if stopping:
                    return  # Its files say as much.
                heard = heard or job.status.updated
                if not over and job.status.updated != heard and _is_followed(job):
                    return  # Whoever it is sees to the others, and tells the end as well.
                self._start_if_needed()
            time.sleep(_POLL_SECONDS)

    def _is_child_alive(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def _end_child(self) -> None:
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            self._child.wait()
        self._election.close()


def is_only_process_stopping(job: Job, stop: Callable[[], bool]) -> bool:
    """Whether a process that a task started is to end, while the job itself continues."""
    parent = int(os.environ.get(PARENT_VARIABLE) or 0)
    is_parent_gone = bool(parent) and os.getppid() != parent
    return (is_parent_gone or stop()) and not is_stop_requested(job)


def _is_followed(job: Job) -> bool:
    """Whether a process follows a job, or is about to, by its lock and the disk's own clock."""
    if job.status.state not in job.kind.active_states or is_locked(job.path / LOCK_FILE):
        return True
    return compute_silence(job) < LEASE_EXPIRY_SECONDS


def _is_part_at_work(part: Job) -> bool:
    return bool(is_locked(part.path / LOCK_FILE)) or has_remote_heartbeat(part)


def start_child_worker(job: Job) -> "subprocess.Popen[bytes]":
    """Start the worker of a job as a process that ends if this one does; it writes into the job's log."""
    with change_job_files(job.path, action=None), open_plain_append(job.path / "log.txt") as log:
        return subprocess.Popen(
            build_python_command(job.kind.command, job.id),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**build_worker_environment(), PARENT_VARIABLE: str(os.getpid()), TASK_VARIABLE: ""},
        )
