"""What a run is told of its tasks by a Slurm that stammers, and what the options refuse."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble.__main__ import main
from ensemble.cluster import SlurmConfig, slurm_commands
from ensemble.config import EnsembleConfig
from ensemble.jobs.placement import Placement
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.task_placement import create_group_tasks
from ensemble.runs.groups.tasks import TaskStatus, read_group_tasks, write_group_tasks
from ensemble.runs.store import Run, create_run
from tests.cluster.test_slurm import commands_that

CONFIG = EnsembleConfig(groups=2)
HERE = Placement("slurm", SlurmConfig(partition="gpu").as_dict())


@pytest.fixture
def run() -> Run:
    """One whose two tasks were submitted by whoever followed it before."""
    made = create_run(CONFIG, HERE)
    (made.path / "groups").mkdir()
    write_group_tasks(made.path, {1: TaskStatus("running", "7_0", "node1"), 2: TaskStatus("waiting", "7_1")})
    return made


@pytest.fixture
def slurm_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Have Slurm's commands do this from now on; what they are called with is in `called`."""
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(slurm_commands, "REFUSAL_CACHE_SECONDS", 0.0)

    def says(script: str) -> None:
        said = f'echo "$(basename "$0") $*" >>{tmp_path}/called\n{script}'
        monkeypatch.setenv("PATH", commands_that(tmp_path, said))
        slurm_commands.clear_slurm_cache()

    return says


def queued(run: Run, first: str, second: str) -> str:
    return f"echo '7_0|{first}|node1|None|{run.id}'\necho '7_1|{second}||Resources|{run.id}'"


def test_a_placement_is_read_and_its_tasks_are_found_again(run, slurm_says) -> None:
    slurm_says(queued(run, "RUNNING", "PENDING"))
    tasks = create_group_tasks(run)
    assert tasks.place_title == "Slurm"
    tasks.start_tasks(list_run_groups(run))
    assert dict(tasks.poll_tasks()) == {
        1: TaskStatus("running", "7_0", "node1"),
        2: TaskStatus("waiting", "7_1", "", "no node is free"),
    }


def test_a_task_has_ended_when_slurm_says_so_again_and_again(run, slurm_says) -> None:
    tasks = create_group_tasks(run)
    slurm_says("exit 1")
    assert dict(tasks.poll_tasks()) == read_group_tasks(run.path), "no answer is no news"
    slurm_says(queued(run, "COMPLETED", "PENDING"))
    assert tasks.poll_tasks()[1].state == "running"
    slurm_says(queued(run, "RUNNING", "PENDING"))
    assert tasks.poll_tasks()[1].state == "running"
    slurm_says("exit 0")
    assert [tasks.poll_tasks()[1].state for _ in range(3)] == ["running", "running", "ended"]
    assert tasks.poll_tasks()[2].state == "ended"


def test_at_the_end_what_waits_is_taken_back_also_what_slurm_has_put_back(run, slurm_says, tmp_path) -> None:
    tasks = create_group_tasks(run)
    slurm_says(queued(run, "RUNNING", "PENDING"))
    tasks.cancel_waiting()
    assert "scancel --quiet 7_1\n" in (tmp_path / "called").read_text()
    slurm_says(queued(run, "PENDING", "CANCELLED"))
    tasks.poll_tasks()
    assert (tmp_path / "called").read_text().endswith("scancel --quiet 7_0 7_1\n")


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--time", "5"], 2, "Error: --time goes with --on slurm: add it."),
        (
            ["--on", "slurm"],
            1,
            "Error: There is no Slurm on this machine (sinfo cannot be run): start this on a machine of the cluster.",
        ),
        (
            ["--on", "slurm", "--partition", "a b"],
            2,
            "Error: partition is 'a b': it has to be a name of letters, digits and . , @ + _ -.",
        ),
    ],
)
def test_what_cannot_be_is_said_before_there_is_a_run(
    words, status, says, monkeypatch, tmp_path, runs_of_one_test
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_CONF", raising=False)
    slurm_commands.clear_slurm_cache()
    ended = CliRunner().invoke(main, ["train", *words])
    assert (ended.exit_code, ended.stderr.splitlines()[-1]) == (status, says)
    assert not list(runs_of_one_test.glob("*"))
