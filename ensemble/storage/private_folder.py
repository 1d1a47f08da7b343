"""Folders that one user alone may write to, also where everybody may make one of their name."""

import errno
import os
import stat
from pathlib import Path

_PRIVATE_MODE = 0o700


def create_private_folder(folder: Path) -> Path:
    """The folder, made where it is not there, closed to others where they could open it.

    Raises:
      OSError: it cannot be made; or something of that name is there that is not a folder, is a link
        to one, or belongs to another user. Its `strerror` says which.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_PRIVATE_MODE, exist_ok=True)
    folder_status = folder.lstat()
    if not stat.S_ISDIR(folder_status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is a link, or not a folder", str(folder))
    if os.name == "nt":
        return folder
    if folder_status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    if stat.S_IMODE(folder_status.st_mode) != _PRIVATE_MODE:
        folder.chmod(_PRIVATE_MODE)
    return folder
