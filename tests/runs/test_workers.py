"""Real workers: launch, order, stop, kill, resume, divergence."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs import slots
from ensemble.jobs.queue import acquire_worker_lock
from ensemble.runs import Run
from tests.workers import wait_for_end, wait_until

pytestmark = pytest.mark.usefixtures("no_worker_left", "two_devices_a_worker")

CLOCKS = ("seconds", "img_member_per_s")
EPOCHS, STEPS = 40, 10  # so many that a stop comes before they are done, on a busy machine too


@pytest.fixture
def config(config: EnsembleConfig) -> EnsembleConfig:
    """The network that is compiled soonest of those that no step of is too quick to be met in."""
    return replace(config, network="mlp", epochs=EPOCHS)


def epoch_lines(run: Run) -> list[dict]:
    """The history's epochs, without what depends on the clock."""
    lines = [line for line in runs.read_history(run.id) if line["kind"] == "epoch"]
    return [{key: value for key, value in line.items() if key not in CLOCKS} for line in lines]


def assert_same_bits(one: Run, other: Run) -> None:
    assert epoch_lines(one) == epoch_lines(other)
    assert runs.list_prediction_epochs(one.id) == runs.list_prediction_epochs(other.id)
    for epoch in runs.list_prediction_epochs(one.id):
        np.testing.assert_array_equal(
            runs.read_run_predictions(one.id, epoch), runs.read_run_predictions(other.id, epoch)
        )


