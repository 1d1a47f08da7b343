"""How much one person, or all together, may ask of a server that several people share.

On a machine of one's own nothing is limited but the folder of runs, where its size is set.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from ensemble.access import actions, audit_log
from ensemble.access.people import LOCAL, Person, Role, current_person
from ensemble.access.rate_limiter import RateLimiter
from ensemble.errors import AccessError, ConfigError
from ensemble.storage.folders import count_folder_bytes, runs_folder

JOBS_VARIABLE, UPLOADS_VARIABLE, RUNS_GB_VARIABLE = (
    "ENSEMBLE_MOST_JOBS",
    "ENSEMBLE_UPLOADS_PER_MINUTE",
    "ENSEMBLE_RUNS_GB",
)
UPLOADS_GB_VARIABLE = "ENSEMBLE_UPLOADS_GB"
_DEFAULT_JOBS, _DEFAULT_UPLOADS, _DEFAULT_UPLOADS_GB = 3, 10, 2.0
GB, MB = 10**9, 10**6
_NEARLY_FULL_SHARE = 0.9  # so full that it is said
_MEASUREMENT_TTL_S = 30.0  # that a folder's size is believed


@dataclass(frozen=True)
class DiskQuota:
    """How full the folder of runs is.

    Attributes:
      used: bytes that lie in it.
      most: bytes that may.
    """

    used: int
    most: int

    @property
    def is_full(self) -> bool:
        """Whether nothing new may be made."""
        return self.used >= self.most

    @property
    def is_nearly_full(self) -> bool:
        """Whether it is worth a word."""
        return self.used >= _NEARLY_FULL_SHARE * self.most

    def __str__(self) -> str:
        end = "delete runs on Runs, or ask whoever runs this server for more"
        is_full = " and is full" if self.is_full else ""
        return f"The folder of runs holds {self.used / GB:.1f} of {self.most / GB:.1f} GB{is_full}: {end}."


@dataclass
class _MeasuredUsage:
    """The size of the folder of runs, as it was looked at."""

    used: int = 0
    at: float = -math.inf
    lock: threading.Lock = field(default_factory=threading.Lock)


_uploads = RateLimiter()
_person_locks = [threading.RLock() for _ in range(64)]  # those of one person's requests in one of them
_measured_usage = _MeasuredUsage()
_job_counter: Callable[[str], int] | None = None  # set by whoever launches jobs


def set_job_counter(count: Callable[[str], int]) -> None:
    """Have somebody's jobs that wait or work counted by `count`, given their name."""
    global _job_counter
    _job_counter = count


@contextlib.contextmanager
def limit_launches() -> Iterator[None]:
    """Within this whoever asks puts another job into the queue, if they may have one more.

    What one person asks for at once, in many tabs, is looked at one after the other.

    Raises:
      AccessError: they have enough of them, or no more may be kept; it says what to do.
    """
    _check_disk_quota()
    person = current_person()
    if person == LOCAL or person.role >= Role.ADMIN:
        yield
        return
    with _person_locks[hash(person.name) % len(_person_locks)]:
        most = _read_number_variable(JOBS_VARIABLE, _DEFAULT_JOBS)
        if _job_counter and _job_counter(person.name) >= most:
            jobs = "job" if most == 1 else "jobs"
            raise AccessError(
                f"You have {most:,.0f} {jobs} queued or running, the limit for one person: "
                "wait until one has ended, or stop one."
            )
        yield


def check_pending_uploads(count: Callable[[str], int]) -> None:
    """Refuse another upload where whoever asks has as many being read as they may have jobs.

    Args:
      count: those of somebody, given their name.

    Raises:
      AccessError: it says what to do.
    """
    person = current_person()
    if person == LOCAL or person.role >= Role.ADMIN:
        return
    if count(person.name) >= (most := _read_number_variable(JOBS_VARIABLE, _DEFAULT_JOBS)):
        uploads = "upload that is" if most == 1 else "uploads that are"
        raise AccessError(
            f"You have {most:,.0f} {uploads} still being read, the limit for one person: wait "
            "until one has been read, or stop one."
        )


@contextlib.contextmanager
def limit_imports(nbytes: int = 0) -> Iterator[None]:
    """Within this whoever asks takes a run in that was made elsewhere, if there is room.

    Args:
      nbytes: that it takes on the disk. They count from now on, for the folder is not measured
        again between one run of a file and the next.

    Raises:
      AccessError: there is none.
    """
    _check_disk_quota()
    if disk_quota := measure_disk_quota():
        with _measured_usage.lock:
            if _measured_usage.used + nbytes > disk_quota.most:
                raise AccessError(
                    f"This run takes {nbytes / MB:,.1f} MB, and there is not so much room. "
                    f"{replace(disk_quota, used=_measured_usage.used)}"
                )
            _measured_usage.used += nbytes
    try:
        yield
    except BaseException:
        invalidate_disk_quota()  # What was begun is removed.
        raise
    if not nbytes:
        invalidate_disk_quota()  # Nobody knew how much it would take.


def _check_disk_quota() -> None:
    """Refuse what would be kept where the folder of runs is full.

    Raises:
      AccessError: it is.
    """
    if (disk_quota := measure_disk_quota()) and disk_quota.is_full:
        raise AccessError(str(disk_quota))


def measure_disk_quota() -> DiskQuota | None:
    """How full the folder of runs is, as of half a minute ago; None if nobody set a size.

    Raises:
      ConfigError: the size that is set is not a number.
    """
    most = _read_number_variable(RUNS_GB_VARIABLE, 0.0)
    if not most:
        return None
    with _measured_usage.lock:
        if time.monotonic() - _measured_usage.at > _MEASUREMENT_TTL_S:
            _measured_usage.used, _measured_usage.at = (count_folder_bytes(runs_folder()), time.monotonic())
        return DiskQuota(_measured_usage.used, int(most * GB))


def invalidate_disk_quota() -> None:
    """Have the folder looked at again: something was deleted."""
    _measured_usage.at = -math.inf


def register_upload(person: Person) -> bool:
    """Count an upload of somebody's, and write it down; False where it is one too many."""
    most = math.inf if person.role >= Role.ADMIN else _read_number_variable(UPLOADS_VARIABLE, _DEFAULT_UPLOADS)
    counted = _uploads.try_count(person.name, most)
    audit_log.write_audit_entry(actions.UPLOAD_EVENT if counted else actions.REFUSAL_EVENT, "a file", person)
    return counted


def upload_bytes_per_person(person: Person) -> float:
    """How many bytes of uploads the server holds of somebody at once; an admin may have more."""
    return (
        math.inf if person.role >= Role.ADMIN else GB * _read_number_variable(UPLOADS_GB_VARIABLE, _DEFAULT_UPLOADS_GB)
    )


def _read_number_variable(name: str, usual: float) -> float:
    """What an environment variable sets, at least 0.

    Raises:
      ConfigError: it is no such number.
    """
    text = os.environ.get(name) or str(usual)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e9:
        raise ConfigError(f"{name} is {text:.40}: give a number of at least 0.")
    return number
