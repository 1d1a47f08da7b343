"""One run on several hosts as one program: whatever becomes of one of them, all end, and say why.

It goes on afterwards, again and again, and has the bits of one process that nothing happened to.
Two processes on this machine are started as srun would start them; then on a real Slurm.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.runs import Run
from ensemble.runs.groups.tasks import read_group_tasks
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_runs import assert_same_bits as same_arrays
from tests.hosts.pair import Processes, train
from tests.runs.test_workers import assert_same_bits

ALL_END_SECONDS = 20
SETTINGS = ("--members", "2", "--network", "logistic", "--batch-size", "64", "--epochs", "60")
SLURM = ("--on", "slurm", "--distributed", "--nodes", "2", "--cpus", "1", "--time", "5")
RAISES = """
import os, sys
from ensemble.engine.trainer import Trainer
plain = Trainer.train
def train(self, state, epoch, start, count):
    if os.environ["ENSEMBLE_PROCESS_ID"] == "1" and start:
        raise ValueError("boom")
    return plain(self, state, epoch, start, count)
Trainer.train = train
from ensemble.cli.program import main
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs with one that a single process has trained on two devices."""
    return tmp_path_factory.mktemp("alone") / "runs"


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch, alone: Path) -> Run:
    """That run; what a test starts lies beside it."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(alone))
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    if not runs.list_runs():
        command = [sys.executable, "-m", "ensemble", "train", *SETTINGS]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    return runs.list_runs()[-1]


def is_killed(both: Processes, run: Run) -> None:
    both.all[0].send_signal(signal.SIGKILL)
    assert both.all[1].wait(ALL_END_SECONDS) == 75, both.said()
    assert "Process 1 of 2 (on " in both.log(1)
    assert "exited unexpectedly" in runs.find_run(run.id).message


def is_stopped_and_wakes(both: Processes, run: Run) -> None:
    both.all[0].send_signal(signal.SIGSTOP)
    assert both.all[1].wait(ALL_END_SECONDS) == 75, both.said()
    assert "Process 1 of 2 (on " in both.log(1)
    assert "has not responded for 8 seconds" in both.log(1)
    both.all[0].send_signal(signal.SIGCONT)
    assert both.all[0].wait(ALL_END_SECONDS) == 75, both.said()
    message = runs.find_run(run.id).message
    assert "Process 1 of 2 (on " in message
    assert "was suspended for" in message


def raises(both: Processes, run: Run) -> None:
    assert both.statuses(ALL_END_SECONDS) == [1, 1], both.said()
    assert "Traceback" in both.log(1)
    assert "ValueError: boom" in both.log(1)
    assert "Traceback" not in both.log(0)
    assert "boom" in both.log(0)
    assert "boom" in runs.find_run(run.id).message


def is_told_to_stop(both: Processes, run: Run) -> None:
    both.all[1].send_signal(signal.SIGTERM)
    assert both.statuses(ALL_END_SECONDS) == [130, 130], both.said()


def test_whatever_ends_one_process_ends_both_and_the_run_goes_on_to_the_same_bits(truth, tmp_path, pytestconfig):
    words: tuple[str, ...] = SETTINGS
    ends: list[tuple[Callable[[Processes, Run], None], str]] = [(is_killed, "failed"), (is_told_to_stop, "stopped")]
    if pytestconfig.getoption("--all"):  # As three links notice it: hosts/test_company.py.
        ends += [(is_stopped_and_wakes, "failed"), (raises, "failed")]
    for end, state in ends:
        python = ("-c", RAISES) if end is raises else ("-m", "ensemble")
        with Processes(tmp_path, *python, "train", "--distributed", *words) as both:
            run = both.run()
            began = time.monotonic()
            end(both, run)
            print(f"{end.__name__}: {time.monotonic() - began:.1f} s")
        run, words = runs.find_run(run.id), ("--resume", run.id)
        assert run.state == state
        assert "resume" in run.message.lower()
        assert run.status.epoch < 60, "too late for this test to mean something"
    with train(tmp_path, *words) as both:
        assert both.statuses() == [0, 0], both.said()
    run = runs.find_run(words[1])
    assert run.state == "finished"
    assert_same_bits(run, truth)


@contextmanager
def followed(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """The command that follows a task on Slurm."""
    child = subprocess.Popen(
        [sys.executable, "-m", "ensemble", "train", *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_NUM_CPU_DEVICES": "1"},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def nodes_of(run: Run, slurm: MiniSlurm) -> list[str]:
    return slurm.run("scontrol", "show", "hostnames", read_group_tasks(run.path)[1].node).split()


def has_ended(child: "subprocess.Popen[str]", slurm: MiniSlurm, task: str) -> bool:
    """Whether it has; a task that waits to be started anew is started now, if it is not yet."""
    if "PENDING" in slurm.run("squeue", "-h", "-j", task, "-o", "%T"):
        with suppress(subprocess.CalledProcessError):
            slurm.start_now(task)
    return child.poll() is not None


def state_of(child: "subprocess.Popen[str]") -> str:
    out, _ = child.communicate(timeout=100)
    return str(json.loads(out.splitlines()[-1])["state"])


def test_a_run_on_two_nodes_outlives_one_of_them(slurm: MiniSlurm, truth):
    with followed(*SETTINGS, *SLURM) as child:
        slurm.wait(lambda: any(run.state == "training" for run in runs.list_runs()))
        run = runs.list_runs()[0]
        # The one that follows it looks where it is now and then; it may train before that.
        slurm.wait(lambda: nodes_of(run, slurm))
        task = read_group_tasks(run.path)[1]
        _, second = nodes_of(run, slurm)
        slurm.kill_node(second)
        try:
            slurm.wait(lambda: has_ended(child, slurm, task.id), 100)
            assert state_of(child) == "finished"
        finally:
            slurm.start_node(second)
    assert second not in nodes_of(run, slurm)
    same_arrays(run, truth.path)
