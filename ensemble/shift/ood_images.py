"""Out-of-distribution images: of none of a dataset's classes, they should make an ensemble unsure.

Another dataset's test images are the usual test (Lakshminarayanan et al. 2017, "Simple and
Scalable Predictive Uncertainty Estimation using Deep Ensembles", MNIST against notMNIST).
Two kinds are always at hand: smooth noise, and the dataset's own images with their pixels
scrambled, which have all of its grey levels and none of its shapes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import is_prepared, load
from ensemble.datasets.registry import ENTRIES, find

Pixels = NDArray[np.uint8]

SMOOTHNESS = 2.0  # σ in pixels: blobs about as wide as a pen stroke


@dataclass(frozen=True)
class OodSet:
    """A set of out-of-distribution images.

    Attributes:
      key: its name in files and addresses.
      title: what people call it.
      load: makes or reads the images, uint8 (K, 28, 28, 1).
    """

    key: str
    title: str
    load: Callable[[], Pixels]


def ood_sets(name: str, limit: int | None = None) -> list[OodSet]:
    """The sets on this machine that dataset `name` has no class for.

    Other datasets come first, those that are prepared and whose classes are others (the
    digits of `mnist` are not to `digits`); then smooth noise and scrambled images.

    Args:
      name: the dataset that the ensemble knows.
      limit: how many images of each; by default as many as its test set has.

    Raises:
      ConfigError: there is no such dataset.
    """
    own = find(name)
    count = own.test_size if limit is None else min(limit, own.test_size)
    others = [
        OodSet(other.name, other.title, partial(_test_images, other.name, count))
        for other in ENTRIES.values()
        if other.class_names != own.class_names and is_prepared(other.name)
    ]
    mixed = OodSet("scrambled", f"Scrambled {own.title}", partial(_scrambled_own, name, count))
    return [*others, OodSet("noise", "Smooth noise", partial(smooth_noise, count)), mixed]


def _test_images(name: str, count: int) -> Pixels:
    return np.asarray(load(name).test_images[:count])


def _scrambled_own(name: str, count: int) -> Pixels:
    return scrambled(_test_images(name, count))


def smooth_noise(count: int, seed: int = 0) -> Pixels:
    """Gaussian noise, blurred; each image stretched to go from 0 to 255: uint8 (count, 28, 28, 1).

    Args:
      count: how many images.
      seed: of the draw; the first images are the same for every count.
    """
    from scipy import ndimage  # late: it takes a while to import

    drawn = np.random.default_rng(seed).standard_normal((count, 28, 28, 1), np.float32)
    smooth = ndimage.gaussian_filter(drawn, (0, SMOOTHNESS, SMOOTHNESS, 0), mode="wrap")
    low = smooth.min(axis=(1, 2, 3), keepdims=True, initial=np.inf)
    high = smooth.max(axis=(1, 2, 3), keepdims=True, initial=-np.inf)
    return np.rint(255 * (smooth - low) / (high - low)).astype(np.uint8)


def scrambled(images: Pixels, seed: int = 0) -> Pixels:
    """The pixels of each image in an order of its own, drawn at random.

    Args:
      images: uint8 (N, 28, 28, 1).
      seed: of the draw.
    """
    rows = images.reshape(len(images), 28 * 28)
    return np.random.default_rng(seed).permuted(rows, axis=1).reshape(images.shape)
