"""What a person reads when a dataset cannot be had: what happened, what to do, what goes on."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ensemble.datasets.original_files import is_other, manual_folder
from ensemble.datasets.registry import Entry
from ensemble.datasets.sources import RemoteFile
from ensemble.errors import StorageError
from ensemble.storage.refusals import FULL

MEANWHILE = "the digits dataset works meanwhile"


def not_prepared(entry: Entry, torn: str | None = None) -> str:
    """Says how to prepare `entry`; `torn` is what is amiss with what is there."""
    what = f"is damaged on disk: {torn}" if torn else "has not been fetched yet"
    return (
        f"{entry.title} {what}. Run `python -m ensemble data prepare {entry.name}` or press "
        f"its button on the Train screen; {MEANWHILE}."
    )


def not_fetched(entry: Entry, why: str, place: str, missing: list[RemoteFile], folder: Path) -> str:
    """Says which files to put where.

    Args:
      entry: the dataset.
      why: what went wrong.
      place: the URL of the folder that was asked.
      missing: the files that are not on disk.
      folder: the data folder.
    """
    names = ", ".join(file.name for file in missing)
    manual = manual_folder(folder)
    note = ""
    if any(is_other(file, entry.name, folder) for file in missing):
        # Most likely another dataset's, whose files have the same names and should stay.
        note = f" (files of these names that lie in {manual} are damaged or another dataset's)"
        manual = manual / entry.name
    return (
        f"{entry.title} could not be fetched from {place}: {why}. Try again later, or put its "
        f"files {names} into {manual} and prepare it again{note}; {MEANWHILE}."
    )


def no_space(entry: Entry, folder: Path, needed: int | None = None) -> str:
    """Says that the disk is full; `needed` is the bytes that have to be free."""
    space = f"{math.ceil(needed / 1e6):,} MB" if needed else "some space"
    return (
        f"The disk is too full for {entry.title}: free {space} at {folder}, or point "
        f"ENSEMBLE_DATA at a folder on another disk, and prepare it again; nothing unfinished "
        f"is left behind and {MEANWHILE}."
    )


def no_access(entry: Entry, folder: Path, error: OSError) -> str:
    """Says that the data folder cannot be used, and how to take another."""
    where = error.filename or folder
    return (
        f"{entry.title} cannot be kept in {folder} ({error.strerror or error}: {where}): point "
        f"ENSEMBLE_DATA at a folder that you can write to, and prepare it again; {MEANWHILE}."
    )


@contextmanager
def storage_in_words(entry: Entry, folder: Path) -> Iterator[None]:
    """Turns an OSError of the disk into a StorageError with advice."""
    try:
        yield
    except ConnectionError:  # not the disk: a pipe that takes the progress was closed
        raise
    except OSError as error:
        full = error.errno in FULL
        raise StorageError(
            no_space(entry, folder) if full else no_access(entry, folder, error)
        ) from error
