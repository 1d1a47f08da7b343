"""Measuring a run under shift: started, watched and stopped like training, by files.

The measuring has the machine to itself, as training has: it takes its turn in the same queue.
"""

import time

from ensemble.access import usage_limits
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import worker
from ensemble.jobs.folders import change_job_files, require_locks
from ensemble.jobs.job import request_job_stop
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import prepare_requeue
from ensemble.jobs.remote.task_record import set_placement
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.checkpoints.folders import find_last_tick
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.shift.results import StressState, read_stress, read_stress_job
from ensemble.shift.status import StressJob, StressStatus, stress_folder


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
        # It may have been deleted meanwhile, or two asked for the same.
        with (
            change_job_files(run.path, action=None),
            prepare_requeue(folder, busy, lambda: read_stress_job(find_run(run_id))),
        ):
            set_placement(folder, placement)
            now = time.time()
            write_status(folder, StressStatus(queued=now, updated=now, limit=limit))
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
