"""Within a group's task at a scheduler: a process that coordinates the run where nobody else does.

Who submitted a run coordinates it as long as that process lives. Once it is silent, the task of the
first group that is at work does, as long as it has its own work: then that of another group.
The last to end stays until all is merged. So nothing is needed where the tasks were submitted.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable

from ensemble.errors import EnsembleError
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.job import LOCK_FILE, STOP_FILE, Job, is_stop_requested
from ensemble.jobs.launch import build_worker_environment
from ensemble.machine.python_command import build_python_command
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.takeover import LEASE_EXPIRY_SECONDS, compute_silence
from ensemble.runs.groups.worker_variables import PARENT_VARIABLE
from ensemble.runs.store import Run, find_run
from ensemble.storage.file_lock import is_locked
from ensemble.storage.plain_files import open_plain_append

_CHECK_SECONDS = 3.0
_POLL_SECONDS = 0.2
# So long the last group of a run waits for what the others, which died, come to; and for a stop.
_LAST_WAIT_SECONDS, _STOP_WAIT_SECONDS = 30.0, 60.0
_OVER_STATES = ("finished", "diverged", "failed", "stopped")


class CoordinatorProcess:
    """Sees to it that somebody coordinates a group's run, within this as a context.

    Args:
      group: whose task this is.
      must_leave: asked at the end: whether this task is to give its node back at once.
    """

    def __init__(self, group: Group, must_leave: Callable[[], bool]) -> None:
        self._number, self._run_id = group.number, group.id.rpartition(":")[0]
        self._must_leave, self._stop_file = must_leave, group.path / STOP_FILE
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch_run, name="coordinator", daemon=True)

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

    def _watch_run(self) -> None:
        while not self._closed.wait(_CHECK_SECONDS):
            self._start_if_needed()

    def _start_if_needed(self) -> None:
        """Start the process, unless the run has one, or an earlier group is to have it."""
        try:
            run = find_run(self._run_id)
            if self._is_child_alive() or _is_run_followed(run):
                return
            first = next((group for group in list_run_groups(run) if _is_group_at_work(group)), None)
            if first and first.number < self._number:
                return
            self._start_child(run)
        except (EnsembleError, OSError) as error:
            print(f"The run cannot be coordinated from here: {error}", flush=True)

    def _start_child(self, run: Run) -> None:
        print("Nobody follows the run any more: this task coordinates it.", flush=True)
        self._child = start_child_worker(run)

    def _wait_for_others(self) -> None:
        """Stay where this is the last of the run's tasks, until all is merged and said."""
        begun, heard = time.monotonic(), None
        while not self._must_leave():
            try:
                run = find_run(self._run_id)
                others = [group for group in list_run_groups(run) if group.number != self._number]
            except EnsembleError:
                return
            waited = time.monotonic() - begun
            stopping = is_stop_requested(run) or self._stop_file.exists()
            if run.status.state not in run.kind.active_states:
                return
            if not stopping and any(_is_group_at_work(group) for group in others):
                return
            over = all(group.status.state in _OVER_STATES for group in others)
            if waited > (_STOP_WAIT_SECONDS if stopping else _LAST_WAIT_SECONDS) and not (
                over and self._is_child_alive()
            ):
                return
            if not self._is_child_alive():
                if stopping:
                    return  # Its files say as much.
                heard = heard or run.status.updated
                if not over and run.status.updated != heard and _is_run_followed(run):
                    return  # Whoever it is sees to the others, and tells the end as well.
                self._start_if_needed()
            time.sleep(_POLL_SECONDS)

    def _is_child_alive(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def _end_child(self) -> None:
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            self._child.wait()


def _is_run_followed(run: Run) -> bool:
    """Whether a process coordinates a run, or is about to, by its lock and the disk's own clock."""
    if run.status.state not in run.kind.active_states or is_locked(run.path / LOCK_FILE):
        return True
    return compute_silence(run) < LEASE_EXPIRY_SECONDS


def _is_group_at_work(group: Group) -> bool:
    """Whether a process is at a group, by its lock and the disk's own clock."""
    if group.status.state not in group.kind.active_states or group.status.pid is None:
        return False
    if is_locked(group.path / LOCK_FILE):
        return True
    return compute_silence(group) < LEASE_EXPIRY_SECONDS


def start_child_worker(job: Job) -> "subprocess.Popen[bytes]":
    """Start the worker of a job as a process that ends if this one does; it writes into the job's log."""
    with change_job_files(job.path, action=None), open_plain_append(job.path / "log.txt") as log:
        return subprocess.Popen(
            build_python_command(job.kind.command, job.id),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**build_worker_environment(), PARENT_VARIABLE: str(os.getpid())},
        )
