"""What is read of a run with a member that was set aside: the others, under their own numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.members.disagreement import measure_disagreement
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.config import EnsembleConfig
from ensemble.engine import Evaluation
from ensemble.errors import RunError
from ensemble.runs.final_losses import load_final_losses
from ensemble.runs.history import write_predictions
from ensemble.runs.status import list_remaining_members
from ensemble.runs.training.divergence import build_diverged_outcome
from ensemble.runs.training.task_records import compute_member_disagreement, compute_split_metrics
from ensemble.storage.records.json_lines import append_line
from tests.analysis.draws import distributions


@pytest.fixture
def run() -> runs.Run:
    """Three members, two epochs of ten steps: member 2 diverged in the second."""
    made = runs.create_run(EnsembleConfig(members=3, epochs=2, vary="learning_rate=0.1,10,0.2"))
    status = replace(made.status, steps=20, epochs=2, epoch=2, state="finished", set_aside={1: 14})
    (made.path / "status.json").write_text(json.dumps(vars(status)))
    for epoch in (1, 2):
        probabilities = distributions(3, made.data.test_size, 10, seed=epoch).astype(np.float32)
        if epoch == 2:
            probabilities[1] = np.nan
        write_predictions(made.path, epoch, probabilities)
    return runs.find_run(made.id)


def test_members_are_there_until_the_epoch_in_which_they_are_set_aside(run: runs.Run) -> None:
    assert run.remaining_members(1) == (0, 1, 2)
    assert run.remaining_members(2) == run.remaining_members() == (0, 2)
    # The last step of an epoch is of that epoch, the next step of the next one.
    ended = replace(run.status, set_aside={0: 10, 2: 11})
    assert list_remaining_members(ended, 3, 1) == (1, 2)
    assert list_remaining_members(ended, 3, 2) == (1,)


def test_predictions_of_the_others_are_read(run: runs.Run) -> None:
    assert len(runs.read_run_predictions(run.id, 1)) == 3
    expected = distributions(3, run.data.test_size, 10, seed=2).astype(np.float32)[[0, 2]]
    np.testing.assert_array_equal(runs.read_run_predictions(run.id, 2), expected)


def test_no_number_of_a_member_that_goes_on_is_damage(run: runs.Run) -> None:
    status = replace(run.status, set_aside={})
    (run.path / "status.json").write_text(json.dumps(vars(status)))
    with pytest.raises(RunError, match="not all between 0 and 1"):
        runs.read_run_predictions(run.id, 2)


def test_final_losses_are_of_those_that_are_left(run: runs.Run) -> None:
    for epoch in (1, 2):
        line = {
            "kind": "epoch",
            "epoch": epoch,
            "step": 10 * epoch,
            "train_loss": [1.0] * 3,
            "test_loss": [1.0] * 3,
            "test_accuracy": [0.5] * 3,
        }
        append_line(run.path / "history.jsonl", line)
    found = load_final_losses(run.id)
    assert found is not None
    assert (found.split, found.epoch, found.members) == ("test", 2, (0, 2))
    labels = runs.load_test_set(run).labels
    expected = log_loss(runs.read_run_predictions(run.id, 2), labels)
    np.testing.assert_array_equal(found.per_image_loss, expected)


def test_before_the_first_epoch_has_ended_the_training_loss_has_to_do(run: runs.Run) -> None:
    assert load_final_losses(run.id) is None
    line = {"kind": "steps", "epoch": 1, "step": 4, "train_loss": [2.0, None, 1.0]}
    append_line(run.path / "history.jsonl", line)
    found = load_final_losses(run.id)
    assert found is not None
    assert (found.split, found.epoch, found.members) == ("training", 0, (0, 2))
    assert found.loss.tolist() == [2.0, 1.0]
    assert found.per_image_loss is None


def test_of_a_group_it_is_said_where_the_others_would_go_on() -> None:
    assert "set groups to 1" in build_diverged_outcome("Member 4's loss", "at step 39", 2, differ=True).message
    assert "try a third of it" in build_diverged_outcome("Member 4's loss", "at step 39", 2).message


def test_members_that_differ_are_one_group_where_that_is_left_open() -> None:
    many = EnsembleConfig(members=16, groups=0, epochs=1000, vary="learning_rate=0.01..1:log")
    assert runs.create_run(many).config.groups == 1  # type: ignore[union-attr]


def test_figures_of_an_epoch_are_of_the_members_that_remain() -> None:
    probabilities = distributions(4, 30, 3).astype(np.float32)
    loss, accuracy = np.array([0.5, np.nan, 1.0, 3.0]), np.array([0.9, np.nan, 0.8, 0.7])
    probabilities[1] = np.nan
    evaluation = Evaluation(probabilities, loss, accuracy, 0.4, 0.95)
    assert compute_split_metrics("test", evaluation, (1,))["ensemble_test_loss"] == pytest.approx(1.5)
    found = compute_member_disagreement(evaluation, (1,))
    expected = measure_disagreement(probabilities[[0, 2, 3]])
    assert found["disagreement"] == pytest.approx(expected.pairwise)
    assert np.isnan(found["member_disagreement"]).tolist() == [False, True, False, False]
    np.testing.assert_allclose(found["member_disagreement"][[0, 2, 3]], expected.of_members)
