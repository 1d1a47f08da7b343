"""Copies among a dataset's images: exact ones, and those that differ by little more than saving.

An image that occurs twice in a test set is no second observation, and one that was trained on is
no test at all.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.storage.arrays.disk_cache import load_or_compute_arrays

SIDE = 8  # cells along either side, into which an image is averaged to look for candidates
MAX_DIFFERENCE = 5.0  # grey levels of 255, root mean square: what saving as JPEG again makes
MAX_RELATIVE_DIFFERENCE = 0.07  # of the image's own standard deviation, so that faint ones differ
MAX_BYTES = 2 * 2**30  # of images that are looked through: more would take minutes
MAX_NEIGHBORS = 8  # nearest candidates of each image that are compared with it
BLOCK_BYTES = 2**20  # of images that are averaged, or of pairs that are compared, at once


class StoredImages:
    """Images in an .npy file, mapped anew for each look: what was looked at takes no memory.

    Args:
      path: of the file, uint8 (N, H, W, channels).

    Attributes:
      shape: of all images.
      nbytes: that they have.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        images = np.load(path, mmap_mode="r")
        self.shape: tuple[int, ...] = images.shape
        self.nbytes: int = images.nbytes

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.uint8]:
        return np.array(np.load(self._path, mmap_mode="r")[rows])


Images = NDArray[np.uint8] | StoredImages


@dataclass(frozen=True, eq=False)
class DuplicateImages:
    """Copies among N test images and T training images.

    Attributes:
      groups: (N,), the group of each test image, from 0: copies of one image are in one.
      in_training: (N,), where a test image, or a copy of it, has one among the training images.
    """

    groups: NDArray[np.int64]
    in_training: NDArray[np.bool_]

    @property
    def copies(self) -> int:
        """How many test images are copies of another test image that counts."""
        return len(self.groups) - (int(self.groups.max()) + 1)


def find_duplicate_images(
    test_images: Images, train_images: Images | None = None
) -> DuplicateImages:
    """Which test images are copies of one another, or of a training image.

    Two are copies where their pixels differ by at most `MAX_DIFFERENCE` grey levels (root mean
    square), and by at most `MAX_RELATIVE_DIFFERENCE` of their own spread. Images of one value count
    where they are exactly equal.

    Args:
      test_images: uint8 (N, H, W, channels).
      train_images: uint8 (T, H, W, channels), of the same size; None to look in the test set alone.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    n = len(test_images)
    same = _number_equal_images(test_images)
    first = np.unique(same, return_index=True)[1]  # of equal images one is looked at
    cells = _average_cells(test_images)[first]
    tree, radius = cKDTree(cells), MAX_DIFFERENCE * cells.shape[1] ** 0.5
    ours, theirs = _find_neighbors(tree, cells, radius)
    copies = _are_copies(test_images, first[ours], test_images, first[theirs])
    ours, theirs = ours[copies], theirs[copies]
    links = coo_matrix((np.ones(len(ours), np.int8), (ours, theirs)), shape=(len(first),) * 2)
    joined = connected_components(links, directed=False)[1].astype(np.int64)
    groups = joined[same]
    in_training = np.zeros(n, bool)
    if train_images is not None and len(train_images):
        rows, near = _find_neighbors(tree, _average_cells(train_images), radius)
        copies = _are_copies(test_images, first[near], train_images, rows)
        in_training = np.isin(groups, joined[near[copies]])
    return DuplicateImages(groups, in_training)


def load_training_copies(
    fingerprint: str, find: Callable[[], DuplicateImages] | None
) -> int | None:
    """How many test images of a dataset are copies of training images, counted once a dataset.

    Args:
      fingerprint: of the dataset.
      find: looks for them where nobody has; None to look at what is kept alone.

    Returns:
      None where it is not known.
    """

    def count() -> dict[str, NDArray[Any]]:
        if find is None:
            raise LookupError
        return {"count": np.array(find().in_training.sum())}

    try:
        return int(load_or_compute_arrays("training_copies", fingerprint, count)["count"])
    except LookupError:
        return None


def _number_equal_images(images: Images) -> NDArray[np.int64]:
    """(N,), numbers from 0, the same for images that are equal to the last pixel."""
    digests = [
        hashlib.sha256(np.ascontiguousarray(image).data).digest()
        for rows in _iterate_image_blocks(images)
        for image in images[rows]
    ]
    rows = np.frombuffer(b"".join(digests), "V32")
    return np.unique(rows, return_inverse=True)[1].reshape(-1)


def _find_neighbors(
    tree: Any, points: NDArray[np.float32], radius: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The points that lie near one of the tree's, and which: the `MAX_NEIGHBORS` nearest of each.

    Not all of them: of images that are nearly one there are as many pairs as they are squared.
    """
    most = min(MAX_NEIGHBORS, tree.n)
    near = tree.query(points, k=[*range(1, most + 1)], distance_upper_bound=radius)[1]
    rows, columns = np.nonzero(near < tree.n)
    return rows, near[rows, columns]


def _average_cells(images: Images) -> NDArray[np.float32]:
    """(N, K), the mean grey value of each cell of a coarse grid."""
    height, width = images.shape[1:3]
    rows = np.linspace(0, height, min(SIDE, height) + 1).astype(int)
    columns = np.linspace(0, width, min(SIDE, width) + 1).astype(int)
    sizes = np.diff(rows)[:, None] * np.diff(columns)
    averages = np.empty((len(images), sizes.size), np.float32)
    for block in _iterate_image_blocks(images):
        grey = _average_channels(images[block])
        sums = np.add.reduceat(np.add.reduceat(grey, rows[:-1], 1), columns[:-1], 2)
        averages[block] = (sums / sizes).reshape(len(grey), -1)
    return averages


def _average_channels(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(N, H, W), as `mean(axis=-1)` to the bit, several times as fast."""
    grey = images[..., 0].astype(np.float32)
    for channel in range(1, images.shape[-1]):
        grey += images[..., channel]
    return np.asarray(grey / np.float32(images.shape[-1]))


def _iterate_image_blocks(images: Images, count: int | None = None) -> Iterator[slice]:
    """Slices of so many images, all of them by default, whose pixels fit into a cache."""
    step = max(1, BLOCK_BYTES // int(np.prod(images.shape[1:])))
    total = len(images) if count is None else count
    return (slice(start, start + step) for start in range(0, total, step))


def _are_copies(
    images: Images,
    places: NDArray[np.integer],
    others: Images,
    other_places: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """For each pair whether its pixels differ by little enough."""
    copies = np.zeros(len(places), bool)
    for at in _iterate_image_blocks(images, len(places)):
        first = images[places[at]].reshape(len(places[at]), -1).astype(np.float32)
        second = others[other_places[at]].reshape(len(first), -1).astype(np.float32)
        apart = np.sqrt(np.square(first - second).mean(axis=1))
        spread = np.minimum(first.std(axis=1), second.std(axis=1))
        copies[at] = apart <= np.minimum(MAX_DIFFERENCE, MAX_RELATIVE_DIFFERENCE * spread)
    return copies
