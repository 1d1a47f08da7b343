"""`digits`: scikit-learn's 8×8 digits, drawn as MNIST is.

The file is the test set of UCI's "Optical Recognition of Handwritten Digits" (Alpaydin and
Kaynak, 1998): 1,797 digits by 13 people, 8×8 counts of ink from 0 to 16. It ships with
scikit-learn and is read as a file, because importing scikit-learn takes seconds.

Each digit is enlarged to a height or width of 20 pixels, keeping its shape, and its centre of
mass is put on pixel (14, 14), as MNIST's is; position and size are continuous, so there is one
interpolation and no rounding in between. Enlarging 2.4 times leaves soft strokes; the contrast
then makes them as hard, thick and dark as MNIST's (mean 34.0 against 33.3, ink on 19.6 %
against 19.1 % of the pixels, 7.3 % against 7.4 % of them full).

The last 500 are the test set. The file is ordered by writer as far as can be told (no writer's
name is kept; scikit-learn's own `test_kfold_can_detect_dependent_samples_on_digits` shows the
dependence), so they come largely from other hands than the first 1,297, and the accuracy is
lower, and more honest, than after shuffling (an SVM: 96.8 % against 98 to 99 %).
"""

import functools
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.registry import ENTRIES

_DIGITS_FILE = Path("datasets", "data", "digits.csv.gz")
SIZE = 28
_CENTER = 14.0
BOX = 19.0  # cells' extent in pixels; interpolation adds half a pixel on either side
_BLACK_LEVEL, _WHITE_LEVEL = (0.28, 0.78)  # soft values that become 0 and 255: chosen to match MNIST's ink


@functools.cache
def load_digits() -> Dataset:
    """The digits in their fixed split, 1,297 to train and 500 to test: drawn once a process."""
    entry = ENTRIES["digits"]
    cells, labels = read_digit_cells()
    images = draw_mnist_digits(cells)
    for array in (images, labels):
        array.setflags(write=False)
    split = entry.train_size
    return Dataset(
        name=entry.name,
        train_images=images[:split],
        train_labels=labels[:split],
        test_images=images[split:],
        test_labels=labels[split:],
        class_names=entry.class_names,
        source=entry.source,
        noun=entry.noun,
    )


def read_digit_cells() -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """scikit-learn's digits: uint8 (1797, 8, 8) in [0, 16], and labels int32 (1797,)."""
    spec = importlib.util.find_spec("sklearn")
    folders = (spec.submodule_search_locations if spec else None) or []
    for path in (Path(folder) / _DIGITS_FILE for folder in folders):
        if path.is_file():
            table = np.loadtxt(path, np.uint8, delimiter=",")
            return table[:, :64].reshape(-1, 8, 8), table[:, 64].astype(np.int32)
    return load_sklearn_digits()


def load_sklearn_digits() -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """`read_digit_cells` by scikit-learn itself: slow to import, but sure to know its own files."""
    from sklearn.datasets import load_digits as load

    bunch = load()
    return bunch.images.astype(np.uint8), bunch.target.astype(np.int32)


def draw_mnist_digits(cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Digits of 8×8 cells drawn as MNIST is.

    Args:
      cells: uint8 (N, 8, 8) in [0, 16], some ink in each.

    Returns:
      uint8 (N, 28, 28, 1) in [0, 255].
    """
    # In float64, so that every machine rounds to the same bytes.
    ink = cells.astype(np.float64) / 16
    scale = BOX / np.maximum(_measure_ink_extent(ink.max(axis=2)), _measure_ink_extent(ink.max(axis=1)))
    row, column = ink_center_of_mass(ink)
    # Contrast moves the centre of mass by up to 0.6 pixels; a second drawing, from where the
    # first one fell, leaves less than 0.1.
    for _ in range(2):
        soft = (
            _compute_interpolation_weights(row, scale)
            @ ink
            @ _compute_interpolation_weights(column, scale).transpose(0, 2, 1)
        )
        drawn = np.clip((soft - _BLACK_LEVEL) / (_WHITE_LEVEL - _BLACK_LEVEL), 0, 1)
        drawn_row, drawn_column = ink_center_of_mass(drawn)
        row = row + (drawn_row - _CENTER) / scale
        column = column + (drawn_column - _CENTER) / scale
    return np.rint(drawn * 255).astype(np.uint8)[..., np.newaxis]


def _measure_ink_extent(profile: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cells from the first with ink to the last: (N, 8) to (N,), in cells."""
    inked = profile > 0
    first = inked.argmax(axis=1)
    last = profile.shape[1] - inked[:, ::-1].argmax(axis=1)
    return (last - first).astype(np.float64)


def ink_center_of_mass(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Row and column of the centre of mass, (N, H, W) to (N,) each, in pixels from 0."""
    rows, columns = images.sum(axis=2), images.sum(axis=1)
    mass = rows.sum(axis=1)
    return rows @ np.arange(rows.shape[1]) / mass, columns @ np.arange(columns.shape[1]) / mass


def _compute_interpolation_weights(centre: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (N, 28, 8) of each cell in each pixel, by Catmull-Rom's cubic (Keys 1981, a = -½).

    Args:
      centre: (N,) the cell coordinate that falls on pixel `_CENTER`.
      scale: (N,) pixels per cell.
    """
    pixels = np.arange(SIZE)[np.newaxis, :] - _CENTER
    position = pixels / scale[:, np.newaxis] + centre[:, np.newaxis]
    x = np.abs(position[:, :, np.newaxis] - np.arange(8))
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))
