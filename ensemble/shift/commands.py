"""Measuring a run under shift: started, watched and stopped like training, by files.

The measuring has the machine to itself, as training has: it takes its turn at the same lock.
"""

import time
from collections.abc import Callable

from ensemble.errors import ConfigError, RunError
from ensemble.jobs.launch import STOP_FILE, start_process
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import Place, hold
from ensemble.jobs.status import Writer, write
from ensemble.jobs.worker import bugs_written_down, in_turn, outcome_of
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.store import Run, find
from ensemble.shift.results import Stress, last_tick, read_stress
from ensemble.shift.status import StressStatus, is_measured, read_stress_status, stress_folder

Report = Callable[[StressStatus], None]


def start_stress(run_id: str, limit: int | None = None) -> Stress:
    """Have a process of its own measure a run at its last checkpoint; it waits its turn.

    Args:
      run_id: the run.
      limit: only the first so many test images; all by default.

    Raises:
      RunError: there is no such run, no checkpoint, or a job is at it already.
      ConfigError: a limit below 1.
    """
    run = queue_stress(run_id, limit)
    start_process(stress_folder(run.path) / "log.txt", "work-stress", run.id)
    return read_stress(run_id)


def queue_stress(run_id: str, limit: int | None = None) -> Run:
    """Put a run's job into state `queued`; for arguments and errors see `start_stress`."""
    run = find(run_id)
    if limit is not None and limit < 1:
        raise ConfigError(f"limit is {limit}: it has to be a whole number from 1 up.")
    if last_tick(run.path) is None:
        raise RunError(
            f"The run “{run_id}” has no checkpoint yet: one is kept at the end of its first epoch."
        )
    if is_measured(run.path):
        raise RunError(f"The run “{run_id}” is being measured already.")
    folder = stress_folder(run.path)
    folder.mkdir(exist_ok=True)
    (folder / STOP_FILE).unlink(missing_ok=True)
    now = time.time()
    write(folder, StressStatus(queued=now, updated=now, limit=limit))
    return run


def stop_stress(run_id: str) -> None:
    """Ask a run's job to stop; what it has measured is kept.

    Raises:
      RunError: no job is at it.
    """
    run = find(run_id)
    if not is_measured(run.path):
        raise RunError(f"The run “{run_id}” is not being measured: there is nothing to stop.")
    (stress_folder(run.path) / STOP_FILE).touch()


def work_stress(run_id: str, report: Report = lambda status: None) -> Stress:
    """Do a queued job in this process, to its end.

    Args:
      run_id: the run.
      report: called with each new status.

    Whatever goes wrong is written into the job's status; a bug is raised as well.
    """
    run = find(run_id)
    folder = stress_folder(run.path)
    queued = read_stress_status(run.path)
    if queued is None:
        raise RunError(f"Nobody asked to measure the run “{run_id}”.")
    stop = StopRequest(folder / STOP_FILE)
    with stop, hold(folder, f"The measuring of “{run.id}”"), Writer(folder, queued) as status:
        with bugs_written_down(status, "the measuring", "what was measured so far is kept"):
            outcome = outcome_of(
                lambda: in_turn(
                    Place.to_measure(run.id, queued), status, stop, report,
                    lambda: _measure(run, status, stop, report),
                ),
                "start it again",
            )  # fmt: skip
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return read_stress(run_id)


def _measure(run: Run, status: Writer[StressStatus], stop: StopRequest, report: Report) -> Outcome:
    prepare_jax()
    from ensemble.shift.job import Job

    return Job(run, status, stop, report).work()
