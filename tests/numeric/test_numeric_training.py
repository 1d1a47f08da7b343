"""A run that predicts numbers is trained, stopped, resumed to the same bits, and survives kills."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import runs
from ensemble.errors import DataError, RunError
from ensemble.jobs.outcome import StopRequest
from ensemble.numeric.numeric_predictions import read_numeric_predictions, read_numeric_targets, select_numeric_epoch
from ensemble.numeric.numeric_status import NumericStatus
from ensemble.numeric.numeric_store import NumericRun, find_numeric_run, requeue_numeric_run
from ensemble.numeric.training import numeric_session
from ensemble.numeric.training.numeric_worker import execute_numeric_run
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.tables.prepared_table import read_prepared_table
from tests.numeric.conftest import create_run

TIMES = ("seconds", "example_member_per_s", "compile_seconds")


def read_lines(run: NumericRun) -> list[dict[str, Any]]:
    """The history without what the clock says."""
    return [{name: value for name, value in line.items() if name not in TIMES} for line in runs.read_history(run.id)]


class StopAfterEpoch(StopRequest):
    """Asks to stop once so many epochs are done."""

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch, self.reached = epoch, 0

    def __call__(self) -> bool:
        return self.reached >= self.epoch

    def look(self, status: NumericStatus) -> None:
        """As `report` of the worker."""
        self.reached = status.epoch


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether to stop is asked each time, and not ten times a second."""
    monkeypatch.setattr(numeric_session, "limit_stop_checks", lambda stop: stop)


def test_a_run_ends_with_all_that_screens_show(queued: NumericRun) -> None:
    run = execute_numeric_run(queued.id)
    assert run.state == "finished", run.message
    assert (run.target_name, run.members, run.status.epoch) == ("price", 3, 4)
    lines = runs.read_history(run.id)
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


@pytest.mark.usefixtures("unhurried")
def test_a_stopped_run_goes_on_to_the_same_bits(runs_of_one_test: Path) -> None:
    whole = execute_numeric_run(create_run().id)
    stop = StopAfterEpoch(2)
    stopped = execute_numeric_run(create_run().id, stop.look, stop)
    assert (stopped.state, stopped.status.epoch) == ("stopped", 2)
    resumed = execute_numeric_run(requeue_numeric_run(stopped.id).id)
    assert resumed.state == "finished", resumed.message
    assert read_lines(resumed) == read_lines(whole)
    for epoch in range(1, 5):
        one, other = (read_numeric_predictions(run, epoch) for run in (whole, resumed))
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.variance, other.variance)


@pytest.mark.usefixtures("unhurried")
def test_what_came_after_the_last_checkpoint_comes_again(
    monkeypatch: pytest.MonkeyPatch, runs_of_one_test: Path
) -> None:
    """As after a kill: epochs 2 and 3 are written and their checkpoint is not."""
    whole = execute_numeric_run(create_run(validation=0.1).id)
    run = create_run(validation=0.1)
    execute_numeric_run(run.id, (first := StopAfterEpoch(1)).look, first)
    with monkeypatch.context() as lost:
        lost.setattr(numeric_session, "save_numeric_checkpoint", lambda folder, progress: None)
        again = StopAfterEpoch(3)
        execute_numeric_run(requeue_numeric_run(run.id).id, again.look, again)
    assert [line["epoch"] for line in read_lines(run)] == [1, 2, 3]
    resumed = execute_numeric_run(requeue_numeric_run(run.id).id)
    assert read_lines(resumed) == read_lines(whole)
    assert resumed.status.best_epoch == whole.status.best_epoch
    # A checkpoint that is damaged is moved away, and the one before it serves.
    files = sorted((run.path / "checkpoints").iterdir())
    assert len(files) == 2
    files[-1].write_bytes(files[-1].read_bytes()[:-40] + bytes(40))
    _mark_as_stopped(resumed)
    mended = execute_numeric_run(requeue_numeric_run(run.id).id)
    assert mended.state == "finished"
    assert "is damaged and was moved" in mended.message
    assert (run.path / "damaged" / files[-1].name).exists()
    assert read_lines(mended) == read_lines(whole)


def _mark_as_stopped(run: NumericRun) -> None:
    from ensemble.jobs.status import write_status

    write_status(run.path, replace(run.status, state="stopped"))


@pytest.fixture
def lose_members(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[int]], None]:
    """Has these members' losses be no numbers from the second epoch on."""
    real = numeric_session.NumericTrainer.train

    def lose(members: list[int]) -> None:
        def train(self: Any, state: Any, epoch: int, start: int, count: int) -> Any:
            state, metrics = real(self, state, epoch, start, count)
            nll = metrics.nll.copy()
            if epoch == 2:
                nll[members] = np.nan
            return state, metrics._replace(nll=nll)

        monkeypatch.setattr(numeric_session.NumericTrainer, "train", train)

    return lose


def test_a_member_that_diverges_is_kept_out_and_said(
    lose_members: Callable[[list[int]], None], runs_of_one_test: Path
) -> None:
    lose_members([1])
    run = execute_numeric_run(create_run().id)
    assert run.state == "finished"
    assert run.message == "Member 2 diverged at step 6 and counts in no figure since."
    assert run.remaining_members() == (0, 2)
    assert read_numeric_predictions(run, 1).members == 3
    assert read_numeric_predictions(run, 2).members == 2
    last = runs.read_history(run.id)[-1]
    assert last["set_aside"] == [1]
    assert last["test_rmse"][1] is None
    assert None not in last["test_rmse"][::2]


def test_all_that_diverge_end_the_run(lose_members: Callable[[list[int]], None], runs_of_one_test: Path) -> None:
    lose_members([0, 1, 2])
    run = execute_numeric_run(create_run().id)
    assert run.state == "diverged"
    assert "failed at step 6 (epoch 2)" in run.message
    assert run.status.epoch == 1
    with pytest.raises(RunError, match="lower learning rate"):
        requeue_numeric_run(run.id)


def test_a_table_that_is_damaged_ends_it_with_a_sentence(queued: NumericRun) -> None:
    (queued.path / "table.npz").write_bytes(b"PK")
    run = execute_numeric_run(queued.id)
    assert run.state == "failed"
    assert "table.npz cannot be read" in run.message
    with pytest.raises(DataError):
        read_prepared_table(run.path)
    assert find_numeric_run(run.id).status.epoch == 0


def test_predictions_beyond_the_memory_limit_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric_session, "MAX_BYTES", 6 * 100 - 1)  # room for five
    epochs = {epoch: locate_epoch_file(tmp_path, "predictions", epoch) for epoch in range(1, 12)}
    epochs[1].parent.mkdir()
    for epoch, path in epochs.items():
        path.write_bytes(bytes(100))
        numeric_session._drop_excess_predictions(tmp_path, "predictions", epoch, best=3 if epoch > 2 else 1)
        if epoch == 5:
            assert all(path.exists() for path in list(epochs.values())[:5])
    assert [epoch for epoch, path in epochs.items() if path.exists()] == [1, 3, 4, 8, 11]
