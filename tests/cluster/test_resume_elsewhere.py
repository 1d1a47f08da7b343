"""A run that goes on with more memory, on another partition, or on this machine: the same bits."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.__main__ import main
from ensemble.config import EnsembleConfig
from ensemble.jobs.placement import read_placement
from tests.cluster.mini import MiniSlurm
from tests.cluster.test_runs import SETTINGS, SLURM, assert_same_bits, ended, here, one_device_a_task, steps, training

__all__ = ["here", "one_device_a_task"]  # fixtures


def test_a_run_goes_on_with_more_memory_and_time_to_the_same_bits(slurm: MiniSlurm, here: Path) -> None:
    with training(*SETTINGS, *SLURM, "--memory=2") as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 50)
        runs.request_run_stop(run.id)
        assert ended(child)["state"] == "stopped"
    before = steps(run)
    with training("--resume", run.id, "--memory=3", "--time=7", "--partition=main") as (_, child):
        slurm.wait(lambda: min(steps(run)) > max(before))
        said = slurm.run("squeue", "-h", "-t", "running", "-o", "%m %l %P").splitlines()
        assert set(said) == {"3G 7:00 main"}
        assert ended(child)["state"] == "finished"
    placement = read_placement(run.path)
    assert placement
    assert (placement.settings["memory"], placement.settings["cpus"]) == (3, 2)
    assert_same_bits(run, here)


def test_a_run_comes_back_from_the_cluster_to_the_same_bits(slurm: MiniSlurm, here: Path) -> None:
    # One group, so that it has as many cores here as the one process that it is compared with.
    with training(*SETTINGS, "--on=slurm", "--cpus=2") as (run, child):
        slurm.wait(lambda: min(steps(run), default=0) > 50)
        runs.request_run_stop(run.id)
        assert ended(child)["state"] == "stopped"
    with training("--resume", run.id, "--on=here") as (_, child):
        assert ended(child)["state"] == "finished"
    assert read_placement(run.path) is None
    assert submitted(run, slurm) == 1
    assert_same_bits(run, here)


def submitted(run: runs.Run, slurm: MiniSlurm) -> int:
    """How many tasks the run ever had."""
    said = slurm.run("squeue", "-h", "--array", "-t", "all", "-n", run.id, "-o", "%i")
    return len(said.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "3"], "--memory goes with --on slurm: add it."),
        (["--members", "3"], "leave out the other options but those that say where it goes on."),
        (["--on", "here", "--time", "3"], "--time goes with --on slurm: add it."),
    ],
)
def test_what_cannot_be_asked_of_a_resume_is_said(words: list[str], said: str) -> None:
    run = runs.create_run(EnsembleConfig())
    result = CliRunner().invoke(main, ["train", "--resume", run.id, *words])
    assert result.exit_code == 2
    assert said in result.stderr
