"""Measuring this machine: started, watched and stopped like training, by files.

The race has the machine to itself, as training has: it takes its turn at the same lock.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from ensemble import datasets
from ensemble.errors import RunError
from ensemble.jobs import status as jobs_status
from ensemble.jobs.launch import STOP_FILE, start_process
from ensemble.jobs.outcome import StopRequest
from ensemble.jobs.queue import Place, hold
from ensemble.jobs.status import Writer
from ensemble.jobs.worker import bugs_written_down, in_turn, outcome_of
from ensemble.race.job import Job
from ensemble.race.settings import RaceConfig
from ensemble.race.status import RaceJob, RaceStatus, race_folder, read_race_job

Report = Callable[[RaceStatus], None]


def usual_race() -> RaceConfig:
    """The race that says most here: on MNIST where it is prepared, else on digits."""
    return RaceConfig(dataset="mnist" if datasets.is_prepared("mnist") else "digits")


def start_race(config: RaceConfig) -> RaceJob:
    """Have a process of its own measure this machine; it waits its turn.

    Raises:
      RunError: a race is on already, or its folder cannot be written.
    """
    job = queue_race(config)
    start_process(race_folder() / "log.txt", "work-race")
    return job


def queue_race(config: RaceConfig) -> RaceJob:
    """Put a race into state `queued`; for errors see `start_race`."""
    if (there := read_race_job()) and there.active:
        raise RunError("This machine is being measured already: let that end, or stop it.")
    now = time.time()
    status = RaceStatus(queued=now, updated=now, settings=config.as_dict())
    try:
        race_folder().mkdir(parents=True, exist_ok=True)
        (race_folder() / STOP_FILE).unlink(missing_ok=True)
        (race_folder() / "log.txt").unlink(missing_ok=True)
        jobs_status.write(race_folder(), status)
    except OSError as error:
        raise RunError(
            f"The measurements cannot be kept in {race_folder()} ({error.strerror}): free some "
            "room, or point ENSEMBLE_DATA at a folder that can be written."
        ) from error
    return RaceJob(status)


def stop_race() -> None:
    """Ask the race to stop; it does within a second.

    Raises:
      RunError: none is on.
    """
    job = read_race_job()
    if job is None or not job.active:
        raise RunError("This machine is not being measured: there is nothing to stop.")
    (race_folder() / STOP_FILE).touch()


def race_stops() -> bool:
    """Whether somebody asked the race to stop."""
    return (race_folder() / STOP_FILE).exists()


def work_race(report: Report = lambda status: None) -> RaceJob:
    """Do the queued race in this process, to its end.

    Args:
      report: called with each new status.

    Whatever goes wrong is written into the race's status; a bug is raised as well.
    """
    queued = read_race_job()
    if queued is None:
        raise RunError("Nobody asked to measure this machine.")
    stop = StopRequest(race_folder() / STOP_FILE)
    hand = hold(race_folder(), "The measuring of this machine")
    with stop, hand, Writer(race_folder(), queued.status) as status:
        with bugs_written_down(status, "the measuring", "what earlier races found is kept"):
            job = Job(RaceConfig.from_dict(queued.status.settings), status, stop, report)
            outcome = outcome_of(
                lambda: in_turn(Place.to_race(queued), status, stop, report, job.work),
                "start it again",
            )
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return replace(queued, status=status.status)
