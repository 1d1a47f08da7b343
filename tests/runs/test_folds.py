"""A run with folds: its members judge the training images that they left out."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.inference.fold_shares import FoldShares, estimate_fold_shares
from ensemble.config import EnsembleConfig
from ensemble.datasets import load_dataset
from ensemble.datasets.partition.folds import NO_FOLD, assign_folds
from ensemble.engine import predict_probabilities
from ensemble.errors import RunError
from ensemble.runs import Run
from ensemble.runs.parameters import load_run_network, read_parameters
from ensemble.runs.training import fold_predictions
from ensemble.runs.training_predictions import (
    NO_VOTE,
    TRAINING_PREDICTIONS_FILE,
    has_training_predictions,
    load_training_predictions,
)
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.examples import judged_labels
from ensemble.views.examples.judged_labels import judge_run_labels
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.runs.groups.inline import arrays, trained

# Of the shapes of groups/inline.py: one program serves both.
CONFIG = EnsembleConfig(
    network="logistic", members=4, folds=3, epochs=2, batch_size=256, learning_rate=0.05, devices=1, validation=0.1
)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with folds that has come to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        return trained(CONFIG)


@pytest.fixture
def at_home(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(ended.path.parent))


def contents(run: Run) -> tuple[Any, ...]:
    """The bits of what a run has learnt and said."""
    with np.load(run.path / TRAINING_PREDICTIONS_FILE, allow_pickle=False) as file:
        said = {name: file[name].tobytes() for name in file.files}
    return arrays(run.path, "parameters"), arrays(run.path, "predictions"), said


@pytest.mark.usefixtures("at_home")
def test_each_image_is_judged_by_the_members_that_left_it_out(ended: Run) -> None:
    stored, data = load_training_predictions(ended), load_dataset("digits")
    folds = assign_folds(CONFIG, data)
    np.testing.assert_array_equal(stored.numbers, np.flatnonzero(folds != NO_FOLD))
    assert stored.epoch == ended.status.best_epoch
    every = predict_probabilities(
        load_run_network(ended), read_parameters(ended.id, stored.epoch), data.train_images[stored.numbers]
    )
    for place in (*range(0, len(stored.numbers), 97), len(stored.numbers) - 1):
        fold = folds[stored.numbers[place]]
        own = every[[member for member in range(4) if member % 3 == fold], place]
        label = data.train_labels[stored.numbers[place]]
        assert stored.judges[place] == len(own) == (2 if fold == 0 else 1)
        np.testing.assert_allclose(stored.averaged[place], own.mean(axis=0), atol=1e-5)
        np.testing.assert_allclose(stored.lowest[place], own[:, label].min(), atol=1e-5)
        votes = [vote for vote in stored.votes[place] if vote != NO_VOTE]
        assert votes == own.argmax(axis=1).tolist()


@pytest.mark.usefixtures("at_home")
def test_killed_before_it_has_judged_it_does_so_when_it_is_resumed(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run, judge = runs.create_run(CONFIG), fold_predictions.judge_training_images

    def die(*_: Any) -> None:
        raise KeyboardInterrupt  # as of a process that is ended here

    monkeypatch.setattr(fold_predictions, "judge_training_images", die)
    with pytest.raises(KeyboardInterrupt):
        runs.execute_run(run.id)
    run = runs.find_run(run.id)
    assert run.state != "finished"
    assert not has_training_predictions(run)
    # Then somebody stops it while it judges.
    monkeypatch.setattr(
        fold_predictions, "judge_training_images", lambda run, epoch, _: judge(run, epoch, lambda: True)
    )
    runs.requeue_run(run.id)
    assert runs.execute_run(run.id).state == "stopped"
    assert not has_training_predictions(run)
    monkeypatch.undo()
    monkeypatch.setenv("ENSEMBLE_RUNS", str(ended.path.parent))
    runs.requeue_run(run.id)
    assert runs.execute_run(run.id).state == "finished"
    assert contents(run) == contents(ended)


@pytest.mark.long
@pytest.mark.usefixtures("at_home")
def test_a_run_in_groups_judges_once_all_are_merged(ended: Run) -> None:
    run = trained(replace(CONFIG, groups=2))
    assert run.state == "finished"
    one, other = load_training_predictions(run), load_training_predictions(ended)
    np.testing.assert_array_equal(one.numbers, other.numbers)
    np.testing.assert_allclose(one.averaged, other.averaged, atol=1e-5)


@pytest.mark.usefixtures("at_home")
def test_the_view_judges_test_and_training_images(ended: Run) -> None:
    epoch = evaluate_epoch(ended)
    test = summarize_view(VIEWS["labels"], epoch)
    training = summarize_view(VIEWS["labels"], epoch, {"images": "training"})
    assert "of 500 test digits" in test.answer
    judged = judge_run_labels(ended, "training")
    assert judged.fold_shares is not None
    assert not judged.fold_shares.are_apart
    folds = assign_folds(CONFIG, load_dataset("digits"))
    expected = estimate_fold_shares(judged.predictions, folds[folds != NO_FOLD])
    assert (*judged.fold_shares.shares, judged.fold_shares.p_value) == (*expected.shares, expected.p_value)
    assert "1,167 training digits" in training.answer
    assert training.evidence[1].startswith(
        "Each is judged by the members that never learned from it, 1 to 2 of 4, after epoch "
        f"{ended.status.best_epoch}: they agree with "
    )
    stored = load_training_predictions(ended)
    assert [image["of"] for image in training.to_dict()["images"]] == ["training digit"]
    first = judged.errors.order[0]
    assert training.images[0].numbers[0] == stored.numbers[first]
    labels = load_dataset("digits").train_labels
    np.testing.assert_array_equal(judged.labels, labels[stored.numbers])
    np.testing.assert_allclose(judged.averaged, stored.averaged)
    others = training.images[0].others
    assert others is not None
    np.testing.assert_array_equal(
        others.load(stored.numbers[:3]), load_dataset("digits").train_images[stored.numbers[:3]]
    )
    lines = training.images[0].list_lines_below
    assert lines is not None
    assert lines(int(stored.numbers[first]))[-1] == f"number {stored.numbers[first]:,}"
    for fold in range(3):
        number = int(np.flatnonzero(folds == fold)[-1])
        assert any(" of 2 say " in line for line in lines(number)) == (fold == 0), "one alone has no count"
    table = training.tables[-1]
    assert table.numbers is not None
    values = table.numbers()
    assert values["number"].tolist() == stored.numbers[judged.errors.order].tolist()
    assert values["members"].tolist() == stored.judges[judged.errors.order].tolist()
    answer = summarize_view(VIEWS["answer"], epoch)
    assert "Each member learned from 2/3 of the training digits" in " ".join(answer.evidence)


@pytest.mark.usefixtures("at_home")
def test_where_folds_disagree_no_number_is_said(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = FoldShares(np.array([0.05, 0.4]), 1e-9)
    monkeypatch.setattr(judged_labels, "estimate_fold_shares", lambda predictions, folds: apart)
    view = summarize_view(VIEWS["labels"], evaluate_epoch(ended), {"images": "training"})
    assert view.answer == (
        "These members cannot tell how many labels of training digits are wrong: their folds disagree."
    )
    assert view.evidence[0].startswith("From 5.0 % of the labels in one fold to 40.0 % in another")


@pytest.mark.usefixtures("at_home")
def test_what_is_damaged_or_missing_is_said(ended: Run) -> None:
    file = ended.path / TRAINING_PREDICTIONS_FILE
    kept = file.read_bytes()
    try:
        file.write_bytes(kept[:-300])
        with pytest.raises(RunError, match="look at its test images, or train it again"):
            load_training_predictions(ended)
        view = summarize_view(VIEWS["labels"], evaluate_epoch(ended), {"images": "training"})
        assert not view.available
        file.unlink()
        view = summarize_view(VIEWS["labels"], evaluate_epoch(ended))
        assert view.paragraphs[-1].text.endswith("(training_predictions.npz): train it again.")
        with pytest.raises(RunError, match="are missing from its folder"):
            judge_run_labels(ended, "training")
    finally:
        file.write_bytes(kept)
