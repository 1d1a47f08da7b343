"""A run's last members where its last checkpoint is damaged: they are kept twice."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.engine import count_steps_per_epoch
from ensemble.engine.step import create_members
from ensemble.errors import RunError
from ensemble.runs import Run
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.checkpoints.members import read_progress
from ensemble.runs.parameters import write_parameters
from ensemble.runs.training.progress import Progress
from tests.networks import CNN
from tests.runs.checkpointed import contents

STEPS = count_steps_per_epoch(1297, 128)


@pytest.fixture
def run() -> Run:
    """One whose members differ after each of its two epochs."""
    made = runs.create_run(EnsembleConfig(members=1))
    for epoch in (1, 2):
        progress = Progress.blank(create_members(CNN, epoch, 1), 1, STEPS)
        progress.step, progress.evaluated = epoch * STEPS, epoch
        with Checkpoints(made.path) as checkpoints:
            checkpoints.save(progress)
        write_parameters(made.path, epoch, progress.state.params, best=1)
    return made


def damage(run: Run, *ticks: int) -> dict[str, str]:
    for tick in ticks:
        os.truncate(run.path / "checkpoints" / str(tick) / "default" / "_METADATA", 10)
    return contents(run.path)


def remove_parameters(folder: Path, epoch: int) -> None:
    (folder / "parameters" / f"epoch-{epoch:04d}.npz").unlink()


def test_a_damaged_last_checkpoint_is_stood_in_for_by_the_parameters_of_its_epoch(run: Run) -> None:
    first, last = list_checkpoint_ticks(run.path)
    for damaged in (last,), (first, last):
        before = damage(run, *damaged)
        found = read_progress(run)
        assert (found.tick, found.evaluated, found.step_in_epoch) == (last, 2, 0)
        wanted = create_members(CNN, 2, 1).params
        jax.tree.map(np.testing.assert_array_equal, found.state.params, wanted)
        assert contents(run.path) == before


def test_without_those_the_checkpoint_before_is_used_and_where_all_are_damaged_that_is_said(run: Run) -> None:
    first, last = list_checkpoint_ticks(run.path)
    remove_parameters(run.path, 2)
    damage(run, last)
    assert read_progress(run).tick == first
    damage(run, first)
    with pytest.raises(RunError, match=r"Checkpoint 22 is damaged.*Checkpoint 11 is damaged") as said:
        read_progress(run)
    assert "no checkpoint yet" not in str(said.value)
