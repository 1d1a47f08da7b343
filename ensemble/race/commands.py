"""Measuring this machine: started, watched and stopped like training, by files.

The race has the machine to itself, as training has: it takes its turn in the same queue.
"""

import time

from ensemble import datasets
from ensemble.access import Action, audit_log, check_permission, owners, usage_limits
from ensemble.errors import RunError
from ensemble.jobs import worker
from ensemble.jobs.folders import race_folder
from ensemble.jobs.job import request_job_stop
from ensemble.jobs.launch import start_worker
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import prepare_requeue
from ensemble.jobs.remote.task_record import find_placement, set_placement
from ensemble.jobs.status import write_status
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_environment import check_jax_environment
from ensemble.race.race_runner import RaceRunner
from ensemble.race.settings import RaceConfig
from ensemble.race.status import RaceJob, RaceStatus, read_race_job


def build_default_race() -> RaceConfig:
    """The default race: on MNIST where it is prepared, else on digits."""
    return RaceConfig(dataset="mnist" if datasets.is_dataset_prepared("mnist") else "digits")


def start_race(config: RaceConfig, placement: Placement | None = None) -> RaceJob:
    """Queue a race and start its worker process, which waits its turn.

    Args:
      config: the race.
      placement: where it is to run, if not on this machine: then that is what it measures.

    Raises:
      AccessError: whoever asks may launch nothing.
      ConfigError: JAX cannot start with what the environment says.
      RunError: a race is on already, or its folder cannot be written.
    """
    job = queue_race(config, placement)
    start_worker(job)
    return job


def queue_race(config: RaceConfig, placement: Placement | None = None) -> RaceJob:
    """Put a race into state `queued`, without a worker; for errors see `start_race`."""
    check_permission(Action.LAUNCH)
    if placement is None:
        check_jax_environment()  # each of its processes would end by it
    busy = "This machine is being measured already: let that end, or stop it."
    if (there := read_race_job()) and there.active and not there.unfollowed_work:
        raise RunError(busy)
    now = time.time()
    status = RaceStatus(queued=now, updated=now, settings=config.as_dict())
    try:
        race_folder().mkdir(parents=True, exist_ok=True)
        with usage_limits.limit_launches(), prepare_requeue(race_folder(), busy, read_race_job):
            (race_folder() / "log.txt").unlink(missing_ok=True)
            owners.write_owner(race_folder())
            set_placement(race_folder(), placement)
            write_status(race_folder(), status)
            audit_log.write_audit_entry(Action.LAUNCH, "race")
    except OSError as error:
        raise RunError(
            f"The measurements cannot be kept in {race_folder()} ({error.strerror}): free some "
            "room, or point ENSEMBLE_DATA at a folder that can be written."
        ) from error
    return RaceJob(status)


def stop_race() -> bool:
    """Ask the race to stop, within a second; returns whether there is one.

    Raises:
      AccessError: it is somebody else's.
    """
    job = read_race_job()
    return job is not None and request_job_stop(job)


def run_race_worker(report: ReportStatus = lambda status: None) -> RaceJob:
    """Do the queued race in this process, to its end; see `jobs.worker.execute_job`.

    Args:
      report: called with each new status.
    """
    queued = read_race_job()
    if queued is None:
        raise RunError("Nobody asked to measure this machine.")
    config = RaceConfig.from_disk(queued.status.settings)
    # Read by the process that races: a task elsewhere, where it is placed.
    on = placement.on if (placement := find_placement(queued.path)) else ""
    held = worker.execute_job(queued, lambda status, stop: RaceRunner(config, status, stop, report, on).run(), report)
    return RaceJob(held.status)


def run_queued_race(job_id: str) -> None:
    """The worker process's part: do the queued race, of which there is one at a time."""
    run_race_worker()
