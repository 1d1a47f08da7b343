"""What pages read from disk, read once for each version of a file.

Keyed by run and by the file's time and size, so that a growing file is read anew and
every tab shares what is read; bounded, so that the server does not grow. What they return
is shared: treat it as read-only.
"""

import functools
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble import datasets, regression, runs
from ensemble.config import CLASSIFICATION
from ensemble.datasets import Dataset
from ensemble.errors import ConfigError
from ensemble.jobs.folders import find_run_folder
from ensemble.jobs.leftovers import Leftover, list_leftovers
from ensemble.jobs.placement import read_place_name
from ensemble.runs.checkpoints.removal import delete_expired_checkpoints
from ensemble.runs.store import RUN_STORE
from ensemble.runs.test_set import LABELS_FILE
from ensemble.storage.folder_index import file_version
from ensemble.storage.folders import runs_folder
from ensemble.storage.records.jsonl_tail import JsonlTail
from ensemble.ui.jobs import job_screen

_WATCHED_RUN_TTL_S = 1.0


def get_file_version(path: Path) -> tuple[int, int]:
    """Changes when the file does: (modified in ns, bytes); (0, 0) when there is none."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


@dataclass(frozen=True)
class _WatchedRun(runs.Run):
    """A run whose worker is looked for once, however often a page asks for its state."""

    @functools.cached_property
    def has_died(self) -> bool:
        return super().has_died


def find_watched_run(run_id: str) -> runs.Run:
    """The run for a part of a page that is drawn again and again, the same for all who watch it.

    It is read anew as soon as one of its files has changed; a worker that was killed is noticed
    within a second.

    Raises:
      UnknownRunError: there is no such run.
      RunError: its files cannot be read.
    """
    folder = find_run_folder(run_id)
    version = tuple(file_version(f"{folder}/{name}") for name in RUN_STORE.files)
    return _read_watched_run(str(folder), version, run_id)


@st.cache_resource(max_entries=24, ttl=_WATCHED_RUN_TTL_S, show_spinner=False)
def _read_watched_run(folder: str, version: tuple[Any, ...], run_id: str) -> _WatchedRun:
    run = runs.find_run(run_id)
    return _WatchedRun(**{field.name: getattr(run, field.name) for field in fields(run)})


def load_run_history(run: runs.Run) -> list[dict[str, Any]]:
    """The lines of a run's history; the same list until there are more.

    Of a long one only so many lines of steps as curves need: see `LineThinner`.

    Raises:
      RunError: it cannot be read.
    """
    return _open_history_tail(str(run.path), run.config.members).read_lines()


@st.cache_resource(max_entries=12, show_spinner=False)
def _open_history_tail(folder: str, members: int) -> JsonlTail:
    return JsonlTail(Path(folder) / "history.jsonl", members, thinned=True)


@st.cache_resource(max_entries=4, show_spinner=False)
def load_cached_dataset(name: str) -> Dataset:
    return datasets.load_dataset(name)


def load_run_test_set(run: runs.Run) -> runs.TestSet:
    """The labels and images that a run was tested on, and what they are.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was imported, and what it brought cannot be read.
    """
    if run.training_config is None or run.origin:
        file_version = get_file_version(run.path / LABELS_FILE)
        return _load_cached_test_set(str(run.path), f"{file_version} {_is_run_dataset_prepared(run)}", run)
    return _load_cached_test_set(run.config.dataset, run.data.fingerprint, run)


def _is_run_dataset_prepared(run: runs.Run) -> bool:
    """Whether what a run was trained on is on this machine: one that came in a report asks anew."""
    try:
        return run.training_config is not None and datasets.is_dataset_prepared(run.config.dataset)
    except ConfigError:
        return False


@st.cache_resource(max_entries=6, show_spinner=False)
def _load_cached_test_set(place: str, version: str, _run: runs.Run) -> runs.TestSet:
    return runs.load_test_set(_run)


def forget_test_sets() -> None:
    """Have test sets read anew: for after a dataset was replaced by another of its name."""
    _load_cached_test_set.clear()


def list_cached_runs(task: str | None = CLASSIFICATION) -> list[runs.Run]:
    """Every run of this task, or of any, newest first, at most two seconds old."""
    return [run for run in job_screen.list_store_jobs(RUN_STORE) if task in (None, run.task)]


def forget_runs() -> None:
    """Have the list read anew: for after a launch, a rename or a deletion."""
    job_screen.forget_jobs()
    _list_cached_unreadable_runs.clear()
    _list_cached_leftovers.clear()


def list_unreadable_runs() -> dict[str, str]:
    """Runs that cannot be read, and why; at most ten seconds old."""
    return _list_cached_unreadable_runs(str(runs_folder()))


@st.cache_resource(max_entries=2, ttl=10.0, show_spinner=False)
def _list_cached_unreadable_runs(folder: str) -> dict[str, str]:
    return {**regression.list_unreadable_regressions(), **runs.list_unreadable_runs()}


def list_old_leftovers() -> list[Leftover]:
    """What killed imports and deletes left; at most a minute old.

    Checkpoints that were removed more than a day ago are deleted with it.
    """
    return _list_cached_leftovers(str(runs_folder()))


@st.cache_resource(max_entries=2, ttl=60.0, show_spinner=False)
def _list_cached_leftovers(folder: str) -> list[Leftover]:
    delete_expired_checkpoints()
    return list_leftovers()


def get_displayed_run_state(run: runs.Run) -> str:
    """As of every job; but in a cluster's queue a run may wait for hours."""
    return run.state if read_place_name(run.path) else job_screen.find_displayed_state(run)
