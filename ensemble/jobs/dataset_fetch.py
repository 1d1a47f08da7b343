"""Fetching a dataset without making anybody wait: a process of its own that says how far it is.

`python -m ensemble.jobs.dataset_fetch NAME` prepares a dataset and keeps a small JSON file up to
date; any page, any tab and the next server read it.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ensemble import datasets
from ensemble.datasets.registry import DATASETS
from ensemble.errors import EnsembleError, StorageError
from ensemble.storage.folders import data_folder

QUIET_SECONDS = 0.25
CUT_OFF = "Fetching was cut off. Press the button to go on; what had arrived is kept."


@dataclass(frozen=True)
class Fetch:
    """How far a dataset's fetching is.

    Attributes:
      state: "running", "done" or "failed".
      fraction: share of the work done, in [0, 1]; None when it cannot be said.
      message: what it is doing, or what went wrong and what to do.
      pid: the process that fetches.
    """

    state: str
    fraction: float | None
    message: str
    pid: int


def path(name: str) -> Path:
    """The file that says how far the dataset `name` is."""
    return data_folder() / "fetching" / f"{name}.json"


def start(name: str) -> None:
    """Begin fetching `name`, unless somebody already does.

    Raises:
      StorageError: the data folder cannot be written.
    """
    found = read(name)
    if found and found.state == "running":
        return
    try:
        path(name).parent.mkdir(parents=True, exist_ok=True)
        forget(name)
    except OSError as error:
        raise StorageError(
            f"Nothing can be kept in {data_folder()} ({error.strerror}): free some room, or point "
            "ENSEMBLE_DATA at a folder that you can write to. Digits works meanwhile."
        ) from error
    process = subprocess.Popen(
        [sys.executable, "-m", "ensemble.jobs.dataset_fetch", name],
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _children.append(process)
    note(name, Fetch("running", None, "Starting", process.pid), first=True)


# Kept so that a finished child can be waited for: an unwaited one still looks alive.
_children: list["subprocess.Popen[bytes]"] = []


def read(name: str) -> Fetch | None:
    """How far `name` is; None when nobody began. A dead process reads as failed."""
    _children[:] = [child for child in _children if child.poll() is None]
    try:
        found = Fetch(**json.loads(path(name).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if found.state == "running" and not alive(found.pid):
        return Fetch("failed", None, CUT_OFF, found.pid)
    return found


def forget(name: str) -> None:
    """Take a failure off the page, once it has been read."""
    path(name).unlink(missing_ok=True)


def alive(pid: int) -> bool:
    """Whether the process `pid` of this machine still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def note(name: str, fetch: Fetch, *, first: bool = False) -> None:
    """Write down how far `name` is, whole or not at all; `first` gives way to what is there."""
    place = path(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(fetch)))
    if not first:
        os.replace(beside, place)
        return
    with suppress(FileExistsError):  # the process that fetches was faster
        os.link(beside, place)
    beside.unlink()


def work(name: str) -> int:
    """Prepare `name` in this process, noting every change; the exit status."""
    said_at = 0.0

    def progress(fraction: float | None, message: str) -> None:
        nonlocal said_at
        if time.monotonic() - said_at > QUIET_SECONDS:
            said_at = time.monotonic()
            note(name, Fetch("running", fraction, message, os.getpid()))

    progress(None, "Starting")
    try:
        datasets.prepare(name, progress)
    except EnsembleError as error:
        note(name, Fetch("failed", None, str(error), os.getpid()))
        return error.exit_code
    note(name, Fetch("done", 1.0, f"{datasets.info(name).title} is ready.", os.getpid()))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in DATASETS:
        sys.exit(f"Which dataset? One of {', '.join(DATASETS)}.")
    sys.exit(work(sys.argv[1]))