def damage_last_checkpoint(run: Run) -> None:
    """Cut the largest file of the newest checkpoint in half."""
    # What the kill left half written has another name, and is no checkpoint.
    ticks = [path for path in (run.path / "checkpoints").iterdir() if path.name.isdigit()]
    newest = max(ticks, key=lambda path: int(path.name))
    files = [Path(at) / name for at, _, names in os.walk(newest) for name in names]
    largest = max(files, key=lambda path: path.stat().st_size)
    os.truncate(largest, largest.stat().st_size // 2)


def check_its_clock(run: Run) -> None:
    """An ended run's speed is that of all its stretches; compiling is counted apart."""
    images = run.status.step * run.config.batch_size * run.config.members
    # Its seconds are written to the millisecond.
    expected = pytest.approx(images / run.status.img_member_per_s, rel=1e-3, abs=6e-4)
    assert run.status.seconds == expected
    assert run.status.compile_seconds > 0


def check_what_it_leaves(run: Run) -> None:
    """A finished run's history, predictions and status say the same, and what is true."""
    lines = runs.read_history(run.id)
    closed = [line for line in lines if line["kind"] == "epoch"]
    assert [line["epoch"] for line in closed] == list(range(1, EPOCHS + 1))
    last_file = run.path / "predictions" / f"epoch-{EPOCHS:04}.npz"
    assert np.load(last_file)["probabilities"].shape == (2, 500, 10)
    last = closed[-1]
    for key in ("train_loss", "train_accuracy", "test_loss", "test_accuracy"):
        assert len(last[key]) == 2
    assert last["ensemble_train_loss"] == pytest.approx(np.mean(last["train_loss"]))
    assert last["ensemble_test_loss"] == pytest.approx(np.mean(last["test_loss"]))
    assert last["ensemble_test_nll"] < last["ensemble_test_loss"]
    assert run.status.member_test_accuracy == last["test_accuracy"]
    assert run.status.ensemble_test_accuracy == last["ensemble_test_accuracy"]
    best = max(line["ensemble_test_accuracy"] for line in closed)
    assert run.status.best_ensemble_test_accuracy == best
    steps = [line["step"] for line in lines if line["kind"] == "steps"]
    assert steps == sorted(set(steps))
    assert steps[-1] == EPOCHS * STEPS
    check_its_clock(run)

    truth = datasets.load_dataset("digits").test_labels
    probabilities = runs.read_run_predictions(run.id, EPOCHS)
    right = int((probabilities.mean(0).argmax(-1) == truth).sum())
    assert right / 500 == last["ensemble_test_accuracy"]
    voted, said = probabilities.argmax(-1), probabilities.mean(0).argmax(-1)
    assert last["disagreement"] == pytest.approx((voted[0] != voted[1]).mean())
    assert last["member_disagreement"] == pytest.approx([*(voted != said).mean(1)])
    low, high = wilson_interval(right, 500)
    assert low < last["ensemble_test_accuracy"] < high


def test_two_runs_in_order_then_stop_kill_and_resume_to_the_same_bits(config):
    first, second = runs.launch_run(config), runs.launch_run(config)
    assert [run.id for run in runs.list_jobs_ahead(second)] == [first.id]
    wait_until(second, lambda run: "is running on this machine" in run.message)
    first = wait_for_end(first)
    assert (first.state, first.status.epoch) == ("finished", EPOCHS)
    assert first.status.step == EPOCHS * STEPS
    second = wait_until(second, lambda run: run.status.step > 10)
    assert first.status.updated <= second.status.started

    runs.request_run_stop(second.id)
    second = wait_for_end(second)
    assert second.state == "stopped"
    assert second.status.step < EPOCHS * STEPS, "stopped too late for this test to mean something"
    check_its_clock(second)
    compiled = second.status.compile_seconds

    runs.resume_run(second.id)
    second = wait_until(second, lambda run: run.state == "training")
    os.kill(second.status.pid, signal.SIGKILL)
    second = wait_until(second, lambda run: not run.active)
    assert second.state == "failed"
    assert "resume" in second.message
    damage_last_checkpoint(second)
    with (second.path / "history.jsonl").open("ab") as file:
        file.write(b'{"kind": "steps", "step": 99')

    runs.resume_run(second.id)
    second = wait_for_end(second)
    assert second.state == "finished", second.message
    assert "is damaged and was moved" in (second.path / "log.txt").read_text()
    assert "is damaged" in second.message
    assert_same_bits(first, second)
    check_its_clock(second)
    assert second.status.compile_seconds > compiled, "of both stretches together"
    check_what_it_leaves(first)
    with acquire_worker_lock(first.path, "It"), pytest.raises(RunError, match="is already running"):
        runs.execute_run(first.id)
    with pytest.raises(RunError, match="has finished"):
        runs.resume_run(first.id)


@pytest.mark.long
def test_a_run_that_diverges_says_who_and_when_and_keeps_the_rest(config):
    # Mostly such a rate kills every unit at once, and a dead network's loss is finite. With this
    # seed the second member leaves float32's range at its seventh step, by far; the first does not.
    config = replace(config, seed=4, learning_rate=10.0, momentum=0.999)
    run = runs.execute_run(runs.create_run(config).id)
    assert run.state == "diverged", run.message
    assert "Member 2" in run.message
    assert "learning rate" in run.message
    assert f"step {run.status.step + 1}" in run.message
    lines = runs.read_history(run.id)
    assert lines
    assert lines[-1]["step"] == run.status.step
    assert all(np.isfinite(line["train_loss"]).all() for line in lines)
    with pytest.raises(RunError, match="diverge again"):
        runs.resume_run(run.id)


def test_a_queued_run_can_be_stopped(config):
    with slots.acquire_slots(1):  # This process passes for a job that is at work.
        waiting = wait_until(runs.launch_run(config), lambda run: "is running on this machine" in run.message)
        runs.request_run_stop(waiting.id)
        waiting = wait_for_end(waiting)
    assert (waiting.state, waiting.status.step) == ("stopped", 0)
    with pytest.raises(RunError, match="nothing to stop"):
        runs.request_run_stop(waiting.id)


def test_a_dataset_that_is_missing_is_said():
    missing = runs.execute_run(runs.create_run(EnsembleConfig(dataset="kmnist")).id)
    assert missing.state == "failed"
    assert "data prepare kmnist" in missing.message
