"""The job that sets what a run's members reject, at one epoch: no page waits for it.

Computing it takes several seconds of all cores. It begins where a run's training ends, or when
Classify is opened on a run that has none; what comes of it lies in the cache on the disk, where
`rejection_threshold.NoveltyJudge` finds it. There is one at a time, whoever asks.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind
from ensemble.jobs.outcome import Outcome, StopRequest, build_progress_callback
from ensemble.jobs.queue import list_queued_jobs
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.jobs.store import BaseJobStore
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.store import find_run, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.atomic_files import read_json
from ensemble.storage.folders import data_folder, runs_folder
from ensemble.storage.records.field_checks import MetricValue

FOLDER = "calibrating"  # below the data folder
SWITCH_VARIABLE = "ENSEMBLE_CALIBRATION"
POLL_INTERVAL_S = 0.3
WAITING_MESSAGE = "Waiting: another run's rejection is being set."
_STARTING_MESSAGE = "Starting."
CALIBRATION = JobKind(
    name="calibration",
    title="Computing the rejection threshold",
    noun="the computation of the rejection threshold",
    working_state="running",
    command="work-calibration",
    remedy="open Classify again",
    kept_clause="what was computed so far is kept",
    memory_advice="close other programs, then open Classify again",
    stop_delay="within a few seconds",
    takes_turns=False,
    nice=True,
    work_entry="ensemble.recognition.calibration_job:execute_calibration",
)


@dataclass(frozen=True)
class CalibrationStatus(JobStatus):
    """How far it is: queued → starting → running → finished | stopped | failed.

    Attributes:
      progress: share of the work done, in [0, 1].
      subject: whose: the folder of runs, the run and the epoch.
    """

    kind: ClassVar[JobKind] = CALIBRATION

    progress: MetricValue = 0.0
    subject: str = ""


@dataclass(frozen=True)
class _CalibrationJob(Job):
    """The job as it stood when it was read; `id` is "RUN:EPOCH"."""

    id: str
    name: str
    path: Path
    status: CalibrationStatus
    kind: JobKind = CALIBRATION


class _CalibrationStore(BaseJobStore[_CalibrationJob]):
    """The one job there is at a time, whatever its id."""

    def read(self, job_id: str) -> _CalibrationJob | None:
        try:
            status = CalibrationStatus.from_dict(read_json(create_calibration_job("").status_file))
        except (OSError, ValueError):
            return None
        return create_calibration_job(":".join(status.subject.rsplit(":", 2)[1:]), status)


_CALIBRATIONS = _CalibrationStore()


def create_calibration_job(job_id: str, status: CalibrationStatus | None = None) -> _CalibrationJob:
    name = f"setting what “{job_id.partition(':')[0]}” rejects"
    return _CalibrationJob(job_id, name, data_folder() / FOLDER, status or CalibrationStatus())


def read_calibration_job() -> _CalibrationJob | None:
    """Return the job that was started last; None if there is none, or it cannot be read."""
    return _CALIBRATIONS.read("")


def start_calibration(run_id: str, epoch: int) -> _CalibrationJob:
    """Begin the job for a run and epoch, unless one is at work: then that one, whosever it is.

    Nobody's permission is asked: whoever may look at a run may classify with it.

    Raises:
      RunError: the last job's process has not quite ended.
      StorageError: the data folder cannot be written.
    """
    now, job_id = time.time(), f"{run_id}:{epoch}"
    status = CalibrationStatus(queued=now, updated=now, subject=f"{runs_folder()}:{job_id}")
    busy = "The rejection threshold of another run is being computed: try again in a moment."
    return _CALIBRATIONS.launch_once(create_calibration_job(job_id, status), busy, action=None)


def wait_for_calibration(
    run_id: str, epoch: int, is_kept: Callable[[], bool], report: Callable[[float, str], None]
) -> str:
    """Have the job done, after those of others; what to say where it came to nothing, else "".

    Args:
      run_id: whose rejection.
      epoch: of its members.
      is_kept: whether what it computes lies on the disk already.
      report: told again and again which share is done, in [0, 1], and what is being done.

    Raises:
      RunError: no job can be begun here.
    """
    subject, starts = f"{runs_folder()}:{run_id}:{epoch}", 0
    while not is_kept():
        job = read_calibration_job()
        own = job is not None and job.status.subject == subject
        if job and job.active:
            message = job.message or _STARTING_MESSAGE
            report(*((job.status.share, message) if own else (0.0, WAITING_MESSAGE)))
        elif job and own and starts:
            return "" if job.state == "finished" else job.message
        else:
            report(0.0, _STARTING_MESSAGE)
            starts += start_calibration(run_id, epoch).status.subject == subject
        time.sleep(POLL_INTERVAL_S)
    return ""


def execute_calibration(job_id: str) -> None:
    """Do the queued job in this process."""
    _CALIBRATIONS.execute(job_id, _calibrate_run)


def calibrate_finished_run(run_id: str) -> None:
    """Begin the job for a run that has finished here, at the epoch that it is asked at.

    Not where others wait for this machine: then it begins when Classify is opened. What is amiss
    is said there, too: the run itself is done.
    """
    if os.environ.get(SWITCH_VARIABLE) == "0":
        return
    with contextlib.suppress(EnsembleError):
        if list_queued_jobs():
            return
        run = find_run(run_id)
        epochs = list_parameter_epochs(run.path)
        if run.state == "finished" and run.training_config and epochs and not run.is_placed:
            start_calibration(run_id, select_default_epoch(run, epochs))


def _calibrate_run(job: _CalibrationJob, status: StatusWriter[CalibrationStatus], stop: StopRequest) -> Outcome:
    report_progress = build_progress_callback(status, stop)
    run_id, _, epoch = job.id.partition(":")
    run = find_run(run_id)
    config = require_training_config(run)
    load_run_dataset(run)  # that it was trained on, or one sentence why not
    report_progress(0.0, "Opening the members.")
    from ensemble.recognition.rejection_threshold import calibrate_rejection
    from ensemble.runs.members import open_members

    calibrate_rejection(open_members(run_id, int(epoch)), config.dataset, config, report_progress)
    return Outcome("finished")
