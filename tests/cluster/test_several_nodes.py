"""A task on several nodes: its command is started once on each, and all begin anew together."""

import os
import signal
import sys
from pathlib import Path

import pytest

from ensemble.cluster import SlurmConfig, list_slurm_tasks, submit_slurm_tasks
from ensemble.cluster.command import has_lost_peer

CONFIG = SlurmConfig(time=5, cpus=1, nodes=2)
# Each process tells who it is; the first time it works until it is told to stop, or fails as asked.
WORKER = """
import os, pathlib, signal, sys, time

folder, code = pathlib.Path(sys.argv[1]), int(sys.argv[2])
rank, attempt = os.environ["SLURM_PROCID"], os.environ.get("SLURM_RESTART_COUNT", "0")

def stop(number, frame):
    time.sleep(0.5)
    (folder / f"checkpoint-{rank}").touch()
    sys.exit(130)

signal.signal(signal.SIGTERM, stop)
(folder / f"began-{rank}-{attempt}").write_text(f"{os.environ['SLURMD_NODENAME']} {os.getpid()}")
if attempt == "0":
    if code and rank == "1":
        while not (folder / "began-0-0").exists():  # Slurm would end the other before it began.
            time.sleep(0.01)
        sys.exit(code)
    time.sleep(100)
"""
PROGRAM = (sys.executable, "-c", WORKER)


def start(folder: Path, code: int = 0) -> str:
    folder.mkdir(exist_ok=True)
    words = [[str(folder), str(code)]]
    [task] = submit_slurm_tasks(words, folder / "tasks", CONFIG, "both", {}, program=PROGRAM)
    return task


def began(folder: Path) -> list[str]:
    return sorted(path.name.removeprefix("began-") for path in folder.glob("began-*"))


def state(task: str) -> str:
    return list_slurm_tasks()[task].state


def test_both_are_told_to_stop_are_waited_for_and_go_on(slurm, tmp_path) -> None:
    task = start(tmp_path)
    slurm.wait(lambda: began(tmp_path) == ["0-0", "1-0"])
    nodes = {(tmp_path / f"began-{rank}-0").read_text().split()[0] for rank in "01"}
    assert len(nodes) == 2
    slurm.run("scancel", "--batch", "--signal=USR2", task)
    slurm.start_now(task)
    assert {path.name for path in tmp_path.glob("checkpoint-*")} == {"checkpoint-0", "checkpoint-1"}
    slurm.wait(lambda: state(task) == "ended")
    assert began(tmp_path) == ["0-0", "0-1", "1-0", "1-1"]


def test_when_one_is_lost_both_begin_anew(slurm, tmp_path) -> None:
    killed, left = start(tmp_path / "killed"), start(tmp_path / "left", code=75)
    file = tmp_path / "killed" / "began-1-0"
    slurm.wait(lambda: began(file.parent) == ["0-0", "1-0"] and len(file.read_text().split()) == 2)
    os.kill(int(file.read_text().split()[1]), signal.SIGKILL)
    for task in (killed, left):
        slurm.start_now(task)
        slurm.wait(lambda task=task: state(task) == "ended")
    for name in ("killed", "left"):
        assert began(tmp_path / name) == ["0-0", "0-1", "1-0", "1-1"]


def test_a_failure_of_its_own_ends_both_and_does_not_come_again(slurm, tmp_path) -> None:
    task = start(tmp_path, code=1)
    slurm.wait(lambda: state(task) == "ended")
    assert began(tmp_path) == ["0-0", "1-0"]


@pytest.mark.parametrize(
    ("statuses", "lost"),
    [
        ({0: 75, 1: 137}, True),
        ({0: 137}, True),
        ({}, True),
        ({0: 130}, True),
        ({0: 130, 1: 75}, True),
        ({0: 75, 1: 1}, False),
        ({0: 130, 1: 143}, False),
        ({0: 3, 1: 75}, False),
        ({0: 0, 1: 134}, True),
    ],
)
def test_what_counts_as_a_loss(tmp_path, statuses: dict[int, int], lost: bool) -> None:
    for rank, status in statuses.items():
        (tmp_path / str(rank)).write_text(f"{status}\n")
    assert has_lost_peer(tmp_path, 2) is lost
