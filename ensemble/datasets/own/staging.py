"""A folder to prepare a dataset in, which becomes the dataset in one move or is gone.

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

from ensemble.access import Action, audit, check, owners
from ensemble.datasets.own import entries
from ensemble.errors import DataError, StorageError
from ensemble.storage.lock import is_held, only_one
from ensemble.storage.refusals import FULL, why

SUFFIX = ".part"
WAITS_SECONDS = 24 * 3600.0  # for one that is whole to be accepted


@contextlib.contextmanager
def part(name: str) -> Iterator[Path]:
    """A fresh folder to prepare `name` in; whatever is raised in the block takes it away.

    Raises:
      StorageError: the disk is full, or the data folder cannot be written.
    """
    with in_words(name), contextlib.ExitStack() as held:
        own = entries.folder()
        own.mkdir(parents=True, exist_ok=True)
        with only_one(own, lambda: None):  # nobody takes a new one for one that was left
            remove_left(own)
            folder = own / f".{name}-{uuid.uuid4().hex[:12]}{SUFFIX}"
            folder.mkdir()
            held.enter_context(only_one(folder, lambda: None))
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def remove_left(own: Path) -> None:
    """Remove what killed preparations have left, and what nobody has accepted for a day."""
    for folder in own.glob(f".*{SUFFIX}"):
        if is_held(folder) is not False:
            continue
        with contextlib.suppress(OSError):
            whole = (folder / entries.NOTE).is_file()
            if not whole or time.time() - folder.stat().st_mtime > WAITS_SECONDS:
                shutil.rmtree(folder)


def put_in_place(folder: Path, name: str) -> None:
    """A prepared folder becomes the dataset `name`, owned by whoever asks.

    Raises:
      AccessError: they may add no data.
      DataError: there is one of this name.
      StorageError: the data folder cannot be written.
    """
    check(Action.ADD_DATA)
    with in_words(name):
        owners.keep_owner(folder)
        try:
            # On some systems an empty folder would be replaced, which is none of ours.
            folder.rename(entries.folder() / name)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise DataError(taken(name)) from error
            raise
        audit.write(Action.ADD_DATA, name)


def taken(name: str) -> str:
    """What to say where there is a dataset of this name."""
    return (
        f"There is a dataset {name} already: choose another name, or remove that one first with "
        f"`python -m ensemble data remove {name}`."
    )


def remove(name: str) -> None:
    """Remove a person's own dataset: out of sight in one move; maps of its arrays go on.

    Raises:
      AccessError: it is somebody else's.
      DataError: there is none of this name.
      StorageError: it cannot be removed.
    """
    own = entries.folder()
    hidden = own / f".{name}-{uuid.uuid4().hex[:12]}{SUFFIX}"
    if not entries.NAME.fullmatch(name) or not os.path.lexists(own / name):
        there = ", ".join(entries.names()) or "none"
        raise DataError(f"You have added no dataset {name!r:.60}. Your own are: {there:.300}.")
    owners.check_own(Action.DELETE, own / name)
    try:
        audit.write(Action.DELETE, name)
        if (own / name).is_symlink():  # What it leads to is somebody else's.
            (own / name).unlink()
            return
        (own / name).rename(hidden)
        shutil.rmtree(hidden)
    except OSError as error:
        raise StorageError(
            f"The dataset {name} could not be removed, or not all of it ({why(error)}): make "
            f"{own} writable for you, then remove what is left there."
        ) from error


@contextlib.contextmanager
def in_words(name: str) -> Iterator[None]:
    """Turns an OSError of the data folder's disk into a StorageError with advice."""
    try:
        yield
    except ConnectionError:  # not the disk: a pipe that takes the progress was closed
        raise
    except OSError as error:
        full = error.errno in FULL
        raise StorageError(
            no_space(name)
            if full
            else f"The dataset {name} cannot be kept in {entries.folder()} ({why(error)}): point "
            "ENSEMBLE_DATA at a folder that you can write to, and add it again."
        ) from error


def no_space(name: str, needed: int | None = None) -> str:
    """Says that the disk is full; `needed` is the bytes that have to be free."""
    space = f"{max(1, round(needed / 1e6)):,} MB" if needed else "some space"
    return (
        f"The disk is too full for {name}: free {space} at {entries.folder()}, or point "
        "ENSEMBLE_DATA at a folder on another disk, and add it again; nothing unfinished is left "
        "behind."
    )


def check_space(name: str, needed: int) -> None:
    """Raises StorageError where the data folder's disk has no `needed` bytes left."""
    if shutil.disk_usage(entries.folder()).free < needed:
        raise StorageError(no_space(name, needed))
