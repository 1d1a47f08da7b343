"""How a task ended, in Slurm's own word: it is kept, it is said, and it decides what comes next."""

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest

from ensemble import runs
from ensemble.cluster.task_ends import TASK_ENDS, TaskRestarts, describe_task_end, find_task_end, summarize_task_ends
from ensemble.errors import ClusterError, ConfigError
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
from tests.fork_server import SWITCH

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
    assert stopped.message == ("Its tasks were canceled in Slurm. Resume continues from the last checkpoint.")
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
    assert runs.find_run(run.id).message.startswith("The task of group 2 was canceled in Slurm.")
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
    monkeypatch.setenv(SWITCH, "0")
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
    assert end.remedy or end.canceled or end.retry in ("always", "unknown")


@pytest.mark.parametrize(
    ("words", "state", "sentence"),
    [
        ({1: "CANCELLED", 2: "CANCELLED"}, "stopped", "Its tasks were canceled in Slurm. All is kept."),
        ({2: "CANCELLED"}, "stopped", "The task of worker 2 was canceled in Slurm. All is kept."),
        ({1: "CANCELLED", 2: "OUT_OF_MEMORY"}, "failed", "Its task on Slurm ran out of memory of 2 GB"),
        ({1: "COMPLETED", 2: ""}, "", ""),
    ],
)
def test_a_job_whose_tasks_have_ended_is_described_by_their_words(
    words: dict[int, str], state: str, sentence: str
) -> None:
    found = summarize_task_ends(words, 2, "Slurm", "All is kept.", memory=2, noun="worker")
    assert (found[0] if found else "") == state
    assert not found or found[1].startswith(sentence)


@pytest.mark.parametrize(
    ("word", "progress", "starts"),
    [
        ("NODE_FAIL", [0, 0, 0, 0, 0], 3),
        ("NODE_FAIL", [0, 1, 2, 3, 4], 5),
        ("TIMEOUT", [1, 1], 1),
        ("OUT_OF_MEMORY", [1, 2], 0),
        ("CANCELLED", [1, 2], 0),
        ("", [0, 0, 0, 0, 0], 3),
    ],
)
def test_a_lost_task_is_submitted_again_a_few_times_unless_it_gets_further(
    word: str, progress: list[int], starts: int
) -> None:
    restarts, started = TaskRestarts("Slurm"), list[int]()
    for reached in progress:
        restarts.try_restart(1, word, reached, partial(started.append, reached), "Worker 1")
    assert len(started) == starts


def test_a_task_that_is_refused_is_not_asked_for_again_at_once_and_one_that_cannot_be_stays_lost() -> None:
    restarts, asked = TaskRestarts("Slurm"), list[Exception]()

    def refuse(error: Exception) -> None:
        asked.append(error)
        raise error

    for _ in range(3):
        assert restarts.try_restart(1, "NODE_FAIL", 0, lambda: refuse(ClusterError("full")), "Worker 1")
    assert len(asked) == 1
    assert not restarts.try_restart(2, "NODE_FAIL", 0, lambda: refuse(ConfigError("no such partition")), "Worker 2")
