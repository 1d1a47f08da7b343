"""A job's task at a scheduler: handed in or found again, looked at, told to stop."""

import contextlib
import dataclasses
import secrets
import sys
import time
from typing import Any

from ensemble.cluster.settings import drop_removed_fields
from ensemble.cluster.task_array import SchedulerBackend, TaskArray, TaskStatus
from ensemble.errors import ClusterError, ConfigError, RunError
from ensemble.jobs.job import STATUS_FILE, STOP_FILE, Job, clear_stop_request
from ensemble.jobs.remote.job_tasks import ONLY_TASK
from ensemble.jobs.remote.task_process import TASK_FOLDER, TASK_VARIABLE, format_task_key
from ensemble.jobs.remote.task_record import TaskRecord, read_task_record, write_task_record

POLL_SECONDS = 0.5
# A task that was told to stop is canceled after so long, and given up after as long again.
CANCEL_AFTER_SECONDS = 60.0
_LOG_BYTES = 8_000


class TaskSubmission:
    """The one task of a job. It outlives this process; the next one for the job finds it.

    Args:
      job: whose.
      backend: who takes it.
      settings: what that is asked for.

    Attributes:
      record: how it stands, as was last heard.
      ended_at: when it was first heard to have ended, on this machine's clock; None before.
      stopped_at: when it was told to stop; None before.
      canceled: whether it was also taken back.
    """

    def __init__(self, job: Job, backend: SchedulerBackend, settings: dict[str, Any]) -> None:
        self._job, self._backend, self._settings = job, backend, settings
        self._folder = job.path / TASK_FOLDER
        self.record, self._tasks = TaskRecord(""), self._create_task_array(TaskRecord(""))
        self.ended_at: float | None = None
        self.stopped_at: float | None = None
        self.canceled = False

    @property
    def memory(self) -> int:
        """GB that the task asks for; 0 where it asks for none, or nobody can tell."""
        memory = self._settings.get("memory")
        return memory if isinstance(memory, int) else 0

    @property
    def refusal(self) -> str:
        """Why nothing was heard at the last look; "" if something was."""
        return self._tasks.refusal

    def submit_or_find(self) -> None:
        """Find the task that does what is asked for, or hand one in; another is ended first.

        Raises:
          ClusterError, ConfigError: the task is not taken, with what to do.
          RunError: that of an earlier request does not end.
        """
        job_request, left = self._job.status.job_request, read_task_record(self._job.path)
        clear_stop_request(self._folder)
        # One that has said its last word may be seen to work for a while yet.
        if left and left.state != "ended":
            settings = (drop_removed_fields(left.settings), drop_removed_fields(self._settings))
            same = left.asked == job_request and settings[0] == settings[1]
            self._tasks = self._create_task_array(left)
            if self._tasks.find_alive():
                if same:
                    self.record = left
                    return self._record_task(self._tasks.tasks[ONLY_TASK])
                self._end_old_task()
                clear_stop_request(self._folder)
            elif same and not job_request and (self._folder / STATUS_FILE).exists():
                # What is done once for all may be done already; the first look tells.
                self.record = left
                return None
        self._submit_task(job_request)
        return None

    def _create_task_array(self, record: TaskRecord) -> TaskArray:
        # How long its end is waited for is the follower's affair, who reads what it said last.
        return TaskArray(self._backend, record.name, {ONLY_TASK: record.task_status}, sure=1)

    def _submit_task(self, job_request: dict[str, Any]) -> None:
        (self._folder / STATUS_FILE).unlink(missing_ok=True)
        name = f"{self._job.id} {self._job.kind.name} {secrets.token_hex(2)}"
        # Noted beforehand: whoever is killed before it knows the id has left its name.
        self.record = TaskRecord(name, asked=job_request, settings=self._settings)
        write_task_record(self._job.path, self.record)
        self._tasks = self._create_task_array(self.record)
        words = (self._job.kind.command, self._job.id)
        self._tasks.submit({ONLY_TASK: words}, {TASK_VARIABLE: format_task_key(self._job)})
        self._record_task(self._tasks.tasks[ONLY_TASK])

    def submit_again(self) -> None:
        """Submit another task in place of one that was lost; ClusterError or ConfigError if it is refused."""
        lost = self.record, self._tasks
        try:
            self._submit_task(self._job.status.job_request)
        except (ClusterError, ConfigError):
            self.record, self._tasks = lost
            raise

    def poll_task(self) -> None:
        """Note how the scheduler says that it stands; where it says nothing, all is as before."""
        self._record_task(self._tasks.poll_tasks()[ONLY_TASK])

    def stop_task(self) -> None:
        """Have it stop: a file tells one that works; one that waits, or is late, is canceled."""
        now = time.monotonic()
        if self.stopped_at is None:
            self.stopped_at = now
            (self._folder / STOP_FILE).touch()
        late = now - self.stopped_at > CANCEL_AFTER_SECONDS
        if not self.canceled and (late or self.record.state == "waiting"):
            with contextlib.suppress(ClusterError):  # It is asked again at the next look.
                self._tasks.cancel(ONLY_TASK)
                self.canceled = True

    def mark_ended(self) -> None:
        """Note that it has said its last word, whatever the scheduler still has to tidy up."""
        self._record_task(TaskStatus("ended", self.record.id))

    def abandon_task(self) -> None:
        """Leave no task running that nobody follows any longer."""
        if self.record.id:
            with contextlib.suppress(OSError, ClusterError):
                (self._folder / STOP_FILE).touch()
                self._tasks.cancel(ONLY_TASK)

    def print_log(self) -> None:
        """Put the end of what it printed where the job's own log is."""
        with contextlib.suppress(OSError):
            tail = self._backend.log_file(self.record.id).read_bytes()[-_LOG_BYTES:]
            print(tail.decode(errors="replace"), file=sys.stderr, flush=True)

    def _record_task(self, task: TaskStatus) -> None:
        node = task.node or self.record.node
        now = dataclasses.replace(
            self.record, id=task.id, state=task.state, node=node, reason=task.reason, word=task.word
        )
        if now != self.record:
            self.record = now
            write_task_record(self._job.path, now)
        self.ended_at = (self.ended_at or time.monotonic()) if task.state == "ended" else None

    def _end_old_task(self) -> None:
        """End a task that does not do what is asked for now, and wait until it has."""
        (self._folder / STOP_FILE).touch()
        self._tasks.cancel(ONLY_TASK)
        end = time.monotonic() + CANCEL_AFTER_SECONDS
        while self._tasks.find_alive():
            if time.monotonic() > end:
                raise RunError(
                    f"The task {self._tasks.tasks[ONLY_TASK].id} of an earlier request is "
                    f"still running: try again when {self._backend.title} has ended it."
                )
            time.sleep(POLL_SECONDS)
