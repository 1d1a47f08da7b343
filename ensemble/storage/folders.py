"""Where runs and datasets live: two environment variables, and what holds without them."""

import os
from pathlib import Path


def runs_folder() -> Path:
    """Where runs live: `ENSEMBLE_RUNS`, else `runs/` in the working folder."""
    return Path(os.environ.get("ENSEMBLE_RUNS") or "runs").absolute()


def data_folder() -> Path:
    """Where datasets live: `ENSEMBLE_DATA`, else `ensemble/` in the user's cache folder."""
    if chosen := os.environ.get("ENSEMBLE_DATA"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "ensemble"
