"""baselines.json, beside the runs: of each dataset the run that others are compared with."""

import contextlib
import os
from collections.abc import Iterator

from ensemble.access import Action, audit_log, check_permission
from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files, find_run_folder
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.file_lock import lock_within_grace
from ensemble.storage.folders import runs_folder

BASELINES_FILE, _BASELINES_LOCK_FILE = "baselines.json", ".baselines.lock"


def read_baselines() -> dict[str, str]:
    """The id of the baseline of each dataset that has one, by the dataset's name.

    One whose run is gone, however it went, is left out; whatever else is in the file, too.
    """
    return {dataset: run_id for dataset, run_id in _read_baselines_file().items() if _has_run_folder(run_id)}


def read_baseline(dataset: str) -> str | None:
    """The id of the run that others on this dataset are compared with; None for none."""
    return read_baselines().get(dataset)


def write_baseline(dataset: str, run_id: str | None) -> None:
    """Make a run the baseline of its dataset, instead of any other; None takes it away.

    Raises:
      AccessError: whoever asks may change nothing.
      UnknownRunError: there is no such run.
      RunError: the folder of runs cannot be written.
    """
    check_permission(Action.CHANGE)  # Of a dataset, not of a run: any member's.
    if run_id is not None:
        find_run_folder(run_id)
    with _edit_baselines() as pinned:
        if run_id is None:
            pinned.pop(dataset, None)
        else:
            pinned[dataset] = run_id
    audit_log.write_audit_entry(Action.CHANGE, f"baseline of {dataset}")


def forget_baseline(run_id: str) -> None:
    """What no longer exists is nobody's baseline; does nothing if it was none.

    Raises:
      RunError: the folder of runs cannot be written.
    """
    if run_id in _read_baselines_file().values():
        with _edit_baselines() as pinned:
            for dataset in [name for name, pin in pinned.items() if pin == run_id]:
                del pinned[dataset]


def _read_baselines_file() -> dict[str, str]:
    try:
        baselines = read_json(runs_folder() / BASELINES_FILE)
    except (OSError, ValueError):
        return {}  # Whatever it is, it names no baselines.
    return {dataset: run_id for dataset, run_id in baselines.items() if isinstance(run_id, str)}


def _has_run_folder(run_id: str) -> bool:
    try:
        return os.path.lexists(find_run_folder(run_id))
    except RunError:
        return False


@contextlib.contextmanager
def _edit_baselines() -> Iterator[dict[str, str]]:
    # Two tabs may pin the baselines of two datasets at once, and neither may be lost.
    folder = runs_folder()
    with change_job_files(folder, "The baseline could not be saved", action=None):
        held = lock_within_grace(folder / _BASELINES_LOCK_FILE)
        if held is None:
            raise RunError("Another process is changing the baselines: try again in a moment.")
        with held:
            pinned = _read_baselines_file()
            yield pinned
            write_json(folder / BASELINES_FILE, pinned)
