"""Fetching a dataset without making anybody wait: a job like others, that says how far it is.

It takes no turn: it waits for the network, not for the machine. Any page, any tab and the next
server read how far it is.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble import datasets
from ensemble.access import Action, audit_log, check_permission, owners
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import StorageError
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind
from ensemble.jobs.outcome import Outcome, StopRequest, build_progress_callback
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.jobs.store import BaseJobStore
from ensemble.storage.atomic_files import read_json
from ensemble.storage.folders import data_folder
from ensemble.storage.records.field_checks import MetricValue

FETCH = JobKind(
    name="fetch",
    title="Fetching a dataset",
    noun="the download",
    working_state="running",
    command="work-fetch",
    progress_field="fraction",
    remedy="fetch it again",
    kept_clause="what has arrived is kept",
    memory_advice="close other programs, then fetch it again",
    takes_turns=False,
    work_entry="ensemble.jobs.dataset_fetch:execute_fetch",
    ended_states=("done", "stopped", "failed"),
)


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


class _FetchStore(BaseJobStore[FetchJob]):
    def read(self, job_id: str) -> FetchJob | None:
        try:
            return create_fetch_job(job_id, FetchStatus.from_dict(read_json(create_fetch_job(job_id).status_file)))
        except (OSError, ValueError):
            return None


_FETCHES = _FetchStore()


def create_fetch_job(name: str, status: FetchStatus | None = None) -> FetchJob:
    """Return the download of the dataset `name`; without a status it has not begun.

    Raises:
      ConfigError: the dataset does not exist.
    """
    text = f"the fetching of {find_dataset_entry(name).title}"
    return FetchJob(name, text, data_folder() / "fetching" / name, status or FetchStatus())


def read_fetch_job(name: str) -> FetchJob | None:
    """Return the download of the dataset `name`; None if it was never started."""
    return _FETCHES.read(name)


def start_fetch(name: str) -> FetchJob:
    """Start to fetch `name`, unless it is being fetched; return the download.

    Raises:
      AccessError: the user may not add data.
      ConfigError: the dataset does not exist.
      StorageError: the data folder cannot be written.
      RunError: the last download's process has not quite ended.
    """
    check_permission(Action.ADD_DATA)
    now = time.time()
    job = create_fetch_job(name, FetchStatus(queued=now, updated=now, message="Starting"))

    def record_owner() -> None:
        owners.write_owner(job.path)
        audit_log.write_audit_entry(Action.ADD_DATA, name)

    try:
        return _FETCHES.launch_once(job, f"{job.name} is still in use: try again in a moment.", record_owner)
    except StorageError as error:
        raise StorageError(f"{error} You can use digits meanwhile.") from error


def execute_fetch(name: str) -> None:
    """Fetch a queued dataset in this process."""
    _FETCHES.execute(name, _fetch_dataset)


def _fetch_dataset(job: FetchJob, status: StatusWriter[FetchStatus], stop: StopRequest) -> Outcome:
    report_progress = build_progress_callback(status, stop)
    report_progress(None, "Starting")  # It may have been asked to stop before it began.
    datasets.prepare_dataset(job.id, report_progress)
    status.update(fraction=1.0)
    return Outcome("done", f"{datasets.find_dataset_info(job.id).title} is ready.")
