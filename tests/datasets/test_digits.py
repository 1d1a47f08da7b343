"""`digits`: the same bytes everywhere, centred, balanced, and drawn with MNIST's ink."""

import gzip
import hashlib

import numpy as np
import pytest

from ensemble import datasets
from ensemble.datasets import digits


@pytest.fixture(scope="module")
def dataset() -> datasets.Dataset:
    return datasets.load_dataset("digits")


@pytest.fixture(scope="module")
def images(dataset):
    return np.concatenate([dataset.train_images, dataset.test_images])


def test_they_are_the_same_bytes_on_every_machine(images):
    digest = hashlib.sha256(images.tobytes()).hexdigest()
    assert digest == "f41ed660dfc60130569b7482e96550b42b422695f6ab7d6b506ea07181db961e"


def test_shapes_types_and_that_they_cannot_be_changed(dataset):
    assert dataset.train_images.shape == (1297, 28, 28, 1)
    assert dataset.test_images.shape == (500, 28, 28, 1)
    for array in (dataset.train_images, dataset.test_images):
        assert array.dtype == np.uint8
        assert not array.flags.writeable
    for array in (dataset.train_labels, dataset.test_labels):
        assert array.dtype == np.int32
        assert not array.flags.writeable
    assert dataset.class_names == tuple("0123456789")


def test_the_cells_are_those_scikit_learn_loads(dataset):
    from sklearn.datasets import load_digits

    bunch = load_digits()
    cells, labels = digits.read_digit_cells()
    np.testing.assert_array_equal(cells, bunch.images)
    np.testing.assert_array_equal(labels, bunch.target)
    # The split keeps the file's order, and with it the writers.
    np.testing.assert_array_equal(dataset.train_labels, bunch.target[:1297])
    np.testing.assert_array_equal(dataset.test_labels, bunch.target[1297:])
    cells_again, labels_again = digits.load_sklearn_digits()
    np.testing.assert_array_equal(cells_again, cells, strict=True)
    np.testing.assert_array_equal(labels_again, labels, strict=True)


def test_no_test_image_is_a_training_image(dataset):
    train = {image.tobytes() for image in dataset.train_images}
    assert not any(image.tobytes() in train for image in dataset.test_images)


def test_classes_are_balanced_in_both_parts(dataset):
    for labels in (dataset.train_labels, dataset.test_labels):
        counts = np.bincount(labels, minlength=10)
        assert counts.min() > 0.9 * len(labels) / 10
        assert counts.max() < 1.1 * len(labels) / 10


def test_each_is_centred_by_mass_and_fits_mnists_box(images):
    ink = images[..., 0].astype(float)
    row, column = digits.ink_center_of_mass(ink)
    assert np.abs(row - 14).max() < 0.1
    assert np.abs(column - 14).max() < 0.1
    height = (ink.max(axis=2) > 0).sum(axis=1)
    width = (ink.max(axis=1) > 0).sum(axis=1)
    larger = np.maximum(height, width)
    assert larger.min() >= 18
    assert larger.max() <= 20
    assert (ink.max(axis=(1, 2)) == 255).all()


def test_the_ink_is_mnists(images, mnist_files):
    raw = gzip.decompress((mnist_files / "train-images-idx3-ubyte.gz").read_bytes())
    mnist = np.frombuffer(raw, np.uint8, offset=16)
    assert abs(images.mean() - mnist.mean()) < 1  # 34.0 and 33.3
    for level in (1, 128, 250):  # any ink, half, full
        assert abs((images >= level).mean() - (mnist >= level).mean()) < 0.006


def test_drawing_keeps_a_shape_upright_and_unmirrored():
    cells = np.zeros((1, 8, 8), np.uint8)
    cells[0, :, 2] = 16  # an L: a stroke on the left, a foot to the right
    cells[0, 7, 2:6] = 16
    ink = digits.draw_mnist_digits(cells)[0, ..., 0] > 127
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert ink[rows[0] + 5, columns[0]]
    assert ink[rows[-1], columns[-1] - 2]
    assert not ink[rows[0] : rows[0] + 10, columns[0] + 5 :].any()
