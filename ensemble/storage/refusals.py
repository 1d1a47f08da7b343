"""What the disk refuses, in words: a sentence for what a person can mend, with what to do.

Whatever else an OSError may be, a file of the program's own that is missing, say, is a bug and
stays an OSError.
"""

import errno
import os
from pathlib import Path

from ensemble.errors import EnsembleError
from ensemble.storage.atomic import DISK_FULL
from ensemble.storage.folders import data_folder, runs_folder

FULL = (*DISK_FULL, errno.EFBIG)
LOCKED = (errno.EACCES, errno.EPERM, errno.EROFS)
HANDLES = (errno.EMFILE, errno.ENFILE)
# What else somebody may have done to a folder, or its disk, under the program.
CHANGED = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENOTEMPTY,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.EIO,
    errno.ENXIO,
    errno.ENODEV,
    errno.ESTALE,
    errno.ENOTCONN,
    errno.ETIMEDOUT,
    errno.ENOLCK,
    errno.EBUSY,
    errno.EOPNOTSUPP,
)


def why(error: OSError) -> str:
    """The system's own words, without the path."""
    return error.strerror or str(error)


def named(error: OSError) -> str:
    """The system's own words, with the path where it tells one."""
    return why(error) if error.filename is None else f"{why(error)}: {os.fsdecode(error.filename)}"


def remedy(error: OSError) -> str:
    """What to do about it, to be followed by "or …"."""
    if error.errno in FULL:
        return "make room"
    if error.errno in LOCKED:
        return "make it writable for you"
    if error.errno in HANDLES:
        return "close some of its tabs or raise `ulimit -n`"
    return "look what is there"


def said_of(error: OSError) -> str | None:
    """The sentence for an error of the disk that a person can mend; None where it is a bug."""
    if error.errno in HANDLES:
        return f"The system gives no more open files just now ({why(error)}): {remedy(error)}."
    if error.filename is None:
        full = error.errno in FULL
        return f"What was to be written has no room ({why(error)}): free some." if full else None
    if error.errno not in (*FULL, *LOCKED, *CHANGED):
        return None
    path = Path(os.fsdecode(error.filename)).absolute()
    for wanted, variable in (runs_folder, "ENSEMBLE_RUNS"), (data_folder, "ENSEMBLE_DATA"):
        try:
            folder = wanted()
        except EnsembleError as unusable:  # It was no longer there when this was to be written.
            return str(unusable)
        if path.is_relative_to(folder):
            return (
                f"{path} cannot be used ({why(error)}): {remedy(error)}, or point {variable} "
                "at a folder that can be written."
            )
    return None
