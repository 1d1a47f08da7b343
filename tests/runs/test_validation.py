"""Runs that hold training images out: what they write, choose by it, and when they end early."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets, runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import RunError
from ensemble.runs import Run, Status, history
from ensemble.runs.checkpoints.folders import list_checkpoint_ticks
from ensemble.runs.status import (
    build_blank_best_fields,
    build_epoch_status_fields,
    describe_early_stop,
    is_training_over,
)
from ensemble.storage.records.history_lines import is_valid_line

# Of the shapes of groups/inline.py and test_averages.py: one program serves them all.
CONFIG = EnsembleConfig(
    members=2, epochs=40, batch_size=256, learning_rate=0.7, validation=0.1, patience=1, devices=1, network="logistic"
)
CLOCKS = ("seconds", "img_member_per_s")
HELD = 130
STEPS = (1297 - HELD) // 256


def epoch_lines(run: Run) -> list[dict[str, Any]]:
    lines = [line for line in runs.read_history(run.id) if line["kind"] == "epoch"]
    return [{key: value for key, value in line.items() if key not in CLOCKS} for line in lines]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that patience has ended."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        return runs.execute_run(runs.create_run(CONFIG).id)


@pytest.fixture
def where_it_is(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(ended.path.parent))


@pytest.mark.usefixtures("where_it_is")
def test_each_epoch_says_what_the_kept_probabilities_come_to(ended: Run) -> None:
    dataset = datasets.load_dataset("digits")
    held = select_validation_indices(CONFIG, dataset)
    truth = dataset.train_labels[held]
    for line in epoch_lines(ended):
        kept = runs.read_validation_predictions(ended.id, line["epoch"]).astype(np.float64)
        assert kept.shape == (2, HELD, 10)
        chosen = kept[:, np.arange(HELD), truth]
        np.testing.assert_allclose(line["validation_loss"], -np.log(chosen).mean(1), rtol=1e-4)
        nll = -np.log(chosen.mean(0)).mean()
        assert line["ensemble_validation_nll"] == pytest.approx(nll, rel=1e-4)
        right = (kept.argmax(-1) == truth).mean(1)
        np.testing.assert_allclose(line["validation_accuracy"], right)
        right = (kept.mean(0).argmax(-1) == truth).mean()
        assert line["ensemble_validation_accuracy"] == pytest.approx(right)
    # What the members say of these very images, not of others.
    members = runs.open_members(ended.id, line["epoch"])
    made = members.predict_probabilities(dataset.train_images[held][:40])
    np.testing.assert_allclose(made, kept[:, :40], atol=1e-5)


@pytest.mark.usefixtures("where_it_is")
def test_it_ends_once_the_validation_nll_has_not_fallen_and_keeps_the_best_by_it(ended: Run) -> None:
    lines, status = epoch_lines(ended), ended.status
    nll = [line["ensemble_validation_nll"] for line in lines]
    best = int(np.argmin(nll)) + 1
    assert ended.state == "finished"
    assert len(lines) == best + 1 < 40, nll
    assert (np.diff(nll[:best]) < 0).all()
    assert (status.best_on, status.best_epoch) == ("validation", best)
    assert status.best_ensemble_validation_nll == nll[best - 1]
    assert status.best_ensemble_test_accuracy == lines[best - 1]["ensemble_test_accuracy"]
    assert ended.message == (
        f"Stopped early after epoch {best + 1} of 40: the validation NLL has not fallen for "
        f"1 epoch. The best was epoch {best}."
    )
    assert {best * (STEPS + 1), (best + 1) * (STEPS + 1)} <= set(list_checkpoint_ticks(ended.path))
    said = json.loads(CliRunner().invoke(main, ["runs", "list", "--json"]).stdout)
    assert (said["best_on"], said["best_epoch"]) == ("validation", best)
    assert said["best_ensemble_test_accuracy"] == status.best_ensemble_test_accuracy


def test_stopped_and_killed_it_ends_at_the_same_epoch_in_the_same_bits(ended: Run) -> None:
    """Stopped in the middle, then killed after the last line and before the last word."""
    whole = {path.name: path.read_bytes() for path in (ended.path / "validation").iterdir()}
    run, asked = runs.create_run(CONFIG), []

    class StopAtTheSecond:
        """Asks to stop at its second look: a quick machine looks seldom."""

        signalled = False

        def __call__(self) -> bool:
            asked.append(1)
            return len(asked) == 2

        def __enter__(self) -> "StopAtTheSecond":
            return self

        def __exit__(self, *error: object) -> None:
            pass

    run = runs.execute_run(run.id, stop=StopAtTheSecond())
    assert run.state == "stopped"
    run = runs.execute_run(runs.requeue_run(run.id).id)
    status = json.loads((run.path / "status.json").read_text())
    (run.path / "status.json").write_text(json.dumps({**status, "state": "failed", "message": ""}))
    run = runs.execute_run(runs.requeue_run(run.id).id)
    assert (run.state, run.message) == (ended.state, ended.message)
    assert run.status.best_epoch == ended.status.best_epoch
    kept = {path.name: path.read_bytes() for path in (run.path / "validation").iterdir()}
    assert kept == whole
    mine = epoch_lines(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(ended.path.parent))
        assert mine == epoch_lines(ended)


def line(epoch: int, nll: float | None, accuracy: float = 0.5) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "ensemble_test_accuracy": accuracy,
        "test_accuracy": [accuracy],
        "ensemble_validation_nll": nll,
    }


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_when_it_is_over_is_what_a_look_back_over_all_epochs_says(patience: int) -> None:
    rng = np.random.default_rng(17)
    config = replace(CONFIG, epochs=30, patience=patience)
    nlls = np.round(1 / np.arange(1, 31) + rng.uniform(0, 0.2, 30), 2)
    status = Status(**build_blank_best_fields(config))
    for epoch, nll in enumerate(nlls, start=1):
        status = replace(status, **build_epoch_status_fields(status, line(epoch, nll, rng.uniform())))
        so_far = nlls[:epoch]
        assert status.best_epoch == int(so_far.argmin()) + 1
        # Not one of the last `patience` is below all those before them.
        waited = so_far[: epoch - patience]
        idle = patience and epoch > patience and so_far[-patience:].min() >= waited.min()
        assert is_training_over(status, config, epoch) == bool(idle or epoch == 30)
        if is_training_over(status, config, epoch):
            assert bool(describe_early_stop(status, config, epoch)) == (epoch < 30)
            break


def test_without_validation_the_best_is_that_of_the_test_images_as_ever() -> None:
    config = EnsembleConfig(epochs=3)
    status = Status(**build_blank_best_fields(config))
    for epoch, accuracy in enumerate([0.5, 0.75, 0.75], start=1):
        status = replace(status, **build_epoch_status_fields(status, line(epoch, None, accuracy)))
    assert (status.best_on, status.best_epoch) == ("test", 2)
    assert status.best_ensemble_test_accuracy == 0.75
    assert status.best_ensemble_validation_nll is None


def test_what_comes_again_is_dropped_of_both_kinds_and_what_is_missing_is_said() -> None:
    run = runs.create_run(CONFIG)
    for epoch in (1, 2, 3):
        for folder in history.PREDICTION_FOLDERS.values():
            history.write_predictions(run.path, epoch, np.full((2, 4, 10), 0.1), folder)
    history.drop_predictions(run.path, after=1, what="validation")
    assert [path.name for path in (run.path / "validation").iterdir()] == ["epoch-0001.npz"]
    assert runs.list_prediction_epochs(run.id) == [1, 2, 3]
    with pytest.raises(RunError, match="has no validation predictions of epoch 2"):
        runs.read_validation_predictions(run.id, 2)
    with pytest.raises(RunError, match=r"validation predictions of epoch 1 .* are damaged"):
        runs.read_validation_predictions(run.id, 1)
    without = runs.create_run(EnsembleConfig())
    with pytest.raises(RunError, match="holds out no training images: launch one with validation"):
        runs.read_validation_predictions(without.id, 1)


@pytest.mark.parametrize(
    "odd",
    [{"validation_loss": [0.1]}, {"validation_accuracy": [0.5, 1.5]}, {"ensemble_validation_nll": "low"}],
    ids=str,
)
def test_a_line_with_odd_figures_of_validation_counts_as_torn(odd: dict[str, Any]) -> None:
    good = {
        "kind": "epoch",
        "epoch": 1,
        "step": 5,
        "train_loss": [1.0, 1.0],
        "test_loss": [1.0, 1.0],
        "test_accuracy": [0.5, 0.5],
        "validation_loss": [1.0, 1.0],
        "validation_accuracy": [0.5, 0.5],
        "ensemble_validation_nll": 1.0,
    }
    assert is_valid_line(good, 2)
    assert not is_valid_line({**good, **odd}, 2)
