"""How a task ended, in Slurm's own word: it is kept, it is said, and it decides what comes next."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ensemble import runs
from ensemble.cluster.task_ends import TASK_ENDS, describe_task_end, find_task_end
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import read_group_tasks
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_resume_elsewhere import submitted
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

__all__ = ["here", "one_device_a_task"]  # fixtures
LARGE = ("--members=64", "--network=mlp", "--width=1024", "--batch-size=512", "--epochs=4")


def words(run: runs.Run) -> list[str]:
    """Slurm's word for the end of each group's task."""
    return [task.word for _, task in sorted(read_group_tasks(run.path).items())]


def test_what_was_cancelled_in_slurm_stays_so_and_resume_goes_on_to_the_same_bits(slurm: MiniSlurm, here: Path) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        slurm.run("scancel", "--user=root")
        assert ended(child)["state"] == "stopped"
    stopped = runs.find_run(run.id)
    assert stopped.message == ("Its tasks were cancelled in Slurm. Resume continues from the last checkpoint.")
    assert words(run) == ["CANCELLED", "CANCELLED"]
    assert submitted(run, slurm) == 2
    with training("--resume", run.id) as (_, child):
        assert ended(child)["state"] == "finished"
    assert_same_bits(run, here)


@pytest.mark.variant
def test_one_group_that_was_cancelled_is_named_and_the_other_is_trained(slurm: MiniSlurm) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        slurm.run("scancel", tasks_with_nodes(run, slurm)[2].id)
        assert ended(child)["state"] == "stopped"
    assert [group.status.state for group in list_run_groups(run)] == ["finished", "stopped"]
    assert runs.find_run(run.id).message.startswith("The task of group 2 was cancelled in Slurm.")
    assert submitted(run, slurm) == 2


def test_a_task_that_ran_out_of_memory_is_not_tried_again_and_names_the_option(slurm: MiniSlurm) -> None:
    asked = ("--groups=2", "--on=slurm", "--cpus=1", "--memory=1")
    with training(*LARGE, *asked) as (run, child):
        assert ended(child)["state"] == "failed"
    assert words(run) == ["OUT_OF_MEMORY", "OUT_OF_MEMORY"]
    assert runs.find_run(run.id).message.startswith(
        "Group 1 of 2 (members 1–32): its task on Slurm ran out of memory of 1 GB "
        "(OUT_OF_MEMORY). Give each task more with --memory;"
    )
    assert submitted(run, slurm) == 2
    # Its last heartbeats are some seconds old, and it is submitted again all the same.
    with training("--resume", run.id, "--memory=3") as (_, child):
        slurm.wait(lambda: submitted(run, slurm) == 4)
        runs.request_run_stop(run.id)
        ended(child)


def test_a_task_that_was_killed_is_back_before_its_heartbeat_would_be_missed(slurm: MiniSlurm, here: Path) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        first = tasks_with_nodes(run, slurm)[1].id
        pid = list_run_groups(run)[0].status.pid
        assert pid
        for process in (psutil.Process(pid).parent(), psutil.Process(pid)):
            assert process
            os.kill(process.pid, signal.SIGKILL)
        # Nothing is heard of it for a minute; Slurm says within a moment that it failed.
        slurm.wait(lambda: read_group_tasks(run.path)[1].id != first, seconds=30)
        assert ended(child)["state"] == "finished"
    assert_same_bits(run, here)


@pytest.mark.variant
def test_a_task_that_is_suspended_is_said_to_be(slurm: MiniSlurm) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        task = tasks_with_nodes(run, slurm)[1].id
        slurm.run("scontrol", "suspend", task)
        slurm.wait(lambda: "1 of 2 groups is suspended by Slurm" in runs.find_run(run.id).message)
        slurm.run("scontrol", "resume", task)
        slurm.wait(lambda: not runs.find_run(run.id).message)
        child.send_signal(signal.SIGINT)
        ended(child)


@pytest.mark.variant
def test_a_measuring_that_was_cancelled_in_slurm_is_stopped(
    slurm: MiniSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ROOT)
    asked = ["lbfgs", "--samples=20000", "--iterations=1000", "--on=slurm", "--cpus=1"]
    command = [sys.executable, "-m", "ensemble", *asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        slurm.wait(lambda: "RUNNING" in slurm.run("squeue", "-h", "-o", "%T"))
        slurm.run("scancel", "--user=root")
        out, _ = child.communicate(timeout=240)
    assert json.loads(out.splitlines()[-1])["state"] == "stopped"


@pytest.mark.parametrize("word", TASK_ENDS)
def test_every_word_has_a_sentence_and_what_cannot_go_better_a_remedy(word: str) -> None:
    sentence = describe_task_end(word, "Slurm", memory=2)
    assert sentence.startswith("its task on Slurm ")
    assert f"({word})." in sentence
    end = find_task_end(word)
    assert end.remedy or end.cancelled or end.retry in ("always", "unknown")
