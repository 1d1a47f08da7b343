"""What Slurm says of itself, as it is shown: against a real one, and against its written forms."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ensemble.cluster import Partition, is_slurm_available, list_slurm_partitions, list_slurm_tasks, slurm_commands
from ensemble.cluster.slurm import SLURM_PROGRAMS
from ensemble.errors import ClusterError


def test_where_there_is_no_slurm_that_is_told_at_once(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    slurm_commands.clear_slurm_cache()
    before = time.perf_counter()
    assert not is_slurm_available()
    assert time.perf_counter() - before < 0.1
    with pytest.raises(ClusterError, match="There is no Slurm on this machine"):
        list_slurm_partitions()


def test_asking_needs_neither_jax_nor_submitit() -> None:
    said = "import sys, ensemble.cluster; print(*{'jax', 'numpy', 'submitit'} & {*sys.modules})"
    ended = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


@pytest.mark.skipif(not shutil.which("sinfo"), reason="Slurm's commands are not here")
def test_commands_without_a_cluster_are_no_slurm(monkeypatch) -> None:
    monkeypatch.setenv("SLURM_CONF", "/dev/null/none")
    slurm_commands.clear_slurm_cache()
    assert not is_slurm_available()
    with pytest.raises(ClusterError, match=r"SLURM_CONF names no file: /dev/null/none\."):
        list_slurm_tasks()
    if not Path("/etc/slurm/slurm.conf").exists():
        monkeypatch.delenv("SLURM_CONF")
        assert not is_slurm_available()


def commands_that(tmp_path: Path, script: str) -> str:
    """A folder with Slurm's commands that do this."""
    for name in SLURM_PROGRAMS:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def rows(*lines: str) -> str:
    return "cat <<'E'\n" + "\n".join(lines) + "\nE"


def test_rows_of_a_large_cluster_are_gathered_by_partition(monkeypatch, tmp_path) -> None:
    # As sinfo of Slurm 22.05 and 24.05 prints them, without the spaces.
    lines = (
        "cpu*|up|7-00:00:00|idle|10|0/640/0/640|256000|(null)|gpu:0|",
        "cpu*|up|7-00:00:00|idle~|2|0/128/0/128|256000|(null)|gpu:0|",
        "cpu*|up|7-00:00:00|mixed|3|100/92/0/192|512000+|(null)|gpu:0|",
        "cpu*|up|7-00:00:00|down*|1|0/0/64/64|256000|(null)|gpu:0|",
        "gpu|up|12:00:00|mixed|2|64/64/0/128|1024000|gpu:a100:4(S:0-1)|gpu:a100:3(IDX:0-2)|",
        "gpu|up|12:00:00|idle|1|0/64/0/64|1024000|gpu:a100:4(S:0-1)|gpu:a100:0(IDX:N/A)|",
        "gpu|up|12:00:00|drained|1|0/0/64/64|1024000|gpu:a100:4(S:0-1)|gpu:a100:0(IDX:N/A)|",
        "old|inact|infinite|allocated|1|8/0/0/8|4096|gpu:1,craynetwork:4|gpu:1(IDX:0)|",
    )
    monkeypatch.setenv("PATH", commands_that(tmp_path, rows(*lines)))
    slurm_commands.clear_slurm_cache()
    week, half_a_day = 7 * 24 * 60, 12 * 60
    assert is_slurm_available()
    assert list_slurm_partitions() == [
        Partition("cpu", True, True, week, 16, 12, 1024, 860, 0, 0, 500.0),
        Partition("gpu", False, True, half_a_day, 4, 1, 256, 128, 16, 2 + 4, 1000.0),
        Partition("old", False, False, None, 1, 0, 8, 0, 1, 0, 4.0),
    ]


def test_nothing_is_free_where_a_node_does_not_answer_or_is_on_its_way_out(monkeypatch, tmp_path) -> None:
    states = {
        "idle": (2, 8, 8),
        "idle~": (2, 8, 8),
        "mixed": (0, 8, 8),
        "mixed+": (0, 8, 8),
        "idle*": (0, 0, 0),
        "mixed*": (0, 0, 0),
        "idle!": (0, 0, 0),
        "idle%": (0, 0, 0),
        "mixed$": (0, 0, 0),
        "allocated": (0, 8, 0),
        "drained": (0, 8, 0),
    }
    lines = (
        f"part{place}|up|infinite|{state}|2|4/8/0/12|4096|gpu:a100:4|gpu:a100:0|" for place, state in enumerate(states)
    )
    monkeypatch.setenv("PATH", commands_that(tmp_path, rows(*lines)))
    slurm_commands.clear_slurm_cache()
    free = [(one.free_nodes, one.free_cpus, one.free_gpus) for one in list_slurm_partitions()]
    assert dict(zip(states, free, strict=True)) == states


