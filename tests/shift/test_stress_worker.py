"""Real measuring under shift: to its end, stopped, killed, gone on with, waiting its turn."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import datasets, runs, shift
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.temperature_scaling import apply_temperature
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.engine import count_steps_per_epoch, predict_probabilities
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.step import create_members
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.slots import acquire_slots
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.history import write_predictions
from ensemble.runs.training.progress import Progress
from ensemble.shift import StressState
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.tasks import list_stress_tasks

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

PATIENCE_SECONDS = 240
# The network that is compiled soonest.
NETWORK = bind_network("logistic", (28, 28, 1), 10)
STEPS = 1 + sum(len(kind.amounts) - 1 for kind in CORRUPTION_KINDS.values()) + 2


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two members that are as they were drawn, one epoch long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("finished")))
        run = runs.create_run(EnsembleConfig(network="logistic", members=2, epochs=1))
        state = create_members(NETWORK, 0, 2)
        images = datasets.load_dataset("digits").test_images
        write_predictions(run.path, 1, predict_probabilities(NETWORK, state.params, images))
        steps = count_steps_per_epoch(1297, run.config.batch_size)
        progress = Progress.blank(state, 2, steps)
        progress.step, progress.evaluated = steps, 1
        with Checkpoints(run.path) as checkpoints:
            checkpoints.save(progress)
        write_status(run.path, replace(run.status, state="finished", epoch=1, step=steps))
    return run.path


@pytest.fixture
def run(finished: Path, runs_of_one_test: Path) -> Iterator[Run]:
    """A copy of it, with no job at work when the test ends."""
    shutil.copytree(finished, runs_of_one_test / finished.name)
    yield runs.find_run(finished.name)
    if shift.read_stress(finished.name).active:
        shift.stop_stress(finished.name)
        wait_until(runs.find_run(finished.name), lambda stress: not stress.active)


def wait_until(run: Run, condition: Callable[[StressState], bool]) -> StressState:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        now = shift.read_stress(run.id)
        if condition(now):
            return now
        time.sleep(0.05)
    log = (run.path / "stress" / "log.txt").read_text()
    raise AssertionError(f"{now.state} ({now.message}): {now.status}\n{log[-3000:]}")


def wait_for_end(run: Run) -> StressState:
    return wait_until(run, lambda stress: not stress.active)


def measured(stress: StressState) -> int:
    return len(stress.results.steps) if stress.results else 0


def test_a_job_to_its_end(run):
    assert shift.read_stress(run.id).state == "none"
    shift.start_stress(run.id, limit=100)
    stress = wait_for_end(run)
    assert stress.state == "finished", stress.message
    assert not stress.is_outdated
    assert (stress.status.progress, stress.status.steps, stress.status.total) == (1, STEPS, STEPS)
    results = stress.results
    assert (results.epoch, results.steps_after, results.images, results.members) == (1, 0, 100, 2)
    for kind in CORRUPTION_KINDS.values():
        assert [one["amount"] for one in results.list_corruption_steps(kind.name)] == list(kind.amounts)

    labels = datasets.load_dataset("digits").test_labels[:100]
    kept = runs.read_run_predictions(run.id, 1)[:, :100]
    assert results.clean["ensemble_accuracy"] == (kept.mean(0).argmax(-1) == labels).mean()
    own = -np.log(kept[:, np.arange(100), labels]).mean(1)
    np.testing.assert_allclose(results.clean["member_nll"], own, rtol=1e-4)

    members = runs.open_members(run.id)
    assert (members.epoch, members.steps_after) == (1, 0)
    images = datasets.load_dataset("digits").test_images[:100]
    np.testing.assert_allclose(members.predict_probabilities(images), kept, atol=1e-5)
    turned = members.predict_probabilities(np.rot90(images, axes=(1, 2)))
    last = results.list_corruption_steps("rotation")[-1]
    assert last["amount"] == 90
    assert last["ensemble_accuracy"] == (turned.mean(0).argmax(-1) == labels).mean()
    assert last["member_accuracy"] == pytest.approx((turned.argmax(-1) == labels).mean(1).tolist())

    # Estimated on one half without its labels, and compared with these.
    rest = split_halves(labels)[1]
    estimate, fit = last["accuracy_estimate"], results.clean["accuracy_fit"]
    assert (fit["source"], fit["images"], estimate["images"]) == ("half", 50, 50)
    assert fit["accuracy"] == (kept.mean(0).argmax(-1) == labels)[~rest].mean()
    assert estimate["accuracy"] == (turned.mean(0).argmax(-1) == labels)[rest].mean()
    tempered = apply_temperature(turned.mean(0)[rest], fit["temperature"])
    assert estimate["confidence"][0] == pytest.approx(tempered.max(-1).mean(), abs=1e-5)
    assert results.has_accuracy_estimates
    # What an earlier version measured is measured again, and replaced.
    assert results is not None
    older = replace(
        results,
        steps=[{name: value for name, value in step.items() if name != "accuracy_estimate"} for step in results.steps],
    )
    tasks = list_stress_tasks(run, older)
    assert [task.is_done for task in tasks] == [False] * (STEPS - 2) + [True] * 2
    clean, *_ = tasks
    older = clean.add_to_results(kept, older)
    first = next(task for task in tasks if task.title == "Rotation 90°")
    replaced = first.add_to_results(turned, older)
    assert len(replaced.steps) == len(results.steps)
    found = replaced.list_corruption_steps("rotation")[-1]["accuracy_estimate"]
    assert found["accuracy"] == estimate["accuracy"]
    for name in ("agreement", "confidence", "threshold"):
        assert found[name] == pytest.approx(estimate[name], abs=1e-4)

    assert [one["key"] for one in results.ood] == ["noise", "scrambled"]
    scores = [shift.read_ood_scores(run.path, key, results.tick) for key in ("known", "noise")]
    assert [one["member_entropy"].shape for one in scores] == [(2, 100)] * 2
    for m, member in enumerate(results.ood[0]["members"]):
        known, unknown = (one["member_entropy"][m] for one in scores)
        pairs = np.sign(unknown[:, None] - known)
        assert member["auroc"] == pytest.approx((pairs.mean(dtype=float) + 1) / 2)
    assert shift.read_ood_scores(run.path, "known", results.tick + 1) is None

    shift.queue_stress(run.id, 100)
    again = shift.work_stress(run.id)
    assert again.state == "finished"
    assert again.results == results, "what is done is not done again"
    (run.path / "checkpoints" / str(results.tick + 50)).mkdir()
    assert shift.read_stress(run.id).is_outdated


@pytest.mark.long
def test_killed_gone_on_with_and_stopped(run):
    shift.start_stress(run.id)
    stress = wait_until(run, lambda stress: measured(stress) >= 2)
    with pytest.raises(RunError, match="being measured already"):
        shift.start_stress(run.id)
    with pytest.raises(RunError, match="being measured under shift"):
        runs.delete_run(run.id)
    os.kill(stress.status.pid, signal.SIGKILL)
    dead = wait_for_end(run)
    assert dead.state == "failed"
    assert "continue from there" in dead.message
    assert 2 <= measured(dead) < STEPS - 3, "killed too late for this test to mean something"

    shift.start_stress(run.id)
    wait_until(run, lambda stress: measured(stress) > measured(dead))
    shift.stop_stress(run.id)
    stopped = wait_for_end(run)
    assert stopped.state == "stopped", stopped.message
    assert stopped.results.steps[: measured(dead)] == dead.results.steps
    kinds = [(one["kind"], one["amount"]) for one in stopped.results.steps]
    assert len(set(kinds)) == len(kinds) < STEPS - 3
    assert not shift.stop_stress(run.id), "too late is no error"


def test_it_waits_its_turn_and_others_wait_for_it(run):
    with acquire_slots(1):
        shift.start_stress(run.id)
        stress = wait_until(run, lambda stress: "is running on this machine" in stress.message)
        assert stress.state == "queued"
        later = runs.create_run(EnsembleConfig())
        assert [one.id for one in runs.list_jobs_ahead(later)] == [run.id]
        shift.stop_stress(run.id)
        assert wait_for_end(run).state == "stopped"
        assert runs.list_jobs_ahead(later) == []
    assert measured(shift.read_stress(run.id)) == 0


def test_what_cannot_be_measured_is_said(run):
    for ask in (shift.start_stress, shift.read_stress, shift.stop_stress, runs.open_members):
        with pytest.raises(UnknownRunError):
            ask("digits-0101-000000")
    with pytest.raises(ConfigError, match="from 1 up"):
        shift.start_stress(run.id, limit=0)
    early = runs.create_run(EnsembleConfig())
    for ask in (shift.start_stress, runs.open_members):
        with pytest.raises(RunError, match="no checkpoint yet"):
            ask(early.id)
    assert shift.read_stress(early.id).state == "none"


def test_files_that_cannot_be_read_are_as_none(run):
    folder = run.path / "stress"
    folder.mkdir()
    for name in ("status.json", "results.json", "outside-known.npz"):
        (folder / name).write_text('{"format": 1, "unheard": [')
    stress = shift.read_stress(run.id)
    assert (stress.state, stress.results) == ("none", None)
    for content in (b"", b"{", b"PK\3\4 torn", b"PK\5\6" + bytes(18)):
        (folder / "outside-known.npz").write_bytes(content)
        assert shift.read_ood_scores(run.path, "known", 1) is None
    np.savez(folder / "outside-known.npz", tick=np.int64(1), entropy=np.zeros(3, np.float32))
    assert shift.read_ood_scores(run.path, "known", 1) is None
    (folder / "results.json").write_text('{"format": 1}')
    assert shift.read_stress(run.id).results is None


def test_the_command_line_measures_and_prints_json(run):
    # In this process: those above have the worker that pages start, which is called in this way.
    done = CliRunner().invoke(main, ["stress", run.id, "--limit", "40"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["run_id"], result["state"], result["images"]) == (run.id, "finished", 40)
    assert len(result["steps"]) + len(result["outside"]) == STEPS
    assert result["steps"][0]["kind"] is None
    assert 0 <= result["outside"][0]["auroc"] <= 1
    assert "finished" in done.stderr
    assert "Traceback" not in done.stderr

    unknown = CliRunner().invoke(main, ["stress", "digits-1-1"])
    assert unknown.exit_code == 1
    assert unknown.stderr.startswith("Error: There is no run")
    bad = CliRunner().invoke(main, ["stress", run.id, "--limit", "0"])
    assert bad.exit_code == 2
    assert "x>=1" in bad.stderr
