"""Jobs in words: what they wait for, how far they are, how long it will take."""

import time
from collections.abc import Sequence

from ensemble.jobs.job import Job
from ensemble.jobs.queue import QueuedJob
from ensemble.jobs.status import JobStatus
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

# A worker that has said nothing for so long is worth a word; see SILENCE_SECONDS for its end.
_STALE_SECONDS = 30.0
_UNKNOWN_USER = "a visitor"  # who had not signed in


def _format_job_names(jobs: Sequence[Job]) -> str:
    """The first by what it is called, the others by their number: "my run and 2 more"."""
    more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
    return f"{format_run_name(jobs[0])}{more}" if jobs else ""


def describe_start_order(first: Sequence[Job]) -> str:
    """What a job that is launched now waits for: "Starts after my run."; "" for nobody."""
    return f"Starts after {_format_job_names(first)}." if first else ""


def describe_queue_wait(ahead: Sequence[Job], message: str = "") -> str:
    """What a queued job waits for.

    Args:
      message: what its worker says: who else has the machine, such as a run of another folder.
    """
    if not ahead:
        return message.rstrip(".") or "Starting"
    return f"Waiting for its turn, after {_format_job_names(ahead)}: jobs take turns on this machine"


def describe_queue_position(ahead: Sequence[Job]) -> str:
    """A queued job's place: "queued, 2 before it", or "queued, next"."""
    return f"queued, {len(ahead)} before it" if ahead else "queued, next"


def describe_silence(status: JobStatus) -> str:
    """ " · no news for 40 s" of a worker that has fallen silent, else ""."""
    quiet = time.time() - status.updated
    return f" · no news for {formats.format_duration(quiet)}" if quiet > _STALE_SECONDS else ""


def _format_time_left(status: JobStatus) -> str:
    """ " · 42 s left" as from now, "" where that is not known."""
    left = count_down_seconds_left(status)
    return "" if left is None else f" · {formats.format_duration(left)} left"


def count_down_seconds_left(status: JobStatus) -> float | None:
    """What is left now, of the time that was left at the last heartbeat; None if not known."""
    if status.seconds_left is None:
        return None
    return status.seconds_left - (time.time() - status.updated)


def describe_job_stage(job: Job, ahead: Sequence[Job], detail: str = "") -> str:
    status = job.status
    if job.state == "queued" and not (job.is_placed and job.message):
        return describe_queue_wait(ahead, job.message)
    if job.state in ("queued", "starting"):
        return (job.message or "Starting").rstrip(".")
    text = " · ".join(filter(None, (job.message.rstrip("."), detail))) or job.kind.title
    return text + _format_time_left(status) + describe_silence(status)


def describe_queued_job(job: QueuedJob, number: int) -> str:
    """In a list: "training · 40 % · 30 s left", "waits, 1 job before it", or what its worker says."""
    if job.state == "queued" and number:
        return f"queued, {formats.format_count(number, 'job')} before it"
    if job.state == "queued" and job.message:
        return job.message.rstrip(".")
    if job.state in ("queued", "starting"):
        return "starting"
    return f"{job.state} · {formats.format_progress(job.share)}{_format_time_left(job.status)}"


def format_user(name: str) -> str:
    return name or _UNKNOWN_USER


def format_local_time(seconds: float) -> str:
    """A time of this machine's clock, to the second: "2026-11-23 09:15:02"."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
