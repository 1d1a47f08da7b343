"""Fetching a dataset without making anybody wait: a job like others, that says how far it is.

It takes no turn: it waits for the network, not for the machine. Any page, any tab and the next
server read how far it is.
"""

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble import datasets
from ensemble.access import Action, audit_log, check_permission, owners
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import RunError, StorageError
from ensemble.jobs import worker
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import FETCH, JobKind
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import prepare_requeue
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import data_folder
from ensemble.storage.records.field_checks import MetricValue

REPORT_INTERVAL_SECONDS = 0.25


@dataclass(frozen=True)
class FetchStatus(JobStatus):
    """How far a dataset's fetching is: queued → running → done | stopped | failed.

    Attributes:
      fraction: share of the work done, in [0, 1]; None when it cannot be said.
    """

    kind: ClassVar[JobKind] = FETCH

    fraction: MetricValue | None = None


@dataclass(frozen=True)
class FetchJob(Job):
    """A dataset's fetching, as it stood when it was read; `id` is the dataset's name."""

    id: str
    name: str
    path: Path
    status: FetchStatus
    kind: JobKind = FETCH

    @property
    def status_file(self) -> Path:
        """Where its worker writes how far it is."""
        return self.path.with_suffix(".json")


class _FetchStoppedError(Exception):
    """Somebody asked a fetch to stop while it was running."""


def create_fetch_job(name: str, status: FetchStatus | None = None) -> FetchJob:
    """The fetching of the dataset `name`, as yet not begun if nothing else is said.

    Raises:
      ConfigError: there is no such dataset.
    """
    text = f"the fetching of {find_dataset_entry(name).title}"
    return FetchJob(name, text, data_folder() / "fetching" / name, status or FetchStatus())


def read_fetch_job(name: str) -> FetchJob | None:
    """How far the dataset `name` is; None when nobody began. A dead process reads as failed."""
    try:
        return create_fetch_job(name, FetchStatus.from_dict(read_json(create_fetch_job(name).status_file)))
    except (OSError, ValueError):
        return None


def start_fetch(name: str) -> FetchJob:
    """Begin fetching `name`, unless somebody already does.

    Raises:
      AccessError: whoever asks may add no data.
      ConfigError: there is no such dataset.
      StorageError: the data folder cannot be written.
      RunError: the process that did is not quite gone.
    """
    check_permission(Action.ADD_DATA)
    if (there := read_fetch_job(name)) and there.active:
        return there
    now = time.time()
    job = create_fetch_job(name, FetchStatus(queued=now, updated=now, message="Starting"))
    try:
        job.path.mkdir(parents=True, exist_ok=True)
        busy = f"{job.name} is still in use: try again in a moment."
        with prepare_requeue(job.path, busy, lambda: read_fetch_job(name)):
            owners.write_owner(job.path)
            audit_log.write_audit_entry(Action.ADD_DATA, name)
            write_json(job.status_file, dataclasses.asdict(job.status))
        start_worker(job)
    except RunError:
        if (there := read_fetch_job(name)) and there.active:
            return there  # Two pressed at once.
        raise
    except OSError as error:
        raise StorageError(
            f"Nothing can be saved in {data_folder()} ({error.strerror}): "
            "free some room, or point ENSEMBLE_DATA at a folder that you can write to. You can use digits meanwhile."
        ) from error
    return job


def execute_fetch(name: str) -> None:
    """Do a queued fetch in this process, to its end; see `jobs.worker.execute_job`."""
    if job := read_fetch_job(name):
        worker.execute_job(job, lambda status, stop: _fetch_dataset(name, status, stop), lambda status: None)


def _fetch_dataset(name: str, status: StatusWriter[FetchStatus], stop: StopRequest) -> Outcome:
    said_at = 0.0

    def report_progress(fraction: float | None, message: str) -> None:
        nonlocal said_at
        if stop():
            raise _FetchStoppedError
        if time.monotonic() - said_at > REPORT_INTERVAL_SECONDS:
            said_at = time.monotonic()
            status.update(state="running", fraction=fraction, message=message)

    try:
        report_progress(None, "Starting")  # it may have been asked to stop before it began
        datasets.prepare_dataset(name, report_progress)
    except _FetchStoppedError:
        return Outcome("stopped", "Stopped. What has arrived is kept: fetch it again to continue.")
    status.update(fraction=1.0)
    return Outcome("done", f"{datasets.find_dataset_info(name).title} is ready.")
