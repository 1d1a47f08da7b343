"""Which checkpoints a run has, told by the names of their folders: without orbax, without JAX."""

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from ensemble.errors import RunError
from ensemble.runs.status import read_run_status
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import Count, Time, parse_dataclass

CHECKPOINTS_FOLDER = "checkpoints"
# Beside it: those that were removed, until they go for good, and what remembers them.
REMOVED_FOLDER = "removed_checkpoints"
REMOVAL_FILE = "removed_checkpoints.json"
# What a kill left half-written has another name, and is no checkpoint.
_TICK_PATTERN = re.compile(r"[0-9]{1,18}")


def list_checkpoint_ticks(run_folder: Path) -> list[int]:
    """The places at which a checkpoint is kept, in order; see `Progress.tick`.

    Raises:
      RunError: the folder of checkpoints is there and cannot be read.
    """
    try:
        with os.scandir(run_folder / CHECKPOINTS_FOLDER) as every:
            return sorted(int(entry.name) for entry in every if _is_checkpoint_folder(entry))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(
            f"The checkpoints of the run “{run_folder.name}” cannot be read ({error.strerror}). "
            f"Nothing was changed: make {run_folder / CHECKPOINTS_FOLDER} readable, then try again."
        ) from error


@dataclass(frozen=True)
class _CheckpointRemoval:
    """What is remembered of checkpoints that were removed once the run had finished.

    Attributes:
      when: unix seconds.
      tick: the place of the last of them; None if nobody knows.
    """

    when: Time
    tick: Count | None = None


def read_removal(run_folder: Path) -> _CheckpointRemoval | None:
    """When a run's checkpoints were removed; None if they never were, or that cannot be read."""
    try:
        return parse_dataclass(_CheckpointRemoval, read_json(run_folder / REMOVAL_FILE))
    except (OSError, ValueError):
        return None


def write_removal(run_folder: Path, when: float, tick: int | None) -> None:
    """Remember that a run's checkpoints are being removed; OSError where that cannot be written."""
    write_json(run_folder / REMOVAL_FILE, asdict(_CheckpointRemoval(when, tick)))


def has_removed_checkpoints(run_folder: Path) -> bool:
    """Whether a run had checkpoints and has none any more, because they were removed."""
    return (run_folder / REMOVAL_FILE).exists() and not list_checkpoint_ticks(run_folder)


def find_last_tick(run_folder: Path) -> int | None:
    """The place of a run's last checkpoint, removed or not; None if there has been none."""
    if ticks := list_checkpoint_ticks(run_folder):
        return ticks[-1]
    removal = read_removal(run_folder)
    return removal.tick if removal else None


def describe_saved_progress(run_folder: Path) -> str:
    """A sentence on how far a run that broke off is kept, and what resuming it does."""
    if (run_folder / "groups").is_dir():
        return "Each group has its own checkpoint; resume continues from there."
    try:
        tick = find_last_tick(run_folder)
    except RunError:
        return "Its checkpoints cannot be read at the moment."
    if tick is None:
        return "No checkpoint has been written yet: resume starts from the beginning."
    try:
        status = read_run_status(run_folder)
        # A tick is a step or an epoch's evaluation.
        epoch, step = divmod(tick, status.steps // status.epochs + 1)
    except (OSError, ValueError, TypeError, ZeroDivisionError):
        return "Its last checkpoint is kept; resume continues from there."
    steps = f"{step:,} step{'s' if step > 1 else ''} of epoch {epoch + 1}"
    until = f"the end of epoch {epoch}" if not step else steps
    return f"Everything up to {until} is kept; resume continues from there."


def _is_checkpoint_folder(entry: "os.DirEntry[str]") -> bool:
    return bool(_TICK_PATTERN.fullmatch(entry.name)) and entry.is_dir()
