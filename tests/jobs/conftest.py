"""After each test no process has a slot of this machine, nor works in the folder of a job."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ensemble.jobs.uploads.dataset_upload import uploads_folder
from ensemble.storage.file_lock import is_locked
from ensemble.storage.folders import lock_folders
from tests.workers import PATIENCE_SECONDS, list_held_locks


@pytest.fixture(autouse=True)
def no_slot_is_left(runs_of_one_test: Path) -> Iterator[None]:
    shared = lock_folders()
    yield
    end = time.monotonic() + PATIENCE_SECONDS
    while (left := list_locked_files([*shared, runs_of_one_test, uploads_folder()])) and time.monotonic() < end:
        time.sleep(0.02)
    assert left == []


def list_locked_files(folders: list[Path]) -> list[Path]:
    """The locks below these folders that another process has: of this one, `let_go_of_locks` makes sure."""
    own = list_held_locks()
    return [
        file for folder in folders for file in folder.rglob("*.lock") if is_locked(file) and name_file(file) not in own
    ]


def name_file(file: Path) -> str:
    """A file as the list of locks has it."""
    found = file.stat()
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
