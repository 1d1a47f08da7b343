"""A storage of trials that is asked again where it does not answer: for minutes, with a word.

A server is started again, a connection is cut, a shared folder is away for a moment: a search that
has trained for days is not to end by that. A call that came through, though its answer did not, is
made twice: attributes are then as they should be, and a trial that was asked for twice is one that
nobody is at, which the next worker takes up.
"""

import errno
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.storages import BaseStorage
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, PendingRollbackError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ensemble.errors import RunError

PATIENCE_S = 600.0
_MIN_RETRY_INTERVAL_S, _MAX_RETRY_INTERVAL_S = 0.2, 5.0
# What a shared disk says while its server is away; not that it is full.
_ABSENT_DISK_ERRNOS = (errno.EAGAIN, errno.EBUSY, errno.EIO, errno.ENOTCONN, errno.ESTALE, errno.ETIMEDOUT)
Result = TypeVar("Result")


class Patience:
    """How long a worker waits for its storage, and who is told.

    Args:
      report: called with a sentence once it begins to wait, and with "" once there is an answer.
      stop: asked whether to wait no longer.
    """

    def __init__(self, report: Callable[[str], None], stop: Callable[[], bool]) -> None:
        self._report, self._stop = report, stop
        self._suspended = False
        self._refreshers: list[Callable[[], object]] = []

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Nothing is waited for within this: for who has better things to do meanwhile."""
        before, self._suspended = self._suspended, True
        try:
            yield
        finally:
            self._suspended = before

    @contextmanager
    def keep(self, refresh: Callable[[], object]) -> Iterator[None]:
        """What is held within this, and would be lost by waiting, is refreshed again and again."""
        self._refreshers.append(refresh)
        try:
            yield
        finally:
            self._refreshers.remove(refresh)

    def call(self, ask: Callable[[], Result]) -> Result:
        """What `ask` returns, asked again until it does or the patience is at its end.

        Raises:
          whatever `ask` does that is no lost connection, or does still after `PATIENCE_S`.
        """
        end, told = time.monotonic() + PATIENCE_S, False
        interval = _MIN_RETRY_INTERVAL_S
        while True:
            try:
                result = ask()
            except Exception as error:
                over = self._suspended or self._stop() or time.monotonic() > end
                if over or not _is_storage_absent(error):
                    raise
                # A connection that was merely cut is another by the second time.
                if not told and interval > _MIN_RETRY_INTERVAL_S:
                    self._report(
                        "The storage of the trials does not answer "
                        f"({_describe_error(error)}): it is asked again for "
                        f"{PATIENCE_S / 60:.0f} minutes."
                    )
                    told = True
                for refresh in self._refreshers:
                    refresh()
                time.sleep(interval)
                interval = min(2 * interval, _MAX_RETRY_INTERVAL_S)
            else:
                if told:
                    self._report("")
                return result


def _is_storage_absent(error: BaseException) -> bool:
    """Whether an error says that a database or a disk is away, perhaps for a moment."""
    if isinstance(error, StorageInternalError) and error.__cause__:
        return _is_storage_absent(error.__cause__)
    if isinstance(error, DBAPIError):
        if getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return False
        lost = error.connection_invalidated
        return lost or isinstance(error, InterfaceError | OperationalError)
    if isinstance(error, PoolTimeoutError | PendingRollbackError):
        return True
    return isinstance(error, OSError) and error.errno in _ABSENT_DISK_ERRNOS


def _describe_error(error: BaseException) -> str:
    """Its class alone: what it says may have the password in it."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return type(error.__cause__ or error).__name__


def print_storage_failure(sentence: str, error: Exception) -> None:
    """Print why something is not stored for now; what is no fault of a storage is a bug."""
    if isinstance(error, RunError):
        print(f"{sentence}: {error}", file=sys.stderr, flush=True)
    elif isinstance(error, SQLAlchemyError | StorageInternalError | OSError):
        print(f"{sentence} ({_describe_error(error)}).", file=sys.stderr, flush=True)
    else:
        traceback.print_exception(error)


def make_storage_patient(storage: BaseStorage, patience: Patience) -> BaseStorage:
    """The same storage, each of whose functions is called as `Patience.call` has it."""
    made: BaseStorage = _PATIENT_STORAGE(storage, patience)
    return made


class _StorageCaller:
    def __init__(self, storage: BaseStorage, patience: Patience) -> None:
        self._storage, self._patience = storage, patience

    def call_function(self, name: str, *args: Any, **named: Any) -> Any:
        tries = 0

        def ask() -> Any:
            nonlocal tries
            tries += 1
            if tries > 1:
                self._storage.remove_session()  # One whose connection was cut is of no more use.
            try:
                return getattr(self._storage, name)(*args, **named)
            except UpdateFinishedTrialError:
                # The first time it was written down, and the connection lost after that.
                if tries == 1 or name != "set_trial_state_values":
                    raise
                return True

        return self._patience.call(ask)


def _forward_function(name: str) -> Callable[..., Any]:
    def forward(self: _StorageCaller, *args: Any, **named: Any) -> Any:
        return self.call_function(name, *args, **named)

    return forward


_STORAGE_FUNCTIONS = [name for name in vars(BaseStorage) if not name.startswith("_")]
_PATIENT_STORAGE: Any = type(
    "PatientStorage", (_StorageCaller, BaseStorage), {name: _forward_function(name) for name in _STORAGE_FUNCTIONS}
)
