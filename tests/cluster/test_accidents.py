"""Accidents of jobs on a real Slurm: each kind of job ends in the right state and says why."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.acquisition import learning_job
from ensemble.errors import RunError
from ensemble.jobs.job import Job, request_job_stop
from ensemble.runs.groups.group import list_run_groups
from ensemble.shift.stress_job import read_stress_job
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_runs import ROOT
from tests.conftest import variant
from tests.fork_server import SWITCH

TASK = ("--on=slurm", "--time=5", "--cpus=1", "--memory=1")
MLP = ("--network=mlp", "--width=32", "--members=4")
# How each kind of job is asked for, once so that it ends within half a minute and once so that it does not.
COMMANDS = {
    "run": (("train", *MLP, "--batch-size=32", "--groups=2"), ("--epochs=600",), ("--epochs=1000",)),
    "sweep": (
        ("sweep", "--space=learning_rate=0.01..0.5:log", "--sampler=random", *MLP, "--batch-size=64", "--workers=2"),
        ("--epochs=150", "--trials=6"),
        ("--epochs=1000", "--trials=4"),
    ),
    "stress": (("stress",), ("--limit=100",), ()),
    "experiment": (
        ("label", "learn", *MLP, "--candidates=200", "--seeds=2"),
        ("--rounds=3", "--epochs=300"),
        ("--rounds=3", "--epochs=1000"),
    ),
}
KINDS = tuple(COMMANDS)
# Within a task: hangs at its start if there is a file, and takes more memory than it asked for once another is there.
ODD_TASK = """
import os, signal, sys, threading, time
if "SLURM_JOB_ID" in os.environ and os.path.exists(os.environ["ACCIDENT_FILE"] + ".hang"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    time.sleep(600)
def take_memory():
    while not os.path.exists(os.environ["ACCIDENT_FILE"]):
        time.sleep(0.1)
    kept = b"x" * 1_500_000_000
    time.sleep(600)
if "SLURM_JOB_ID" in os.environ and any(word.startswith("work-") for word in getattr(sys, "orig_argv", ())):
    threading.Thread(target=take_memory, daemon=True).start()
"""


@dataclass(frozen=True)
class Case:
    """A job at work on Slurm.

    Attributes:
      kind: of the job.
      slurm: where its tasks are.
      child: the command that follows it.
    """

    kind: str
    slurm: MiniSlurm
    child: "subprocess.Popen[bytes]"

    @property
    def job(self) -> Job:
        """The job as it is now."""
        found = find_job(self.kind)
        assert found, self.child.poll()
        return found

    @property
    def tasks(self) -> dict[str, str]:
        """The nodes of its running tasks by the tasks' ids."""
        lines = self.slurm.run("squeue", "-h", "--array", "-t", "running", "-o", "%i %N").splitlines()
        return dict(line.split() for line in lines)

    def is_at_work(self) -> bool:
        """Whether each of its tasks has done something."""
        job = find_job(self.kind)
        if self.kind == "run":
            return bool(job) and all(group.status.step for group in list_run_groups(runs.find_run(job.id)))
        if self.kind == "sweep":
            return len({run.status.pid for run in runs.list_runs() if run.active and run.status.step}) == 2
        return bool(job) and job.state == job.kind.working_state

    def wait(self, condition: Callable[[], object], seconds: float = 120) -> None:
        """Wait until a condition holds."""
        try:
            self.slurm.wait(condition, seconds)
        except AssertionError as error:
            raise AssertionError(f"{self.job.state}: {self.job.message}") from error


def find_job(kind: str) -> Job | None:
    """The one job of a kind."""
    if kind == "stress":
        return next((job for run in runs.list_runs() if (job := read_stress_job(run))), None)
    every = {"run": runs.list_runs, "sweep": sweeps.list_sweeps, "experiment": learning_job.list_learnings}[kind]()
    return every[0] if every else None


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run to measure under shift: as large as that takes a while."""
    folder = tmp_path_factory.mktemp("trained")
    words = ("train", "--network=cnn", "--members=8", "--epochs=1")
    environment = {**os.environ, "ENSEMBLE_RUNS": str(folder), "PYTHONPATH": ROOT}
    command = [sys.executable, "-m", "ensemble", *words]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=240)
    return folder


@contextmanager
def started(kind: str, short: bool, slurm: MiniSlurm) -> Iterator[Case]:
    """A job whose tasks are handed to Slurm."""
    first, *lengths = COMMANDS[kind]
    words = (*first, *lengths[not short], *TASK)
    if kind == "stress":
        words = ("stress", runs.list_runs()[0].id, *words[1:])
    log = Path("said.txt").absolute()
    with (
        log.open("w") as said,
        subprocess.Popen([sys.executable, "-m", "ensemble", *words], stdout=said, stderr=said) as child,
    ):
        try:
            slurm.wait(lambda: child.poll() is not None or is_begun(kind), seconds=120)
            assert child.poll() is None, log.read_text()
            yield Case(kind, slurm, child)
        finally:
            child.kill()


def is_begun(kind: str) -> bool:
    """Whether a command has made its job."""
    try:
        return find_job(kind) is not None
    except RunError:
        return False


def kill_follower(case: Case) -> None:
    case.wait(case.is_at_work)
    case.child.kill()
    case.child.wait()
    case.wait(lambda: case.job.unfollowed_work)
    job = case.job
    assert job.state == job.kind.working_state
    assert "No longer followed" in job.message
    request_job_stop(job)


def cancel_one_task(case: Case) -> None:
    case.wait(case.is_at_work)
    case.slurm.run("scancel", list(case.tasks)[-1])


def cancel_every_task(case: Case) -> None:
    case.wait(case.is_at_work)
    case.slurm.run("scancel", "--user=root")


def run_out_of_memory(case: Case) -> None:
    case.wait(case.is_at_work)
    Path(os.environ["ACCIDENT_FILE"]).touch()


def exceed_time_limit(case: Case) -> None:
    """End the time of tasks that hang: see `ODD_TASK`."""
    case.wait(lambda: len(case.tasks) == len(list_task_ids(case.slurm)) > 0)
    for task in case.tasks:
        case.slurm.run("scontrol", "update", f"jobid={task}", "EndTime=now+5seconds")


def lose_node(case: Case) -> None:
    case.wait(case.is_at_work)
    tasks, node = case.tasks, next(iter(case.tasks.values()))
    case.slurm.kill_node(node, told=True)
    try:
        for task in tasks:
            if tasks[task] == node:
                case.slurm.start_now(task)
        # Another host's trial is left to it for a minute.
        case.wait(lambda: not case.job.active, seconds=300)
    finally:
        case.slurm.start_node(node)


def freeze_controller(case: Case) -> None:
    case.wait(case.is_at_work)
    controller = int((case.slurm.folder / "pid" / "slurmctld").read_text())
    os.kill(controller, signal.SIGSTOP)
    try:
        case.wait(lambda: "Slurm does not answer" in case.job.message)
        assert case.job.state == case.job.kind.working_state
    finally:
        os.kill(controller, signal.SIGCONT)
    request_job_stop(case.job)


def list_task_ids(slurm: MiniSlurm) -> list[str]:
    return slurm.run("squeue", "-h", "--array", "-o", "%i").split()


STOPPED, CANCELED = ("stopped", r"^Stopped"), ("stopped", r"^Its tasks? w(as|ere) canceled in Slurm\.")
OUT_OF_MEMORY = ("failed", r"on Slurm ran out of memory of 1 GB \(OUT_OF_MEMORY\)\. .*--memory")
LATE = ("failed", r"on Slurm was ended by its time limit .*\(TIMEOUT\)\. .*--time")
# What becomes of each kind of job, and a pattern of its message.
ACCIDENTS: dict[Callable[[Case], None], dict[str, tuple[str, str]]] = {
    kill_follower: dict.fromkeys(KINDS, STOPPED),
    cancel_one_task: {
        "run": ("stopped", r"^The task of group \d was canceled in Slurm\."),
        "sweep": ("finished", r"^The task of worker \d was canceled in Slurm\."),
        "stress": CANCELED,
        "experiment": CANCELED,
    },
    cancel_every_task: dict.fromkeys(KINDS, CANCELED),
    run_out_of_memory: dict.fromkeys(KINDS, OUT_OF_MEMORY),
    exceed_time_limit: dict.fromkeys(KINDS, LATE),
    lose_node: dict.fromkeys(KINDS, ("finished", "^$")),
    freeze_controller: dict.fromkeys(KINDS, STOPPED),
}
SHORT = (cancel_one_task, lose_node)
ALWAYS = {(kill_follower, "sweep"), (cancel_every_task, "sweep"), (run_out_of_memory, "stress")}


def list_cases() -> list[Any]:
    """Every accident of every kind of job, most of them run with `--all` alone."""
    cases = [(accident, kind) for accident, ends in ACCIDENTS.items() for kind in ends]
    return [case if case in ALWAYS else variant(*case) for case in cases]


@pytest.mark.parametrize(("accident", "kind"), list_cases())
def test_a_job_ends_in_the_right_state_after_an_accident_and_leaves_no_task(
    accident: Callable[[Case], None],
    kind: str,
    slurm: MiniSlurm,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs"
    shutil.copytree(trained, folder) if kind == "stress" else folder.mkdir()
    (tmp_path / "sitecustomize.py").write_text(ODD_TASK)
    for name, value in {
        "ENSEMBLE_RUNS": folder,
        "ENSEMBLE_STORAGE": "journal",
        "JAX_NUM_CPU_DEVICES": 1,
        "PYTHONPATH": f"{ROOT}:{tmp_path}",
        SWITCH: "0",
        "ACCIDENT_FILE": tmp_path / "accident",
    }.items():
        monkeypatch.setenv(name, str(value))
    if accident is exceed_time_limit:
        (tmp_path / "accident.hang").touch()
    state, sentence = ACCIDENTS[accident][kind]
    with started(kind, accident in SHORT, slurm) as case:
        accident(case)
        case.wait(lambda: not case.job.active)
        assert (case.job.state, case.job.message) == (state, case.job.message)
        assert re.search(sentence, case.job.message), case.job.message
    slurm.wait(lambda: not list_task_ids(slurm))
