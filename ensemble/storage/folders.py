"""Where runs, datasets and locks live: what the environment says, and what holds without that."""

import contextlib
import os
import re
import socket
import tempfile
from pathlib import Path

from ensemble.errors import StorageError
from ensemble.storage.lock import knows_locks
from ensemble.storage.private import private_folder


def runs_folder() -> Path:
    """Where runs live: `ENSEMBLE_RUNS`, else `runs/` in the working folder."""
    return Path(os.environ.get("ENSEMBLE_RUNS") or "runs").absolute()


def data_folder() -> Path:
    """Where datasets live: `ENSEMBLE_DATA`, else `ensemble/` in the user's cache folder.

    Raises:
      StorageError: see `cache_folder`.
    """
    if chosen := os.environ.get("ENSEMBLE_DATA"):
        return Path(chosen).absolute()
    return cache_folder() / "ensemble"


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
        return private_folder(_temporary_folder())
    except OSError as error:
        raise StorageError(
            f"You have no home folder, and {_named(error)} cannot stand in for it: "
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
        wanted.append(cache_folder() / "ensemble" / f"locks-{_host()}")
    if found := [folder for folder in wanted if _can_lock(folder)]:
        return found
    raise StorageError(
        "No folder is there in which this machine's jobs can take turns: "
        f"{_temporary_folder()} is another user's or cannot be written, nor can your cache folder. "
        "Point XDG_CACHE_HOME at a folder of your own."
    )


def _login_folders() -> list[Path]:
    given = os.environ.get("XDG_RUNTIME_DIR")
    usual = [] if os.name == "nt" else [f"/run/user/{os.geteuid()}"]
    parents = [Path(given)] if given else [Path(one) for one in usual]
    return [one / "ensemble" for one in parents if one.is_absolute() and _is_mine(one)]


def _temporary_folder() -> Path:
    try:
        parent = Path(tempfile.gettempdir())
    except FileNotFoundError:  # Nowhere can be written: what is to be made there will say so.
        parent = Path("/tmp")
    return parent / (f"ensemble-{os.geteuid()}" if os.name != "nt" else "ensemble")


def _can_lock(folder: Path) -> bool:
    try:
        return knows_locks(private_folder(folder))
    except OSError:
        return False


def _is_mine(folder: Path) -> bool:
    """Whether it is there, and nobody else's, as after `su` and `sudo`."""
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _host() -> str:
    """This machine's name, for a home may be on several machines."""
    return re.sub(r"[^A-Za-z0-9-]", "_", socket.gethostname())


def _named(error: OSError) -> str:
    return str(error.filename or tempfile.gettempprefix())
