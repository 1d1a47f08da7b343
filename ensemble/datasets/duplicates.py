"""Copies among a dataset's images: exact ones, and those that differ by little more than saving.

An image that occurs twice in a test set is no second observation, and one that was trained on is
no test at all.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.storage.arrays.disk_cache import load_or_compute_arrays

SIDE = 8  # cells along either side, into which an image is averaged to look for candidates
_MAX_DIFFERENCE = 5.0  # grey levels of 255, root mean square: what saving as JPEG again makes
_MAX_RELATIVE_DIFFERENCE = 0.07  # of the image's own standard deviation, so that faint ones differ
MAX_BYTES = 2 * 2**30  # of images that are looked through: more would take minutes
MAX_NEIGHBORS = 8  # nearest candidates of each image that are compared with it
_BLOCK_BYTES = 2**20  # of images that are averaged, or of pairs that are compared, at once
_MAX_AXIS_POINTS = 4096  # averaged images that say along which axis all are ordered
_ROUNDING_MARGIN = 0.1  # by which distances and places are computed too large, at most
_BLOCK_PAIRS, _MAX_BLOCK_ROWS = 2**20, 256  # of averaged images that are compared at once


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
        images: np.memmap[Any, np.dtype[np.uint8]] = np.load(path, mmap_mode="r")
        self.shape: tuple[int, ...] = images.shape
        self.nbytes: int = images.nbytes
        self._start: int = images.offset

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.uint8]:
        if isinstance(rows, slice):  # Read: to map all of a large file takes twice as long.
            start, stop, _ = rows.indices(len(self))
            size = self.nbytes // max(1, len(self))
            content = np.fromfile(self._path, np.uint8, (stop - start) * size, offset=self._start + start * size)
            return content.reshape(-1, *self.shape[1:])
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


def find_duplicate_images(test_images: Images, train_images: Images | None = None) -> DuplicateImages:
    """Which test images are copies of one another, or of a training image.

    Two are copies where their pixels differ by at most `_MAX_DIFFERENCE` grey levels (root mean
    square), and by at most `_MAX_RELATIVE_DIFFERENCE` of their own spread. Images of one value count
    where they are exactly equal.

    Args:
      test_images: uint8 (N, H, W, channels).
      train_images: uint8 (T, H, W, channels), of the same size; None to look in the test set alone.
    """
    n = len(test_images)
    same = _number_equal_images(test_images)
    first = np.unique(same, return_index=True)[1]  # of equal images one is looked at
    cells = _average_cells(test_images)[first]
    index, radius = NeighborIndex(cells), _MAX_DIFFERENCE * cells.shape[1] ** 0.5
    ours, theirs = index.find_neighbors(cells, radius)
    ours, theirs = ours[ours != theirs], theirs[ours != theirs]
    copies = _are_copies(test_images, first[ours], test_images, first[theirs])
    joined = number_components(len(first), ours[copies], theirs[copies])
    groups = joined[same]
    in_training = np.zeros(n, bool)
    if train_images is not None and len(train_images):
        rows, near = index.find_neighbors(_average_cells(train_images), radius)
        copies = _are_copies(test_images, first[near], train_images, rows)
        in_training = np.isin(groups, joined[near[copies]])
    return DuplicateImages(groups, in_training)


def load_training_copies(fingerprint: str, find: Callable[[], DuplicateImages] | None) -> int | None:
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


class NeighborIndex:
    """Points in which the nearest of others are looked for.

    They are ordered along the axis on which they differ most, so that another point is compared
    with those alone that are near it there. No product of matrices is asked for: its threads would
    wait for work longer than all this takes.

    Args:
      points: (P, K), P at least 1.
    """

    def __init__(self, points: NDArray[np.float32]) -> None:
        self._center = points.mean(axis=0)
        sample = points[:: 1 + len(points) // _MAX_AXIS_POINTS] - self._center
        self._axis = np.linalg.eigh(np.einsum("ni,nj->ij", sample, sample))[1][:, -1]
        places = self._project_points(points - self._center)
        self._order = np.argsort(places, kind="stable")
        self._places = places[self._order]
        self._points = points[self._order] - self._center
        self._squares = np.square(self._points).sum(axis=1)

    def find_neighbors(self, others: NDArray[np.float32], radius: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The others that lie near a point, and near which: the `MAX_NEIGHBORS` nearest of each.

        Not all of them: of images that are nearly one there are as many pairs as they are squared.

        Args:
          others: (N, K).
          radius: how near a point is at least.

        Returns:
          (R,) pairs of numbers: of the others, in order, and of the points.
        """
        rows, near = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        step = min(_MAX_BLOCK_ROWS, max(1, _BLOCK_PAIRS // len(self._points)))
        places, most = self._project_points(others - self._center), radius + _ROUNDING_MARGIN
        order = np.argsort(places, kind="stable")
        for start in range(0, len(others), step):
            block = order[start : start + step]
            first, last = np.searchsorted(self._places, (places[block[0]] - most, places[block[-1]] + most))
            row, point = self._find_in_part(others[block], slice(first, last), radius)
            rows.append(block[row])
            near.append(self._order[point])
        by_row = np.argsort(every := np.concatenate(rows), kind="stable")
        return every[by_row], np.concatenate(near)[by_row]

    def _find_in_part(
        self, others: NDArray[np.float32], part: slice, radius: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`find_neighbors` among some of the points, by their places in the order of all."""
        points, others = self._points[part], others - self._center
        squares = self._squares[part] - 2 * np.einsum("nk,pk->np", others, points)
        squares += np.square(others).sum(axis=1)[:, None]
        near = squares < (radius + _ROUNDING_MARGIN) ** 2
        for full in np.flatnonzero(near.sum(axis=1) > MAX_NEIGHBORS):
            near[full] = False
            near[full, np.argpartition(squares[full], MAX_NEIGHBORS)[:MAX_NEIGHBORS]] = True
        row, point = np.nonzero(near)
        kept = np.square(others[row] - points[point]).sum(axis=1) < radius**2
        return row[kept], part.start + point[kept]

    def _project_points(self, centered: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N,), where points lie on the axis."""
        return np.asarray(np.einsum("nk,k->n", centered, self._axis))


def number_components(count: int, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
    """(count,), numbers from 0, the same for what is linked, directly or by others.

    Args:
      count: of what there is.
      first: (L,), one end of each link.
      second: (L,), the other.
    """
    least = np.arange(count)  # of those that each is known to be linked with
    while (differ := least[first] != least[second]).any():
        first, second = least[first[differ]], least[second[differ]]
        np.minimum.at(least, np.maximum(first, second), np.minimum(first, second))
        while (least[least] != least).any():
            least = least[least]
    return np.unique(least, return_inverse=True)[1].reshape(-1)


def _average_cells(images: Images) -> NDArray[np.float32]:
    """(N, K), the mean value of each cell of a coarse grid, over all channels."""
    height, width, channels = images.shape[1:]
    rows = np.linspace(0, height, min(SIDE, height) + 1).astype(int)
    columns = np.linspace(0, width, min(SIDE, width) + 1).astype(int)
    sizes = np.diff(rows)[:, None] * np.diff(columns) * channels
    averages = np.empty((len(images), sizes.size), np.float32)
    number = np.min_scalar_type(255 * int(np.diff(rows).max()))  # The smallest is the fastest.
    for block in _iterate_image_blocks(images):
        pixels = images[block].reshape(-1, height, width * channels).astype(number)
        bands = [pixels[:, top:end].sum(axis=1, dtype=number) for top, end in pairwise(rows)]
        across = np.stack(bands, axis=1)
        ends = pairwise(columns * channels)
        sums = [across[:, :, left:end].sum(axis=2, dtype=np.uint64) for left, end in ends]
        averages[block] = (np.stack(sums, axis=2) / sizes).reshape(len(pixels), -1)
    return averages


def _iterate_image_blocks(images: Images, count: int | None = None) -> Iterator[slice]:
    step = max(1, _BLOCK_BYTES // int(np.prod(images.shape[1:])))
    total = len(images) if count is None else count
    return (slice(start, start + step) for start in range(0, total, step))


def _are_copies(
    images: Images, places: NDArray[np.integer], others: Images, other_places: NDArray[np.integer]
) -> NDArray[np.bool_]:
    copies = np.zeros(len(places), bool)
    for at in _iterate_image_blocks(images, len(places)):
        first = images[places[at]].reshape(len(places[at]), -1).astype(np.float32)
        second = others[other_places[at]].reshape(len(first), -1).astype(np.float32)
        apart = np.sqrt(np.square(first - second).mean(axis=1))
        spread = np.minimum(first.std(axis=1), second.std(axis=1))
        copies[at] = apart <= np.minimum(_MAX_DIFFERENCE, _MAX_RELATIVE_DIFFERENCE * spread)
    return copies
