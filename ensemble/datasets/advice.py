"""What a person reads when a dataset cannot be had: what happened, what to do, what goes on."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ensemble.datasets.download_manifest import RemoteFile
from ensemble.datasets.original_files import has_mismatched_file, manual_download_folder
from ensemble.datasets.registry import DatasetEntry
from ensemble.errors import StorageError
from ensemble.storage.disk_errors import FULL_ERRNOS

_FALLBACK_HINT = "you can use digits meanwhile"


def describe_unprepared_dataset(entry: DatasetEntry, torn: str | None = None) -> str:
    """Says how to prepare `entry`; `torn` is what is amiss with what is there."""
    what = f"is damaged on disk: {torn}" if torn else "has not been fetched yet"
    return (
        f"{entry.title} {what}. Run `ensemble data prepare {entry.name}` or press "
        f"its button on the Train screen; {_FALLBACK_HINT}."
    )


def describe_failed_fetch(entry: DatasetEntry, why: str, place: str, missing: list[RemoteFile], folder: Path) -> str:
    """Says which files to put where.

    Args:
      entry: the dataset.
      why: what went wrong.
      place: the URL of the folder that was asked.
      missing: the files that are not on disk.
      folder: the data folder.
    """
    names = ", ".join(file.name for file in missing)
    manual = manual_download_folder(folder)
    note = ""
    if any(has_mismatched_file(file, entry.name, folder) for file in missing):
        # Most likely another dataset's, whose files have the same names and should stay.
        note = f" (files of these names in {manual} are damaged or belong to another dataset)"
        manual = manual / entry.name
    return (
        f"{entry.title} could not be fetched from {place}: {why}. Try again later, or put its "
        f"files {names} into {manual} and prepare it again{note}; {_FALLBACK_HINT}."
    )


def describe_full_disk(entry: DatasetEntry, folder: Path, needed: int | None = None) -> str:
    """Says that the disk is full; `needed` is the bytes that have to be free."""
    space = f"{math.ceil(needed / 1e6):,} MB" if needed else "some space"
    return (
        f"The disk is too full for {entry.title}: free {space} at {folder}, or point "
        "ENSEMBLE_DATA at a folder on another disk, and prepare it again; no unfinished files "
        f"are left behind, and {_FALLBACK_HINT}."
    )


def _describe_unwritable_folder(entry: DatasetEntry, folder: Path, error: OSError) -> str:
    where = error.filename or folder
    return (
        f"{entry.title} cannot be saved in {folder} ({error.strerror or error}: {where}): "
        f"point ENSEMBLE_DATA at a folder that you can write to, and prepare it again; {_FALLBACK_HINT}."
    )


@contextmanager
def convert_storage_errors(entry: DatasetEntry, folder: Path) -> Iterator[None]:
    """Turns an OSError of the disk into a StorageError with advice."""
    try:
        yield
    except ConnectionError:  # not the disk: a pipe that takes the progress was closed
        raise
    except OSError as error:
        full = error.errno in FULL_ERRNOS
        raise StorageError(
            describe_full_disk(entry, folder) if full else _describe_unwritable_folder(entry, folder, error)
        ) from error
