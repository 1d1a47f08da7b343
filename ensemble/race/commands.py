"""Measuring this machine: started, watched and stopped like training, by files.

The race has the machine to itself, as training has: it takes its turn in the same queue.
"""

import time

from ensemble import datasets
from ensemble.access import Action, audit, check, limits, owners
from ensemble.errors import RunError
from ensemble.jobs import worker
from ensemble.jobs.folders import race_folder
from ensemble.jobs.job import request_stop
from ensemble.jobs.launch import start_worker
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import queueing
from ensemble.jobs.remote.record import place, placement_of
from ensemble.jobs.status import write_status
from ensemble.jobs.worker import Report
from ensemble.race.job import Job
from ensemble.race.settings import RaceConfig
from ensemble.race.status import RaceJob, RaceStatus, read_race_job


def usual_race() -> RaceConfig:
    """The default race: on MNIST where it is prepared, else on digits."""
    return RaceConfig(dataset="mnist" if datasets.is_prepared("mnist") else "digits")


def start_race(config: RaceConfig, placement: Placement | None = None) -> RaceJob:
    """Queue a race and start its worker process, which waits its turn.

    Args:
      config: the race.
      placement: where it is to run, if not on this machine: then that is what it measures.

    Raises:
      AccessError: whoever asks may launch nothing.
      RunError: a race is on already, or its folder cannot be written.
    """
    job = queue_race(config, placement)
    start_worker(job)
    return job


def queue_race(config: RaceConfig, placement: Placement | None = None) -> RaceJob:
    """Put a race into state `queued`, without a worker; for errors see `start_race`."""
    check(Action.LAUNCH)
    busy = "This machine is being measured already: let that end, or stop it."
    if (there := read_race_job()) and there.active:
        raise RunError(busy)
    now = time.time()
    status = RaceStatus(queued=now, updated=now, settings=config.as_dict())
    try:
        race_folder().mkdir(parents=True, exist_ok=True)
        with limits.launching(), queueing(race_folder(), busy, read_race_job):
            (race_folder() / "log.txt").unlink(missing_ok=True)
            owners.keep_owner(race_folder())
            place(race_folder(), placement)
            write_status(race_folder(), status)
            audit.write(Action.LAUNCH, "race")
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
    return job is not None and request_stop(job)


def work_race(report: Report = lambda status: None) -> RaceJob:
    """Do the queued race in this process, to its end; see `jobs.worker.do`.

    Args:
      report: called with each new status.
    """
    queued = read_race_job()
    if queued is None:
        raise RunError("Nobody asked to measure this machine.")
    config = RaceConfig.from_disk(queued.status.settings)
    # Read by the process that races: a task elsewhere, where it is placed.
    on = placement.on if (placement := placement_of(queued.path)) else ""
    held = worker.do(
        queued, lambda status, stop: Job(config, status, stop, report, on).work(), report
    )
    return RaceJob(held.status)


def work_queued(job_id: str) -> None:
    """The worker process's part: do the queued race, of which there is one at a time."""
    work_race()
