"""Checkpoints of finished runs go, are brought back within a day, and nobody misses them."""

import json
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs, shift
from ensemble.access import Person, Role, audit_log, set_person_source
from ensemble.cli.program import main
from ensemble.errors import AccessError, RunError
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.checkpoints import removal
from ensemble.runs.checkpoints.folders import find_last_tick, write_removal
from ensemble.runs.checkpoints.members import read_progress
from ensemble.runs.checkpoints.removal import (
    KEPT_SECONDS,
    delete_expired_checkpoints,
    delete_removed_checkpoints,
    list_removable_checkpoints,
    list_removed_checkpoints,
    remove_checkpoints,
    restore_checkpoints,
)
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.parameters import write_parameters
from ensemble.runs.training.progress import Progress
from ensemble.storage.folders import count_folder_bytes
from tests.runs.checkpointed import contents


@pytest.fixture
def finished(run: Run, places: dict[int, Progress]) -> Run:
    """A run that has come to its end, with the checkpoints and the parameters of two epochs."""
    for epoch, progress in places.items():
        write_parameters(run.path, epoch, progress.state.params, None)
    write_status(run.path, replace(run.status, state="finished", epoch=2, epochs=2, steps=10, best_epoch=1))
    return runs.find_run(run.id)


def test_a_list_of_what_can_be_removed_refuses_nobody_and_writes_no_refusal(finished: Run) -> None:
    set_person_source(lambda: Person("mia@example.org", Role.MEMBER))
    try:
        assert list_removable_checkpoints() == []
        with pytest.raises(AccessError):
            remove_checkpoints([finished.id])
    finally:
        set_person_source(None)
    assert [(entry.action, entry.subject) for entry in audit_log.read_audit_log()] == [("refused", "delete")]


def test_what_is_removed_comes_back_as_it_was_and_goes_for_good_after_a_day(finished: Run) -> None:
    before, tick = contents(finished.path / "checkpoints"), find_last_tick(finished.path)
    size = count_folder_bytes(finished.path / "checkpoints")
    assert [(each.run_id, each.nbytes) for each in list_removable_checkpoints()] == [(finished.id, size)]
    assert remove_checkpoints([finished.id], now=1000.0) == size
    assert not (finished.path / "checkpoints").exists()
    assert not list_removable_checkpoints()
    assert find_last_tick(finished.path) == tick
    delete_expired_checkpoints(now=1000.0 + KEPT_SECONDS - 1)
    (removed,) = list_removed_checkpoints()
    assert (removed.nbytes, removed.until) == (size, 1000.0 + KEPT_SECONDS)
    restore_checkpoints([finished.id])
    assert contents(finished.path / "checkpoints") == before
    assert not list_removed_checkpoints()
    remove_checkpoints([finished.id], now=1000.0)
    delete_expired_checkpoints(now=1000.0 + KEPT_SECONDS)
    assert not list_removed_checkpoints()
    assert find_last_tick(finished.path) == tick
    with pytest.raises(RunError, match="no removed checkpoints"):
        restore_checkpoints([finished.id])


def test_members_and_measurements_are_those_of_the_parameters(finished: Run, places: dict[int, Progress]) -> None:
    remove_checkpoints([finished.id])
    assert delete_removed_checkpoints([finished.id]) > 0
    for epoch in (None, 1, 2):
        progress = read_progress(runs.find_run(finished.id), epoch)
        assert progress.evaluated == (epoch or 2)
        expected = places[epoch or 2].state.params
        assert jax.tree.all(jax.tree.map(np.array_equal, progress.state.params, expected))
    assert shift.read_stress(finished.id).last_tick == find_last_tick(finished.path)


def test_cut_off_between_remembering_and_moving_nothing_is_lost(finished: Run) -> None:
    write_removal(finished.path, 1000.0, find_last_tick(finished.path))
    assert not list_removed_checkpoints(), "they still lie where they lay"
    assert len(list_removable_checkpoints()) == 1
    remove_checkpoints([finished.id], now=1e9)
    (finished.path / "removed_checkpoints.json").write_text("{")
    delete_expired_checkpoints(now=1e12)
    (removed,) = list_removed_checkpoints()
    assert removed.until is None, "nobody knows since when: it stays"
    restore_checkpoints([finished.id])
    assert len(list_removable_checkpoints()) == 1


@pytest.mark.parametrize("state", ["stopped", "failed", "training"])
def test_a_run_that_can_go_on_keeps_them(finished: Run, state: str) -> None:
    write_status(finished.path, replace(finished.status, state=state))
    assert not list_removable_checkpoints()
    with pytest.raises(RunError, match="are kept: it goes on from them"):
        remove_checkpoints([finished.id])
    assert (finished.path / "checkpoints").is_dir()


def test_members_that_lie_nowhere_else_stay(finished: Run) -> None:
    shutil.rmtree(finished.path / "parameters")
    assert not list_removable_checkpoints()
    with pytest.raises(RunError, match="stored nowhere else"):
        remove_checkpoints([finished.id])


@pytest.mark.parametrize("missing", [1, 2], ids=["best", "last"])
def test_checkpoints_stay_when_one_of_two_epochs_is_stored_nowhere_else(finished: Run, missing: int) -> None:
    locate_epoch_file(finished.path, "parameters", missing).unlink()
    assert not list_removable_checkpoints()
    with pytest.raises(RunError, match="stored nowhere else"):
        remove_checkpoints([finished.id])


def test_a_run_that_is_being_measured_keeps_them(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "list_active_run_jobs", lambda folder: [finished])
    with pytest.raises(RunError, match="is being worked on"):
        remove_checkpoints([finished.id])
    assert (finished.path / "checkpoints").is_dir()


def test_the_command_lists_removes_and_brings_back(finished: Run) -> None:
    def run_command(*words: str) -> str:
        result = CliRunner().invoke(main, ["runs", "checkpoints", *words])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert finished.id in run_command()
    assert "removed, kept until" in run_command("--remove")
    line = json.loads(run_command("--json"))
    assert line["run_id"] == finished.id
    assert line["until"] > finished.status.created + KEPT_SECONDS
    assert "removed" not in run_command("--restore")
    assert not run_command(finished.id, "--remove", "--now")
    assert CliRunner().invoke(main, ["runs", "checkpoints", "--restore", "--now"]).exit_code == 2
    assert CliRunner().invoke(main, ["runs", "checkpoints", "none-1", "--remove"]).exit_code == 1
