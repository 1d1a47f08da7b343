"""A run that predicts numbers is trained, stopped, resumed to the same bits, and survives kills."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import runs
from ensemble.engine.numeric import NumericTrainer
from ensemble.errors import ConfigError, DataError, RunError
from ensemble.jobs.outcome import StopRequest
from ensemble.runs import Run, parameters
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.numeric.numeric_predictions import (
    read_numeric_predictions,
    read_numeric_targets,
    select_numeric_epoch,
)
from ensemble.runs.status import Status
from ensemble.runs.training_predictions import load_row_predictions
from ensemble.tables.prepared_table import read_prepared_table
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
from tests.runs.groups.inline import InlineTasks, arrays, follow
from tests.runs.numeric.conftest import build_config, create_run

TIMES = ("seconds", "img_member_per_s")


def read_lines(run: Run) -> list[dict[str, Any]]:
    """The epochs of the history, without what the clock says."""
    lines = (line for line in runs.read_history(run.id) if line["kind"] == "epoch")
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


class StopAfterEpoch(StopRequest):
    """Asks to stop once so many epochs are done."""

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch, self.reached = epoch, 0

    def __call__(self) -> bool:
        return self.reached >= self.epoch

    def look(self, status: Status) -> None:
        """As `report` of the worker."""
        self.reached = status.epoch


def train(run: Run, stop: StopAfterEpoch | None = None) -> Run:
    """Bring a queued run to its end in this process, or to where it is stopped."""
    return runs.execute_run(run.id, stop.look if stop else lambda status: None, stop, synchronous=True)


def test_a_run_ends_with_all_that_screens_show(queued: Run) -> None:
    run = train(queued)
    assert run.state == "finished", run.message
    assert (run.target_name, run.config.members, run.status.epoch) == ("price", 3, 4)
    lines = read_lines(run)
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    targets = read_numeric_targets(run)
    table = read_prepared_table(run.path)
    np.testing.assert_array_equal(targets.values, table.targets[table.split.test])
    assert targets.example_names[0] == f"row {table.row_numbers[table.split.test[0]]}"
    for line in lines:
        mixture = read_numeric_predictions(run, line["epoch"])
        error = targets.values - mixture.compute_mean()
        assert line["ensemble_test_rmse"] == pytest.approx(np.sqrt((error**2).mean()))
        nll = mixture.compute_nll(targets.values).mean()
        assert line["ensemble_test_nll"] == pytest.approx(nll)
        assert len(line["train_loss"]) == len(line["validation_nll"]) == 3
    # In the price's own unit: the loss of the first epoch is that of a guess with its spread.
    spread = np.std(table.targets)
    assert abs(lines[0]["ensemble_test_nll"] - np.log(spread) - 1.42) < 1
    assert np.abs(np.array(lines[0]["train_loss"]) - np.log(spread) - 1.42).max() < 1
    best = min(lines, key=lambda line: line["ensemble_validation_nll"])
    assert run.status.best_on == "validation"
    assert select_numeric_epoch(run) == run.status.best_epoch == best["epoch"]


def check_same_bits(run: Run, whole: Run) -> None:
    """The run has the history, predictions and parameters of the other, to the bit."""
    assert read_lines(run) == read_lines(whole)
    for what in ("predictions", "validation", "parameters"):
        assert arrays(run.path, what) == arrays(whole.path, what)


def test_a_stopped_run_goes_on_to_the_same_bits(runs_of_one_test: Path) -> None:
    whole = train(create_run(bootstrap=True, vary="learning_rate=0.001..0.01"))
    stopped = train(create_run(bootstrap=True, vary="learning_rate=0.001..0.01"), StopAfterEpoch(2))
    assert (stopped.state, stopped.status.epoch) == ("stopped", 2)
    resumed = train(runs.requeue_run(stopped.id))
    assert resumed.state == "finished", resumed.message
    check_same_bits(resumed, whole)


def test_what_came_after_the_last_checkpoint_comes_again(
    monkeypatch: pytest.MonkeyPatch, runs_of_one_test: Path
) -> None:
    """As after a kill: epochs 2 and 3 are written and their checkpoint is not."""
    whole = train(create_run(validation=0.1))
    run = create_run(validation=0.1)
    train(run, StopAfterEpoch(1))
    with monkeypatch.context() as lost:
        lost.setattr(Checkpoints, "save", lambda self, place, best: None)
        train(runs.requeue_run(run.id), StopAfterEpoch(3))
    assert [line["epoch"] for line in read_lines(run)] == [1, 2, 3]
    resumed = train(runs.requeue_run(run.id))
    check_same_bits(resumed, whole)
    assert resumed.status.best_epoch == whole.status.best_epoch


def test_a_run_in_groups_is_that_of_one_process_to_the_bit(runs_of_one_test: Path) -> None:
    settings: dict[str, Any] = {"members": 5, "validation": 0.1, "devices": 1}
    whole = train(create_run(**settings))
    shared = follow(create_run(groups=2, **settings), InlineTasks())
    assert shared.state == "finished", shared.message
    for what in ("predictions", "validation", "parameters"):
        assert len(arrays(whole.path, what)) >= 4
        assert arrays(shared.path, what) == arrays(whole.path, what)
    assert read_lines(shared) == read_lines(whole)
    for name in ("best_epoch", "best_score", "ensemble_test_rmse", "ensemble_test_crps", "member_test_rmse"):
        assert getattr(shared.status, name) == getattr(whole.status, name)


def test_training_stops_early_once_validation_no_longer_improves(runs_of_one_test: Path) -> None:
    run = train(create_run(epochs=30, validation=0.1, learning_rate=0.3, patience=2))
    assert run.state == "finished"
    assert run.status.epoch == run.status.best_epoch + 2 < 30
    assert "Stopped early" in run.message


@pytest.mark.parametrize("settings", [{"patience": 2, "validation": 0.0}, {"groups": 2}, {"vary": "seed=1,2"}])
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        build_config(**settings)


def test_a_classification_is_asked_for_with_a_sentence(queued: Run) -> None:
    for ask in (lambda: queued.data, lambda: runs.require_training_config(queued)):
        with pytest.raises(RunError, match="predicts numbers, and this is for classes"):
            ask()


@pytest.fixture
def lose_members(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[int]], None]:
    """Has these members' losses be no numbers from the second epoch on."""
    real = NumericTrainer.train

    def lose(members: list[int]) -> None:
        def train(self: Any, state: Any, epoch: int, start: int, count: int) -> Any:
            state, metrics = real(self, state, epoch, start, count)
            loss = metrics.loss.copy()
            if epoch == 2:
                loss[members] = np.nan
            return state, metrics._replace(loss=loss)

        monkeypatch.setattr(NumericTrainer, "train", train)

    return lose


