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

from ensemble.cluster.schedulers import KUBERNETES
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, UnknownRunError
from ensemble.jobs.folders import changing, not_writable
from ensemble.jobs.job import forget_stop
from ensemble.jobs.placement import Placement, placed_on
from ensemble.runs.contents import fill
from ensemble.runs.groups.part import FOLDER, make
from ensemble.runs.status import RESUMABLE
from ensemble.runs.store import Run, find, requeue
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.folders import runs_folder
from ensemble.storage.lock import try_lock

FILE, LOCK_FILE = "submission.json", "submission.lock"
POLL_SECONDS = 0.5
# What the system says where a folder stands in the place of one that is moved there.
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def make_once(run_id: str, config: EnsembleConfig, placement: Placement) -> Run:
    """The run with this id, made where there is none.

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
            _make(folder, config, placement)
        except OSError as error:
            raise not_writable(error) from error
    try:
        run = find(run_id)
    except UnknownRunError as error:
        raise ConfigError(
            f"{folder} is there and is no ensemble: choose another id for the run, or take that "
            "away."
        ) from error
    if run.trained != config or placed_on(run.path) != placement.on:
        raise ConfigError(
            f"There is a run “{run_id}” with other settings, or for another place: choose another "
            "id for this one."
        )
    return run


def _make(folder: Path, config: EnsembleConfig, placement: Placement) -> None:
    """Make a run's folder beside its place, and move it there unless somebody was first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.with_name(f".new-{folder.name}-{secrets.token_hex(4)}")
    beside.mkdir()
    try:
        fill(beside, config, placement)
        beside.rename(folder)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        if not isinstance(error, OSError) or error.errno not in TAKEN:
            raise


def take_up(run: Run, submission: str) -> Run:
    """The run, with its groups' folders, as this submission of it is to go on with it.

    Of several processes of one submission the first does what there is to do. It waits until those
    of an earlier one have ended.

    Args:
      run: which.
      submission: the number of this submission.

    Raises:
      RunError: the folder cannot be written.
    """
    with changing(run.path):
        (run.path / FOLDER).mkdir(exist_ok=True)
        with _alone(run.path / FOLDER / LOCK_FILE):
            before = _last(run)
            if before == submission:
                return find(run.id)
            groups = make(run)
            if before is not None:
                run = _when_ended(run)
                if run.state in RESUMABLE:
                    requeue(run.id, on=KUBERNETES.name)
                for group in groups:
                    forget_stop(group.path)
            write_json(run.path / FOLDER / FILE, {"id": submission})
    return find(run.id)


def _last(run: Run) -> str | None:
    """The submission that took the run up last; None where none has."""
    try:
        return str(read_json(run.path / FOLDER / FILE).get("id"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return ""


def _when_ended(run: Run) -> Run:
    told = False
    while run.active:
        if not told:
            print(
                f"The run “{run.id}” has a worker of an earlier start: waiting for its end.",
                flush=True,
            )
            told = True
        time.sleep(POLL_SECONDS)
        run = find(run.id)
    return run


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Nobody else is within this; done without where the disk knows no locks."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            while (lock := try_lock(path)) is None:
                time.sleep(POLL_SECONDS)
            held.enter_context(lock)
        yield
