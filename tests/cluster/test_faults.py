"""Runs on Slurm whose shared folder is full, or of which a node is cut off and goes on alone."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.jobs.remote import takeover
from ensemble.runs.groups.group import list_run_groups
from tests.cluster import mini
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_runs import (
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
# A disk whose locks are each host's own, and heartbeats that are missed soon.
NO_LOCKS = """
import sys
if "work-group" in getattr(sys, "orig_argv", ()):
    import fcntl
    fcntl.flock = lambda *words: None
"""


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of three megabytes."""
    disk = tmp_path_factory.mktemp("disk")
    size = "-t", "tmpfs", "-o", "size=3m"
    mounted = subprocess.run(["mount", *size, "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no disk can be made here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture(scope="module")
def cluster_with_cables(small_disk: Path) -> Iterator[MiniSlurm]:
    """A cluster whose nodes' cables can be cut; they see the small disk, as it was there before."""
    why = mini.missing() or ("" if shutil.which("ip") else "there is no command ip")
    if why:
        pytest.skip(f"No Slurm: {why}.")
    with MiniSlurm(mini.new_folder(), cables=True).running() as made:
        yield made


@pytest.fixture
def cables(cluster_with_cables: MiniSlurm, monkeypatch: pytest.MonkeyPatch) -> MiniSlurm:
    """It, found by the processes that are started."""
    monkeypatch.setenv("SLURM_CONF", str(cluster_with_cables.conf))
    return cluster_with_cables


@pytest.mark.variant  # of runs/test_full_disk.py, on a node
def test_a_full_disk_is_said_and_with_more_room_the_run_goes_on_to_the_same_bits(
    cables: MiniSlurm, small_disk: Path, here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(small_disk / "runs"))
    with training(*SETTINGS, *SLURM, inside=cables.inside) as (run, child):
        assert ended(child)["state"] == "failed"
    message = runs.find_run(run.id).message
    assert "No space left on device" in message
    assert "Make room, then resume it." in message
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    with training("--resume", run.id, inside=cables.inside) as (_, child):
        assert ended(child)["state"] == "finished"
    assert_same_bits(run, here)


def test_a_node_that_is_cut_off_and_wakes_finds_its_group_taken_over(
    cables: MiniSlurm, here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_LOCKS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with training(*SETTINGS, *SLURM, inside=cables.inside) as (run, child):
        cables.wait(lambda: max(steps(run), default=0) > 150)
        group = max(list_run_groups(run), key=lambda group: group.status.step)
        first, task = group.status, tasks_with_nodes(run, cables)[group.number]
        assert first.pid
        cables.cut(task.node)
        os.kill(first.pid, signal.SIGSTOP)  # So that it is at work still when the other comes.
        try:
            cables.start_now(task.id)
            place = group.path / takeover.LEASE_FILE
            cables.wait(lambda: json.loads(place.read_text())["host"] != first.host)
        finally:
            os.kill(first.pid, signal.SIGCONT)
        assert ended(child)["state"] == "finished"
    assert "now has another task: this one ends" in (group.path / "log.txt").read_text()
    assert list_run_groups(run)[group.number - 1].status.host != first.host
    assert_same_bits(run, here)
