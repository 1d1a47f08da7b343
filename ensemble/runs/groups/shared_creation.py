"""A run that several processes make and take up at once, each on a machine of its own.

Whoever comes first makes its folder, the others find it. Every submission (a manifest that was
applied, say) has a number: what it finds of an earlier one, a Stop above all, is done with; what
comes after is meant for it.
"""

import contextlib
import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, UnknownRunError
from ensemble.jobs.folders import build_unwritable_error, change_job_files
from ensemble.jobs.job import clear_stop_request
from ensemble.jobs.placement import Placement, read_place_name
from ensemble.runs.groups.group import GROUPS_FOLDER, create_group_folders
from ensemble.runs.run_folder import write_run_folder
from ensemble.runs.status import RESUMABLE
from ensemble.runs.store import Run, find_run, requeue_run
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.file_lock import try_lock
from ensemble.storage.folders import runs_folder

SUBMISSION_FILE, SUBMISSION_LOCK_FILE = "submission.json", "submission.lock"
POLL_SECONDS = 0.5
# What the system says where a folder stands in the place of one that is moved there.
FOLDER_EXISTS_ERRNOS = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def create_run_once(run_id: str, config: EnsembleConfig, placement: Placement) -> Run:
    """The run with this id, made if there is none.

    Args:
      run_id: its id.
      config: its settings.
      placement: where it is trained.

    Raises:
      ConfigError: there is another under this id.
      RunError: its folder cannot be written, or read.
    """
    folder = runs_folder() / run_id
    if not os.path.lexists(folder / "config.json"):
        try:
            _publish_run_folder(folder, config, placement)
        except OSError as error:
            raise build_unwritable_error(error) from error
    try:
        run = find_run(run_id)
    except UnknownRunError as error:
        raise ConfigError(
            f"{folder} exists and is not an ensemble: choose another id for the run, or remove that folder."
        ) from error
    if run.training_config != config or read_place_name(run.path) != placement.on:
        raise ConfigError(
            f"A run “{run_id}” with other settings or another placement exists: choose another id for this one."
        )
    return run


def _publish_run_folder(folder: Path, config: EnsembleConfig, placement: Placement) -> None:
    """Make a run's folder beside its place, and move it there unless somebody was first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.with_name(f".new-{folder.name}-{secrets.token_hex(4)}")
    beside.mkdir()
    try:
        write_run_folder(beside, config, placement)
        beside.rename(folder)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        if not isinstance(error, OSError) or error.errno not in FOLDER_EXISTS_ERRNOS:
            raise


def take_up_submission(run: Run, submission: str) -> Run:
    """The run, with its groups' folders, as this submission of it is to go on with it.

    Of several processes of one submission the first does what there is to do. It waits until those
    of an earlier one have ended.

    Args:
      run: which.
      submission: the number of this submission.

    Raises:
      RunError: the folder cannot be written.
    """
    with change_job_files(run.path):
        (run.path / GROUPS_FOLDER).mkdir(exist_ok=True)
        with _lock_submission(run.path / GROUPS_FOLDER / SUBMISSION_LOCK_FILE):
            before = _read_last_submission(run)
            if before == submission:
                return find_run(run.id)
            groups = create_group_folders(run)
            if before is not None:
                run = _wait_for_run_end(run)
                if run.state in RESUMABLE:
                    requeue_run(run.id, on=read_place_name(run.path))
                for group in groups:
                    clear_stop_request(group.path)
            write_json(run.path / GROUPS_FOLDER / SUBMISSION_FILE, {"id": submission})
    return find_run(run.id)


def _read_last_submission(run: Run) -> str | None:
    """The submission that took the run up last; None if none has."""
    try:
        return str(read_json(run.path / GROUPS_FOLDER / SUBMISSION_FILE).get("id"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return ""


def _wait_for_run_end(run: Run) -> Run:
    notice_sent = False
    while run.active:
        if not notice_sent:
            print(f"The run “{run.id}” still has a worker from an earlier start: waiting for it to end.", flush=True)
            notice_sent = True
        time.sleep(POLL_SECONDS)
        run = find_run(run.id)
    return run


@contextlib.contextmanager
def _lock_submission(path: Path) -> Iterator[None]:
    """Nobody else is within this; done without where the disk knows no locks."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            while (lock := try_lock(path)) is None:
                time.sleep(POLL_SECONDS)
            held.enter_context(lock)
        yield
