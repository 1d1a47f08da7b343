"""The worker of a job that a task elsewhere does: has it submitted, and tells what it says."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from ensemble.cluster.task_array import SchedulerBackend, describe_paused_tasks, describe_waiting_tasks
from ensemble.cluster.task_ends import TaskRestarts, summarize_task_ends
from ensemble.errors import RunError
from ensemble.jobs.job import STATUS_FILE, Job
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.placement import Placement, create_scheduler_backend, read_placement
from ensemble.jobs.remote.job_tasks import ONLY_TASK
from ensemble.jobs.remote.submission import CANCEL_AFTER_SECONDS, POLL_SECONDS, TaskSubmission
from ensemble.jobs.remote.task_process import TASK_FOLDER
from ensemble.jobs.status import HEARTBEAT_SECONDS, JobStatus, StatusWriter
from ensemble.storage.atomic_files import read_json
from ensemble.storage.private_folder import create_private_folder

# The disk that the nodes share may show a task's last word so long after the scheduler does.
GRACE_SECONDS = 10.0
# Of a status what is its writer's own.
_WRITER_FIELDS = ("pid", "pid_created", "pid_ticks", "host", "queued", "updated")


class _TaskFollower:
    """Follows a job's task to its end, and is the only writer of the job's status.

    Args:
      job: the job, whose worker this process is.
      status: the hold on its status.json.
      stop: asked whether to stop.
      report: called with each new status.
      backend: who takes the task.
      placement: where the job is to run, and with what.
    """

    def __init__(
        self,
        job: Job,
        status: StatusWriter[Any],
        stop: Callable[[], bool],
        report: Callable[[Any], None],
        backend: SchedulerBackend,
        placement: Placement,
    ) -> None:
        self._job, self._status, self._stop, self._report = job, status, stop, report
        self._folder, self._where = job.path / TASK_FOLDER, backend.title
        self._task = TaskSubmission(job, backend, placement.settings)
        # One that ended for a reason that nobody knows would most likely end so again.
        self._restarts = TaskRestarts(backend.title, ("always", "progress"))
        self._told: dict[str, Any] = {}
        # The task's last heartbeat, and when that came on this machine's clock.
        self._beat = (0.0, 0.0)

    def follow_task(self) -> Outcome:
        """Go on until the task has ended, or the job is stopped.

        Raises:
          ClusterError, ConfigError, RunError: the task is not taken, with what to do.
        """
        create_private_folder(self._folder)
        try:
            self._task.submit_or_find()
            while (outcome := self._poll_task()) is None:
                time.sleep(POLL_SECONDS)
        except BaseException:
            self._task.abandon_task()
            raise
        self._task.mark_ended()
        if outcome.state == "failed":
            self._task.print_log()
        return outcome

    def _poll_task(self) -> Outcome | None:
        """One look at everything; how it ended, where it has."""
        self._task.poll_task()
        task_status = self._read_task_status()
        if task_status and self._has_ended(task_status):
            return self._copy_outcome(task_status)
        if self._stop():
            self._task.stop_task()
        if outcome := self._build_lost_outcome(task_status):
            return outcome
        self._update_status(self._build_status_fields(task_status))
        return None

    def _read_task_status(self) -> JobStatus | None:
        """What the task says of itself; None before it has, or where that cannot be read."""
        try:
            task_status = type(self._job.status).from_dict(read_json(self._folder / STATUS_FILE))
        except (OSError, ValueError):
            return None
        if task_status.updated != self._beat[0]:
            self._beat = task_status.updated, time.monotonic()
        return task_status

    def _has_ended(self, status: JobStatus) -> bool:
        # One that stops unasked was told to make room, and may be put back into the queue.
        was_requested = status.state != "stopped" or bool(self._task.stopped_at)
        return was_requested and status.state in self._job.kind.ended_states

    def _copy_outcome(self, status: JobStatus) -> Outcome:
        self._status.update(**{**_mirror_status_fields(status), "state": self._status.status.state})
        return Outcome(status.state, status.message)

    def _build_lost_outcome(self, status: JobStatus | None) -> Outcome | None:
        now, stopped, ended = time.monotonic(), self._task.stopped_at, self._task.ended_at
        name = f"its task {self._task.record.id}"
        if stopped and now - stopped > 2 * CANCEL_AFTER_SECONDS:
            return Outcome("stopped", f"Stopped. {self._where} did not say whether {name} has ended: check there.")
        if ended is None:
            return None
        if self._task.canceled and status is None:
            return Outcome("stopped", f"Stopped while queued on {self._where}.")
        if now - ended < GRACE_SECONDS:
            return None
        progress, title = status.share if status else 0.0, f"{self._job.kind.title} “{self._job.id}”"
        if not stopped and self._restarts.try_restart(
            ONLY_TASK, self._task.record.word, progress, self._task.submit_again, title
        ):
            return None
        kept = self._job.kind.describe_kept_work(self._job.path)
        words = {ONLY_TASK: self._task.record.word}
        if summary := summarize_task_ends(words, 1, self._where, kept, self._task.memory):
            return Outcome(*summary)
        if status and status.state == "stopped":
            return Outcome("stopped", f"{self._where} ended {name} early: it was canceled there. {kept}")
        if status is None:
            return Outcome(
                "failed",
                f"{self._where} ended {name} before it started: it was canceled, or could not "
                "start. The log has the details.",
            )
        return Outcome(
            "failed",
            f"{name[0].upper()}{name[1:]}{self._node_suffix} exited unexpectedly: it was "
            f"killed, or asked for too little memory or time. {kept}",
        )

    def _build_status_fields(self, status: JobStatus | None) -> dict[str, Any]:
        state = self._task.record.state
        if status and status.state in self._job.kind.active_states:
            # A node that died is noticed late, and its task is put back: its last words are old.
            fresh = time.monotonic() - self._beat[1] < 3 * HEARTBEAT_SECONDS
            if fresh or state != "waiting":
                fields = _mirror_status_fields(status)
                message = describe_paused_tasks([self._task.record.task_status], 1, "task") or self._task.refusal
                return {**fields, "message": message} if message else fields
        elif status is None and state != "waiting":
            return {"state": "starting", "message": f"Its task is starting{self._node_suffix}."}
        wait = describe_waiting_tasks([self._task.record.task_status], 1, self._where, "task")
        return {"state": "queued", "message": f"{wait} {self._task.refusal}".rstrip(), "seconds_left": None}

    @property
    def _node_suffix(self) -> str:
        return f" on {self._task.record.node}" if self._task.record.node else ""

    def _update_status(self, changes: dict[str, Any]) -> None:
        if changes != self._told:
            self._told = changes
            self._status.update(**changes)
            self._report(self._status.status)


def _mirror_status_fields(status: JobStatus) -> dict[str, Any]:
    """What a task's status says of the job: all but who wrote it."""
    names = (field.name for field in dataclasses.fields(status) if field.name not in _WRITER_FIELDS)
    values = {name: getattr(status, name) for name in names}
    return {**values, "state": "starting" if status.state == "queued" else status.state}


def follow_placed_job(
    job: Job, status: StatusWriter[Any], stop: Callable[[], bool], report: Callable[[Any], None]
) -> Outcome:
    """Have a placed job done where it is to run; its placement is in its folder.

    Raises:
      RunError: where it is to run cannot be read.
      ClusterError, ConfigError: the task is not taken.
    """
    try:
        placement = read_placement(job.path)
    except (OSError, ValueError) as error:
        raise RunError(
            f"This job's placement cannot be read ({error}): start it again and say where to run it."
        ) from error
    if placement is None:
        raise RunError("This job's placement has been removed meanwhile: start it again.")
    backend = create_scheduler_backend(placement, job.path / TASK_FOLDER)
    return _TaskFollower(
        job=job, status=status, stop=stop, report=report, backend=backend, placement=placement
    ).follow_task()
