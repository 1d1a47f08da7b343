"""A folder to prepare a dataset in, which becomes the dataset in one move or no longer exists.

It lies beside the finished ones under a name that is none of a dataset's. Its maker locks it; one
that nobody locks was left by a process that was killed, or is waiting to be accepted, and goes with
the next preparation once it is old enough.
"""

import contextlib
import errno
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from ensemble.access import Action, audit_log, check_permission, owners
from ensemble.datasets.own import custom_registry
from ensemble.errors import DataError, StorageError
from ensemble.storage.disk_errors import FULL_ERRNOS, describe_os_error
from ensemble.storage.file_lock import hold_folder_lock, is_locked

_SUFFIX = ".part"
_ACCEPTANCE_TIMEOUT_S = 24 * 3600.0  # for one that is whole to be accepted


@contextlib.contextmanager
def open_staging_folder(name: str) -> Iterator[Path]:
    """A fresh folder to prepare `name` in; whatever is raised in the block takes it away.

    Raises:
      StorageError: the disk is full, or the data folder cannot be written.
    """
    with convert_staging_errors(name), contextlib.ExitStack() as held:
        own = custom_registry.custom_datasets_folder()
        own.mkdir(parents=True, exist_ok=True)
        with hold_folder_lock(own, lambda: None):  # nobody takes a new one for one that was left
            _remove_stale_staging(own)
            folder = own / f".{name}-{uuid.uuid4().hex[:12]}{_SUFFIX}"
            folder.mkdir()
            held.enter_context(hold_folder_lock(folder, lambda: None))
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _remove_stale_staging(own: Path) -> None:
    for folder in own.glob(f".*{_SUFFIX}"):
        if is_locked(folder) is not False:
            continue
        with contextlib.suppress(OSError):
            whole = (folder / custom_registry.NOTE_FILE).is_file()
            if not whole or time.time() - folder.stat().st_mtime > _ACCEPTANCE_TIMEOUT_S:
                shutil.rmtree(folder)


def publish_staged_dataset(folder: Path, name: str) -> None:
    """A prepared folder becomes the dataset `name`, owned by whoever asks.

    Raises:
      AccessError: they may add no data.
      DataError: there is one of this name.
      StorageError: the data folder cannot be written.
    """
    check_permission(Action.ADD_DATA)
    with convert_staging_errors(name):
        owners.write_owner(folder)
        try:
            # On some systems an empty folder would be replaced, which is none of ours.
            folder.rename(custom_registry.custom_datasets_folder() / name)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise DataError(describe_taken_name(name)) from error
            raise
        audit_log.write_audit_entry(Action.ADD_DATA, name)


def describe_taken_name(name: str) -> str:
    """What to say where there is a dataset of this name."""
    return (
        f"A dataset {name} already exists: choose another name, or remove that one first with "
        f"`ensemble data remove {name}`."
    )


def remove_custom_dataset(name: str) -> None:
    """Remove a person's own dataset: out of sight in one move; maps of its arrays go on.

    Raises:
      AccessError: it is somebody else's.
      DataError: there is none of this name.
      StorageError: it cannot be removed.
    """
    own = custom_registry.custom_datasets_folder()
    hidden = own / f".{name}-{uuid.uuid4().hex[:12]}{_SUFFIX}"
    if not custom_registry.NAME_PATTERN.fullmatch(name) or not os.path.lexists(own / name):
        there = ", ".join(custom_registry.list_custom_datasets()) or "none"
        raise DataError(f"You have not added a dataset {name!r:.60}. Your own are: {there:.300}.")
    owners.check_folder_access(Action.DELETE, own / name)
    try:
        audit_log.write_audit_entry(Action.DELETE, name)
        if (own / name).is_symlink():  # What it leads to is somebody else's.
            (own / name).unlink()
            return
        (own / name).rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        raise StorageError(
            f"The dataset {name} could not be removed completely ({describe_os_error(error)}): "
            f"make {own} writable for you, then remove the rest."
        ) from error


@contextlib.contextmanager
def convert_staging_errors(name: str) -> Iterator[None]:
    """Turns an OSError of the data folder's disk into a StorageError with advice."""
    try:
        yield
    except ConnectionError:  # not the disk: a pipe that takes the progress was closed
        raise
    except OSError as error:
        if error.errno in FULL_ERRNOS:
            raise StorageError(_describe_full_staging_disk(name)) from error
        folder = custom_registry.custom_datasets_folder()
        raise StorageError(
            f"The dataset {name} cannot be saved in {folder} ({describe_os_error(error)}): "
            "point ENSEMBLE_DATA at a folder that you can write to, and add it again."
        ) from error


def _describe_full_staging_disk(name: str, needed: int | None = None) -> str:
    """Says that the disk is full; `needed` is the bytes that have to be free."""
    space = f"{max(1, round(needed / 1e6)):,} MB" if needed else "some space"
    return (
        f"The disk is too full for {name}: free {space} at "
        f"{custom_registry.custom_datasets_folder()}, or point ENSEMBLE_DATA at a folder on "
        "another disk, and add it again; no unfinished files are left behind."
    )


def check_staging_space(name: str, needed: int) -> None:
    """Raises StorageError where the data folder's disk has no `needed` bytes left."""
    if shutil.disk_usage(custom_registry.custom_datasets_folder()).free < needed:
        raise StorageError(_describe_full_staging_disk(name, needed))
