"""The real images that others are compared with, and that the rejection threshold is set on.

Where a run holds training images out, the threshold is set on these, and marks are compared with
the other training images alone: a digit held out is to be as new to the measures as a person's.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.quality.conformal import min_calibration_size
from ensemble.analysis.quality.halves import split_halves
from ensemble.datasets.partition.split import HoldoutSettings, select_validation_indices
from ensemble.datasets.registry import find_dataset_entry
from ensemble.recognition import digit_novelty, image_novelty
from ensemble.recognition.digit_novelty import KnownDigits
from ensemble.recognition.image_novelty import ImageSubset, KnownImages
from ensemble.shift.digit_variation import vary_digits
from ensemble.shift.image_variation import vary_images
from ensemble.storage.arrays.disk_cache import Arrays, is_kept, load_or_compute_arrays

Pixels = NDArray[np.uint8]

_MAX_KNOWN_IMAGES = 12_000  # training digits that marks are compared with
_MAX_HELD_OUT_IMAGES = 800  # held-out digits, of which one in four is shown as it is, the others varied
_MAX_HELD_OUT_BYTES = 32 * 2**20  # of the images of other datasets: of large ones fewer are held out
_MIN_HELD_OUT_IMAGES = min_calibration_size(0.01)  # with fewer there is no threshold at the smallest share on offer


@dataclass(frozen=True)
class CalibrationSource:
    """A dataset, and the share of its training images that the threshold is set on.

    Attributes:
      dataset: its name.
      validation: the share held out; 0: the threshold is set on one half of the test images.
      seed: of the draw of the images held out; 0 where none are.
      fingerprint: of a person's own dataset, whose name may be given to another one.
    """

    dataset: str
    validation: float = 0.0
    seed: int = 0
    fingerprint: str = ""

    @classmethod
    def from_holdout(cls, dataset: str, held: HoldoutSettings) -> "CalibrationSource":
        """Images of a run by its settings: the test images if it holds out fewer than `_MIN_HELD_OUT_IMAGES`."""
        own = find_dataset_entry(dataset).fingerprint
        source = cls(dataset, held.validation, held.seed, own)
        return source if len(source.held_out_indices) >= _MIN_HELD_OUT_IMAGES else cls(dataset, fingerprint=own)

    @property
    def held_out_indices(self) -> NDArray[np.int64]:
        """The numbers of the training images held out, rising; none where `validation` is 0."""
        return select_validation_indices(self, datasets.load_dataset(self.dataset))

    @property
    def threshold_split(self) -> str:
        """Which images the threshold is set on: "validation" or "test"."""
        return "validation" if self.validation else "test"

    @property
    def cache_key(self) -> str:
        """What names it in a cache: it differs where the images do."""
        split = f" held out {self.validation} {self.seed}" if self.validation else ""
        return f"{self.dataset} {datasets.load_dataset(self.dataset).fingerprint}{split}"


# What follows depends on the dataset and the split alone, and is the same for every epoch.


def load_known_images(source: CalibrationSource) -> KnownDigits | KnownImages:
    """Return training images for comparison, evenly spaced over all: 18 MB at most.

    The file may be deleted at any time and is then written again, because its presence tells other processes that no
    computation is needed.
    """
    if not is_kept("known", source.cache_key):
        _load_known_images.cache_clear()
    return _load_known_images(source)


@functools.lru_cache(maxsize=2)
def _load_known_images(source: CalibrationSource) -> KnownDigits | KnownImages:
    dataset = datasets.load_dataset(source.dataset)
    classes = len(dataset.class_names)
    form = KnownDigits if find_dataset_entry(source.dataset).is_mnist_like else KnownImages

    def compute_known_arrays() -> Arrays:
        images, labels, _ = select_training_images(source, _MAX_KNOWN_IMAGES)
        return form.from_images(images, labels, classes).as_arrays()

    return form.from_arrays(load_or_compute_arrays("known", source.cache_key, compute_known_arrays))


def select_training_images(source: CalibrationSource, most: int) -> tuple[Any, NDArray[np.int32], int]:
    """Training images not held out, evenly out of all, their labels, and how many classes."""
    dataset = datasets.load_dataset(source.dataset)
    chosen = select_evenly(np.delete(np.arange(len(dataset.train_labels)), source.held_out_indices), most)
    images = _take_images(source.dataset, dataset.train_images, chosen)
    return images, dataset.train_labels[chosen], len(dataset.class_names)


@functools.lru_cache(maxsize=2)
def load_test_pictures(dataset: str, fingerprint: str = "") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Numbers of test images, evenly out of all, and their pictures as distances are taken in."""
    data = datasets.load_dataset(dataset)
    chosen = select_evenly(np.arange(len(data.test_labels)), _MAX_KNOWN_IMAGES)
    return chosen, select_picture_function(dataset)(_take_images(dataset, data.test_images, chosen))


def _take_images(dataset: str, images: Pixels, numbers: NDArray[np.int64]) -> Any:
    return np.asarray(images[numbers]) if find_dataset_entry(dataset).is_mnist_like else ImageSubset(images, numbers)


def select_picture_function(dataset: str) -> Callable[[Any], NDArray[np.float32]]:
    """What makes of images (N, H, W, channels) the few numbers that distances are taken in."""
    return (
        digit_novelty.reduce_digit_images if find_dataset_entry(dataset).is_mnist_like else image_novelty.reduce_images
    )


@functools.lru_cache(maxsize=4)
def load_held_out_images(source: CalibrationSource, fitted: bool) -> tuple[Pixels, NDArray[np.int32]]:
    """Images and labels that nobody learnt from; three in four are varied.

    Args:
      source: of which dataset, and where the former come from.
      fitted: those that the threshold is set on, else those that it is judged on.
    """
    dataset = datasets.load_dataset(source.dataset)
    images, labels = dataset.test_images, dataset.test_labels
    pen = find_dataset_entry(source.dataset).is_mnist_like
    if not source.validation:
        chosen = np.flatnonzero(split_halves(labels)[0 if fitted else 1])
    elif fitted:
        images, labels, chosen = dataset.train_images, dataset.train_labels, source.held_out_indices
    else:
        chosen = np.arange(len(labels))
    few = (
        _MAX_HELD_OUT_IMAGES
        if pen
        else max(_MIN_HELD_OUT_IMAGES, min(_MAX_HELD_OUT_IMAGES, _MAX_HELD_OUT_BYTES // images[0].size))
    )
    chosen = select_evenly(chosen, few)
    plain_images, labels = np.asarray(images[chosen]), labels[chosen]
    turn = np.arange(len(chosen)) % 4 != 0

    def vary_held_out_images() -> Arrays:
        return {"images": (vary_digits if pen else vary_images)(plain_images[turn], seed=int(fitted))}

    varied_images = load_or_compute_arrays("varied", f"{source.cache_key} {fitted}", vary_held_out_images)["images"]
    return np.concatenate([plain_images[~turn], varied_images]), np.concatenate([labels[~turn], labels[turn]])


def select_evenly(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of these, evenly out of all of them."""
    places = np.linspace(0, len(numbers) - 1, min(most, len(numbers))).astype(np.int64)
    return numbers[places]
