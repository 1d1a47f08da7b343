"""A person's upload, read without making anybody wait: a dataset prepared on trial, or a pool.

A process of its own opens what came, for a picture may be anything. Its folder lies among the
datasets, so that what is accepted only has to be given its place; it goes when that is done, when
the person throws it away, or after a day. Images without labels are added at once, as a pool.
"""

import dataclasses
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

from ensemble.access import Action, audit_log, check_permission, owners, usage_limits
from ensemble.errors import DataError, RunError, StorageError
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind
from ensemble.jobs.outcome import Outcome, StopRequest, build_progress_callback
from ensemble.jobs.queue import exclude_worker
from ensemble.jobs.status import JobStatus, StatusWriter
from ensemble.jobs.store import BaseJobStore
from ensemble.jobs.uploads import upload_request
from ensemble.jobs.uploads.upload_request import UploadRequest, name_pool_files
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.disk_errors import describe_os_error, describe_remedy
from ensemble.storage.folders import data_folder
from ensemble.storage.records.field_checks import MetricValue, parse_dataclass

_UPLOAD_ID_PATTERN = re.compile(r"[0-9a-f]{16}")
_COPY_CHUNK_BYTES = 2**20
MAX_AGE_SECONDS = 24 * 3600.0
_STATUS_FILE, _REQUEST_FILE = "status.json", "request.json"
UPLOAD = JobKind(
    name="upload",
    title="Reading an upload",
    noun="the upload",
    working_state="running",
    command="work-upload",
    progress_field="fraction",
    resumable=(),
    remedy="upload the file again",
    kept_clause="nothing was added to your datasets",
    memory_advice="choose a smaller size, or fewer images",
    takes_turns=False,
    nice=True,
    work_entry="ensemble.jobs.uploads.dataset_upload:execute_upload",
    ended_states=("done", "stopped", "failed"),
)


@dataclass(frozen=True)
class UploadStatus(JobStatus):
    """How far an upload's reading is: queued → running → done | stopped | failed.

    Attributes:
      fraction: share of the work done, in [0, 1]; None when it cannot be said.
    """

    kind: ClassVar[JobKind] = UPLOAD

    fraction: MetricValue | None = None


@dataclass(frozen=True)
class UploadJob(Job):
    """An upload's reading, as it stood when it was read."""

    id: str
    name: str
    path: Path
    status: UploadStatus
    request: UploadRequest
    kind: JobKind = UPLOAD


def uploads_folder() -> Path:
    """Where uploads lie; it need not be there."""
    return data_folder() / "uploads"


class _UploadStore(BaseJobStore[UploadJob]):
    def read(self, job_id: str) -> UploadJob | None:
        if not _UPLOAD_ID_PATTERN.fullmatch(job_id):
            return None
        folder = uploads_folder() / job_id
        try:
            status = UploadStatus.from_dict(read_json(folder / _STATUS_FILE))
            request = parse_dataclass(UploadRequest, read_json(folder / _REQUEST_FILE))
        except (OSError, ValueError):
            return None
        return UploadJob(job_id, f"the reading of {request.file}", folder, status, request)


_UPLOADS = _UploadStore()


def read_upload_job(ident: str) -> UploadJob | None:
    """Return the upload with this id; None if it does not exist or was removed."""
    return _UPLOADS.read(ident)


def receive_upload(content: BinaryIO, request: UploadRequest) -> UploadJob:
    """Store an upload and start to read it. After an error nothing of it is left.

    Raises:
      AccessError: whoever asks may add no data, or has enough of it being read.
      ConfigError: the request's settings are invalid.
      DataError: it is not a file of a kind that is read.
      RunError: the process that reads it could not be started.
      StorageError: it could not be written.
    """
    check_permission(Action.ADD_DATA)
    return _store_upload({request.stem + request.suffix: content}, request)


def receive_pool_upload(files: Sequence[BinaryIO], dataset: str) -> UploadJob:
    """Store images without labels and start to add them as a pool; as `receive_upload`.

    Args:
      files: an archive, or pictures.
      dataset: whose classes they are to be labeled as.
    """
    check_permission(Action.ADD_DATA)
    names = name_pool_files([file.name for file in files])
    title = files[0].name[:200] if len(files) == 1 else f"{len(files):,} pictures"
    return _store_upload(dict(zip(names, files, strict=True)), UploadRequest(title, dataset=dataset))


