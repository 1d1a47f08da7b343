"""What the disk refuses, in words: a sentence for what a person can mend, with what to do.

Whatever else an OSError may be, a file of the program's own that is missing, say, is a bug and
stays an OSError.
"""

import errno
import os
from pathlib import Path

from ensemble.errors import EnsembleError
from ensemble.storage.atomic_files import DISK_FULL
from ensemble.storage.folders import data_folder, runs_folder

FULL_ERRNOS = (*DISK_FULL, errno.EFBIG)
PERMISSION_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)
OPEN_FILE_ERRNOS = (errno.EMFILE, errno.ENFILE)
_NO_LOCK_ERRNOS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
# What else somebody may have done to a folder, or its disk, under the program.
_CHANGED_FOLDER_ERRNOS = (
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
    errno.EBUSY,
    *_NO_LOCK_ERRNOS,
)


def describe_os_error(error: OSError) -> str:
    """The system's own words, without the path."""
    return error.strerror or str(error)


def describe_error_with_path(error: OSError) -> str:
    """The system's own words, with the path where it tells one."""
    return (
        describe_os_error(error)
        if error.filename is None
        else f"{describe_os_error(error)}: {os.fsdecode(error.filename)}"
    )


def describe_remedy(error: OSError) -> str:
    """What to do about it, to be followed by "or …"."""
    if error.errno in FULL_ERRNOS:
        return "make room"
    if error.errno in PERMISSION_ERRNOS:
        return "make it writable for you"
    if error.errno in OPEN_FILE_ERRNOS:
        return "close some of its tabs or raise `ulimit -n`"
    if error.errno in _NO_LOCK_ERRNOS:
        return "have its disk mounted with locks"
    return "check what is there"


def describe_disk_error(error: OSError) -> str | None:
    """The sentence for an error of the disk that a person can mend; None if it is a bug."""
    if error.errno in OPEN_FILE_ERRNOS:
        return f"The system's limit of open files is reached ({describe_os_error(error)}): {describe_remedy(error)}."
    if error.filename is None:
        full = error.errno in FULL_ERRNOS
        return f"The disk is full ({describe_os_error(error)}): free some space." if full else None
    if error.errno not in (*FULL_ERRNOS, *PERMISSION_ERRNOS, *_CHANGED_FOLDER_ERRNOS):
        return None
    path = Path(os.fsdecode(error.filename)).absolute()
    for wanted, variable in (runs_folder, "ENSEMBLE_RUNS"), (data_folder, "ENSEMBLE_DATA"):
        try:
            folder = wanted()
        except EnsembleError as unusable:  # It was no longer there when this was to be written.
            return str(unusable)
        if path.is_relative_to(folder):
            return (
                f"{path} cannot be used ({describe_os_error(error)}): {describe_remedy(error)}, or "
                f"point {variable} at a folder that can be written."
            )
    return None
