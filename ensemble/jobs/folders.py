"""Folders of runs of every kind: an id, a name, and what is said where one cannot be read or made.

A run's id is made here and checked wherever one comes in: it is a name, never a path.
"""

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ensemble.access import Action, audit_log, check_permission, owners, usage_limits
from ensemble.errors import RunError, UnknownRunError
from ensemble.jobs.kinds import IMPORTED, JobKind, list_job_kinds
from ensemble.machine.package_versions import read_package_versions
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.disk_errors import (
    OPEN_FILE_ERRNOS,
    PERMISSION_ERRNOS,
    describe_error_with_path,
    describe_os_error,
    describe_remedy,
)
from ensemble.storage.file_lock import supports_locks
from ensemble.storage.folders import runs_folder
from ensemble.storage.plain_files import read_text_beginning
from ensemble.storage.records.field_checks import parse_dataclass, unexpected_value_error

SCHEMA = 1
_NUMERIC_KIND = "numeric"  # up to version 1.0, regressions were a kind of their own
RUN_ID = re.compile(r"[a-z0-9_]+(-[a-z0-9]+)+")
RUN_ID_LENGTH = 64
MAX_NAME_LENGTH = 80


@dataclass(frozen=True)
class StoredConfig:
    """What is read of a config.json.

    Attributes:
      settings: of the run.
      kind: "" for an ensemble that is trained here.
      dataset: what has to be known of the images where no registry may be asked for it.
      member_names: what the members are called; none where they only have numbers.
      packages: versions of what its numbers depend on, by name: whatever stands there.
      origin: of a run that came in a report, its id where it was made: whatever stands there.
      weights: of one whose members came rounded, to what: whatever stands there.
      task: "classification", or "regression" of a run that predicts numbers.
      numbers: of a regression, its target and members: whatever stands there.
    """

    settings: dict[str, Any]
    kind: str | None = None
    dataset: dict[str, Any] | None = None
    member_names: list[str] | None = None
    packages: Any = None
    origin: Any = None
    weights: Any = None
    task: str = "classification"
    numbers: Any = None


def find_run_folder(run_id: str, noun: str = "run") -> Path:
    """The folder of a run that exists.

    Args:
      run_id: its id.
      noun: what people call it: "run", or "sweep".

    Raises:
      UnknownRunError: not an id, or no such run.
      RunError: its folder may not be looked into.
    """
    if is_run_id(run_id):
        folder = runs_folder() / run_id
        try:
            # Whatever it is: a folder without one is not yet a run.
            os.lstat(folder / "config.json")
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise build_unreadable_error(run_id, folder, error) from error
        else:
            return folder
    short_id = run_id if len(run_id) <= 40 else run_id[:40] + "…"
    raise UnknownRunError(f"There is no {noun} “{short_id}”. It may have been deleted: choose another.")


def is_run_id(text: str) -> bool:
    """Whether this could be the id of a run, there or not: never a path."""
    return len(text) <= RUN_ID_LENGTH and bool(RUN_ID.fullmatch(text))


def delete_run_folder(folder: Path) -> None:
    """Delete a run's folder: out of sight in one move, so that no reader meets half of it.

    Of one that is a link the link goes; what it leads to is somebody else's.

    Raises:
      AccessError: it belongs to somebody else.
      RunError: it cannot be deleted, or not all of it.
    """
    hidden = folder.with_name(f".deleted-{folder.name}-{secrets.token_hex(4)}")
    with change_job_files(folder, action=Action.DELETE):
        if folder.is_symlink():
            return folder.unlink()
        folder.rename(hidden)
    try:
        shutil.rmtree(hidden)
        usage_limits.invalidate_disk_quota()
    except OSError as error:
        raise RunError(
            f"The run “{folder.name}” is no longer listed, but not all of its files could be "
            f"removed ({describe_os_error(error)}): remove what is left in {hidden}."
        ) from error


def build_unreadable_error(run_id: str, folder: Path, error: Exception) -> RunError:
    # What it quotes may be anything: one line that can be shown.
    text = " ".join(str(error).encode(errors="backslashreplace").decode().split())
    mend = "delete it, or put its files back"
    if isinstance(error, OSError) and error.errno in PERMISSION_ERRNOS:
        mend = "make its files readable for you"
    elif isinstance(error, OSError) and error.errno in OPEN_FILE_ERRNOS:
        mend = describe_remedy(error)
    return RunError(f"The run “{run_id}” cannot be read ({text:.200}). Its folder is {folder}: {mend}.")


def read_kind_and_settings(folder: Path) -> tuple[str, dict[str, Any]]:
    """What the config.json of a run says: its kind, "" for an ensemble, and its settings.

    Raises:
      OSError, ValueError: it cannot be read, or is none of a kind that is known.
    """
    config = read_stored_config(folder)
    return config.kind or "", config.settings


def read_stored_config(folder: Path) -> StoredConfig:
    """All that the config.json of a run says.

    Raises:
      OSError, ValueError: it cannot be read, or is none of a kind that is known.
    """
    config = parse_dataclass(StoredConfig, read_json(folder / "config.json"))
    if config.kind == _NUMERIC_KIND:
        config = replace(config, kind=None if config.settings else IMPORTED, task="regression")
    if config.kind not in {IMPORTED, *(kind.config_kind for kind in list_job_kinds())}:
        raise unexpected_value_error("kind", config.kind)
    return config


