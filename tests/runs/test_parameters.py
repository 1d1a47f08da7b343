"""Parameters of every epoch: kept, thinned out, dropped, and opened."""

import os
from dataclasses import replace

import jax
import numpy as np
import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.engine import predict_probabilities
from ensemble.engine.step import create_members
from ensemble.errors import RunError
from ensemble.runs import parameters
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.checkpoints.members import list_checkpoint_epochs
from ensemble.runs.parameters import select_parameter_epochs, write_parameters
from ensemble.runs.training.progress import Progress
from tests.networks import CNN

TREE = {"Conv_0": {"kernel": np.arange(6, dtype=np.float32).reshape(2, 3)}, "bias": np.ones(2)}
STEPS = 1297 // 128


@pytest.fixture
def run():
    return runs.create_run(EnsembleConfig(members=2, epochs=30))


def test_what_is_written_comes_back_as_float32(run):
    tree = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), create_members(CNN, 3, 2).params)
    write_parameters(run.path, 3, tree, best=3)
    found = parameters.read_parameters(run.id, 3)
    jax.tree.map(np.testing.assert_array_equal, found, tree)
    assert {leaf.dtype for leaf in jax.tree.leaves(found)} == {np.dtype(np.float32)}
    with np.load(run.path / "parameters" / "epoch-0003.npz") as file:  # as any tool reads it
        assert file["Dense_1/bias"].shape == (2, 10)
        assert len(file.files) == len(jax.tree.leaves(tree))


@pytest.mark.parametrize("room", [3, 5, 8, 40, 1000])
def test_what_is_kept_is_evenly_spaced_and_never_more_than_there_is_room_for(room):
    kept: set[int] = set()
    best = 1
    for last in range(1, 200):
        best = last if last in (2, 7, 90) else best
        wanted = select_parameter_epochs(last, best, room)
        assert {1, best, last} <= wanted <= kept | {last}, "an epoch came back from nowhere"
        assert len(wanted) <= room
        if room > 3 and last > 1:
            gap = np.diff(sorted(wanted)).max()
            assert gap <= max(1, 2 * last / (room - 3)), "one stretch is missing"
        kept = wanted
    assert len(kept) >= min(room // 2, 199)


def test_beyond_the_bound_files_go(run, monkeypatch):
    write_parameters(run.path, 1, TREE, best=1)
    size = (run.path / "parameters" / "epoch-0001.npz").stat().st_size
    monkeypatch.setattr(parameters, "MAX_BYTES", 6 * size - 1)  # room for five
    for epoch in range(2, 12):
        write_parameters(run.path, epoch, TREE, best=3)
    assert runs.list_member_epochs(run.id) == (1, 3, 4, 8, 11)


def test_only_the_ends_of_epochs_count_as_checkpoints_that_can_be_asked():
    run = runs.create_run(EnsembleConfig(batch_size=128))
    end = STEPS + 1  # an epoch's steps, and its evaluation
    for name in (0, 5, end, end + 1, 12 * end, f"{3 * end}.orbax-checkpoint-tmp"):
        (run.path / "checkpoints" / str(name)).mkdir(parents=True)
    assert list_checkpoint_epochs(run) == [1, 12]


def test_a_resumed_run_forgets_what_comes_again(run):
    for epoch in (1, 2, 3):
        write_parameters(run.path, epoch, TREE, best=1)
    torn = run.path / "parameters" / ".epoch-0004.npz.x7"
    torn.write_bytes(b"PK")
    parameters.drop_parameters(run.path, after=1)
    assert runs.list_member_epochs(run.id) == (1,)
    assert not torn.exists()


def test_a_full_disk_leaves_nothing_half_written(run, monkeypatch):
    def full(*places):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_parameters(run.path, 1, TREE, best=1)
    assert list((run.path / "parameters").iterdir()) == []


def test_what_is_not_there_or_torn_is_said(run):
    with pytest.raises(RunError, match="no parameters of epoch 2"):
        parameters.read_parameters(run.id, 2)
    write_parameters(run.path, 2, TREE, best=2)
    file = run.path / "parameters" / "epoch-0002.npz"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(RunError, match="choose another epoch"):
        parameters.read_parameters(run.id, 2)


@pytest.mark.long
def test_any_epoch_can_be_asked_also_of_a_run_with_checkpoints_alone(run):
    image = np.full((1, 28, 28, 1), 99, np.uint8)
    states = {epoch: create_members(CNN, epoch, 2) for epoch in (2, 5)}
    with Checkpoints(run.path) as checkpoints:
        for epoch, state in states.items():
            progress = replace(Progress.blank(state, 2, STEPS), step=epoch * STEPS, evaluated=epoch)
            checkpoints.save(progress, best=2 * (STEPS + 1))
    assert runs.list_member_epochs(run.id) == (2, 5), "the best and the last"
    write_parameters(run.path, 3, create_members(CNN, 3, 2).params, best=3)
    assert runs.list_member_epochs(run.id) == (2, 3, 5)
    for epoch, state in ((2, states[2]), (3, create_members(CNN, 3, 2))):
        members = runs.open_members(run.id, epoch)
        assert (members.epoch, members.steps_after) == (epoch, 0)
        expected = predict_probabilities(CNN, state.params, image)
        np.testing.assert_allclose(members.predict_probabilities(image), expected, atol=1e-6)
    assert runs.open_members(run.id).epoch == 5
    with pytest.raises(RunError, match="no members of epoch 4"):
        runs.open_members(run.id, 4)