def test_a_member_that_diverges_is_kept_out_and_said(
    lose_members: Callable[[list[int]], None], runs_of_one_test: Path
) -> None:
    lose_members([1])
    run = train(create_run())
    assert run.state == "finished"
    assert run.message == "Diverged (the loss is no longer a number): member 2 at step 6; the other 2 continued."
    assert run.remaining_members() == (0, 2)
    assert read_numeric_predictions(run, 1).members == 3
    assert read_numeric_predictions(run, 2).members == 2
    last = runs.read_history(run.id)[-1]
    assert last["set_aside"] == [1]
    assert last["test_rmse"][1] is None
    assert None not in last["test_rmse"][::2]


def test_rows_whose_judges_all_diverged_are_not_judged(
    lose_members: Callable[[list[int]], None], runs_of_one_test: Path
) -> None:
    lose_members([1])
    run = train(create_run(folds=3))
    table = read_prepared_table(run.path)
    stored, folds = load_row_predictions(run, table.split.train), table.assign_folds(3, run.config.split_seed)
    np.testing.assert_array_equal(stored.numbers, table.split.train[folds != 1])
    assert (stored.judges == 1).all()
    assert evaluate_numeric_run(run).training_rows.numbers.n == len(stored.numbers)


def test_all_that_diverge_end_the_run(lose_members: Callable[[list[int]], None], runs_of_one_test: Path) -> None:
    lose_members([0, 1, 2])
    run = train(create_run())
    assert run.state == "diverged"
    assert "failed at step 6 (epoch 2)" in run.message
    assert run.status.epoch == 1
    with pytest.raises(RunError, match="lower learning rate"):
        runs.requeue_run(run.id)


def test_a_table_that_is_damaged_ends_it_with_a_sentence(queued: Run) -> None:
    (queued.path / "table.npz").write_bytes(b"PK")
    run = train(queued)
    assert run.state == "failed"
    assert "table.npz cannot be read" in run.message
    with pytest.raises(DataError):
        read_prepared_table(run.path)
    assert runs.find_run(run.id).status.epoch == 0


def test_predictions_beyond_the_memory_limit_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "MAX_BYTES", 6 * 100 - 1)  # room for five
    epochs = {epoch: locate_epoch_file(tmp_path, "predictions", epoch) for epoch in range(1, 12)}
    epochs[1].parent.mkdir()
    for epoch, path in epochs.items():
        path.write_bytes(bytes(100))
        parameters.drop_excess_epochs(tmp_path, "predictions", epoch, best=3 if epoch > 2 else 1)
    assert [epoch for epoch, path in epochs.items() if path.exists()] == [1, 3, 4, 8, 11]
