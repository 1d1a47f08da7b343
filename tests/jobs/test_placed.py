"""Jobs that are given a place on a cluster: no turn of this machine, and no measure of it."""

import socket
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ensemble import regression, runs, shift
from ensemble.cli.placement import summarize_task
from ensemble.cli.program import main
from ensemble.cluster import slurm_commands
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.placement import Placement, read_placement, write_placement
from ensemble.jobs.queue import list_blocking_jobs, list_jobs_ahead, list_queued_jobs
from ensemble.jobs.remote.task_record import TaskRecord, write_task_record
from ensemble.jobs.status import write_status
from ensemble.regression import LbfgsConfig, create_regression
from ensemble.shift.results import stress_folder
from ensemble.shift.stress_job import StressStatus
from ensemble.ui.inspect.shift import stress_job
from ensemble.wording.jobs import describe_job_stage
from tests.workers import at_work_here

THERE = Placement("slurm", {"partition": "gpu"})


@pytest.fixture(autouse=True)
def data_of_one_test(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))


def test_a_regression_on_a_cluster_holds_nobody_up_here() -> None:
    solve = create_regression(LbfgsConfig(), THERE)
    assert solve.is_placed
    assert read_placement(solve.path) == THERE
    assert (list_queued_jobs(), list_blocking_jobs()) == ([], [])
    here = create_regression(LbfgsConfig())
    assert [one.id for one in list_queued_jobs()] == [here.id]


@pytest.mark.parametrize("command", [["stress", "digits-0101-000000"], ["lbfgs"]])
@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--time", "5"], 2, "Error: --time goes with --on slurm: add it."),
        (
            ["--on", "slurm"],
            1,
            "Error: There is no Slurm on this machine (sinfo cannot be run): start this on a machine of the cluster.",
        ),
    ],
)
def test_a_place_that_cannot_be_is_said_before_anything_is_made(
    command, words, status, says, monkeypatch, tmp_path, runs_of_one_test
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_CONF", raising=False)
    slurm_commands.clear_slurm_cache()
    ended = CliRunner().invoke(main, [*command, *words])
    assert (ended.exit_code, ended.stderr.splitlines()[-1]) == (status, says)
    assert not list(runs_of_one_test.glob("*"))


def test_only_a_regression_that_was_left_behind_on_a_cluster_is_followed_again() -> None:
    with pytest.raises(RunError, match="it is on no cluster"):
        regression.follow_regression(create_regression(LbfgsConfig()).id)
    solve = create_regression(LbfgsConfig(), THERE)
    with pytest.raises(RunError, match="is followed already"):
        regression.follow_regression(solve.id)
    lost = replace(solve.status, state="solving", pid=2**22 + 1, host=socket.gethostname())
    write_status(solve.path, lost)
    assert regression.follow_regression(solve.id).state == "queued"
    write_status(solve.path, replace(lost, **at_work_here(solve.path)))
    with pytest.raises(RunError, match="is followed already"):
        regression.follow_regression(solve.id)
    write_status(solve.path, replace(lost, state="finished"))
    with pytest.raises(RunError, match="it has ended, finished"):
        regression.follow_regression(solve.id)


def test_a_job_that_waits_on_a_cluster_comes_after_nobody_here_and_says_why_it_waits() -> None:
    create_regression(LbfgsConfig())
    solve = create_regression(LbfgsConfig(), THERE)
    write_status(solve.path, replace(solve.status, message="Queued on Slurm (no node)."))
    solve = regression.find_regression(solve.id)
    assert list_jobs_ahead(solve) == []
    assert describe_job_stage(solve, list_jobs_ahead(solve)) == "Queued on Slurm (no node)"


def test_a_measuring_that_is_gone_on_with_stays_where_it_was(runs_of_one_test) -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    folder = stress_folder(run.path)
    folder.mkdir()
    status = StressStatus(state="stopped", queued=1.0, updated=1.0)
    write_status(folder, status)
    assert stress_job.find_stress_placement(shift.read_stress(run.id)) is None
    write_placement(folder, THERE)
    assert stress_job.find_stress_placement(shift.read_stress(run.id)) == THERE
    (folder / "placement.json").write_text("{")
    assert stress_job.find_stress_placement(shift.read_stress(run.id)) is None


def test_the_result_of_a_job_names_its_task_once_it_has_one() -> None:
    solve = create_regression(LbfgsConfig(), THERE)
    assert summarize_task(solve.path) == {}
    (solve.path / "task").mkdir()
    write_task_record(solve.path, TaskRecord("a", id="7", node="node2"))
    assert summarize_task(solve.path) == {"task": {"on": "slurm", "id": "7", "node": "node2"}}
