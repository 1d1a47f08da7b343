"""What failed of the machine is tried again on resume; a sweep finishes only where a trial has."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.sweeps import claims, training
from ensemble.sweeps.store import requeue_sweep
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps import light
from tests.sweeps.kills import Killed, killed
from tests.sweeps.light import epochs_of, light_config, nll


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of one megabyte, the runs folder on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    size = "-t", "tmpfs", "-o", "size=1m"
    mounted = subprocess.run(["mount", *size, "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no disk can be made here: {mounted.stderr.decode().strip()}")
    monkeypatch.setenv("ENSEMBLE_RUNS", str(disk))
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def write_large_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a megabyte a run, beside each epoch's line."""
    real = light.append_line

    def append_line(path: Path, line: Any) -> None:
        (path.parent / "checkpoint").write_bytes(bytes(2**19))
        real(path, line)

    monkeypatch.setattr(light, "append_line", append_line)


@pytest.mark.parametrize("word", ["journal", "sqlite"])
def test_trials_that_a_full_disk_ended_are_trained_once_there_is_room(
    word: str, small_disk: Path, a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", word)
    write_large_checkpoints(monkeypatch)
    sweep = work_on_sweep(sweeps.create_sweep(light_config(trials=5)).id)
    assert sweep.state == "failed"
    assert "No space left on device" in sweep.message
    assert "make room" in sweep.message.lower()
    before = sweeps.read_trials(sweep)
    run_ids = {one.run_id for one in before if one.run_id}
    assert run_ids
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    a_dead_owner()
    sweep = work_on_sweep(requeue_sweep(sweep.id).id)
    trials = sweeps.read_trials(sweep)
    assert (sweep.state, sweep.status.done) == ("finished", 5)
    assert [(one.state, one.message) for one in trials] == [("complete", "")] * 5
    # Each goes on with its own run.
    assert {one.run_id for one in trials} >= run_ids
    assert {one.run_id for one in trials} == {run.id for run in runs.list_runs()}
    for one in trials:
        run = runs.find_run(one.run_id)
        assert epochs_of(run.path) == [1, 2, 3]
        assert one.values == (nll(runs.require_training_config(run), 3),)


def fail_trial(
    monkeypatch: pytest.MonkeyPatch, sweep: sweeps.Sweep, numbers: set[int], error: Exception
) -> Callable[[], None]:
    """Trials of these numbers fail as they begin, until what is returned is called."""
    real = light._epochs

    def epochs(run: runs.Run, *args: Any) -> Any:
        at = [one.number for one in sweeps.read_trials(sweep) if one.run_id == run.id]
        if numbers.intersection(at):
            raise error
        return real(run, *args)

    monkeypatch.setattr(light, "_epochs", epochs)
    return lambda: monkeypatch.setattr(light, "_epochs", real)


def test_a_sweep_that_a_lost_disk_cut_off_does_not_say_that_it_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = sweeps.create_sweep(light_config(trials=4))
    mend = fail_trial(monkeypatch, sweep, {1}, RunError("The shared folder is not there."))
    sweep = work_on_sweep(sweep.id)
    assert sweep.state == "failed"
    assert sweep.message == (
        "1 of 4 trials failed. The last: The shared folder is not there. Fix that, then resume "
        "the sweep: it tries them again."
    )
    assert [one.state for one in sweeps.read_trials(sweep)] == ["complete", "failed", "complete", "complete"]
    queued = requeue_sweep(sweep.id)
    assert [one.state for one in sweeps.read_trials(queued)].count("waiting") == 1
    mend()
    sweep = work_on_sweep(sweep.id)
    assert sweep.state == "finished"
    assert [one.state for one in sweeps.read_trials(sweep)] == ["complete"] * 4


def test_settings_that_need_too_much_memory_are_a_failed_trial_of_a_sweep_that_finishes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=3))
    fail_trial(monkeypatch, sweep, {1}, MemoryError())
    sweep = work_on_sweep(sweep.id)
    states = [one.state for one in sweeps.read_trials(sweep)]
    assert (sweep.state, states) == ("finished", ["complete", "failed", "complete"])
    with pytest.raises(RunError, match="all its trials have ended"):
        requeue_sweep(sweep.id)


def test_a_sweep_with_no_finished_trial_has_failed_and_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = sweeps.create_sweep(light_config(trials=2))
    mend = fail_trial(monkeypatch, sweep, {0, 1}, MemoryError())
    sweep = work_on_sweep(sweep.id)
    assert sweep.state == "failed"
    assert sweep.message.startswith("None of 2 trials finished. The last: Out of memory")
    mend()
    sweep = work_on_sweep(requeue_sweep(sweep.id).id)
    assert sweep.state == "finished"


def test_a_sweep_whose_trials_all_diverged_has_failed_and_says_what_else_to_do() -> None:
    sweep = work_on_sweep(sweeps.create_sweep(light_config(space="learning_rate=0.5,0.6", sampler="grid")).id)
    assert sweep.state == "failed"
    assert "Member 1's loss is no longer a number. Launch a sweep of other values" in sweep.message
    again = work_on_sweep(requeue_sweep(sweep.id).id)
    assert (again.state, again.message) == ("failed", sweep.message)


def test_a_trial_whose_workers_were_killed_too_often_is_tried_again_on_resume(
    a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=2))
    real = runs.execute_run

    def deadly(run_id: str, *args: Any, **more: Any) -> runs.Run:
        if sweeps.read_trials(sweep)[0].run_id == run_id:
            raise Killed
        return real(run_id, *args, **more)

    monkeypatch.setattr(runs, "execute_run", deadly)
    for _ in range(claims.MAX_TRIAL_ATTEMPTS):
        with killed():
            work_on_sweep(sweep.id)
    sweep = work_on_sweep(sweep.id)
    assert (sweep.state, sweep.status.done) == ("failed", 2)
    assert "killed 3 times" in sweep.message
    monkeypatch.setattr(runs, "execute_run", real)
    sweep = work_on_sweep(requeue_sweep(sweep.id).id)
    assert sweep.state == "finished"
    assert [one.state for one in sweeps.read_trials(sweep)] == ["complete"] * 2


def test_a_pack_that_a_full_disk_ended_is_not_trained_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[str] = []
    monkeypatch.setattr(training, "count_packed_lanes", lambda config: 4 * config.members)

    def full(run_ids: list[str], *others: Any) -> None:
        from ensemble.jobs import worker
        from ensemble.jobs.outcome import Outcome

        failed = Outcome("failed", "Make room, then resume.", machine_fault=True)
        for run_id in run_ids:
            worker.execute_job(runs.find_run(run_id), lambda *args: failed, lambda status: None, turn=False)

    monkeypatch.setattr(training.packed_training, "train_packed_runs", full)
    monkeypatch.setattr(runs, "execute_run", lambda run_id, *args, **more: alone.append(run_id))
    sweep = work_on_sweep(sweeps.create_sweep(light_config(trials=4)).id)
    assert sweep.state == "failed"
    assert "Make room, then resume." in sweep.message
    assert not alone
    assert [one.state for one in sweeps.read_trials(sweep)] == ["failed"] * 4
