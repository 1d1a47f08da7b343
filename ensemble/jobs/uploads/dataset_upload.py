"""A person's upload, read without making anybody wait: unpacked, prepared on trial, to be accepted.

A process of its own opens what came, for a picture may be anything. Its folder lies among the
datasets, so that what is accepted only has to be given its place; it goes when that is done, when
the person throws it away, or after a day.
"""

import dataclasses
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

from ensemble.access import Action, audit, check, limits, owners
from ensemble.errors import DataError, RunError, StorageError
from ensemble.jobs import worker
from ensemble.jobs.job import Job, forget_stop
from ensemble.jobs.kinds import UPLOAD, Kind
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.jobs.uploads import handed_in, trial
from ensemble.jobs.uploads.handed_in import Request
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.folders import data_folder
from ensemble.storage.records.fields import Figure, read_as
from ensemble.storage.refusals import remedy, why

ID = re.compile(r"[0-9a-f]{16}")
CHUNK = 2**20
QUIET_SECONDS = 0.25
KEPT_SECONDS = 24 * 3600.0
STATUS, REQUEST = "status.json", "request.json"


@dataclass(frozen=True)
class UploadStatus(JobStatus):
    """How far an upload's reading is: queued → running → done | stopped | failed.

    Attributes:
      fraction: share of the work done, in [0, 1]; None when it cannot be said.
    """

    kind: ClassVar[Kind] = UPLOAD

    fraction: Figure | None = None


@dataclass(frozen=True)
class UploadJob(Job):
    """An upload's reading, as it stood when it was read."""

    id: str
    name: str
    path: Path
    status: UploadStatus
    request: Request
    kind: Kind = UPLOAD


class StoppedError(Exception):
    """Somebody asked the reading to stop while it was at it."""


def uploads_folder() -> Path:
    """Where uploads lie; it need not be there."""
    return data_folder() / "uploads"


def read(ident: str) -> UploadJob | None:
    """The upload of that id; None where there is none, or none any more."""
    if not ID.fullmatch(ident):
        return None
    folder = uploads_folder() / ident
    try:
        status = UploadStatus.from_dict(read_json(folder / STATUS))
        request = read_as(Request, read_json(folder / REQUEST))
    except (OSError, ValueError):
        return None
    return UploadJob(ident, f"the reading of {request.file}", folder, status, request)


def receive(content: BinaryIO, request: Request) -> UploadJob:
    """Take an upload in, and begin to read it.

    Raises:
      AccessError: whoever asks may add no data, or has enough of it being read.
      DataError: it is no file of a kind that is read.
      StorageError: the disk does not take it; nothing is left of it.
    """
    check(Action.ADD_DATA)
    name, folder = request.stem + request.suffix, uploads_folder() / secrets.token_hex(8)
    try:
        uploads_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep()
        limits.check_reading(_being_read)
        folder.mkdir(mode=0o700)
        owners.keep_owner(folder)
        audit.write(Action.ADD_DATA, name)
        (folder / handed_in.SOURCE).mkdir()
        with (folder / handed_in.SOURCE / name).open("xb") as file:
            shutil.copyfileobj(content, file, CHUNK)
        return start(folder.name, request)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise StorageError(
            f"The upload cannot be kept in {uploads_folder()} ({why(error)}): {remedy(error)}, or "
            "point ENSEMBLE_DATA at a folder that you can write to."
        ) from error


def start(ident: str, request: Request) -> UploadJob:
    """Begin to read an upload, or to prepare it once more in another way.

    Raises:
      AccessError: it is somebody else's.
      ConfigError: it cannot be prepared in that way.
      RunError: a process is at it still, or the upload is gone.
      OSError: the disk refuses.
    """
    request.how  # noqa: B018 (it is checked when it is made)
    folder, now = uploads_folder() / ident, time.time()
    owners.check_own(Action.CHANGE, folder)
    with without_worker(folder, f"{request.file:.60} is being read still: try again in a moment."):
        if (there := read(ident)) and there.awaited:
            return there  # Two pressed at once.
        forget_stop(folder)
        write_json(folder / REQUEST, dataclasses.asdict(request))
        status = UploadStatus(queued=now, updated=now, message="Starting")
        write_json(folder / STATUS, dataclasses.asdict(status))
    if (job := read(ident)) is None:
        raise RunError("This upload is no longer here: upload the file again.")
    start_worker(job)
    return job


def forget(ident: str) -> None:
    """Let an upload go with all that was made of it, unless a process is at it.

    Raises:
      AccessError: it is somebody else's.
      RunError: one is.
    """
    if ID.fullmatch(ident) and (folder := uploads_folder() / ident).is_dir():
        owners.check_own(Action.DELETE, folder)
        _remove(folder)


def _remove(folder: Path) -> None:
    with without_worker(folder, "The upload is being read still: stop that first."):
        shutil.rmtree(folder, ignore_errors=True)


def _being_read(who: str) -> int:
    """How many uploads of somebody's have a process at them, or are about to."""
    mine = (one for one in uploads_folder().iterdir() if owners.read_owner(one) == who)
    return sum((job := read(one.name)) is not None and job.active for one in mine)


def sweep() -> None:
    """Let uploads of earlier days go that nobody accepted."""
    for folder in uploads_folder().iterdir():
        with suppress(OSError, RunError):
            if ID.fullmatch(folder.name) and time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                _remove(folder)


def work(ident: str) -> None:
    """Read an upload in this process, to its end; see `jobs.worker.do`."""
    if job := read(ident):
        worker.do(job, lambda status, stop: _read(job, status, stop), lambda status: None)


def _read(job: UploadJob, status: StatusWriter[UploadStatus], stop: StopRequest) -> Outcome:
    said_at = 0.0

    def progress(fraction: float | None, message: str) -> None:
        nonlocal said_at
        if stop():
            raise StoppedError
        if time.monotonic() - said_at > QUIET_SECONDS:
            said_at = time.monotonic()
            status.update(state="running", fraction=fraction, message=message)

    try:
        progress(None, "Opening")
        trial.prepare(
            handed_in.opened(job.path, job.request, progress), job.path, job.request.how, progress
        )
    except StoppedError:
        return Outcome("stopped", "Stopped. Nothing of it was added.")
    except DataError as error:
        return Outcome("failed", handed_in.on_the_page(str(error), job.path))
    status.update(fraction=1.0)
    return Outcome("done", "Read: look at it, then add it.")
