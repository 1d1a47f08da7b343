"""A job as a report tells of it: one on which nothing works here, whatever worked on it there."""

from dataclasses import replace
from typing import TypeVar

from ensemble.jobs.status import JobStatus
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH

AnyStatus = TypeVar("AnyStatus", bound=JobStatus)


def detach_worker(status: AnyStatus, cut: str) -> AnyStatus:
    """The status without a worker, and ended: else the queue would wait for it for ever."""
    now = replace(
        status,
        pid=None,
        pid_created=None,
        pid_ticks=None,
        host="",
        seconds_left=None,
        message=status.message[:MAX_NOTE_LENGTH],
    )
    return now if now.state in now.kind.ended_states else replace(now, state="stopped", message=cut)
