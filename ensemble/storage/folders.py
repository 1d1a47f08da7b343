"""Where runs, datasets and locks live: what the environment says, and what holds without that."""

import contextlib
import os
import re
import socket
import stat
import tempfile
from pathlib import Path

from ensemble.errors import RunError, StorageError
from ensemble.storage.file_lock import supports_locks
from ensemble.storage.private_folder import create_private_folder


def runs_folder() -> Path:
    """Where runs live: `ENSEMBLE_RUNS`, else `runs/` in the working folder; made when needed.

    Raises:
      RunError: it is not a folder and cannot become one, or its name is not UTF-8.
    """
    named = expand_home_path(os.environ.get("ENSEMBLE_RUNS") or "runs")
    try:
        path = named.absolute()
    except FileNotFoundError as error:
        raise RunError(
            "The folder that this was started in no longer exists: change to another, or set "
            "ENSEMBLE_RUNS to an existing one."
        ) from error
    if reason := _find_folder_problem(path):
        raise RunError(f"Runs cannot be saved in {path}: {reason}. Point ENSEMBLE_RUNS at a folder, existing or new.")
    return path


def count_folder_bytes(folder: Path) -> int:
    """How many bytes the files below a folder hold; links are not followed, what goes is nothing.

    Args:
      folder: which; one that is not there holds none.
    """
    held, ahead = 0, [os.fspath(folder)]
    while ahead:
        with contextlib.suppress(OSError), os.scandir(ahead.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        ahead.append(entry.path)
                    else:
                        held += entry.stat(follow_symlinks=False).st_size
    return held


def data_folder() -> Path:
    """Where datasets live: `ENSEMBLE_DATA`, else `ensemble/` in the user's cache folder.

    Raises:
      StorageError: see `cache_folder`.
    """
    if chosen := os.environ.get("ENSEMBLE_DATA"):
        return expand_home_path(chosen).absolute()
    return cache_folder() / "ensemble"


def expand_home_path(text: str) -> Path:
    """The path that a variable of the environment names: `~` at its beginning is a home folder.

    A shell puts that in only where nothing but `=` stands before it: not between quotes, nor in a
    `.env` file or a service's settings. One that nobody has stays as it is.
    """
    return Path(os.path.expanduser(text))


def home_folder() -> Path | None:
    """The user's, if they have one.

    The root folder, which Docker says is the home of who has none, is one only for who can write
    to it.
    """
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home != Path(home.anchor) or os.access(home, os.W_OK) else None


def cache_folder() -> Path:
    """The user's: `XDG_CACHE_HOME`, else `~/.cache`.

    One who has no home (a container's, of a number that has no name) has a folder of their own
    among the temporary files.

    Raises:
      StorageError: that one is another user's, or cannot be made.
    """
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen).absolute()
    if home := home_folder():
        return home / ".cache"
    try:
        return create_private_folder(_temporary_folder())
    except OSError as error:
        raise StorageError(
            f"You have no home folder, and {_temporary_folder()} cannot be used instead: "
            f"{error.strerror}. Point XDG_CACHE_HOME at a folder of your own."
        ) from error


def lock_folders() -> list[Path]:
    """Where this user's processes on this machine lock what they share; private folders.

    All of them are to be locked, so that processes agree where they have but one in common. The
    folder of a login goes away with it while a training goes on, and one that cron starts has
    none; the cache folder may lie on a disk that knows no locks, or be another for each process;
    among the temporary files another user may have been first, and that one is left out.

    Raises:
      StorageError: none can be used.
    """
    wanted = [*_login_folders(), _temporary_folder()]
    with contextlib.suppress(StorageError):
        wanted.append(cache_folder() / "ensemble" / f"locks-{_host_name()}")
    if usable_folders := [folder for folder in wanted if _can_lock_in(folder)]:
        return usable_folders
    raise StorageError(
        f"There is no folder for the queue of this machine's jobs: {_temporary_folder()} is "
        "another user's or cannot be written, nor can your cache folder. Point XDG_CACHE_HOME at a folder of your own."
    )


def _login_folders() -> list[Path]:
    runtime_folder = os.environ.get("XDG_RUNTIME_DIR")
    usual = [] if os.name == "nt" else [f"/run/user/{os.geteuid()}"]
    parents = [Path(runtime_folder)] if runtime_folder else [Path(folder) for folder in usual]
    return [parent / "ensemble" for parent in parents if parent.is_absolute() and _is_owned_folder(parent)]


def _temporary_folder() -> Path:
    try:
        parent = Path(tempfile.gettempdir())
    except FileNotFoundError:  # Nowhere can be written: what is to be made there will say so.
        parent = Path("/tmp")
    return parent / (f"ensemble-{os.geteuid()}" if os.name != "nt" else "ensemble")


def _can_lock_in(folder: Path) -> bool:
    try:
        return supports_locks(create_private_folder(folder))
    except OSError:
        return False


def _is_owned_folder(folder: Path) -> bool:
    """Whether it is there, and nobody else's, as after `su` and `sudo`."""
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _host_name() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "_", socket.gethostname())


def is_utf8_path(path: Path) -> bool:
    """Whether a path can be told to libraries in C++, which take no other names."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_folder_problem(path: Path) -> str:
    """Why nothing can be kept in there, "" where something can be, as far as looking tells."""
    if not is_utf8_path(path):
        return "its name is not UTF-8, so checkpoints cannot be written there"
    try:
        return "" if stat.S_ISDIR(os.stat(path).st_mode) else "it is not a folder"
    except FileNotFoundError:
        there = next(ancestor for ancestor in (path, *path.parents) if os.path.lexists(ancestor))
        return "" if there.is_dir() else f"{there} is a broken link"
    except OSError as error:
        return f"the system says {error.strerror or error}"
