"""A run at a scheduler that nobody follows: how it stands by what its groups wrote."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.cluster import slurm_commands
from ensemble.cluster.task_array import TaskStatus
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.remote.job_tasks import read_unfollowed_work
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from tests.cluster.test_slurm import commands_that
from tests.pages.grouped import SLURM, in_groups


@pytest.mark.parametrize("state", ["starting", "training"])
def test_a_run_trains_when_one_of_its_groups_does(state: str) -> None:
    run = in_groups({1: state, 2: "queued"}, placement=SLURM)
    found = read_unfollowed_work(run)
    assert found is not None
    assert found.state == state
    assert found.message.startswith("No longer followed")


@pytest.mark.parametrize(
    ("states", "steps", "message"),
    [
        ({1: "finished", 2: "finished"}, {1: 100, 2: 100}, "Its groups have finished: resume merges"),
        ({1: "finished", 2: "stopped"}, {1: 100, 2: 50}, "Stopped. Resume continues from here."),
        ({1: "stopped", 2: "queued"}, {1: 50}, "Stopped. Resume continues from here."),
        ({1: "queued", 2: "queued"}, {}, "Stopped while queued on Slurm."),
    ],
    ids=["all have finished", "one has finished", "one has begun", "none has begun"],
)
def test_a_run_without_tasks_is_stopped_where_its_groups_are(
    states: dict[int, str], steps: dict[int, int], message: str
) -> None:
    told = {number: {"step": step} for number, step in steps.items()}
    found = read_unfollowed_work(in_groups(states, placement=SLURM, told=told))
    assert found is not None
    assert found.state == "stopped"
    assert found.message.startswith(message)


def test_a_machine_without_slurm_does_not_say_that_a_queued_run_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    slurm_commands.clear_slurm_cache()
    tasks = {1: TaskStatus("waiting", "7_0"), 2: TaskStatus("waiting", "7_1")}
    run = abandon_run(in_groups({1: "queued", 2: "queued"}, tasks, placement=SLURM))
    assert run.state == "queued"
    assert run.message.startswith("2 of 2 groups wait for Slurm. Slurm cannot be asked from here: ")
    runs.request_run_stop(run.id)
    assert runs.find_run(run.id).state == "stopped"


@pytest.mark.parametrize("shown", [True, False], ids=["tasks are shown", "tasks are hidden"])
def test_another_user_does_not_say_that_a_queued_run_is_stopped(
    shown: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = in_groups({1: "queued"}, {1: TaskStatus("waiting", "7_0")}, placement=SLURM, members=2)
    (run.path / "groups" / "slurm").mkdir()
    owner = (run.path / "groups" / "slurm").stat().st_uid
    says = f'case "$*" in *--user={owner}\\ *) echo "7_0|PENDING||Resources|{run.id}";; esac' if shown else "true"
    monkeypatch.setenv("PATH", commands_that(tmp_path, says))
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    slurm_commands.clear_slurm_cache()
    run = abandon_run(run)
    assert run.state == "queued"
    expected = "Queued on Slurm (no node is free)." if shown else "Queued on Slurm. Slurm cannot be asked from here: "
    assert run.message.startswith(expected)


def test_a_run_whose_coordinator_was_killed_is_resumed_on_this_machine_once_its_tasks_have_ended() -> None:
    tasks = {1: TaskStatus("ended", "7_0", word="CANCELLED")}
    run = abandon_run(in_groups({1: "stopped"}, tasks, placement=SLURM, members=2, told={1: {"step": 50}}))
    assert run.state == "stopped"
    assert runs.requeue_run(run.id, placement=None).state == "queued"
    assert not run.is_placed


def abandon_run(run: Run) -> Run:
    """Let the process that followed a run be one that was killed."""
    status = replace(run.status, pid=2**22 + 1, pid_ticks=1, host=socket.gethostname())
    write_status(run.path, replace(status, state="training"))
    (run.path / LOCK_FILE).unlink(missing_ok=True)
    (run.path / LOCK_FILE).touch()
    return runs.find_run(run.id)
