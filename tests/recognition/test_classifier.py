"""Marks read by members that are good in a second: random features, the last layer fitted."""

from collections.abc import Iterator

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.engine import compute_activations, predict_probabilities
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.step import create_members
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.recognition import nearest_neighbors, rejection_threshold
from ensemble.recognition.calibration_images import CalibrationSource, load_held_out_images
from ensemble.recognition.classifier import Classifier, open_classifier
from ensemble.recognition.picture_reading import MarkPlacement
from ensemble.runs.parameters import write_parameters
from ensemble.shift.non_digits import draw_non_digits
from tests.networks import CNN

MEMBERS = 2
NETWORK = bind_network("mlp", (28, 28, 1), 10)  # of those with features the one compiled soonest
LAST = "Dense_3"
FITTED = 768  # training digits: six rooms of 128
SHARPER = 8.0  # least squares give logits between 0 and 1


@pytest.fixture(scope="module")
def digits():
    return datasets.load_dataset("digits")


@pytest.fixture(scope="module")
def params(digits):
    """M networks as they are drawn, whose last layer is fitted by least squares (ridge)."""
    drawn = dict(create_members(NETWORK, 0, MEMBERS).params)
    targets = SHARPER * np.eye(10)[digits.train_labels[:FITTED]]
    kernels = []
    for features in compute_activations(NETWORK, drawn, digits.train_images[:FITTED]).features.astype(np.float64):
        spread = features.T @ features + 1e-2 * np.eye(features.shape[1])
        kernels.append(np.linalg.solve(spread, features.T @ targets))
    return {**drawn, LAST: {"kernel": np.array(kernels, np.float32), "bias": np.zeros((MEMBERS, 10), np.float32)}}


@pytest.fixture(scope="module")
def opened(params, tmp_path_factory) -> Iterator[Classifier]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rejection_threshold, "NON_DIGITS_PER_KIND", 12)
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("opened")))
        run = runs.create_run(EnsembleConfig(network="mlp", members=MEMBERS, epochs=2))
        write_parameters(run.path, 1, create_members(NETWORK, 0, MEMBERS).params, best=1)
        write_parameters(run.path, 2, params, best=2)
        yield open_classifier(run.id)


@pytest.mark.long
def test_activations_are_what_the_network_computes(digits):
    params = create_members(CNN, 0, MEMBERS).params
    images = digits.test_images[:40]  # more than one room holds
    found = compute_activations(CNN, params, images)
    assert found.features.shape == (MEMBERS, 40, 256)
    expected = predict_probabilities(CNN, params, images)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
    last = params["Dense_1"]
    logits = np.einsum("mnf,mfc->mnc", found.features, last["kernel"]) + last["bias"][:, None]
    np.testing.assert_allclose(found.logits, logits, atol=1e-4)
    assert compute_activations(CNN, params, images[:0]).logits.shape == (MEMBERS, 0, 10)


def test_digits_are_read_in_order_and_the_number_s_confidence_is_their_product(opened, digits):
    assert (opened.epoch, opened.epochs, opened.members) == (2, (1, 2), MEMBERS)
    images = digits.test_images[:60]
    reading = opened.read_images(images, refuse=0.05)
    labels = np.array([digit.label for digit in reading.digits])
    assert (labels == digits.test_labels[:60]).mean() > 0.9, "else nothing here means anything"
    own = compute_activations(NETWORK, opened._params, images).probabilities
    for n, digit in enumerate(reading.digits):
        np.testing.assert_allclose(digit.members, own[:, n], atol=1e-5)
        np.testing.assert_allclose(digit.probabilities, own[:, n].mean(axis=0), atol=1e-5)
        assert digit.votes.tolist() == own[:, n].argmax(axis=-1).tolist()
        assert digit.rejected == (digit.score > digit.threshold) == bool(digit.rejection_reason)
        assert reading.text[n] == ("?" if digit.rejected else str(digit.label))
    said = [max(digit.probabilities) for digit in reading.digits if not digit.rejected]
    assert reading.confidence == pytest.approx(np.prod(said))
    assert not reading.picture_rejection


def test_the_share_of_real_digits_rejected_is_the_one_asked_for(opened):
    images, _ = load_held_out_images(CalibrationSource("digits"), fitted=True)
    for refuse in (0.02, 0.2):
        rejected = [one.rejected for one in opened.read_images(images, refuse).digits]
        # Asked about again they count among those as strange as themselves: a few fewer.
        assert refuse - 5 / len(images) < np.mean(rejected) <= refuse


def test_non_digits_are_rejected_and_most_of_them_as_a_whole_picture(opened):
    images = np.concatenate([draw_non_digits("signs", 18), draw_non_digits("figures", 18)])
    reading = opened.read_images(images, refuse=0.1)
    assert np.mean([digit.rejected for digit in reading.digits]) > 0.7
    assert reading.text.count("?") == sum(digit.rejected for digit in reading.digits)
    assert "as a whole" in reading.picture_rejection
    alone = opened.read_images(np.zeros((1, 28, 28, 1), np.uint8))
    assert (alone.text, alone.confidence, alone.picture_rejection) == ("?", 0.0, "")


