"""The rejection threshold of a run that holds training images out: set on these, judged on test."""

from pathlib import Path

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.engine import build_network
from ensemble.engine.step import create_members
from ensemble.recognition import calibration_images, rejection_threshold
from ensemble.recognition.calibration_images import CalibrationSource, load_held_out_images, load_known_images
from ensemble.recognition.classifier import open_classifier
from ensemble.recognition.digit_novelty import reduce_digit_images
from ensemble.runs.parameters import write_parameters
from ensemble.wording.marks import describe_threshold_basis
from tests.pages import own_images

CONFIG = EnsembleConfig(network="mlp", members=2, epochs=1, validation=0.2, seed=5)


@pytest.mark.long
def test_it_is_set_on_the_images_held_out_and_judged_on_test_images_alone() -> None:
    digits = datasets.load_dataset("digits")
    held = select_validation_indices(CONFIG, digits)
    source = CalibrationSource.from_holdout("digits", CONFIG)
    images, labels = load_held_out_images(source, fitted=True)
    assert len(images) == 259
    assert sorted(labels) == sorted(digits.train_labels[held])
    as_they_are = -(-259 // 4)
    np.testing.assert_array_equal(images[:as_they_are], digits.train_images[held[::4]])
    images, labels = load_held_out_images(source, fitted=False)
    np.testing.assert_array_equal(images[:125], digits.test_images[::4])
    assert sorted(labels) == sorted(digits.test_labels)


@pytest.mark.long
def test_a_digit_held_out_is_none_of_those_that_marks_are_compared_with() -> None:
    digits = datasets.load_dataset("digits")
    held = select_validation_indices(CONFIG, digits)

    def rows(images: np.ndarray) -> set[bytes]:
        return {row.tobytes() for row in reduce_digit_images(np.asarray(images))}

    compared = {
        row.tobytes()
        for own in load_known_images(CalibrationSource.from_holdout("digits", CONFIG)).pictures
        for row in own
    }
    assert compared == rows(np.delete(digits.train_images, held, axis=0))
    assert not compared & rows(digits.train_images[held])
    whole = load_known_images(CalibrationSource.from_holdout("digits", EnsembleConfig()))
    assert sum(map(len, whole.pictures)) == len(digits.train_labels)


def test_a_run_s_threshold_says_on_what_it_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection_threshold, "NON_DIGITS_PER_KIND", 12)
    run = runs.create_run(CONFIG)
    write_parameters(run.path, 1, create_members(build_network(CONFIG), 0, 2).params, best=1)
    found = open_classifier(run.id).compute_rejection_threshold(0.1)
    assert (found.n, found.judged_count, found.threshold_split) == (259, 500, "validation")
    # The ⌈260 · 0.9⌉-th of 259 scores: at most 25 lie above it.
    assert 25 / 259 - 1e-9 <= (found.held_out_scores > found.value).mean() + 1 / 259 <= 26 / 259 + 1e-9
    said = describe_threshold_basis(found, "Digits")
    assert said.startswith("Set on 259 validation images of Digits, one in four as it is")
    assert "Judged on 500 test images" in said


def test_too_few_held_out_for_the_smallest_share_leave_it_to_the_test_images() -> None:
    few = EnsembleConfig(validation=0.05)  # 65 digits: 1 % needs 99
    assert CalibrationSource.from_holdout("digits", few) == CalibrationSource("digits")
    assert CalibrationSource.from_holdout("digits", few).threshold_split == "test"
    assert CalibrationSource.from_holdout("digits", EnsembleConfig(validation=0.1)).threshold_split == "validation"


@pytest.mark.parametrize(("most_bytes", "count"), [(768 * 150 + 700, 150), (768 * 60, 99), (2**25, 200)])
def test_fewer_large_images_are_held_out(
    most_bytes: int, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    monkeypatch.setattr(calibration_images, "_MAX_HELD_OUT_BYTES", most_bytes)  # of 16 × 16 × 3 = 768 bytes each
    source = CalibrationSource(own_images.add(), 0.2, 0, f"large {most_bytes}")
    images, labels = load_held_out_images(source, fitted=False)
    assert (len(images), len(labels)) == (count, count)
