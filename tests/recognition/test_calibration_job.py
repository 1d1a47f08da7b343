"""What members reject is computed by a process of its own, to the same numbers, and found again."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.recognition import calibration_job
from ensemble.recognition.calibration_images import CalibrationSource, load_known_images
from ensemble.recognition.calibration_job import CalibrationStatus, wait_for_calibration
from ensemble.recognition.classifier import Classifier, open_classifier
from ensemble.recognition.rejection_threshold import NoveltyJudge, is_calibration_kept
from ensemble.runs import Run
from ensemble.storage.arrays.disk_cache import is_kept, load_or_compute_arrays
from ensemble.ui.classify.input import classifier_loader
from tests.pages.ensembles import trained
from tests.pages.members import askable
from tests.workers import held_by_a_worker


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    return askable()


def note_nothing(share: float, message: str) -> None:
    pass


def read_scores(classifier: Classifier) -> tuple[Any, ...]:
    threshold = classifier.compute_rejection_threshold(0.03)
    reading = classifier.read_images(datasets.load_dataset("digits").test_images[:40])
    return (
        threshold.value,
        threshold.held_out_scores,
        threshold.accuracy,
        *(kind.scores for kind in threshold.non_digits),
        [digit.score for digit in reading.digits],
    )


@pytest.mark.long
def test_the_process_computes_the_same_numbers_and_the_server_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("ENSEMBLE_DATA", str(tmp_path / "here"))
        expected = read_scores(open_classifier(run.id, 2))
    monkeypatch.setattr(NoveltyJudge, "_measure_held_out", lambda self: pytest.fail("computed in the server"))
    monkeypatch.setattr(NoveltyJudge, "_measure_judged", lambda self: pytest.fail("computed in the server"))
    classifier = classifier_loader.wait_for_classifier(run, 2)
    assert classifier.is_calibrated
    for one, other in zip(read_scores(classifier), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_answer_is_there_before_anything_can_be_rejected(run: Run) -> None:
    classifier = open_classifier(run.id, 1, calibrated=False)
    images = datasets.load_dataset("digits").test_images[:200]
    assert not classifier.is_calibrated
    assert not classifier.has_kept_calibration()
    before = classifier.read_images(images)
    assert not any(digit.rejected for digit in before.digits)
    assert {digit.quantile for digit in before.digits} == {0.0}
    classifier.calibrate()
    after = classifier.read_images(images)
    assert any(digit.rejected for digit in after.digits)
    for one, other in zip(before.digits, after.digits, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


@pytest.mark.long
def test_one_that_waits_behind_another_says_so_and_then_has_its_turn(run: Run) -> None:
    first = calibration_job.create_calibration_job("other-run:1")
    first.path.mkdir(parents=True)
    status = CalibrationStatus(state="running", subject="/elsewhere:other-run:1")
    said, waited, problems = [], threading.Event(), []

    def note(share: float, message: str) -> None:
        said.append(message)
        if message == calibration_job.WAITING_MESSAGE:
            waited.set()

    classifier = open_classifier(run.id, 2, calibrated=False)
    waiter = threading.Thread(
        target=lambda: problems.append(wait_for_calibration(run.id, 2, classifier.has_kept_calibration, note))
    )
    with held_by_a_worker(first.path):
        write_status(first.path, status)
        waiter.start()
        assert waited.wait(60)
    waiter.join(300)
    assert problems == [""]
    assert classifier.has_kept_calibration()
    assert "Showing the members held-out images." in said


def test_what_ends_the_process_is_said(run: Run) -> None:
    problem = wait_for_calibration("digits-0101-000000", 1, lambda: False, note_nothing)
    assert "There is no run “digits-0101-000000”" in problem


@pytest.mark.long
def test_a_run_that_has_finished_needs_no_page_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(calibration_job.SWITCH_VARIABLE)
    run = runs.launch_run(EnsembleConfig(network="mlp", members=2, epochs=1, batch_size=512))
    deadline = time.monotonic() + 300
    while runs.find_run(run.id).active or not ((job := calibration_job.read_calibration_job()) and not job.active):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert (job.id, job.state) == (f"{run.id}:1", "finished"), job.message
    assert open_classifier(run.id, 1, calibrated=False).has_kept_calibration()


@pytest.mark.parametrize(("switch", "waits", "begins"), [("", False, True), ("0", False, False), ("", True, False)])
def test_it_begins_after_a_run_where_nobody_waits_and_it_is_not_switched_off(
    run: Run, switch: str, waits: bool, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[str]()
    monkeypatch.setattr(calibration_job, "start_calibration", lambda run_id, epoch: begun.append(run_id))
    monkeypatch.setenv(calibration_job.SWITCH_VARIABLE, switch)
    if waits:
        trained(state="training", working=True)
    calibration_job.calibrate_finished_run(run.id)
    assert begun == [run.id] * begins


def test_known_images_whose_file_is_gone_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = CalibrationSource("digits")
    known = load_known_images(source)
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    assert not is_kept("known", source.cache_key)
    again = load_known_images(source)
    assert is_kept("known", source.cache_key)
    for name, array in known.as_arrays().items():
        np.testing.assert_array_equal(again.as_arrays()[name], array)


def test_a_calibration_is_kept_when_all_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    source = CalibrationSource("digits")
    for name, made_from in (
        ("known", source.cache_key),
        *((name, "members") for name in ("features", "held-out", "judged")),
    ):
        assert not is_calibration_kept(source, "members")
        load_or_compute_arrays(name, made_from, lambda: {"any": np.zeros(1)})
    assert is_calibration_kept(source, "members")
    assert not is_calibration_kept(source, "other members")
