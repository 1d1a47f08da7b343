"""Within a task on a cluster: where a job's process there keeps its own files, and what it says."""

import dataclasses
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ensemble.errors import NotPreparedError
from ensemble.jobs.job import LOCK_FILE, STATUS_FILE, Job
from ensemble.jobs.status import JobStatus
from ensemble.storage.file_lock import is_locked
from ensemble.storage.folders import data_folder

# Set for a task alone: which job it does.
TASK_VARIABLE = "ENSEMBLE_TASK"
TASK_FOLDER = "task"
WAIT_SECONDS = 1.0


def format_task_key(job: Job) -> str:
    """What `TASK_VARIABLE` is in the task of this job."""
    return f"{job.kind.name}:{job.id}"


def is_inside_task(job: Job) -> bool:
    """Whether this process is the task of a job, and not its worker, which follows that."""
    return os.environ.get(TASK_VARIABLE) == format_task_key(job)


def locate_worker_folder(job: Job) -> Path:
    """Where this process keeps its status, its lock and its stop file, as the job's worker."""
    return job.path / TASK_FOLDER if is_inside_task(job) else job.path


def locate_status_file(job: Job) -> Path:
    """Where this process says how the job stands."""
    return locate_worker_folder(job) / STATUS_FILE if is_inside_task(job) else job.status_file


def build_first_status(job: Job) -> JobStatus:
    """What this process's status begins with: a task's is as the job was asked for."""
    if not is_inside_task(job):
        return job.status
    return dataclasses.replace(job.status, state="starting", message="", seconds_left=None)


def wait_for_other_task(job: Job) -> None:
    """Let another task on the same job end, where a scheduler took one for dead that was not."""
    was_reported = False
    while is_inside_task(job) and is_locked(locate_worker_folder(job) / LOCK_FILE):
        if not was_reported:
            print("It already has a task: this one waits until that task ends.", flush=True)
            was_reported = True
        time.sleep(WAIT_SECONDS)


@contextmanager
def name_node_in_errors(job: Job) -> Iterator[None]:
    """Of a dataset that a task does not find it is said where it was looked for."""
    try:
        yield
    except NotPreparedError as error:
        if not is_inside_task(job):
            raise
        raise NotPreparedError(
            f"{error} Its task looked for this on {socket.gethostname()}, in {data_folder()}: "
            "ENSEMBLE_DATA has to be a folder that the nodes of the cluster share."
        ) from error
