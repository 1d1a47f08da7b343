"""The files and the databases that trials are written down in, and what they refuse, in words.

A journal is Optuna's file of operations for shared disks, opened so that a killed writer harms
nobody: Optuna's own locks outlive the process that took them, and half a line at the file's end
makes all of it unreadable once another is added.
"""

import contextlib
import errno
import functools
import os
import sqlite3
import stat
import time
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.storages.journal._file import BaseJournalFileLock
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from ensemble.errors import RunError
from ensemble.storage.shared_lock import SharedLock
from ensemble.sweeps.settings import STORAGE_VARIABLE

LOCK_POLL_INTERVAL_S = 0.005
_MAX_OPERATION_BYTES = 1 << 20  # bytes, more than an operation ever takes
_STORAGE_FILES = {"sqlite": "study.db", "journal": "journal.log"}
_SQLITE_TIMEOUT_S = 60  # that SQLite waits for another process's write
# What Optuna raises where it reads what it never wrote.
_MALFORMED_DATA_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def open_trial_storage(sweep_id: str, folder: Path, word: str, address: str, new: bool = False) -> BaseStorage:
    """The storage of a sweep; within `translate_storage_errors`.

    Args:
      sweep_id: whose.
      folder: of it.
      word: one of `settings.STORAGES`.
      address: of the database.
      new: whether its file is made; else one that is not there is said to be lost.

    Raises:
      RunError: its file is not there, or is not a file.
    """
    if word not in _STORAGE_FILES:
        return _open_database(address)
    path = folder / _STORAGE_FILES[word]
    try:
        file_status = path.lstat()
    except (FileNotFoundError, NotADirectoryError) as error:
        if not new:
            raise RunError(describe_lost_trials(sweep_id, word)) from error
        return _open_cached_journal(path, b"") if word == "journal" else _open_sqlite(path, 0)
    if not stat.S_ISREG(file_status.st_mode):
        raise RunError(
            f"{_STORAGE_FILES[word]} of “{sweep_id}”, which stores its trials, is not a file: "
            "put a copy back, or launch another sweep; the runs stay."
        )
    # One that was put back in its place is another file: what was opened is the one before.
    return (
        _open_cached_journal(path, _read_journal_head(path))
        if word == "journal"
        else _open_sqlite(path, file_status.st_ino)
    )


def _read_journal_head(path: Path) -> bytes:
    """By which one journal is told from another: nothing holds it open, so not by its inode."""
    with open(path, "rb") as file:
        return file.read(256)


@functools.lru_cache(maxsize=4)
def _open_database(address: str) -> RDBStorage:
    try:
        make_url(address)
    except (SQLAlchemyError, ValueError):
        raise RunError(
            f"{STORAGE_VARIABLE} is not the address of a database: write it as "
            "postgresql+psycopg://user:password@host:5432/name, with %40 for @, %2F for / and %3A for : in a password."
        ) from None  # What refused it quotes it, password and all.
    return dispose_when_unused(RDBStorage(address, engine_kwargs={"pool_pre_ping": True}))


@functools.lru_cache(maxsize=16)
def _open_cached_journal(path: Path, head: bytes) -> JournalStorage:
    return open_journal(path)


@functools.lru_cache(maxsize=16)
def _open_sqlite(path: Path, inode: int) -> RDBStorage:
    storage = RDBStorage(f"sqlite:///{path}", engine_kwargs={"connect_args": {"timeout": _SQLITE_TIMEOUT_S}})
    # Readers, such as a page, do not then keep a worker from writing. The file remembers it.
    with storage.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    return dispose_when_unused(storage)


def dispose_when_unused(storage: RDBStorage) -> RDBStorage:
    """The storage, which closes its connections once nobody has it any more: Optuna's does not."""
    weakref.finalize(storage, storage.engine.dispose).atexit = False
    return storage


@contextlib.contextmanager
def translate_storage_errors(sweep_id: str, word: str) -> Iterator[None]:
    """What a storage refuses is said in a sentence, without the address: it has a password."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, ImportError) as error:
        if word == "database":
            raise RunError(
                f"The database that {STORAGE_VARIABLE} names cannot be used "
                f"({type(error).__name__}): check that it can be reached from here, and that "
                "the address, user and password are right."
            ) from None
        # Optuna's own error has SQLite's behind that of SQLAlchemy.
        why = getattr(error, "orig", None) or getattr(error.__cause__, "orig", None)
        # Its class itself, and none derived from it, is what SQLite says of a damaged file.
        if type(why) is sqlite3.DatabaseError:
            raise RunError(describe_damaged_trials(sweep_id, word)) from error
        if not isinstance(why, sqlite3.OperationalError):
            raise
        if why.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise RunError(
                f"The trials of “{sweep_id}” cannot be stored ({os.strerror(errno.ENOSPC)}): make "
                "room, then resume the sweep. Every trial is kept."
            ) from error
        raise RunError(
            f"The stored trials of “{sweep_id}” cannot be used ({why}): check that "
            f"{_STORAGE_FILES[word]} in its folder is complete and writable, and that the disk "
            "has free space. Put a copy back, or launch another sweep; the runs stay."
        ) from error


@contextlib.contextmanager
def translate_read_errors(sweep_id: str, word: str) -> Iterator[None]:
    """As `translate_storage_errors`, where Optuna only reads: it trusts what it reads."""
    try:
        with translate_storage_errors(sweep_id, word):
            warnings.simplefilter("ignore")  # Optuna's, of what it reads.
            yield
    except _MALFORMED_DATA_ERRORS as error:
        raise RunError(describe_damaged_trials(sweep_id, word)) from error


def describe_damaged_trials(sweep_id: str, word: str) -> str:
    where = f"{_STORAGE_FILES[word]} in its folder" if word in _STORAGE_FILES else f"what {STORAGE_VARIABLE} names"
    return (
        f"The stored trials of “{sweep_id}” cannot be read: {where} is damaged. Put a copy "
        "back, or launch another sweep; the runs stay."
    )


def describe_lost_trials(sweep_id: str, word: str) -> str:
    if word == "database":
        return (
            f"The trials of “{sweep_id}” are not in the database that {STORAGE_VARIABLE} "
            "names: set it to the address that the sweep was started with."
        )
    return f"The trials of “{sweep_id}” are no longer in its folder: launch another sweep."


def open_journal(path: Path) -> JournalStorage:
    """The journal in `path`, made where it is not there."""
    return JournalStorage(JournalFileBackend(str(path), lock_obj=_JournalLock(path)))


class _JournalLock(BaseJournalFileLock):
    """The right to add to a journal, for one process of all hosts at a time.

    Args:
      journal: the file; the lock is another beside it.
    """

    def __init__(self, journal: Path) -> None:
        self._journal, self._lock = journal, SharedLock(journal.with_suffix(".lock"))

    def acquire(self) -> bool:
        """Wait for the right, then take away what a killed writer left half-written."""
        while not self._lock.try_acquire():
            time.sleep(LOCK_POLL_INTERVAL_S)
        _truncate_torn_line(self._journal)
        return True

    def release(self) -> None:
        """Give the right back."""
        self._lock.release()


def _truncate_torn_line(journal: Path) -> None:
    """Cut off what stands after the last whole line; for whoever holds the journal's lock."""
    with open(journal, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = file.seek(max(0, size - _MAX_OPERATION_BYTES))
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(start + tail.rfind(b"\n") + 1)
