"""What is noted of a job's task: `task/task.json` in the job's folder, by who follows it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ensemble.cluster.scheduler import TaskState
from ensemble.cluster.task_array import TaskStatus
from ensemble.jobs.placement import Placement, read_placement
from ensemble.jobs.remote.task_process import TASK_FOLDER
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import parse_dataclass


@dataclass(frozen=True)
class TaskRecord:
    """A job's task, as the scheduler last told of it.

    Attributes:
      name: what it is called among the scheduler's, one of its kind.
      id: the scheduler's word for it; "" while it is being submitted.
      asked: what the job asks for, as `JobStatus.job_request` returns it.
      settings: what the scheduler was asked for.
      state, node, reason, word: as of a `TaskStatus`; the node is kept where it waits again.
    """

    name: str
    id: str = ""
    asked: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    state: TaskState = "waiting"
    node: str = ""
    reason: str = ""
    word: str = ""

    @property
    def task_status(self) -> TaskStatus:
        """What a `TaskArray` knows of it."""
        return TaskStatus(self.state, self.id, self.node, self.reason, self.word)


def read_task_record(job_folder: Path) -> TaskRecord | None:
    """What was last noted of the task of the job in a folder; None if nothing can be read."""
    try:
        return parse_dataclass(TaskRecord, read_json(job_folder / TASK_FOLDER / "task.json"))
    except (OSError, ValueError):
        return None


def write_task_record(job_folder: Path, record: TaskRecord) -> None:
    """Note it; OSError where it cannot be written."""
    write_json(job_folder / TASK_FOLDER / "task.json", dataclasses.asdict(record))


def read_task_statuses(file: Path) -> dict[int, TaskStatus]:
    """Read how the tasks of a job were when they were last recorded, by number; {} if that cannot be read."""
    try:
        record = read_json(file)
        if isinstance(ids := record.get("ids"), list):  # of a sweep of an earlier version
            return {number: TaskStatus("running", str(task_id)) for number, task_id in enumerate(ids, 1)}
        return {int(number): parse_dataclass(TaskStatus, values) for number, values in record.items()}
    except (OSError, ValueError):
        return {}


def write_task_statuses(file: Path, tasks: Mapping[int, TaskStatus]) -> None:
    """Record how the tasks of a job are; OSError if that cannot be written."""
    write_json(file, {str(number): dataclasses.asdict(task) for number, task in sorted(tasks.items())})


def find_placement(job_folder: Path) -> Placement | None:
    """Where the job in a folder is to run; None for this machine, or where that cannot be read."""
    try:
        return read_placement(job_folder)
    except (OSError, ValueError):
        return None
