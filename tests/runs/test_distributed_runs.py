"""Runs that an earlier version's `train --distributed` began and that were stopped: they resume here.

Process 0 wrote the run's folder as a single process does; `devices.json` counts the devices of all
processes and says how many processes there were.
"""

import re

from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.placement import Placement, create_scheduler_backend, read_placement
from ensemble.runs import Run
from ensemble.runs.groups.group import list_run_groups
from ensemble.runs.groups.task_placement import create_group_tasks
from ensemble.runs.groups.tasks import GroupTasks
from ensemble.storage.atomic_files import read_json, write_json
from tests.pages.grouped import in_groups
from tests.runs.test_workers import assert_same_bits

CONFIG = EnsembleConfig(network="logistic", members=2, epochs=3, batch_size=128, learning_rate=0.05, validation=0.1)
TWO_NODES = Placement("slurm", {"partition": "", "time": 60, "nodes": 2, "gpus": 0, "cpus": 0, "memory": 0})


def stop_distributed_run() -> Run:
    """A run that was stopped after its first epoch, with the files of two processes of one device."""
    run = runs.create_run(CONFIG)

    def stop_after_an_epoch(status: runs.Status) -> None:
        if status.epoch == 1:
            (run.path / STOP_FILE).touch()

    assert runs.execute_run(run.id, stop_after_an_epoch, synchronous=True).state == "stopped"
    file = run.path / "devices.json"
    devices = read_json(file)
    assert devices["used"] == 2
    write_json(file, {**devices, "devices": devices["devices"][:1], "processes": 2, "used_here": 1})
    return runs.find_run(run.id)


def test_a_stopped_distributed_run_resumes_here_to_the_same_bits() -> None:
    truth = runs.execute_run(runs.create_run(CONFIG).id)
    run = stop_distributed_run()
    assert run.status.epoch == 1
    resumed = CliRunner().invoke(main, ["train", "--resume", run.id], catch_exceptions=False)
    assert resumed.exit_code == 0, resumed.stderr
    run = runs.find_run(run.id)
    assert run.state == "finished"
    assert_same_bits(run, truth)
    assert "processes" not in read_json(run.path / "devices.json")


def test_a_task_on_several_nodes_is_read_and_resumes_on_one_node_or_here() -> None:
    run = in_groups({1: "stopped"}, state="stopped", placement=TWO_NODES)
    assert CliRunner().invoke(main, ["runs", "show", run.id], catch_exceptions=False).exit_code == 0
    placement = read_placement(run.path)
    assert placement == TWO_NODES
    assert "nodes" not in create_scheduler_backend(placement, run.path).config.as_dict()
    assert isinstance(create_group_tasks(run), GroupTasks)
    assert [group.status.state for group in list_run_groups(run)] == ["stopped"]
    run = runs.requeue_run(run.id, placement=None)
    assert read_placement(run.path) is None


def test_the_option_is_gone_and_so_are_several_nodes() -> None:
    for words, option in ((["--distributed"], "--distributed"), (["--on", "slurm", "--nodes", "2"], "--nodes")):
        refused = CliRunner().invoke(main, ["train", *words])
        assert refused.exit_code == 2
        assert re.search(rf"No such option:? '?{option}", refused.stderr)
