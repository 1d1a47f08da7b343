"""A run's stress test: its kind of job, its status, and starting, stopping and doing it.

The job takes its turn in the queue of the machine as training does. Its files are in the run's
folder `stress`: status.json, results.json and, while it is asked to stop, `stop`.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from ensemble.access import usage_limits
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import worker
from ensemble.jobs.folders import change_job_files, require_locks
from ensemble.jobs.job import Job, request_job_stop
from ensemble.jobs.kinds import ONLY_TASK_ENTRY, JobKind
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.job_tasks import set_placement
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.jobs.store import BaseJobStore
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.checkpoints.folders import find_last_tick
from ensemble.runs.epoch_choice import is_chosen_on_validation
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.shift.results import STRESS_FOLDER, StressResults, read_stress_results, stress_folder
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count, MetricValue, NumberRange

STRESS = JobKind(
    name="stress",
    title="Measuring under shift",
    noun="the stress test",
    working_state="measuring",
    command="work-stress",
    subfolder=STRESS_FOLDER,
    remedy="start it again",
    kept_clause="what was measured so far is kept",
    memory_advice="limit it to fewer test images, or close other programs",
    work_entry="ensemble.shift.stress_job:work_stress",
    tasks_entry=ONLY_TASK_ENTRY,
)


@dataclass(frozen=True)
class StressStatus(JobStatus):
    """What the job's status.json says.

    Attributes:
      progress: the share that is done, in [0, 1].
      epoch: epochs that the measured members had done; None before their checkpoint is read.
      limit: only the first so many test images; None for all.
      steps: steps of all kinds, and sets of OOD images, that are done and written.
      total: how many there are.
    """

    kind: ClassVar[JobKind] = STRESS

    progress: MetricValue = 0.0
    epoch: Count | None = None
    limit: Annotated[int, NumberRange(1, 2**53)] | None = None
    steps: Count = 0
    total: Count = 0

    @property
    def job_request(self) -> dict[str, Any]:
        """Of how many images."""
        return {"limit": self.limit}


@dataclass(frozen=True)
class StressJob(Job):
    """A run's stress job as it stood when it was read; `id` and `name` are the run's."""

    id: str
    name: str
    path: Path
    status: StressStatus
    kind: JobKind = STRESS


def read_stress_status(run_folder: Path) -> StressStatus | None:
    """The status of the run's job; None where there was none, or it cannot be read."""
    try:
        return StressStatus.from_dict(read_json(stress_folder(run_folder) / "status.json"))
    except (OSError, ValueError):
        return None


class _StressStore(BaseJobStore[StressJob]):
    def read(self, job_id: str) -> StressJob | None:
        return read_stress_job(find_run(job_id))


_STRESS_JOBS = _StressStore()


def read_stress_job(run: Run) -> StressJob | None:
    """Return the run's job; None if there is none, or it cannot be read."""
    status = read_stress_status(run.path)
    return StressJob(run.id, run.name, stress_folder(run.path), status) if status else None


@dataclass(frozen=True)
class StressState:
    """A run's stress job and what it has found, as they stood when they were read.

    Attributes:
      run: the run.
      job: the job; None where there has been none.
      results: what it has found; None where there is nothing yet.
      last_tick: the number of the run's last checkpoint; None where it has none.
    """

    run: Run
    job: StressJob | None
    results: StressResults | None
    last_tick: int | None

    @property
    def status(self) -> StressStatus | None:
        """What the job last wrote of itself; None where there has been none."""
        return self.job.status if self.job else None

    @property
    def active(self) -> bool:
        """Whether a job is at work or waits its turn."""
        return self.job is not None and self.job.active

    @property
    def state(self) -> str:
        """The job's state: "none" before the first, "failed" if it died."""
        return self.job.state if self.job else "none"

    @property
    def message(self) -> str:
        """One or two sentences on the state, possibly empty."""
        return self.job.message if self.job else ""

    @property
    def is_outdated(self) -> bool:
        """Whether the results are of other members than those that would be measured now.

        Those are of the epoch chosen on validation images, else of the run's last checkpoint.
        """
        if self.results is None:
            return False
        if not self.results.steps_after and is_chosen_on_validation(self.run, self.results.epoch):
            return False
        return self.results.tick != self.last_tick


