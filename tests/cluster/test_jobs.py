"""Jobs beside training on a real Slurm: one task each, followed from here."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ensemble import regression, runs
from ensemble.jobs.remote.task_record import read_task_record
from ensemble.shift.stress_job import read_stress_status

ROOT = str(Path(__file__).resolve().parents[2])
FULL = ("no node is free", "other tasks come first")
SLURM = ("--on=slurm", "--time=5", "--cpus=1")
SOLVE = ("lbfgs", "--samples=500", "--features=10", "--classes=3", "--iterations=30", "--no-sweep")


@pytest.fixture(autouse=True)
def one_device_a_task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    monkeypatch.chdir(tmp_path)


@contextmanager
def at_work(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """`ensemble` with these words."""
    command = [sys.executable, "-m", "ensemble", *words]
    child = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": ROOT}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def ended(child: "subprocess.Popen[str]") -> dict[str, Any]:
    """What a command says last, once it has ended."""
    out, said = child.communicate(timeout=100)
    assert out, said
    return dict(json.loads(out.splitlines()[-1]))


def soon(found: Callable[[], Any]) -> Any:
    """What is found, as soon as something is."""
    end = time.monotonic() + 240
    while not (something := found()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return something


def solving() -> Any:
    """The regression whose task is at work, once it says so."""
    return next((one for one in regression.list_regressions() if one.status.state == "solving"), None)


def test_a_regression_left_behind_and_put_back_is_followed_again_and_whole(slurm) -> None:
    with at_work(*SOLVE, *SLURM) as child:
        solve = soon(solving)
        child.kill()
    task = read_task_record(solve.path).id
    slurm.run("scancel", "--signal=USR2", task)
    assert soon(lambda: regression.find_regression(solve.id).has_died)
    with at_work("lbfgs", "--follow", solve.id) as child:
        soon(lambda: "Queued" in regression.find_regression(solve.id).status.message)
        slurm.start_now(task)
        found = ended(child)
    assert found["state"] == "finished"
    assert found["task"] == {"on": "slurm", "id": task, "node": found["task"]["node"]}
    assert found["task"]["node"] in slurm.nodes
    lines = [json.loads(line) for line in (solve.path / "history.jsonl").read_text().splitlines()]
    for part in ("without", "with"):
        steps = [one["step"] for one in lines if (one["solve"], one["kind"]) == (part, "iteration")]
        assert steps == list(range(1, 31))


def test_a_measuring_waits_is_stopped_and_then_finds_what_training_found(slurm) -> None:
    with at_work("train", "--members=2", "--epochs=1", "--network=mlp", "--width=8") as child:
        run = runs.find_run(ended(child)["run_id"])
    slurm.run("sbatch", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 100")
    with at_work("stress", run.id, *SLURM) as child:
        said = soon(lambda: waits(run))
        child.send_signal(signal.SIGINT)
        assert ended(child)["state"] == "stopped"
    # Slurm names the one reason or the other, by when it has last looked at its queue.
    assert said in {f"Queued on Slurm ({why})." for why in FULL}
    slurm.run("scancel", "--name=wrap")
    with at_work("stress", run.id, *SLURM) as child:
        found = ended(child)
    assert found["state"] == "finished"
    assert found["steps"][0]["ensemble_accuracy"] == run.status.ensemble_test_accuracy


def waits(run: runs.Run) -> str:
    """What a measuring says while it waits for a reason."""
    status = read_stress_status(run.path)
    return status.message if status and "(" in status.message else ""