def test_specks_beside_a_digit_do_not_have_a_picture_rejected(opened, digits):
    scores = [digit.score for digit in opened.read_images(digits.test_images[:40]).digits]
    sure = int(np.argmin(scores))
    specks = draw_non_digits("signs", 1).repeat(35, axis=0)
    images = np.concatenate([digits.test_images[[sure]], specks])
    boxes = [(0, 0, 90, 100), *((200 + 9 * n, 0, 206 + 9 * n, 8) for n in range(35))]
    places = MarkPlacement(np.array(boxes), np.full(36, -1), np.zeros(36), np.zeros(36, int))
    assert opened.read_images(images, places=places).picture_rejection == ""
    assert opened.read_images(images).picture_rejection != ""


@pytest.mark.long
def test_the_threshold_is_judged_on_other_digits_than_it_was_set_on(opened):
    strict, mild = opened.compute_rejection_threshold(0.2), opened.compute_rejection_threshold(0.02)
    assert strict.value < mild.value
    assert strict.n == len(strict.held_out_scores) == strict.judged_count == 250
    assert strict.coverage == pytest.approx(0.8, abs=0.08)
    assert strict.accuracy > strict.accuracy_all
    images, labels = load_held_out_images(CalibrationSource("digits"), fitted=False)
    digits = opened.read_images(images, 0.2).digits
    assert strict.coverage == np.mean([not one.rejected for one in digits])
    right = np.array([one.label for one in digits]) == labels
    assert strict.accuracy_all == right.mean()
    keys = [one.key for one in strict.non_digits]
    assert {"letters", "scribbles", "patches", "noise", "scrambled"} <= set(keys)
    for one in strict.non_digits:
        assert one.n == len(one.scores)
        assert one.share == (one.scores > strict.value).mean()
    assert {one.key: one.share for one in strict.non_digits}["scrambled"] == 1


def test_a_test_digit_is_its_own_nearest_neighbour(opened, digits):
    found = opened.find_nearest_neighbors(digits.test_images[7], count=5)
    assert found.numbers[0] == 7
    assert found.distances[0] == pytest.approx(0, abs=1e-3)
    assert (np.diff(found.distances) >= 0).all()
    np.testing.assert_array_equal(found.images, digits.test_images[found.numbers])
    np.testing.assert_array_equal(found.labels, digits.test_labels[found.numbers])
    own, other = (
        compute_activations(NETWORK, opened._params, digits.test_images[[number]]) for number in (7, found.numbers[4])
    )
    np.testing.assert_array_equal(found.votes[:, 4], other.logits[:, 0].argmax(axis=-1))
    one, two = (
        asked.features[:, 0] / np.linalg.norm(asked.features[:, 0], axis=-1, keepdims=True) for asked in (own, other)
    )
    apart = np.linalg.norm(one - two, axis=-1).mean()
    assert found.distances[4] == pytest.approx(apart, rel=1e-3)


@pytest.mark.parametrize(("members", "candidates"), [(4, 128), (16, 64), (100, 32)])
def test_many_members_are_asked_about_fewer_candidates(opened, digits, monkeypatch, members, candidates):
    asked = []
    monkeypatch.setattr(opened, "members", members)
    find = nearest_neighbors.find_nearest_pictures

    def note(image, pictures, most):
        asked.append(most)
        return find(image, pictures, most)

    monkeypatch.setattr(nearest_neighbors, "find_nearest_pictures", note)
    opened.find_nearest_neighbors(digits.test_images[7], count=5)
    assert asked == [candidates]


def test_covering_a_place_is_asking_about_the_covered_image(opened, digits):
    image = digits.test_images[3]
    found = opened.compute_occlusion(image)
    assert found.member_changes.shape == (MEMBERS, 28, 28)
    before = compute_activations(NETWORK, opened._params, image[None]).probabilities[:, 0]
    assert any(found.flips), "no patch changes any mind: choose another digit for this test"
    for m, flip in enumerate(found.flips):
        if flip is None:
            continue
        left, top, right, bottom = flip.box
        covered = image.copy()
        covered[top:bottom, left:right] = 0
        under = compute_activations(NETWORK, opened._params, covered[None]).probabilities[m, 0]
        assert under.argmax() == flip.label != before[m].argmax()
    nothing = opened.compute_occlusion(np.zeros_like(image))
    assert nothing.flips == (None,) * MEMBERS
    assert not nothing.member_changes.any()


def test_what_cannot_be_opened_or_asked_is_said(opened, monkeypatch):
    with pytest.raises(UnknownRunError):
        open_classifier("digits-0101-000000")
    early = runs.create_run(EnsembleConfig())
    with pytest.raises(RunError, match="no checkpoint yet"):
        open_classifier(early.id)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        opened.read_images(np.zeros((1, 28, 28, 1), np.uint8), refuse=1.5)
    nothing = opened.read_images(np.zeros((0, 28, 28, 1), np.uint8))
    assert (nothing.digits, nothing.text, nothing.confidence) == ((), "", 0.0)