def read_stress(run_id: str) -> StressState:
    """How a run's job stands, and what it has found.

    Raises:
      UnknownRunError: there is no such run.
    """
    run = find_run(run_id)
    job = read_stress_job(run)  # first: one that has ended has all its results
    results, tick = read_stress_results(run.path), find_last_tick(run.path)
    if run.origin and results:
        tick = results.tick  # It came without checkpoints, and goes on no more.
    return StressState(run, job, results, tick)


def start_stress(run_id: str, limit: int | None = None, placement: Placement | None = None) -> StressState:
    """Queue the measuring of a run's last checkpoint and start its worker process.

    Args:
      run_id: the run.
      limit: only the first so many test images; all by default.
      placement: where it is measured, if not on this machine.

    Raises:
      AccessError: the run, to which its figures belong, is somebody else's.
      RunError: there is no such run, no checkpoint, or a job is at it already; or its folder
        cannot be written.
      ConfigError: a limit below 1.
    """
    start_worker(queue_stress(run_id, limit, placement))
    return read_stress(run_id)


def queue_stress(run_id: str, limit: int | None = None, placement: Placement | None = None) -> StressJob:
    """Put a run's job into state `queued`, without a worker; otherwise as `start_stress`."""
    run = find_run(run_id)
    if limit is not None and limit < 1:
        raise ConfigError(f"limit is {limit}: it has to be a whole number from 1 up.")
    if run.origin:
        raise RunError(
            f"The run “{run_id}” was imported from a report, which holds no checkpoints: "
            "measure it where it was trained, and save the report again."
        )
    if find_last_tick(run.path) is None:
        raise RunError(f"The run “{run_id}” has no checkpoint yet: one is kept at the end of its first epoch.")
    busy = f"The run “{run_id}” is being measured already."
    if (there := read_stress_job(run)) and there.active and not there.unfollowed_work:
        raise RunError(busy)
    folder = stress_folder(run.path)
    with usage_limits.limit_launches():
        with change_job_files(run.path):
            try:
                require_locks(run.path, "Nothing was begun")
                folder.mkdir(exist_ok=True)
            except FileNotFoundError:
                find_run(run_id)  # It says that the run has been deleted meanwhile.
                raise
        now = time.time()
        status = StressStatus(queued=now, updated=now, limit=limit)
        with change_job_files(run.path, action=None):
            _STRESS_JOBS.queue_job(
                StressJob(run.id, run.name, folder, status), busy, lambda: set_placement(folder, placement, there)
            )
    return _require_stress_job(run)


def stop_stress(run_id: str) -> bool:
    """Ask a run's job to stop; what it has measured stays. Returns whether there is one."""
    job = read_stress_job(find_run(run_id))
    return job is not None and request_job_stop(job)


def work_stress(run_id: str, report: ReportStatus = lambda status: None) -> StressState:
    """Do a queued job in this process, to its end; see `jobs.worker.execute_job`.

    Args:
      run_id: the run.
      report: called with each new status.
    """
    run = find_run(run_id)
    worker.execute_job(
        _require_stress_job(run),
        lambda status, stop: _run_stress_worker(run, status, stop, report),
        report,
        devices=require_training_config(run).devices,
    )
    return read_stress(run_id)


def _require_stress_job(run: Run) -> StressJob:
    if job := read_stress_job(run):
        return job
    raise RunError(f"Nobody asked to measure the run “{run.id}”.")


def _run_stress_worker(
    run: Run, status: StatusWriter[StressStatus], stop: StopRequest, report: ReportStatus
) -> Outcome:
    prepare_jax()
    from ensemble.shift.stress_worker import StressWorker

    return StressWorker(run, status, stop, report).work()