def write_stored_config(folder: Path, kind: JobKind, settings: dict[str, Any], **more: Any) -> None:
    """Replace the config.json of a job that is done here.

    Args:
      folder: of the job.
      kind: what kind of job it is.
      settings: of the job, ready for JSON.
      more: what else stands there, as `StoredConfig` has it.

    Raises:
      OSError: it cannot be written.
    """
    kept_as = {"kind": kind.config_kind} if kind.config_kind else {}
    values = {"schema": SCHEMA, **kept_as, "packages": read_package_versions(), "settings": settings}
    write_json(folder / "config.json", values | more)


def build_unwritable_error(error: OSError) -> RunError:
    """What to say where a run's folder cannot be made."""
    return RunError(
        f"The run could not be made in {runs_folder()} ({describe_os_error(error)}): "
        f"{describe_remedy(error)}, or point ENSEMBLE_RUNS at a folder that can be written."
    )


@contextlib.contextmanager
def change_job_files(folder: Path, failed: str = "", action: Action | None = Action.CHANGE) -> Iterator[None]:
    """What the disk refuses while the files of a job are changed is said in a sentence.

    Every change that a person asks for passes here: it is theirs to ask for, or refused, and
    written down.

    Args:
      folder: of the job.
      failed: what could not be done, to begin the sentence with.
      action: what is asked for; None if that was seen to already.

    Raises:
      AccessError: whoever asks may not do that, or not to this job.
      RunError: with what to do.
    """
    if action:
        owners.check_folder_access(action, folder)
    try:
        yield
        if action:
            audit_log.write_audit_entry(action, folder.name)
    except OSError as error:
        mend = describe_remedy(error)
        if error.errno in PERMISSION_ERRNOS:
            mend = f"make {folder} writable for you, or copy it to where you may write"
        failed = failed or f"The files of “{folder.name}” cannot be changed"
        text = describe_os_error(error) if error.errno in PERMISSION_ERRNOS else describe_error_with_path(error)
        raise RunError(f"{failed} ({text}): {mend}, then try again.") from error


@contextlib.contextmanager
def create_run_folder(kind: str, now: float, nbytes: int = 0) -> Iterator[Path]:
    """A folder to make a run in, owned by who asks; if its files cannot be written it goes again.

    Args:
      kind: what the run's id begins with.
      now: when it is made, unix seconds.
      nbytes: of a run that is imported, what it takes on the disk; 0 where that is not known.

    Raises:
      AccessError: whoever asks may not make runs, or has enough of them running; or there is no
        more room for any.
      RunError: the folder, or its files, cannot be written.
    """
    action = Action.IMPORT if kind == IMPORTED else Action.LAUNCH
    check_permission(action)
    try:
        with usage_limits.limit_launches() if action is Action.LAUNCH else usage_limits.limit_imports(nbytes):
            runs_folder().mkdir(parents=True, exist_ok=True)
            if action is Action.LAUNCH:
                require_locks(runs_folder())
            folder = create_unique_folder(kind, now)
            try:
                owners.write_owner(folder)
                yield folder
            except BaseException:  # A database that is not reached, or Ctrl-C: nothing is left.
                shutil.rmtree(folder, ignore_errors=True)
                raise
        audit_log.write_audit_entry(action, folder.name)
    except OSError as error:
        raise build_unwritable_error(error) from error


def require_locks(folder: Path, undone: str = "Nothing was made") -> None:
    """See that files in a folder can be locked, before anything is made that a worker is to lock.

    Args:
      folder: an existing one.
      undone: how the sentence begins that says why not.

    Raises:
      RunError: its disk knows no locks.
      OSError: nothing can be written there.
    """
    if supports_locks(folder):  # Made for a folder: a disk may lock that and no file, or reversed.
        return
    probe = folder / f".lock-{secrets.token_hex(4)}.part"
    try:
        with probe.open("xb"):
            lockable = supports_locks(probe)
    finally:
        probe.unlink(missing_ok=True)
    if not lockable:
        of_runs = folder.is_relative_to(runs_folder())
        raise RunError(
            f"{undone}: files in {folder} cannot be locked, so two workers could do the same work. "
            f"Point {'ENSEMBLE_RUNS' if of_runs else 'ENSEMBLE_DATA'} at a folder on a disk that "
            "has locks, or have the disk mounted with them."
        )


def create_unique_folder(kind: str, now: float) -> Path:
    """An empty folder for a run; its name, the run's id, says its dataset or kind and when."""
    stem = f"{kind}-{time.strftime('%m%d-%H%M%S', time.localtime(now))}"
    for number in range(1, 1000):
        folder = runs_folder() / (stem if number == 1 else f"{stem}-{number}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise RunError("A thousand runs within one second: wait a second and try again.")


def read_run_name(folder: Path) -> str:
    """What a person called the run in `folder`, else its id."""
    try:
        name = " ".join(read_text_beginning(folder / "name.txt", 8 * MAX_NAME_LENGTH).split())
    except OSError:  # Whatever it is, it is no name.
        name = ""
    return name[:MAX_NAME_LENGTH].strip() or folder.name
