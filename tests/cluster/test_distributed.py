"""One run on several hosts as one program: whatever becomes of one of them, all end, and say why.

No Slurm is needed: two processes on this machine are started as srun would start them.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ensemble import runs
from tests.hosts.pair import SETTINGS, Processes, train
from tests.runs.test_workers import assert_same_bits

EPOCHS = ("--epochs", "8")
ALL_END_SECONDS = 20


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs with one that a single process has trained on two devices."""
    return tmp_path_factory.mktemp("alone") / "runs"


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch, alone: Path) -> runs.Run:
    """That run; what a test starts lies beside it."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(alone))
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")
    for run in runs.list_runs():
        if run.state == "finished" and (run.path / "alone").exists():
            return run
    command = [sys.executable, "-m", "ensemble", "train", *SETTINGS, *EPOCHS]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (run,) = runs.list_runs()
    (run.path / "alone").touch()
    return run


def goes_on_to_the_same_bits(run: runs.Run, truth: runs.Run, folder: Path) -> None:
    with train(folder, "--resume", run.id) as both:
        assert both.statuses() == [0, 0], both.said()
    run = runs.find(run.id)
    assert run.state == "finished"
    assert_same_bits(run, truth)


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(
    ("number", "how"),
    [(signal.SIGKILL, "ended without a word"), (signal.SIGSTOP, "has said nothing for")],
)
def test_a_process_that_is_killed_or_stopped_ends_all_and_the_run_goes_on(
    index, number, how, truth, tmp_path
):
    with train(tmp_path, *EPOCHS) as both:
        run = both.run(12)
        both.all[index].send_signal(number)
        struck = time.monotonic()
        other = both.all[1 - index]
        assert other.wait(ALL_END_SECONDS) == 75, both.said()
        seconds = time.monotonic() - struck
        print(f"{number.name} of process {index}: the other ended after {seconds:.1f} s")
        who = f"Process {index + 1} of 2"
        assert f"{who} (on " in both.log(1 - index)
        assert how in both.log(1 - index)
        if number == signal.SIGSTOP:  # srun --kill-on-bad-exit ends it.
            both.all[index].send_signal(signal.SIGKILL)
            both.all[index].wait()
        run = runs.find(run.id)
        assert run.state == "failed"
        if (index, number) != (0, signal.SIGSTOP):
            assert who in run.message
            assert how in run.message
        assert "resume" in run.message
    goes_on_to_the_same_bits(run, truth, tmp_path)


def test_a_process_that_was_stopped_and_wakes_ends_as_well(truth, tmp_path):
    with train(tmp_path, "--epochs", "500") as both:
        both.run(12)
        both.all[0].send_signal(signal.SIGSTOP)
        assert both.all[1].wait(ALL_END_SECONDS) == 75
        both.all[0].send_signal(signal.SIGCONT)
        assert both.all[0].wait(ALL_END_SECONDS) == 75, both.said()


RAISES = """
import os, sys
from ensemble.engine.trainer import Trainer
plain = Trainer.train
def train(self, state, epoch, start, count):
    if os.environ["ENSEMBLE_PROCESS_ID"] == os.environ["WHO"] and epoch == 2:
        raise ValueError("boom")
    return plain(self, state, epoch, start, count)
Trainer.train = train
from ensemble.cli.program import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("index", [0, 1])
def test_an_exception_in_one_ends_all_with_its_traceback_in_the_log(index, truth, tmp_path):
    words = ("train", "--distributed", *SETTINGS, *EPOCHS)
    with Processes(tmp_path, "-c", RAISES, *words, WHO=str(index)) as both:
        run = both.run(1)
        assert both.statuses(60) == [1, 1], both.said()
        assert "Traceback" in both.log(index)
        assert "ValueError: boom" in both.log(index)
        assert "Traceback" not in both.log(1 - index)
        assert "boom" in both.log(1 - index)
    run = runs.find(run.id)
    assert run.state == "failed"
    assert "boom" in run.message
    goes_on_to_the_same_bits(run, truth, tmp_path)


@pytest.mark.parametrize("index", [0, 1])
def test_a_signal_to_any_of_them_stops_the_run_with_a_checkpoint(index, truth, tmp_path):
    with train(tmp_path, *EPOCHS) as both:
        run = both.run(12)
        both.all[index].send_signal(signal.SIGTERM)
        assert both.statuses(ALL_END_SECONDS) == [130, 130], both.said()
    run = runs.find(run.id)
    assert run.state == "stopped"
    assert run.status.step < 80
    goes_on_to_the_same_bits(run, truth, tmp_path)
