"""Runs whose groups are trained on a real Slurm: the same bits, whatever happens to a node."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from ensemble import runs
from ensemble.runs import Run
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.tasks import TaskStatus, read_group_tasks
from tests.cluster.mini import MiniSlurm

ROOT = str(Path(__file__).resolve().parents[2])
SETTINGS = ("--members=4", "--network=mlp", "--width=32", "--batch-size=64", "--epochs=120")
SLURM = ("--groups=2", "--on=slurm", "--time=5", "--cpus=2")


@pytest.fixture(autouse=True)
def one_device_a_task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    monkeypatch.chdir(tmp_path)


@contextmanager
def training(*words: str, inside: tuple[str, ...] = ()) -> Iterator[tuple[Run, "subprocess.Popen[str]"]]:
    """`train` with these options at work, as soon as it has a run."""
    before = {run.id for run in runs.list_runs()}
    command = [*inside, sys.executable, "-m", "ensemble", "train", *words]
    paths = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    child = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        end, found = time.monotonic() + 240, list[Run]()
        while not found:
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < end
            found = [run for run in runs.list_runs() if run.id not in before or run.id in words]
            time.sleep(0.05)
        yield found[0], child
    finally:
        child.kill()
        child.communicate()


def ended(child: "subprocess.Popen[str]") -> dict[str, object]:
    """What a command says last, once it has ended."""
    out, said = child.communicate(timeout=100)
    assert out, said
    return dict(json.loads(out.splitlines()[-1]))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the same settings, trained by one process of this machine."""
    folder = tmp_path_factory.mktemp("here")
    environment = {**os.environ, "ENSEMBLE_RUNS": str(folder), "JAX_NUM_CPU_DEVICES": "1", "PYTHONPATH": ROOT}
    command = [sys.executable, "-m", "ensemble", "train", *SETTINGS]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    [made] = folder.iterdir()
    return made


def assert_same_bits(run: Run, other: Path) -> None:
    """Every epoch's predictions, and the members."""
    for folder in ("predictions", "parameters"):
        names = sorted(path.name for path in (other / folder).glob("*.npz"))
        assert sorted(path.name for path in (run.path / folder).glob("*.npz")) == names
        assert names
        for name in names:
            with np.load(run.path / folder / name) as one, np.load(other / folder / name) as two:
                assert one.files == two.files
                for array in one.files:
                    np.testing.assert_array_equal(one[array], two[array], f"{name} {array}")


def steps(run: Run) -> list[int]:
    """How far each group is."""
    return [group.status.step for group in list_run_groups(run)]


def tasks_with_nodes(run: Run, slurm: MiniSlurm) -> dict[int, TaskStatus]:
    """Its groups' tasks, once their nodes are noted: a group may train before anyone has looked."""
    slurm.wait(lambda: (tasks := read_group_tasks(run.path)) and all(t.node for t in tasks.values()))
    return read_group_tasks(run.path)


def test_a_regression_in_groups_on_slurm_has_the_bits_of_one_process(slurm: MiniSlurm, tmp_path: Path) -> None:
    x = np.linspace(-2, 2, 90)
    table = tmp_path / "cubic.csv"
    table.write_text("x,y\n" + "".join(f"{one},{one**3}\n" for one in x))
    words = ("--task=regression", f"--table={table}", "--target=y", "--members=4", "--epochs=6", "--devices=1")
    with training(*words) as (alone, child):
        assert ended(child)["state"] == "finished"
    with training(*words, *SLURM) as (run, child):
        assert ended(child)["state"] == "finished"
    assert_same_bits(runs.find_run(run.id), alone.path)
    assert len(list_run_groups(runs.find_run(run.id))) == 2


def test_a_run_on_slurm_has_the_bits_of_one_process_here(slurm: MiniSlurm, here) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        assert ended(child)["state"] == "finished"
    assert_same_bits(run, here)
    tasks = read_group_tasks(run.path)
    assert {number: task.state for number, task in tasks.items()} == {1: "ended", 2: "ended"}
    assert {task.node for task in tasks.values()} < set(slurm.nodes)
    assert all((group.path / "log.txt").is_file() for group in list_run_groups(run))
    hosts = [group.status.host for group in list_run_groups(run)]
    assert hosts == [tasks[number].node for number in (1, 2)]


def test_a_node_that_dies_and_a_preemption_cost_their_groups_a_while_and_no_bit(slurm: MiniSlurm, here) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        tasks = tasks_with_nodes(run, slurm)
        slurm.kill_node(tasks[1].node, told=True)
        slurm.run("scancel", "--signal=USR2", tasks[2].id)
        try:
            for task in (tasks[2].id, tasks[1].id):
                slurm.start_now(task)
            assert ended(child)["state"] == "finished"
        finally:
            slurm.start_node(tasks[1].node)
    assert read_group_tasks(run.path)[1].node != tasks[1].node
    assert_same_bits(run, here)


def test_stop_ends_all_tasks_with_checkpoints_and_resume_submits_what_is_missing(slurm: MiniSlurm, here) -> None:
    with training(*SETTINGS, *SLURM) as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 150)
        runs.request_run_stop(run.id)
        assert ended(child)["state"] == "stopped"
    assert [group.status.state for group in list_run_groups(run)] == ["stopped", "stopped"]
    assert all(any((group.path / "checkpoints").iterdir()) for group in list_run_groups(run))
    assert not slurm.run("squeue", "-h", "-t", "pending,running")
    first = {task.id for task in read_group_tasks(run.path).values()}
    with training("--resume", run.id) as (_, child):
        slurm.wait(lambda: {task.id for task in read_group_tasks(run.path).values()}.isdisjoint(first))
        # Who follows them is killed: they go on, and whoever resumes finds them again.
        second = {task.id for task in read_group_tasks(run.path).values()}
        child.send_signal(signal.SIGKILL)
        child.wait()
    with training("--resume", run.id) as (_, child):
        assert ended(child)["state"] == "finished"
    assert {task.id for task in read_group_tasks(run.path).values()} <= second
    with suppress(subprocess.CalledProcessError):
        submitted = slurm.run("squeue", "-h", "--array", "-t", "all", "-n", run.id, "-o", "%i")
        assert len(submitted.split()) == 4
    assert_same_bits(run, here)
