"""Replace a folder as a whole, so that readers see the old one or the new one.

The new folder is written next to the old one, under a hidden name, and then takes its place. Linux
exchanges the two in one step. Elsewhere, two renames follow each other: if the process is killed
between them, the next replacement restores the old folder first.
"""

import ctypes
import errno
import glob
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ensemble.storage.file_lock import hold_folder_lock, is_locked

_PARTIAL, _RETIRED = ".part", ".old"
_HEX_DIGITS = 12
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux, from fcntl.h and stdio.h


@contextmanager
def open_atomic_folder(path: Path, replaced: str = "") -> Iterator[Path]:
    """Yield an empty folder to write into, which replaces `path` when the context ends.

    Files and folders of `path` that the new folder lacks are carried over. If anything is raised,
    `path` stays as it was.

    Args:
      path: the folder, or a link to it; its parent exists.
      replaced: "*/NAME" for files of that name in its subfolders that are not carried over, nor are
        subfolders that hold nothing else.

    Raises:
      OSError: the disk is full, or the folder cannot be replaced.
    """
    path = path.resolve()
    recover_killed_replacements(path)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:_HEX_DIGITS]}{_PARTIAL}")
    partial.mkdir()
    try:
        with hold_folder_lock(partial, lambda: None):  # shows others that it is still in use
            yield partial
            _put_in_place(partial, path, replaced)
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # after an exchange, the old folder


def recover_killed_replacements(path: Path) -> None:
    """Remove what killed processes left next to `path`; restore the old folder if it is missing.

    Where the system cannot report whether a process still uses a new folder, it stays.
    """
    name = f".{glob.escape(path.name)}.{'[0-9a-f]' * _HEX_DIGITS}"
    for left in [*path.parent.glob(name + _PARTIAL), *path.parent.glob(name + _RETIRED)]:
        in_use = is_locked(left.with_suffix(_PARTIAL))
        if left.suffix == _RETIRED and in_use is not True and not os.path.lexists(path):
            left.rename(path)
        elif in_use is False or (left.suffix == _RETIRED and in_use is None):
            shutil.rmtree(left, ignore_errors=True)


def exchange_folders(one: Path, other: Path) -> bool:
    """Give each of two folders the other's name in one step; return whether the system can."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old C library
        return False
    names = (os.fsencode(one), os.fsencode(other))
    return rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0


def _carry_over_files(old: Path, new: Path, replaced: str) -> None:
    """Link every file of `old` that `new` lacks into it, or copy it if the disk has no links.

    Files called `replaced`, or by "*/NAME" those in subfolders, stay behind, as in `open_atomic_folder`.

    Raises:
      OSError: a file of one has the name of a folder of the other, or a file cannot be copied.
    """
    replaced_inside = replaced.partition("/")[2]
    with os.scandir(old) as entries:
        for entry in entries:
            target = new / entry.name
            if entry.is_dir(follow_symlinks=False):
                if os.listdir(entry.path) == [replaced_inside]:
                    continue
                target.mkdir(exist_ok=True)
                _carry_over_files(Path(entry.path), target, replaced_inside)
                shutil.copymode(entry.path, target)
            elif target.is_dir() and not target.is_symlink():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
            elif entry.name != replaced and not os.path.lexists(target):
                try:
                    os.link(entry.path, target, follow_symlinks=False)
                except (OSError, NotImplementedError):
                    shutil.copy2(entry.path, target, follow_symlinks=False)


def _put_in_place(partial: Path, path: Path, replaced: str) -> None:
    """Let the new folder `partial` take the name `path`, with the files that it lacks."""
    if not os.path.lexists(path):
        partial.rename(path)
        return
    if not os.access(path, os.W_OK):  # replacing it would only need the right to write its parent
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _carry_over_files(path, partial, replaced)
    shutil.copymode(path, partial)
    if exchange_folders(partial, path):
        retired = partial
    else:
        retired = partial.with_suffix(_RETIRED)
        path.rename(retired)
        try:
            partial.rename(path)
        except BaseException:
            retired.rename(path)
            raise
    with suppress(FileNotFoundError):  # another process may remove it
        _carry_over_files(retired, path, replaced)  # what was saved to the old folder in the meantime
    shutil.rmtree(retired, ignore_errors=True)
