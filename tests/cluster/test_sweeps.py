"""A sweep whose workers are tasks of a real Slurm's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble import runs, sweeps
from tests.cluster.mini import MiniSlurm
from tests.fork_server import SWITCH

ROOT = str(Path(__file__).resolve().parents[2])
SWEEP = (
    "sweep",
    "--space",
    "learning_rate=0.05,0.1 momentum=0.8,0.9",
    "--sampler",
    "grid",
    "--network",
    "logistic",
    "--members",
    "2",
    "--epochs",
    "1",
    "--json",
)
SLURM = ("--workers=2", "--on=slurm", "--time=5", "--cpus=1")


@pytest.fixture(autouse=True)
def one_device_a_task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    monkeypatch.setenv("ENSEMBLE_STORAGE", "journal")
    monkeypatch.setenv("PYTHONPATH", ROOT)
    monkeypatch.setenv(SWITCH, "0")  # Its processes began with another path.
    monkeypatch.chdir(tmp_path)


def test_tasks_of_a_cluster_share_the_trials_of_a_sweep(slurm: MiniSlurm) -> None:
    command = [sys.executable, "-m", "ensemble", *SWEEP, *SLURM]
    ended = subprocess.run(command, timeout=120, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout.splitlines()[-1])
    assert [one["state"] for one in said["trials"]] == ["complete"] * 4
    assert len({one["run_id"] for one in said["trials"]}) == len(runs.list_runs()) == 4
    hosts = {runs.find_run(one["run_id"]).status.host for one in said["trials"]}
    assert hosts <= set(slurm.nodes)
    assert sweeps.find_sweep(said["study"]).state == "finished"
    slurm.wait(lambda: not slurm.run("squeue", "-h"))


def test_a_sweep_whose_follower_is_killed_is_finished_by_one_of_its_tasks(slurm: MiniSlurm) -> None:
    command = [sys.executable, "-m", "ensemble", *SWEEP, "--epochs=100", *SLURM]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        slurm.wait(lambda: any(run.status.step for run in runs.list_runs()), seconds=120)
        child.kill()
    [sweep] = sweeps.list_sweeps()
    assert sweep.state == "searching"
    assert sweep.message.startswith("No longer followed: its tasks on Slurm continue.")
    slurm.wait(lambda: sweeps.find_sweep(sweep.id).state == "finished", seconds=120)
    assert sweeps.find_sweep(sweep.id).status.host in slurm.nodes
    assert [trial.state for trial in sweeps.read_trials(sweep)] == ["complete"] * 4
    slurm.wait(lambda: not slurm.run("squeue", "-h"))
