"""A worker: waits in the queue, does a job of whatever kind, and writes down how it ended."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ensemble.jobs import slots
from ensemble.jobs.job import STOP_FILE, Job
from ensemble.jobs.outcome import Outcome, StopRequest, record_unexpected_error, run_to_outcome
from ensemble.jobs.queue import acquire_worker_lock, describe_turn_wait, wait_for_turn
from ensemble.jobs.remote import task_process
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker_death import CrashRecord

_NICENESS = 10

ReportStatus = Callable[[Any], None]
_BeginWork = Callable[[StatusWriter[Any], StopRequest], Outcome]


def execute_job(
    job: Job,
    begin: _BeginWork,
    report: ReportStatus,
    stop: StopRequest | None = None,
    devices: int = 0,
    turn: bool = True,
) -> StatusWriter[Any]:
    """Bring a queued job to its end in this process.

    Whatever goes wrong is written into the job's status; a bug is raised as well, after that,
    so that its traceback lands in the log.

    Args:
      job: a job in state `queued`.
      begin: the work, called once it is this job's turn. It imports JAX itself: who waits
        needs none, and JAX reads its settings when it starts.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well; see
        `create_stop_request`.
      devices: how many the job trains on; 0 for all.
      turn: whether it takes turns with others on this machine, where its kind does; a scheduler
        may have seen to that.

    Returns:
      The hold on its status, closed: its last words.

    Raises:
      RunError: another process is working on it.
    """
    stop = stop or create_stop_request(job)
    with hold_job(job) as status, stop:
        with record_unexpected_error(job, status):
            outcome = run_to_outcome(
                job,
                lambda: (
                    _begin_in_turn(job, status, stop=stop, report=report, begin=begin, devices=devices)
                    if turn
                    else _begin_at_once(status, stop, report, begin)
                ),
            )
        write_job_end(status, outcome, report)
    return status


@contextmanager
def hold_job(job: Job) -> Iterator[StatusWriter[Any]]:
    """The right to be the job's worker, and the hold on its status, within this.

    Raises:
      RunError: another process is working on it, or it was deleted.
    """
    task_process.wait_for_other_task(job)
    hand = acquire_worker_lock(task_process.locate_worker_folder(job), f"{job.kind.title} “{job.id}”")
    with (
        hand,
        CrashRecord(task_process.locate_worker_folder(job), job.kind, job.status.share),
        StatusWriter(task_process.locate_status_file(job), task_process.build_first_status(job)) as status,
    ):
        yield status


def write_job_end(status: StatusWriter[Any], outcome: Outcome, report: ReportStatus) -> None:
    """Write down how a job ended."""
    fault = {"machine_fault": True} if outcome.machine_fault else {}
    status.update(state=outcome.state, message=outcome.message, seconds_left=None, **fault)
    report(status.status)


def create_stop_request(job: Job) -> StopRequest:
    return StopRequest(task_process.locate_worker_folder(job) / STOP_FILE)


def lower_priority() -> None:
    """Let the page and its browser go first on this machine; idle cores are used all the same."""
    if hasattr(os, "nice") and os.nice(0) < _NICENESS:
        os.nice(_NICENESS - os.nice(0))


def _begin_at_once(status: StatusWriter[Any], stop: StopRequest, report: ReportStatus, begin: _BeginWork) -> Outcome:
    """What `begin` comes to."""
    status.update(state="starting", message="")
    report(status.status)
    return begin(status, stop)


def _begin_in_turn(
    job: Job, status: StatusWriter[Any], stop: StopRequest, report: ReportStatus, begin: _BeginWork, devices: int
) -> Outcome:
    """What `begin` comes to, called once this machine is free for it; or a stop before that.

    A job that was given another place is followed there; in its task `begin` is called at once.
    """
    if job.is_placed and job.kind.one_task and not task_process.is_inside_task(job):
        from ensemble.jobs.remote.follower import follow_placed_job

        return follow_placed_job(job, status, stop, report)
    if not job.kind.takes_turns or job.is_placed:
        with task_process.name_node_in_errors(job):
            return begin(status, stop)

    def report_waiting() -> None:
        message = describe_turn_wait(job)
        if message != status.status.message:
            status.update(message=message)
            report(status.status)

    turn = wait_for_turn(job, stop, report_waiting, devices)
    if turn is None:
        return Outcome("stopped", "Stopped while queued.")
    with turn:
        slots.restrict_to_slots(turn)
        return _begin_at_once(status, stop, report, begin)