def test_tasks_of_every_state_and_name_are_told_apart(monkeypatch, tmp_path) -> None:
    lines = (
        "7_0|PENDING||Resources|a | name",
        "7_1|RUNNING|node[1-4]|None|b",
        "7_2|COMPLETING|node1|None|c",
        "8|NODE_FAIL|node1|None|d",
        "9|REQUEUE_HOLD||launch failed requeued held|e",
        "10|PENDING||ReqNodeNotAvail, UnavailableNodes:node3|f",
        "11|PREEMPTED|node1|None|g",
        "12|PENDING||SomeNewReason|h",
    )
    monkeypatch.setenv("PATH", commands_that(tmp_path, rows(*lines)))
    slurm_commands.clear_slurm_cache()
    held = "it could not be started and is held: scontrol release frees it"
    assert [(one.id, one.state, one.reason, one.nodes, one.name) for one in list_slurm_tasks().values()] == [
        ("7_0", "waiting", "no node is free", "", "a | name"),
        ("7_1", "running", "", "node[1-4]", "b"),
        ("7_2", "running", "", "node1", "c"),
        ("8", "ended", "", "node1", "d"),
        ("9", "waiting", held, "", "e"),
        ("10", "waiting", "a node that it needs is not available", "", "f"),
        ("11", "ended", "", "node1", "g"),
        ("12", "waiting", "SomeNewReason", "", "h"),
    ]


def test_a_slurm_that_hangs_is_said_once_and_does_not_hold_up_the_next(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", commands_that(tmp_path, "exec sleep 30"))
    monkeypatch.setattr(slurm_commands, "COMMAND_TIMEOUT_SECONDS", 0.3)
    slurm_commands.clear_slurm_cache()
    said = r"Slurm does not answer: sinfo took longer than 0\.3 seconds\. Nothing is lost; try ag"
    with pytest.raises(ClusterError, match=said):
        list_slurm_partitions()
    before = time.perf_counter()
    assert is_slurm_available()
    with pytest.raises(ClusterError, match=said):
        list_slurm_partitions()
    assert time.perf_counter() - before < 0.1


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n",
            "Slurm refused (sbatch): Batch job submission failed: Invalid account or "
            "account/partition combination specified. Choose an account that you may use, or "
            "none.",
        ),
        ("", "Slurm refused (sbatch): it gave no reason."),
        ("sbatch: error: Wonders\n", "Slurm refused (sbatch): Wonders."),
    ],
)
def test_a_refusal_says_what_to_do(said: str, sentence: str) -> None:
    with pytest.raises(ClusterError) as refused:
        slurm_commands.raise_slurm_refusal("sbatch", said)
    assert str(refused.value) == sentence


def test_a_real_cluster_says_what_is_free(slurm) -> None:
    assert is_slurm_available()
    assert list_slurm_partitions() == [Partition("main", True, True, None, 3, 3, 6, 6, 0, 0, 3.9)]
    slurm.run("sbatch", "--wrap=sleep 20", "--output=/dev/null", "--cpus-per-task=1")
    slurm.wait(lambda: list_slurm_partitions()[0].free_nodes == 2)
    assert list_slurm_partitions()[0].free_cpus == 5


def test_a_controller_that_hangs_is_said(slurm, monkeypatch) -> None:
    controller = int((slurm.folder / "pid" / "slurmctld").read_text())
    monkeypatch.setattr(slurm_commands, "COMMAND_TIMEOUT_SECONDS", 1.0)
    os.kill(controller, signal.SIGSTOP)
    try:
        with pytest.raises(ClusterError, match="Slurm does not answer"):
            list_slurm_tasks()
    finally:
        os.kill(controller, signal.SIGCONT)
    slurm.wait(lambda: slurm.run("squeue", "-h") == "")
