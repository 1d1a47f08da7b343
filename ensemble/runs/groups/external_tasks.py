"""Tasks of groups that another program starts, and starts again: pods of Kubernetes, tasks of an array.

They do not end with the process that follows them, which may be restarted as each of them may.
"""

import time
from collections.abc import Mapping, Sequence

from ensemble.cluster.scheduler import ExternalTarget
from ensemble.jobs.job import is_stop_requested
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.remote.coordinator_process import is_only_process_stopping
from ensemble.jobs.remote.takeover import compute_silence
from ensemble.runs.groups.coordinator import ENDED_STATES, GroupCoordinator
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.heartbeat_monitor import HeartbeatMonitor
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.store import Run

# A failed group is started again within minutes, if at all: Kubernetes waits six at most between
# tries. One that was told to end may wait for a node for any time.
TASK_LOST_SECONDS = 3600.0


class ExternalTasks:
    """Tasks that begin and end without being asked from here; only the groups' files tell of them.

    Args:
      run: whose groups they train.
      place: who starts them.
    """

    def __init__(self, run: Run, place: ExternalTarget) -> None:
        self.place_title, self.memory, self.resubmit, self.refusal = place.title, 0, place.resubmit, ""
        self._run, self._began = run, time.monotonic()
        self._canceled = False
        self._hearing = HeartbeatMonitor()

    def start_tasks(self, groups: Sequence[Group]) -> None:
        """Do nothing: only the scheduler starts tasks."""

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        """Return how they stand according to the groups' own files."""
        groups = list_run_groups(self._run)
        self._hearing.update(groups)
        return {group.number: self._build_task_status(group) for group in groups}

    def find_ended_groups(self) -> Sequence[int]:
        """Return none: the scheduler does not report the end of a task."""
        return ()

    def cancel_waiting(self) -> None:
        """Expect no more tasks: one that begins after this ends at once, because the run is to stop."""
        self._canceled = True

    def kill_task(self, group: Group) -> None:
        """Do nothing: only the scheduler ends tasks."""

    def _build_task_status(self, group: Group) -> TaskStatus:
        if self._hearing.is_alive(group):
            return TaskStatus("running", node=group.status.host)
        silence = min(compute_silence(group), time.monotonic() - self._began)
        lost = group.status.state == "failed" and silence > TASK_LOST_SECONDS
        return TaskStatus("ended" if lost or self._canceled else "waiting")


class TaskCoordinator(GroupCoordinator):
    """Coordinates a run from within one of its tasks, because nobody follows it from outside.

    Its tasks are there or wait; only a lost one is submitted again. A signal, or the end of its own
    task, ends this process alone; the next coordinator continues with what it leaves.
    """

    def _start_missing_tasks(self) -> None:
        # Whoever trains a group writes its status: one may be beginning just now.
        self._hearing.update(self._groups)

    def _poll_groups(self) -> bool:
        return super()._poll_groups() or self._is_only_process_stopping

    def _stop_groups(self) -> None:
        if is_stop_requested(self._run) or self._merger.is_over or self._has_diverged_group:
            super()._stop_groups()

    def _is_group_over(self, group: Group, tasks: Mapping[int, TaskStatus]) -> bool:
        # The task that this is part of ends after this has.
        ended = (*ENDED_STATES, "stopped") if self._stopping else ENDED_STATES
        return group.status.state in ended or super()._is_group_over(group, tasks)

    def _build_outcome(self) -> Outcome:
        if self._is_only_process_stopping and not self._merger.is_over:
            return self._build_left_outcome()
        return super()._build_outcome()

    def _build_left_outcome(self) -> Outcome:
        return Outcome(self._compute_state(), "")

    @property
    def _is_only_process_stopping(self) -> bool:
        return is_only_process_stopping(self._run, self._stop)


class ArrayCoordinator(TaskCoordinator):
    """Coordinates a run from within the first of its tasks, all of which the scheduler restarts."""

    _tasks: ExternalTasks

    def _is_group_over(self, group: Group, tasks: Mapping[int, TaskStatus]) -> bool:
        return GroupCoordinator._is_group_over(self, group, tasks)  # A failed group is waited for.

    def _build_left_outcome(self) -> Outcome:
        return Outcome(
            "stopped",
            f"The run's coordinator was told to end. If {self._tasks.place_title} does not start it again, "
            f"{self._tasks.resubmit}.",
        )
