"""A full disk at a checkpoint: one sentence, no half left over, and what is kept is true."""

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.status import write_status
from ensemble.regression import LbfgsConfig
from ensemble.runs import Run
from ensemble.runs.checkpoints.folders import describe_saved_progress
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.status import Status
from ensemble.runs.training.progress import Progress
from ensemble.storage.folders import runs_folder
from tests.runs.checkpointed import STEPS, contents, newest


def too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    from ensemble.runs.checkpoints import manager as checkpoints

    def usage(path: Path) -> object:
        return type("Usage", (), {"free": 5 * 2**20})

    monkeypatch.setattr(checkpoints.shutil, "disk_usage", usage)


def full_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    from orbax.checkpoint import CheckpointManager

    def save(self: CheckpointManager, tick: int, **_: object) -> None:
        (Path(self.directory) / f"{tick}.orbax-checkpoint-tmp").mkdir()
        # As it came from a disk of 24 MB.
        raise ValueError("RESOURCE_EXHAUSTED: Error writing … No space left on device [os_error_code='28']")

    monkeypatch.setattr(CheckpointManager, "save", save)


@pytest.mark.parametrize("fill", [too_small, full_meanwhile])
def test_a_disk_without_room_is_no_bug_and_leaves_no_half(
    fill: Callable[[pytest.MonkeyPatch], None], run: Run, places: dict[int, Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(run.path)
    with monkeypatch.context() as patch, Checkpoints(run.path) as checkpoints:
        fill(patch)
        with pytest.raises(OSError, match="No space left") as failure:
            checkpoints.save(replace(places[2], step=11))
    assert failure.value.errno == errno.ENOSPC
    assert contents(run.path) == before
    assert sorted(one.name for one in newest(run).parent.iterdir()) == ["12", "6"]


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        ([], "No checkpoint has been written yet: resume starts from the beginning."),
        ([6, 12], "Everything up to the end of epoch 2 is kept; resume continues from there."),
        ([6, 15], "Everything up to 3 steps of epoch 3 is kept; resume continues from there."),
    ],
)
def test_what_is_kept_is_what_lies_there(ticks: list[int], said: str) -> None:
    run = runs.create_run(EnsembleConfig(members=1, epochs=4))
    write_status(run.path, Status(state="failed", epochs=4, steps=4 * STEPS))
    for tick in ticks:
        (run.path / "checkpoints" / str(tick)).mkdir(parents=True)
    (run.path / "checkpoints" / "18.orbax-checkpoint-tmp").mkdir(parents=True)
    assert describe_saved_progress(run.path) == said


@pytest.mark.parametrize(
    "make",
    [
        lambda: runs.create_run(EnsembleConfig()),
        lambda: regression.create_regression(LbfgsConfig(samples=120, features=8)),
    ],
    ids=["run", "regression"],
)
def test_a_launch_that_has_no_room_leaves_no_folder(
    make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, value: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ensemble.jobs.folders.write_json", full)
    with pytest.raises(RunError, match=r"could not be made in .*No space left on device"):
        make()
    assert list(runs_folder().iterdir()) == []
