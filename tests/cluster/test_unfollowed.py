"""Jobs whose follower is killed: their tasks go on, are told of, and can be stopped."""

import json
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ensemble import regression, runs
from ensemble.jobs.job import LOCK_FILE
from ensemble.jobs.placement import Placement
from ensemble.jobs.status import write_status
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import TaskStatus, read_group_tasks, write_group_tasks
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_runs import (
    ROOT,
    SETTINGS,
    SLURM,
    assert_same_bits,
    ended,
    here,
    one_device_a_task,
    steps,
    tasks_with_nodes,
    training,
)
from tests.fork_server import SWITCH
from tests.pages.grouped import in_groups

__all__ = ["here", "one_device_a_task"]  # fixtures
LONG = (*SETTINGS[:-1], "--epochs=1000")


def says(*words: str) -> str:
    """What a command of this program prints; it has to succeed."""
    command = [sys.executable, "-m", "ensemble", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, cwd=ROOT).stdout


def kill_follower(child: "subprocess.Popen[str]") -> None:
    child.send_signal(signal.SIGKILL)
    child.wait()


def test_a_run_whose_follower_is_killed_is_trained_to_its_end_and_told_of_by_its_tasks(
    slurm: MiniSlurm, here: Path
) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        tasks_with_nodes(run, slurm)
        kill_follower(child)
        found = runs.find_run(run.id)
        assert found.state == "training"
        assert "its tasks on Slurm continue" in found.message
    slurm.wait(lambda: runs.find_run(run.id).state == "finished")
    found = runs.find_run(run.id)
    assert found.status.host in slurm.nodes
    assert found.status.epoch == 120
    assert {task.state for task in read_group_tasks(run.path).values()} == {"ended"}
    assert_same_bits(run, here)


def test_a_run_without_a_follower_is_stopped_by_any_command_and_resumed(slurm: MiniSlurm) -> None:
    with training(*LONG, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        kill_follower(child)
        assert " training " in says("runs", "list")
        assert "was asked to stop" in says("runs", "stop", run.id)
    slurm.wait(lambda: runs.find_run(run.id).state == "stopped")
    assert [group.status.state for group in list_run_groups(run)] == ["stopped", "stopped"]
    slurm.wait(lambda: not slurm.run("squeue", "-h", "-t", "pending,running"))
    with training("--resume", run.id) as (_, child):
        slurm.wait(lambda: runs.find_run(run.id).state == "training")
        runs.request_run_stop(run.id)
        assert ended(child)["state"] == "stopped"


def test_a_run_whose_groups_have_finished_is_not_over_while_a_task_may_merge_them(slurm: MiniSlurm) -> None:
    run = in_groups({1: "finished", 2: "finished"}, state="stopped", placement=Placement("slurm"))
    slurm.run("sbatch", f"--job-name={run.id}", "--wrap=sleep 100", "--output=/dev/null")
    task = slurm.run("squeue", "-h", f"--name={run.id}", "-o", "%i").strip()
    write_group_tasks(run.path, {2: TaskStatus("running", task)})
    gone = replace(run.status, state="training", pid=7, host=socket.gethostname())
    write_status(run.path, gone)
    (run.path / LOCK_FILE).touch()  # Nobody holds it.
    slurm.wait(lambda: "its task on Slurm continues" in runs.find_run(run.id).message)
    assert runs.find_run(run.id).state == "training"
    slurm.run("scancel", task)
    slurm.wait(lambda: runs.find_run(run.id).state == "stopped")
    assert "resume merges" in runs.find_run(run.id).message


@pytest.mark.variant
def test_a_run_that_its_task_tells_of_is_followed_again_without_a_trick(slurm: MiniSlurm, here: Path) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 50)
        tasks_with_nodes(run, slurm)
        kill_follower(child)
    slurm.wait(lambda: runs.find_run(run.id).status.host in slurm.nodes)
    with training("--resume", run.id) as (_, child):
        assert ended(child)["state"] == "finished"
    assert_same_bits(run, here)


@pytest.mark.variant
def test_tasks_that_wait_when_nobody_follows_them_are_queued_and_taken_back(slurm: MiniSlurm) -> None:
    slurm.run("sbatch", "--wrap=sleep 300", "--output=/dev/null", "--nodes=3", "--exclusive")
    slurm.wait(lambda: "RUNNING" in slurm.run("squeue", "-h", "-o", "%T"))
    with training(*LONG, *SLURM) as (run, child):
        slurm.wait(lambda: len(read_group_tasks(run.path)) == 2)
        kill_follower(child)
    found = runs.find_run(run.id)
    assert found.state == "queued"
    assert found.message == "2 of 2 groups wait for Slurm (no node is free)."
    runs.request_run_stop(run.id)
    slurm.wait(lambda: runs.find_run(run.id).state == "stopped")
    assert "PENDING" not in slurm.run("squeue", "-h", "-o", "%T")


def test_tasks_that_are_cancelled_when_nobody_follows_them_leave_a_run_that_says_so(slurm: MiniSlurm) -> None:
    with training(*LONG, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        kill_follower(child)
        slurm.run("scancel", "--user=root")
    slurm.wait(lambda: runs.find_run(run.id).state == "stopped")
    assert "canceled in Slurm" in runs.find_run(run.id).message


@pytest.mark.variant
def test_a_measuring_whose_follower_is_killed_goes_on_and_is_stopped(
    slurm: MiniSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOT)
    monkeypatch.setenv(SWITCH, "0")
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path))
    asked = ["lbfgs", "--samples=20000", "--iterations=1000", "--on=slurm", "--cpus=1"]
    command = [sys.executable, "-m", "ensemble", *asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        slurm.wait(lambda: any(solve.status.iteration > 0 for solve in _solves()))
        kill_follower(child)
    (solve,) = _solves()
    assert solve.state == "solving"
    assert "its task on Slurm continues" in solve.message
    regression.stop_regression(solve.id)
    slurm.wait(lambda: _solves()[0].state == "stopped")
    assert json.loads((solve.path / "task" / "status.json").read_text())["state"] == "stopped"


def _solves() -> list[regression.Regression]:
    return regression.list_regressions()
