"""How much one person, or all together, may ask of a server that several people share.

On a machine of one's own nothing is limited but the folder of runs, where its size is set.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ensemble.access import actions, audit
from ensemble.access.people import LOCAL, Person, Role, acting
from ensemble.access.per_minute import PerMinute
from ensemble.errors import AccessError, ConfigError
from ensemble.storage.folders import folder_bytes, runs_folder

JOBS, UPLOADS, RUNS_GB = "ENSEMBLE_MOST_JOBS", "ENSEMBLE_UPLOADS_PER_MINUTE", "ENSEMBLE_RUNS_GB"
UPLOADS_GB = "ENSEMBLE_UPLOADS_GB"
USUAL_JOBS, USUAL_UPLOADS, USUAL_UPLOADS_GB = 3, 10, 2.0
GB = 10**9
NEARLY = 0.9  # so full that it is said
LOOK_SECONDS = 30.0  # that a folder's size is believed


@dataclass(frozen=True)
class Room:
    """How full the folder of runs is.

    Attributes:
      used: bytes that lie in it.
      most: bytes that may.
    """

    used: int
    most: int

    @property
    def full(self) -> bool:
        """Whether nothing new may be made."""
        return self.used >= self.most

    @property
    def nearly(self) -> bool:
        """Whether it is worth a word."""
        return self.used >= NEARLY * self.most

    def __str__(self) -> str:
        end = "delete runs on Runs, or ask whoever runs this server for more"
        is_full = " and is full" if self.full else ""
        return (
            f"The folder of runs holds {self.used / GB:.1f} of {self.most / GB:.1f} GB{is_full}: "
            f"{end}."
        )


@dataclass
class _Seen:
    """The size of the folder of runs, as it was looked at."""

    used: int = 0
    at: float = -math.inf
    lock: threading.Lock = field(default_factory=threading.Lock)


_uploads = PerMinute()
_asking = [threading.RLock() for _ in range(64)]  # those of one person's requests in one of them
_seen = _Seen()
_count: Callable[[str], int] | None = None  # set by whoever launches jobs


def count_jobs_by(count: Callable[[str], int]) -> None:
    """Have somebody's jobs that wait or work counted by `count`, given their name."""
    global _count
    _count = count


@contextlib.contextmanager
def launching() -> Iterator[None]:
    """Within this whoever asks puts another job into the queue, if they may have one more.

    What one person asks for at once, in many tabs, is looked at one after the other.

    Raises:
      AccessError: they have enough of them, or no more may be kept; it says what to do.
    """
    check_room()
    person = acting()
    if person == LOCAL or person.role >= Role.ADMIN:
        yield
        return
    with _asking[hash(person.name) % len(_asking)]:
        most = number(JOBS, USUAL_JOBS)
        if _count and _count(person.name) >= most:
            jobs = "job" if most == 1 else "jobs"
            raise AccessError(
                f"You have {most:,.0f} {jobs} waiting or working, as many as one person may here: "
                "wait until one has ended, or stop one."
            )
        yield


def check_reading(count: Callable[[str], int]) -> None:
    """Refuse another upload where whoever asks has as many being read as they may have jobs.

    Args:
      count: those of somebody, given their name.

    Raises:
      AccessError: it says what to do.
    """
    person = acting()
    if person == LOCAL or person.role >= Role.ADMIN:
        return
    if count(person.name) >= (most := number(JOBS, USUAL_JOBS)):
        uploads = "upload that is" if most == 1 else "uploads that are"
        raise AccessError(
            f"You have {most:,.0f} {uploads} still being read, as many as one person may here: "
            "wait until one is, or stop one."
        )


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Within this whoever asks takes a run in that was made elsewhere, if there is room.

    Raises:
      AccessError: there is none.
    """
    check_room()
    yield


def check_room() -> None:
    """Refuse what would be kept where the folder of runs is full.

    Raises:
      AccessError: it is.
    """
    if (found := room()) and found.full:
        raise AccessError(str(found))


def room() -> Room | None:
    """How full the folder of runs is, as of half a minute ago; None where nobody set a size.

    Raises:
      ConfigError: the size that is set is no number.
    """
    most = number(RUNS_GB, 0.0)
    if not most:
        return None
    with _seen.lock:
        if time.monotonic() - _seen.at > LOOK_SECONDS:
            _seen.used, _seen.at = folder_bytes(runs_folder()), time.monotonic()
        return Room(_seen.used, int(most * GB))


def forget_room() -> None:
    """Have the folder looked at anew: something was deleted."""
    _seen.at = -math.inf


def may_upload(person: Person) -> bool:
    """Count an upload of somebody's, and write it down; False where it is one too many."""
    most = math.inf if person.role >= Role.ADMIN else number(UPLOADS, USUAL_UPLOADS)
    counted = _uploads.take(person.name, most)
    audit.write(actions.UPLOADED if counted else actions.REFUSED, "a file", person)
    return counted


def upload_bytes(person: Person) -> float:
    """How many bytes of uploads the server holds of somebody at once; an admin may have more."""
    return math.inf if person.role >= Role.ADMIN else GB * number(UPLOADS_GB, USUAL_UPLOADS_GB)


def number(name: str, usual: float) -> float:
    """What an environment variable sets, at least 0.

    Raises:
      ConfigError: it is no such number.
    """
    said = os.environ.get(name) or str(usual)
    try:
        found = float(said)
    except ValueError:
        found = math.nan
    if not 0 <= found < 1e9:
        raise ConfigError(f"{name} is {said:.40}: give a number from 0 on.")
    return found
