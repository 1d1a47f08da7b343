"""A run with the checkpoints of two epochs, and what to look at of them."""

import hashlib
from dataclasses import replace
from pathlib import Path

from ensemble.engine.step import create_members
from ensemble.runs import Run
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.training.progress import Progress
from tests.networks import CNN

STEPS = 5  # an epoch


def place(epoch: int, step: int = 0) -> Progress:
    blank = Progress.blank(create_members(CNN, epoch, 1), 1, STEPS)
    return replace(blank, step=epoch * STEPS + step, evaluated=epoch)


def restored(run: Run, like: Progress, read_only: bool = False) -> Progress | None:
    with Checkpoints(run.path, read_only) as checkpoints:
        return checkpoints.restore(like)


def newest(run: Run) -> Path:
    return run.path / "checkpoints" / str(list_checkpoint_ticks(run.path)[-1])


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files_of(folder)}
