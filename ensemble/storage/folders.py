"""Where runs and datasets live: two environment variables, and what holds without them."""

import os
import stat
from pathlib import Path

from ensemble.errors import RunError


def runs_folder() -> Path:
    """Where runs live: `ENSEMBLE_RUNS`, else `runs/` in the working folder; made when needed.

    Raises:
      RunError: it is no folder and cannot become one, or its name is not UTF-8.
    """
    named = Path(os.environ.get("ENSEMBLE_RUNS") or "runs")
    try:
        path = named.absolute()
    except FileNotFoundError as error:
        raise RunError(
            "The folder that this was started in is gone: change to another, or name one that "
            "is there in ENSEMBLE_RUNS."
        ) from error
    if reason := _unusable(path):
        raise RunError(
            f"The runs cannot be kept in {path}: {reason}. Point ENSEMBLE_RUNS at a folder, or "
            "at a new name in one."
        )
    return path


def data_folder() -> Path:
    """Where datasets live: `ENSEMBLE_DATA`, else `ensemble/` in the user's cache folder."""
    if chosen := os.environ.get("ENSEMBLE_DATA"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "ensemble"


def is_utf8(path: Path) -> bool:
    """Whether a path can be told to libraries in C++, which take no other names."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _unusable(path: Path) -> str:
    """Why nothing can be kept in there, "" where something can be, as far as looking tells."""
    if not is_utf8(path):
        return "its name is not UTF-8, and checkpoints cannot be written there"
    try:
        return "" if stat.S_ISDIR(os.stat(path).st_mode) else "it is no folder"
    except FileNotFoundError:
        there = next(one for one in (path, *path.parents) if os.path.lexists(one))
        return "" if there.is_dir() else f"{there} is a link that leads nowhere"
    except OSError as error:
        return f"the system says {error.strerror or error}"