def _store_upload(files: Mapping[str, BinaryIO], request: UploadRequest) -> UploadJob:
    folder = uploads_folder() / secrets.token_hex(8)
    try:
        uploads_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_expired_uploads()
        usage_limits.check_pending_uploads(_count_active_uploads)
        folder.mkdir(mode=0o700)
        owners.write_owner(folder)
        audit_log.write_audit_entry(Action.ADD_DATA, next(iter(files)))
        (folder / upload_request.SOURCE_FOLDER).mkdir()
        for name, content in files.items():
            with (folder / upload_request.SOURCE_FOLDER / name).open("xb") as file:
                shutil.copyfileobj(content, file, _COPY_CHUNK_BYTES)
        return start_upload_reading(folder.name, request)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise StorageError(
            f"The upload cannot be saved in {uploads_folder()} ({describe_os_error(error)}): "
            f"{describe_remedy(error)}, or point ENSEMBLE_DATA at a folder that you can write to."
        ) from error


def start_upload_reading(ident: str, request: UploadRequest) -> UploadJob:
    """Begin to read an upload, or to prepare it once more in another way.

    Raises:
      AccessError: it is somebody else's.
      ConfigError: the request's settings are invalid.
      RunError: a process is still working on it, or the upload no longer exists.
      OSError: the disk refuses.
    """
    request.preparation  # noqa: B018 (it is checked when it is made)
    folder, now = uploads_folder() / ident, time.time()
    owners.check_folder_access(Action.CHANGE, folder)
    if not folder.is_dir():
        raise RunError("This upload no longer exists: upload the file again.")
    busy = f"{request.file:.60} is still being read: try again in a moment."
    if (active := read_upload_job(ident)) and active.active and active.request != request:
        raise RunError(busy)
    status = UploadStatus(queued=now, updated=now, message="Starting")
    return _UPLOADS.launch_once(
        UploadJob(ident, f"the reading of {request.file}", folder, status, request),
        busy,
        lambda: write_json(folder / _REQUEST_FILE, dataclasses.asdict(request)),
    )


def discard_upload(ident: str) -> None:
    """Let an upload go with all that was made of it, unless a process is working on it.

    Raises:
      AccessError: it is somebody else's.
      RunError: one is.
    """
    if _UPLOAD_ID_PATTERN.fullmatch(ident) and (folder := uploads_folder() / ident).is_dir():
        owners.check_folder_access(Action.DELETE, folder)
        _remove_upload_folder(folder)


def _remove_upload_folder(folder: Path) -> None:
    with exclude_worker(folder, "The upload is still being read: stop that first."):
        shutil.rmtree(folder, ignore_errors=True)


def _count_active_uploads(who: str) -> int:
    mine = (path for path in uploads_folder().iterdir() if owners.read_owner(path) == who)
    return sum((job := read_upload_job(path.name)) is not None and job.active for path in mine)


def _remove_expired_uploads() -> None:
    for folder in uploads_folder().iterdir():
        with suppress(OSError, RunError):
            if _UPLOAD_ID_PATTERN.fullmatch(folder.name) and time.time() - folder.stat().st_mtime > MAX_AGE_SECONDS:
                _remove_upload_folder(folder)


def execute_upload(ident: str) -> None:
    """Read a queued upload in this process."""
    _UPLOADS.execute(ident, _read_upload)


def _read_upload(job: UploadJob, status: StatusWriter[UploadStatus], stop: StopRequest) -> Outcome:
    from ensemble.jobs.uploads import upload_preview  # It opens images; the queue only needs the kind.

    report_progress = build_progress_callback(status, stop)
    try:
        report_progress(None, "Opening")
        if job.request.dataset:
            upload_preview.add_uploaded_pool(job.path, job.request.dataset, report_progress)
        else:
            upload_preview.prepare_preview(
                upload_request.unpack_upload(job.path, job.request, report_progress),
                job.path,
                job.request.preparation,
                report_progress,
            )
    except DataError as error:
        return Outcome("failed", upload_request.rephrase_for_page(str(error), job.path))
    status.update(fraction=1.0)
    return Outcome("done", "Added as a pool." if job.request.dataset else "Read: check it, then add it.")
