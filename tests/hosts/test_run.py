"""A run of two processes, stopped and gone on with, has the bits of one process on two devices."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.hosts.process_group import clear_process_group, set_process_group
from ensemble.hosts.process_roles import LeaderProcess
from ensemble.jobs.job import STOP_FILE, clear_stop_request
from ensemble.jobs.placement import Placement
from ensemble.runs import Run
from ensemble.runs.groups.group import Group, create_group_folders
from ensemble.runs.groups.task_placement import create_group_tasks
from ensemble.runs.teacher import build_student_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training.distributed import LeaderTrainer
from ensemble.runs.training_predictions import load_training_predictions
from ensemble.storage.atomic_files import read_json
from ensemble.wording.provenance import build_rerun_command
from tests.hosts.pair import Processes, train
from tests.pages.grouped import SLURM, in_groups

# Compiled in a moment.
CONFIG = EnsembleConfig(network="logistic", members=3, epochs=3, batch_size=128, learning_rate=0.05, validation=0.1)
TWO_NODES = Placement("slurm", {"nodes": 2})
PARAMETERS = "parameters/epoch-0003.npz"


def test_a_task_on_two_nodes_stopped_and_resumed_has_the_bits_of_one_process(tmp_path):
    truth = runs.create_run(CONFIG)
    run = runs.create_run(CONFIG, TWO_NODES)
    [group] = create_group_folders(run)
    (group.path / STOP_FILE).touch()
    with alone(truth, tmp_path) as one, both_of(group, tmp_path) as both:
        assert both.statuses() == [0, 0], both.said()  # It learns a little before it looks.
        assert one.statuses() == [0], one.said()
    [group] = create_group_folders(run)
    assert group.status.state == "stopped"
    assert 0 < group.status.step < 30, "stopped too late for this test to mean something"
    clear_stop_request(group.path)
    if runs.find_run(run.id).status.state not in runs.ACTIVE:
        # On a slow machine the task has found that nobody follows the run, and told its end.
        runs.requeue_run(run.id)
    with both_of(group, tmp_path) as both:
        assert both.statuses() == [0, 0], both.said()
    [group] = create_group_folders(run)
    assert group.status.state == "finished"
    assert '"processes": 2' in (group.path / "devices.json").read_text()
    # Nobody follows the task: it has merged its group, and told of the run itself.
    ended = runs.find_run(run.id)
    assert ended.state == "finished", ended.message
    for folder in ("predictions", "validation"):
        for epoch in (1, 2, 3):
            name = f"{folder}/epoch-{epoch:04d}.npz"
            with np.load(run.path / name) as found, np.load(truth.path / name) as one:
                np.testing.assert_array_equal(found["probabilities"], one["probabilities"])
    with np.load(run.path / PARAMETERS) as found, np.load(truth.path / PARAMETERS) as one:
        assert found.files == one.files
        for name in one.files:
            np.testing.assert_array_equal(found[name], one[name])


def test_two_processes_are_taught_what_one_is(tmp_path):
    teacher = runs.execute_run(runs.create_run(replace(CONFIG, epochs=1, devices=1)).id)
    config = build_student_config(teacher, members=2, epochs=1)
    alone = runs.execute_run(runs.create_run(config).id)
    words = [*build_rerun_command(alone).split()[2:], "--devices", "0"]
    with train(tmp_path, *words) as both:
        assert both.statuses() == [0, 0], both.said()
    [taught] = [run for run in runs.list_runs() if run.config.teacher == teacher.id and run.id != alone.id]
    assert taught.state == "finished"
    assert '"processes": 2' in (taught.path / "devices.json").read_text()
    name = "parameters/epoch-0001.npz"
    with np.load(taught.path / name) as found, np.load(alone.path / name) as one:
        for key in one.files:
            np.testing.assert_allclose(found[key], one[key], atol=1e-5)


@pytest.mark.long
def test_two_processes_judge_what_they_left_out_as_one_does(tmp_path):
    config = replace(CONFIG, folds=2, epochs=1)
    alone = runs.execute_run(runs.create_run(replace(config, devices=1)).id)
    words = [*build_rerun_command(alone).split()[2:], "--devices", "0"]
    with train(tmp_path, *words) as both:
        assert both.statuses() == [0, 0], both.said()
    [judged] = [run for run in runs.list_runs() if run.id != alone.id]
    assert judged.state == "finished"
    assert '"processes": 2' in (judged.path / "devices.json").read_text()
    found, wanted = load_training_predictions(judged), load_training_predictions(alone)
    np.testing.assert_array_equal(found.numbers, wanted.numbers)
    np.testing.assert_allclose(found.averaged, wanted.averaged, atol=1e-5)


def test_two_processes_multiply_bfloat16_as_the_first_has_measured(tmp_path):
    words = ("--members", "2", "--width", "4", "--batch-size", "512", "--epochs", "1")
    own = {"ENSEMBLE_DATA": str(tmp_path / "data")}  # Nothing was measured there.
    with train(tmp_path, *words, "--precision", "bfloat16", **own) as both:
        assert both.statuses() == [0, 0], both.said()
    [run] = runs.list_runs()
    assert run.state == "finished"
    assert set(read_json(run.path / "devices.json")["products"]) == {"convolutions", "dense"}


def alone(run: Run, folder: Path) -> Processes:
    """One process with as many devices."""
    words = ("-m", "ensemble", "work", run.id)
    return Processes(folder, *words, count=1, JAX_NUM_CPU_DEVICES="2")


def both_of(group: Group, folder: Path) -> Processes:
    return Processes(folder, "-m", "ensemble", "work-group", group.id)


def test_a_process_that_would_have_no_member_is_named():
    digits = load_run_dataset(runs.create_run(CONFIG))
    company = LeaderProcess(0, ("node1", "node2"), {})
    set_process_group(company)
    try:
        with pytest.raises(ConfigError, match=r"Process 2 of 2 \(on node2\) would have no member"):
            LeaderTrainer(CONFIG, digits, jax.devices()[:2], range(3))
    finally:
        clear_process_group()
        company.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--learning-rate 99", "--learning-rate"),
        ("--members 4 --groups 2", "leave out --groups"),
        ("--on slurm --nodes 2 --members 4 --groups 2", "leave out --groups"),
        ("--on slurm --members 4", "give their number with --nodes"),
        ("--on slurm --nodes 3 --members 2", "ask for --nodes 2"),
        ("--on slurm --nodes 3 --members 8 --devices 2", "ask for --nodes 2"),
        ("--on slurm --nodes 2 --members 1", "leave --distributed out"),
        ("--nodes 2", "goes with --on slurm"),
    ],
)
def test_what_cannot_be_is_said_before_anybody_waits(words, sentence):
    said = CliRunner().invoke(main, ["train", "--distributed", *words.split()])
    assert said.exit_code == 2
    assert sentence in said.output
    assert runs.list_runs() == []


def test_several_nodes_are_for_one_program_and_not_for_groups():
    said = CliRunner().invoke(main, ["train", "--on", "slurm", "--nodes", "2"])
    assert said.exit_code == 2
    assert "use --distributed" in said.output
    run = in_groups({1: "stopped", 2: "stopped"}, state="stopped", placement=TWO_NODES)
    with pytest.raises(ConfigError, match="2 groups, each of which takes one node"):
        create_group_tasks(run)


def test_a_run_that_is_elsewhere_is_resumed_without_the_option():
    run = in_groups({1: "stopped"}, state="stopped", placement=SLURM)
    said = CliRunner().invoke(main, ["train", "--distributed", "--resume", run.id])
    assert said.exit_code == 1
    assert "resume it without --distributed" in said.output
