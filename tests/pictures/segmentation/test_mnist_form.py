"""A digit's ink to MNIST's form: shape, stroke and centre, whatever the size and the pen."""

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from ensemble import datasets
from ensemble.datasets.digits import ink_center_of_mass
from ensemble.pictures.segmentation import mnist_form


@pytest.fixture(scope="module")
def images():
    return datasets.load_dataset("digits").test_images[:60, :, :, 0]


def enlarged(image, times=10):
    size = (28 * times, 28 * times)
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC))


def widths_of(picture):
    """Independent of the code under test: area over half the length of the edge."""
    ink = enlarged(picture, 8) > 127
    edge = sum(np.count_nonzero(np.diff(ink.astype(np.int8), axis=axis)) for axis in (0, 1))
    # An edge in any direction crosses 4/π as many cells' sides as it is long, on average.
    return 2 * ink.sum() / (edge * np.pi / 4) / 8


def test_a_digit_enlarged_comes_back(images):
    made = np.stack([mnist_form.convert_to_mnist(enlarged(image), 0, 99)[..., 0] for image in images])
    assert np.abs(made.astype(float) - images).mean() < 6
    full, inked = (made >= 250).mean(), (made > 0).mean()
    assert full == pytest.approx((images >= 250).mean(), abs=0.02)
    assert inked == pytest.approx((images > 0).mean(), abs=0.02)


@pytest.mark.parametrize("times", [0.75, 3, 30])
def test_size_makes_no_difference(images, times):
    for image in images[:6]:
        size = (round(28 * times),) * 2
        there = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC))
        made = mnist_form.convert_to_mnist(there)[..., 0].astype(float)
        limit = 14 if times < 1 else 6
        assert np.abs(made - mnist_form.convert_to_mnist(enlarged(image))[..., 0]).mean() < limit


@pytest.mark.parametrize("turn", [0, 1])
def test_a_bar_keeps_its_shape_and_lies_in_the_middle(turn):
    bar = np.zeros((300, 300), np.uint8)
    bar[20:220, 30:80] = 255  # 200 by 50
    made = mnist_form.convert_to_mnist(np.rot90(bar, turn), 0, 99)[..., 0].astype(float) / 255
    across, along = made.sum(axis=1).max(), made.sum(axis=0).max()
    if turn:
        across, along = along, across
    assert along == pytest.approx(19.6, abs=0.6)
    assert along / across == pytest.approx(4, rel=0.06)
    row, column = ink_center_of_mass(made[np.newaxis])
    assert (row[0], column[0]) == pytest.approx((14, 14), abs=0.1)


def test_every_centre_of_mass_is_mnists(images):
    made = np.stack([mnist_form.convert_to_mnist(enlarged(image, 4))[..., 0] for image in images])
    for axis in ink_center_of_mass(made.astype(float)):
        assert np.abs(axis - 14).max() < 0.25
    assert made.max(axis=(1, 2)).min() == 255


@pytest.mark.parametrize("pen", [2, 4, 44, 60])
def test_pens_of_any_width_leave_strokes_like_mnists(pen):
    canvas = np.zeros((400, 400), bool)
    turns = np.linspace(0.3, 5.5, 2000)
    canvas[(200 + 130 * np.sin(turns)).astype(int), (200 + 130 * np.cos(turns)).astype(int)] = True
    ink = ndimage.distance_transform_edt(~canvas) < pen / 2
    made = mnist_form.convert_to_mnist(ink.astype(np.uint8) * 255)[..., 0]
    assert 2.0 < widths_of(made) < 3.8
    # Still one open bow: nothing cut, no loop closed.
    assert ndimage.label(made > 127, np.ones((3, 3)))[1] == 1
    assert ndimage.label(made < 128)[1] == 1


def test_a_small_loop_stays_open_under_a_thicker_pen():
    rows, columns = np.mgrid[:200, :120]
    ring = np.abs(np.hypot(rows - 30, columns - 60) - 17) < 2.5
    stem = (np.abs(columns - 60) < 2.5) & (rows > 45) & (rows < 190)
    made = mnist_form.convert_to_mnist((ring | stem).astype(np.uint8) * 255)[..., 0]
    assert widths_of(made) > 1.9
    assert ndimage.label(made < 128)[1] == 2


def test_thinning_never_drops_a_thin_part():
    ink = np.zeros((200, 200), np.uint8)
    ink[10:190, 20:90] = 255
    ink[95:103, 90:180] = 255
    assert (mnist_form.convert_to_mnist(ink)[..., 0].max(axis=0) > 100).sum() >= 17


@pytest.mark.parametrize("size", [(1, 1), (1, 900), (900, 1), (28, 28), (700, 500)])
def test_odd_ink_fits_the_picture(size):
    made = mnist_form.convert_to_mnist(np.full(size, 255, np.uint8))
    assert made.shape == (28, 28, 1)
    assert made.dtype == np.uint8
    assert made.max() == 255
    ring = np.ones((28, 28), bool)
    ring[2:-2, 2:-2] = False
    assert made[..., 0][ring].max() == 0


def test_no_ink_is_an_empty_picture():
    assert not mnist_form.convert_to_mnist(np.zeros((9, 5), np.uint8)).any()


def test_a_hairline_on_a_large_sheet_is_drawn():
    sheet = np.zeros((1500, 1500), np.uint8)
    steps = np.arange(1400)
    sheet[steps + 50, steps + 50] = 255
    sheet[steps + 50, steps + 51] = 255
    made = mnist_form.convert_to_mnist(sheet)[..., 0]
    assert (np.diag(made)[5:23] > 200).all()
