"""Runs that learn from a teacher: what they are taught, and that they need it no more."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import datasets, runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.datasets.record import serialize_dataset_entry
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.numeric.numeric_launch import create_numeric_run
from ensemble.runs.run_folder import write_run_folder
from ensemble.runs.teacher import TARGETS_FILE, TEACHER_FILE, build_student_config, find_teacher, read_teacher_record
from ensemble.runs.training.packed_training import train_packed_runs
from ensemble.runs.training.teacher_targets import (
    average_softened_probabilities,
    load_teacher_targets,
    prepare_teacher_targets,
)
from ensemble.wording.provenance import build_rerun_command
from tests.comparison.drawn import imported
from tests.runs.groups.inline import arrays, timeless, trained
from tests.runs.numeric.conftest import build_config, prepare

SETTINGS: dict[str, Any] = {"network": "logistic", "epochs": 2, "batch_size": 256, "devices": 1}


class StopOnceBegun:
    """Asks to stop as soon as steps were written down."""

    signalled = False

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self) -> bool:
        return bool(runs.read_history(self._run.id))

    def __enter__(self) -> "StopOnceBegun":
        return self

    def __exit__(self, *error: object) -> None:
        pass


def train(config: EnsembleConfig) -> Run:
    return runs.execute_run(runs.create_run(config).id)


def begin(config: EnsembleConfig) -> Run:
    """A run that was stopped after its first steps."""
    run = runs.create_run(config)
    cut = runs.execute_run(run.id, stop=StopOnceBegun(run), synchronous=True)
    assert cut.state == "stopped"
    assert cut.status.step
    return cut


@pytest.fixture(scope="module")
def trained_teacher(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("teacher")))
        return train(EnsembleConfig(members=3, shuffle_per_member=True, **SETTINGS))


@pytest.fixture
def teacher(trained_teacher: Run, runs_of_one_test: Path) -> Run:
    """A copy for each test, some of which change its files."""
    shutil.copytree(trained_teacher.path, runs_of_one_test / trained_teacher.id)
    return runs.find_run(trained_teacher.id)


def test_what_is_taught_is_the_average_of_the_members_softened_answers(teacher: Run) -> None:
    student = train(build_student_config(teacher, distil_temperature=3.0, epochs=1))
    assert student.state == "finished"
    taught = load_teacher_targets(student)
    images = datasets.load_dataset("digits").train_images
    assert taught is not None
    assert taught.shape == (len(images), 10)
    params = np.load(teacher.path / "parameters" / "epoch-0002.npz")
    flat = images[:50].reshape(50, -1) / 255
    logits = np.einsum("nf,mfc->mnc", flat, params["Dense_0/kernel"])
    logits += params["Dense_0/bias"][:, None]
    raised = np.exp(logits / 3.0)
    by_hand = (raised / raised.sum(-1, keepdims=True)).mean(0)
    np.testing.assert_allclose(taught[:50], by_hand, atol=1e-5)
    record = read_teacher_record(student)
    assert record is not None
    assert (record.run_id, record.epoch, record.members) == (teacher.id, 2, 3)
    assert (record.chosen_on, record.temperature) == ("last", 3.0)


def test_very_sure_members_are_averaged_without_overflow() -> None:
    logits = np.array([[[1e4, 0.0]], [[0.0, 1e4]]], np.float32)
    np.testing.assert_allclose(average_softened_probabilities(logits, 1.0), [[0.5, 0.5]])


def test_a_student_resumes_to_the_same_bits_when_its_teacher_is_gone(teacher: Run) -> None:
    config = build_student_config(teacher, members=2, epochs=6)
    straight = train(config)
    cut = begin(config)
    runs.delete_run(teacher.id)
    cut = runs.execute_run(runs.requeue_run(cut.id).id)
    assert (straight.state, cut.state) == ("finished", "finished")
    for what in ("parameters", "predictions"):
        assert arrays(cut.path, what) == arrays(straight.path, what)
    ends = [[line for line in timeless(run) if line["kind"] == "epoch"] for run in (straight, cut)]
    assert ends[0] == ends[1]


def test_stopped_before_the_teacher_has_answered_it_goes_on_as_one_that_was_not(teacher: Run) -> None:
    config = build_student_config(teacher, epochs=1)
    run = runs.create_run(config)
    assert not prepare_teacher_targets(run, lambda: True)
    assert not (run.path / TARGETS_FILE).exists()
    done, straight = runs.execute_run(run.id), train(config)
    assert arrays(done.path, "parameters") == arrays(straight.path, "parameters")


def test_groups_are_taught_what_the_whole_run_is(teacher: Run) -> None:
    config = build_student_config(teacher, members=4, epochs=1)
    whole, grouped = trained(config), trained(replace(config, groups=2))
    assert (whole.state, grouped.state) == ("finished", "finished"), grouped.message
    assert (grouped.path / TARGETS_FILE).exists()
    assert not list(grouped.path.glob(f"groups/*/{TARGETS_FILE}"))
    for name in ("parameters", "predictions"):
        mine, theirs = (dict(np.load(run.path / name / "epoch-0001.npz")) for run in (whole, grouped))
        for key, array in mine.items():
            np.testing.assert_allclose(theirs[key], array, atol=1e-5)


def test_runs_in_one_program_are_each_taught_and_keep_what_they_were_told(teacher: Run) -> None:
    configs = [build_student_config(teacher, learning_rate=rate, epochs=1) for rate in (0.05, 0.2)]
    queued = [runs.create_run(config).id for config in configs]
    nothing = [lambda status: None] * 2
    packed = train_packed_runs(queued, nothing, [lambda: False] * 2)
    for run, config in zip(packed, configs, strict=True):
        assert run is not None
        assert run.state == "finished", run.message
        alone = train(config)
        mine, theirs = (np.load(each.path / "parameters" / "epoch-0001.npz") for each in (run, alone))
        np.testing.assert_allclose(mine["Dense_0/bias"], theirs["Dense_0/bias"], atol=1e-5)
        np.testing.assert_array_equal(load_teacher_targets(run), load_teacher_targets(alone))


def test_labels_alone_ask_no_teacher_and_give_what_plain_training_gives(teacher: Run) -> None:
    config = build_student_config(teacher, distil_alpha=1.0)
    taught, plain = train(config), train(replace(config, teacher=""))
    assert not (taught.path / TARGETS_FILE).exists()
    for what in ("parameters", "predictions"):
        assert arrays(taught.path, what) == arrays(plain.path, what)


def test_the_student_begins_with_the_settings_of_its_teacher_but_for_those_of_many() -> None:
    own = {"members": 4, "vary": "momentum=0.5,0.9", "bootstrap": True, "weight_decay": 1e-4}
    teacher = runs.create_run(EnsembleConfig(width=16, validation=0.1, seed=7, **own))
    config = build_student_config(teacher)
    assert (config.members, config.vary, config.bootstrap, config.groups) == (1, "", False, 1)
    assert (config.width, config.validation, config.seed) == (16, 0.1, 7)
    assert (config.weight_decay, config.teacher) == (1e-4, teacher.id)
    assert build_student_config(teacher, network="logistic").width == 0
    assert build_student_config(teacher, network="mlp", width=64).width == 64


def test_the_rate_is_such_that_no_step_can_be_larger_than_the_teacher_s() -> None:
    teacher = runs.create_run(EnsembleConfig(learning_rate=0.1))
    rates = {
        (alpha, temperature): build_student_config(
            teacher, distil_alpha=alpha, distil_temperature=temperature
        ).learning_rate
        for alpha, temperature in ((1.0, 4.0), (0.0, 1.0), (0.0, 4.0), (0.1, 4.0))
    }
    assert list(rates.values()) == [0.1, 0.1, 0.025, 0.027]
    assert build_student_config(teacher, learning_rate=0.3).learning_rate == 0.3
    assert build_student_config(teacher, optimizer="adamw").learning_rate == 0.001
    # A student that teaches is not slowed down twice.
    second = runs.create_run(build_student_config(teacher))
    assert build_student_config(second).learning_rate == pytest.approx(0.027, rel=0.02)
    adam = runs.create_run(EnsembleConfig(optimizer="adamw", learning_rate=0.002))
    assert build_student_config(adam).learning_rate == 0.002


def test_its_command_makes_it_again(teacher: Run) -> None:
    student = runs.create_run(build_student_config(teacher, distil_alpha=0.5))
    command = build_rerun_command(student)
    assert f"--teacher {teacher.id}" in command
    assert "--distil-alpha 0.5" in command


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        ("parameters", "keeps no parameters on the disk"),
        ("active", "is still being trained"),
        ("dataset", "learnt 8×8 digits|learnt Digits"),
        ("fingerprint", "is no longer the one that the run"),
    ],
)
def test_what_cannot_teach_is_refused_in_a_sentence(teacher: Run, spoil: str, sentence: str) -> None:
    config = build_student_config(teacher)
    if spoil == "parameters":
        shutil.rmtree(teacher.path / "parameters")
    elif spoil == "active":
        write_status(teacher.path, replace(teacher.status, state="queued", pid=None, updated=time.time()))
    elif spoil == "dataset":
        config = replace(config, dataset="mnist")
    else:
        path = teacher.path / "config.json"
        stored = json.loads(path.read_text())
        stored["dataset"] = {**serialize_dataset_entry(teacher.data), "fingerprint": "0" * 64}
        path.write_text(json.dumps(stored))
    with pytest.raises(RunError, match=sentence):
        find_teacher(config)


def test_what_came_from_elsewhere_and_what_is_no_ensemble_teach_nobody(teacher: Run) -> None:
    other = imported()
    with pytest.raises(RunError, match="trained elsewhere"):
        build_student_config(other)
    with pytest.raises(RunError, match="trained elsewhere"):
        find_teacher(replace(build_student_config(teacher), teacher=other.id))
    table = create_numeric_run(config := build_config(), prepare(config))
    with pytest.raises(RunError, match=f"“{table.id}” predicts numbers"):
        find_teacher(replace(build_student_config(teacher), teacher=table.id))
    with pytest.raises(UnknownRunError, match="There is no run"):
        find_teacher(replace(build_student_config(teacher), teacher="digits-gone"))
    with pytest.raises(ConfigError, match=r"teacher is .\.\./x.: it has to be the id of a run"):
        replace(build_student_config(teacher), teacher="../x")


def test_the_command_and_python_refuse_it_before_a_run_is_made(teacher: Run) -> None:
    shutil.rmtree(teacher.path / "parameters")
    before = len(runs.list_runs())
    done = CliRunner().invoke(main, ["train", "--teacher", teacher.id])
    assert done.exit_code == 1
    assert "keeps no parameters on the disk" in done.output
    with pytest.raises(RunError, match="keeps no parameters on the disk"):
        ensemble.train(build_student_config(teacher), progress=False)
    assert len(runs.list_runs()) == before


def test_a_queued_student_whose_teacher_was_deleted_fails_in_a_sentence(teacher: Run) -> None:
    student = runs.create_run(build_student_config(teacher))
    runs.delete_run(teacher.id)
    student = runs.execute_run(student.id)
    assert student.state == "failed"
    assert f"There is no run “{teacher.id}”" in student.message


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_student_that_has_lost_what_it_was_taught_says_so(teacher: Run, damage: str) -> None:
    cut = begin(build_student_config(teacher, epochs=6))
    path = cut.path / TARGETS_FILE
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:1000])
    cut = runs.execute_run(runs.requeue_run(cut.id).id)
    assert cut.state == "failed"
    assert TARGETS_FILE in cut.message
    assert "launch a new run with its settings" in cut.message
    assert json.loads((cut.path / TEACHER_FILE).read_text())["run_id"] == teacher.id


def test_a_folder_that_was_written_by_another_process_is_enough(teacher: Run, tmp_path: Any) -> None:
    """As pods make it: `run_folder` alone, whose worker asks the teacher."""
    made = runs.create_run(build_student_config(teacher))
    shutil.rmtree(made.path)
    made.path.mkdir()
    write_run_folder(made.path, runs.require_training_config(made), None)
    assert runs.execute_run(made.id).state == "finished"
