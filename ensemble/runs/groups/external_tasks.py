"""Tasks of groups that somebody else starts, and starts again: the pods of a Kubernetes Job.

They do not end with the process that follows them, which may be started again as each of them may.
"""

import os
import time
from collections.abc import Mapping, Sequence

from ensemble.cluster.schedulers import KUBERNETES
from ensemble.jobs.job import is_stop_requested
from ensemble.jobs.outcome import Outcome
from ensemble.runs.groups.coordinator import ENDED_STATES, GroupCoordinator
from ensemble.runs.groups.group import Group, list_run_groups
from ensemble.runs.groups.heartbeat_monitor import HeartbeatMonitor
from ensemble.runs.groups.tasks import TaskStatus
from ensemble.runs.groups.worker_variables import PARENT_VARIABLE
from ensemble.runs.store import Run

# A group that failed or went silent is started again within minutes, if at all: Kubernetes waits
# six at most between tries. One that was told to end may wait for a node as long as that takes.
TASK_LOST_SECONDS = 3600.0


class ExternalTasks:
    """Tasks that begin and end without being asked from here; all that is known of them is files.

    Args:
      run: whose groups they train.
      place: what people call where they are.
    """

    def __init__(self, run: Run, place: str) -> None:
        self.place_title, self.memory = place, 0
        self._run = run
        self._since = dict.fromkeys(range(1, len(list_run_groups(run)) + 1), time.monotonic())
        self._taken_back = False
        self._hearing = HeartbeatMonitor()

    def start_tasks(self, groups: Sequence[Group]) -> None:
        """Expect them from now on: nothing here could start them."""
        self._since |= {group.number: time.monotonic() for group in groups}

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        """How they stand, as the groups' own files say."""
        groups = list_run_groups(self._run)
        self._hearing.update(groups)
        return {group.number: self._build_task_status(group) for group in groups}

    def find_ended_groups(self) -> Sequence[int]:
        """None: nobody but the groups' own files tells of their tasks."""
        return ()

    def cancel_waiting(self) -> None:
        """Expect no more: whichever begins after this ends at once, as it is told to stop."""
        self._taken_back = True

    def kill_task(self, group: Group) -> None:
        """Nothing: they are the scheduler's own."""

    def _build_task_status(self, group: Group) -> TaskStatus:
        if self._hearing.is_alive(group):
            self._since[group.number] = time.monotonic()
            return TaskStatus("running", node=group.status.host)
        over = group.status.state in ("finished", "diverged")
        silent = time.monotonic() - self._since[group.number] > TASK_LOST_SECONDS
        lost = silent and group.state == "failed"
        return TaskStatus("ended" if over or lost or self._taken_back else "waiting")


def describe_restart(place: str) -> str:
    """What brings a process back that merges groups, and was told to end."""
    if place == KUBERNETES.title:
        return f"{place} starts it again, unless its Job was deleted: then apply the manifest again to continue."
    return f"Where {place} does not start it again, submit its script again to continue."


class ExternalTaskCoordinator(GroupCoordinator):
    """Merges what such tasks write, and passes a person's Stop on.

    A signal is for this process alone: the tasks have their own.
    """

    def _start_missing_tasks(self) -> None:
        # Whoever trains a group writes its status: one may be beginning just now.
        self._tasks.start_tasks(self._groups)

    def _poll_groups(self) -> bool:
        return super()._poll_groups() or self._is_only_process_stopping

    def _stop_groups(self) -> None:
        if is_stop_requested(self._run) or self._merger.is_over or self._has_diverged_group:
            super()._stop_groups()

    def _build_outcome(self) -> Outcome:
        if self._is_only_process_stopping and not self._merger.is_over:
            return Outcome(
                "stopped",
                f"The process that merges the groups was told to end. {describe_restart(self._tasks.place_title)}",
            )
        return super()._build_outcome()

    @property
    def _is_only_process_stopping(self) -> bool:
        """Whether this process is to end, and no other."""
        return self._stop() and not is_stop_requested(self._run)


class TaskCoordinator(ExternalTaskCoordinator):
    """Coordinates a run from within a task of it, where nobody follows it from outside.

    Its tasks are there, or wait: only one that is lost is submitted again. When its own task ends,
    the next goes on with what this leaves.
    """

    def _start_missing_tasks(self) -> None:
        self._hearing.update(self._groups)

    def _is_group_over(self, group: Group, tasks: Mapping[int, TaskStatus]) -> bool:
        # The task that this is part of ends after this has.
        ended = (*ENDED_STATES, "stopped") if self._stopping else ENDED_STATES
        return group.status.state in ended or super()._is_group_over(group, tasks)

    def _build_outcome(self) -> Outcome:
        if self._is_only_process_stopping and not self._merger.is_over:
            return Outcome(self._compute_state(), "")
        return super()._build_outcome()

    @property
    def _is_only_process_stopping(self) -> bool:
        parent = int(os.environ.get(PARENT_VARIABLE) or 0)
        gone = bool(parent) and os.getppid() != parent
        return (gone or self._stop()) and not is_stop_requested(self._run)
