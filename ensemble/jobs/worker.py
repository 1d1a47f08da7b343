"""A worker: waits its turn, does a job of whatever kind, and writes down how it ended."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ensemble.jobs import slots
from ensemble.jobs.job import STOP_FILE, Job
from ensemble.jobs.outcome import Outcome, StopRequest, bugs_written_down, outcome_of
from ensemble.jobs.queue import ahead_of, hold, wait_for_turn
from ensemble.jobs.remote import inside
from ensemble.jobs.status import StatusWriter

NICE = 10

Report = Callable[[Any], None]
Begin = Callable[[StatusWriter[Any], StopRequest], Outcome]


def do(
    job: Job,
    begin: Begin,
    report: Report,
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
      stop: asked whether to stop, where the caller wants to know as well; see `stop_request`.
      devices: how many the job trains on; 0 for all.
      turn: whether it takes turns with others on this machine, where its kind does; a scheduler
        may have seen to that.

    Returns:
      The hold on its status, closed: its last words.

    Raises:
      RunError: another process is at it.
    """
    stop = stop or stop_request(job)
    with held(job) as status, stop:
        with bugs_written_down(job, status):
            outcome = outcome_of(
                job,
                lambda: (
                    in_turn(job, status, stop, report, begin, devices)
                    if turn
                    else at_once(status, stop, report, begin)
                ),
            )
        write_end(status, outcome, report)
    return status


@contextmanager
def held(job: Job) -> Iterator[StatusWriter[Any]]:
    """The right to be the job's worker, and the hold on its status, within this.

    Raises:
      RunError: another process is at it, or it was deleted.
    """
    inside.wait_until_alone(job)
    hand = hold(inside.folder_of(job), f"{job.kind.title} “{job.id}”")
    with hand, StatusWriter(inside.status_file_of(job), inside.first_words(job)) as status:
        yield status


def write_end(status: StatusWriter[Any], outcome: Outcome, report: Report) -> None:
    """Write down how a job ended."""
    status.update(state=outcome.state, message=outcome.message, seconds_left=None)
    report(status.status)


def stop_request(job: Job) -> StopRequest:
    """What asks this job to stop."""
    return StopRequest(inside.folder_of(job) / STOP_FILE)


def give_way() -> None:
    """Let the page and its browser go first on this machine; idle cores are used all the same."""
    if hasattr(os, "nice") and os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))


def at_once(status: StatusWriter[Any], stop: StopRequest, report: Report, begin: Begin) -> Outcome:
    """What `begin` comes to."""
    status.update(state="starting", message="")
    report(status.status)
    return begin(status, stop)


def in_turn(
    job: Job,
    status: StatusWriter[Any],
    stop: StopRequest,
    report: Report,
    begin: Begin,
    devices: int,
) -> Outcome:
    """What `begin` comes to, called once this machine is free for it; or a stop before that.

    A job that was given another place is followed there; in its task `begin` is called at once.
    """
    if job.placed and job.kind.one_task and not inside.is_inside(job):
        from ensemble.jobs.remote.follower import follow

        return follow(job, status, stop, report)
    if not job.kind.takes_turns or job.placed:
        with inside.on_this_node(job):
            return begin(status, stop)

    def waiting() -> None:
        first = next((one.name for one in ahead_of(job)), "another run")
        status.update(message=f"It waits its turn: {first} has this machine.")
        report(status.status)

    turn = wait_for_turn(job, stop, waiting, devices)
    if turn is None:
        return Outcome("stopped", "Stopped while it waited its turn.")
    with turn:
        slots.keep_to(turn)
        return at_once(status, stop, report, begin)
