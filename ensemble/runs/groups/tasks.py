"""Who starts the tasks of groups, and says how they stand: this machine, or a scheduler."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ensemble.cluster.local_processes import LocalProcesses
from ensemble.cluster.task_array import SchedulerBackend, TaskArray, TaskStatus
from ensemble.jobs import slots
from ensemble.jobs.folders import change_job_files
from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.remote.task_record import read_task_statuses, write_task_statuses
from ensemble.jobs.remote.worker_variables import CORES_VARIABLE, PARENT_VARIABLE
from ensemble.runs.groups.group import GROUPS_FOLDER, Group
from ensemble.runs.store import Run

_TASKS_FILE = "tasks.json"
LOCAL_TITLE = LocalProcesses.title
KEPT_SENTENCE = "Resume continues from the last checkpoint."


class GroupTaskControl(Protocol):
    """Starts tasks of groups. What they do is read from the groups' files, not asked of it."""

    place_title: str
    """What people call the place: "this machine", "Slurm"."""
    memory: int
    """GB that each task asks for; 0 where it asks for none."""

    @property
    def refusal(self) -> str:
        """Why nothing was heard of the tasks at the last look; "" if something was."""

    def start_tasks(self, groups: Sequence[Group]) -> None:
        """See to it that these groups, which have no task, get one as soon as there is room."""

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        """How the tasks of groups stand, by the groups' numbers; those it knows of."""

    def find_ended_groups(self) -> Sequence[int]:
        """The numbers of groups whose tasks have ended, where who runs them says so by itself."""

    def cancel_waiting(self) -> None:
        """Cancel what has not started. Whatever works is told by a file, and ends by itself."""

    def kill_task(self, group: Group) -> None:
        """End the task of a group that does not answer, from its last checkpoint on."""


class GroupTasks:
    """The tasks of a run's groups as a `TaskArray`.

    Args:
      array: of the run.
      folder: the run's.
      memory: GB that each asks for; 0 where it asks for none.
      ended_elsewhere: the numbers of groups whose tasks have ended where the run was before.
    """

    def __init__(self, array: TaskArray, folder: Path, memory: int = 0, ended_elsewhere: Sequence[int] = ()) -> None:
        self._array, self._folder, self.place_title = array, folder, array.title
        self.memory, self._ended_elsewhere = memory, ended_elsewhere
        self._killed: set[str] = set()

    @property
    def refusal(self) -> str:
        """Why nothing was heard of the tasks at the last look; "" if something was."""
        return self._array.refusal

    def start_tasks(self, groups: Sequence[Group]) -> None:
        """Have tasks for those of these groups that have none.

        Raises:
          RunError: the run's folder cannot be written.
          ClusterError: the scheduler does not answer, or refuses.
          ConfigError: the settings do not fit this cluster.
        """
        words = {group.number: (group.kind.command, group.id) for group in groups}
        logs = {group.number: group.path / "log.txt" for group in groups}
        with change_job_files(self._folder, action=None):
            self._array.submit(words, {}, logs)

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        """How they stand, as was last heard."""
        return self._array.poll_tasks()

    def find_ended_groups(self) -> Sequence[int]:
        """The numbers of groups whose tasks have ended, by the scheduler's own word.

        Raises:
          ClusterError: the scheduler does not answer.
        """
        return [*self._ended_elsewhere, *self._array.find_ended()]

    def cancel_waiting(self) -> None:
        """Cancel those that wait; a scheduler may put one that works into its queue yet."""
        self._array.take_back_waiting()

    def kill_task(self, group: Group) -> None:
        """Have the task of a group that does not answer ended."""
        task = self._array.tasks.get(group.number)
        if task and task.state != "ended" and task.id not in self._killed:
            self._killed.add(task.id)
            self._array.try_to_cancel(group.number)


def create_local_tasks(run: Run, cards: Sequence[str], cores: Sequence[int]) -> GroupTasks:
    """Tasks on this machine, which end with this process: each has cores or cards of its own.

    Args:
      run: whose groups they are.
      cards: the accelerators that the run has, by name; none on a processor.
      cores: the processor cores that this process may use, by number.
    """
    processes = LocalProcesses(
        cards or [str(core) for core in cores],
        slots.VISIBLE_CARDS_VARIABLE if cards else CORES_VARIABLE,
        {**build_worker_environment(), PARENT_VARIABLE: str(os.getpid())},
    )
    noted = read_group_tasks(run.path).items()
    ended = [number for number, task in noted if task.state == "ended" and task.word]
    return GroupTasks(TaskArray(processes, run.id, sure=1), run.path, ended_elsewhere=ended)


def create_scheduler_tasks(run: Run, backend: SchedulerBackend) -> GroupTasks:
    tasks_by_number = {number: task for number, task in read_group_tasks(run.path).items() if task.id}
    array = TaskArray(backend, run.id, tasks_by_number)
    return GroupTasks(array, run.path, backend.config.memory)


def mark_completed_tasks(tasks: Mapping[int, TaskStatus], groups: Sequence[Group]) -> dict[int, TaskStatus]:
    """Tasks, those of groups that have said their last word as ended before a scheduler says so."""
    done = {group.number for group in groups if group.status.state in ("finished", "diverged")}
    return {
        number: replace(task, state="ended", reason="") if number in done else task for number, task in tasks.items()
    }


def write_group_tasks(run_folder: Path, tasks: Mapping[int, TaskStatus]) -> None:
    write_task_statuses(run_folder / GROUPS_FOLDER / _TASKS_FILE, tasks)


def read_group_tasks(run_folder: Path) -> dict[int, TaskStatus]:
    """Read how the tasks of a run were when they were last recorded, by their groups' numbers."""
    return read_task_statuses(run_folder / GROUPS_FOLDER / _TASKS_FILE)


def describe_lost_task(where: str) -> str:
    if where == LOCAL_TITLE:
        return "its task exited unexpectedly: see its log."
    return (
        f"its task on {where} exited unexpectedly. Check that the folder of runs is on a disk "
        "that all machines share and has free space, and read the logs."
    )
