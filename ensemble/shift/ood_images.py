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

from ensemble.datasets import is_dataset_prepared, load_dataset
from ensemble.datasets.registry import find_dataset_entry, list_dataset_names
from ensemble.pictures.whole_picture import ImageShape, resize_pixels
from ensemble.shift.corruptions import NUMBERS_PER_BLOCK

Pixels = NDArray[np.uint8]

_NOISE_BLUR_SIGMA = 2.0  # σ in pixels of an image of 28: blobs about as wide as a pen stroke
_NOISE_IMAGE_SIDE = 28
_RESERVED_KEYS = ("known", "noise", "scrambled")  # keys that are no datasets' names


@dataclass(frozen=True)
class OodSet:
    """A set of out-of-distribution images.

    Attributes:
      key: its name in files and addresses.
      title: what people call it.
      load: makes or reads the images, uint8 (K, H, W, channels).
    """

    key: str
    title: str
    load: Callable[[], Pixels]


def list_ood_sets(name: str, limit: int | None = None) -> list[OodSet]:
    """The sets on this machine that dataset `name` has no class for.

    Other datasets come first, those that are prepared and of whose classes none is called as one
    of its own (the digits of `mnist` are known to `digits`), brought to its size and channels; then
    smooth noise and scrambled images.

    Args:
      name: the dataset that the ensemble knows.
      limit: how many images of each; by default as many as its test set has.

    Raises:
      ConfigError: there is no such dataset.
    """
    own = find_dataset_entry(name)
    count = own.test_size if limit is None else min(limit, own.test_size)
    shape = own.image_shape
    ood_sets = [
        OodSet(_ood_set_key(other.name), other.title, partial(_load_test_images, other.name, count, shape))
        for other in map(find_dataset_entry, list_dataset_names())
        if not {*other.class_names} & {*own.class_names} and is_dataset_prepared(other.name)
    ]
    noise = OodSet("noise", "Smooth noise", partial(draw_smooth_noise, count, shape=shape))
    mixed = OodSet("scrambled", f"Scrambled {own.title}", partial(_scramble_test_images, name, count, shape))
    return [*ood_sets, noise, mixed]


def _ood_set_key(name: str) -> str:
    """What a dataset's images are called in results; a person's own may be called anything."""
    return f"{name}_images" if name in _RESERVED_KEYS else name


def _load_test_images(name: str, count: int, shape: ImageShape) -> Pixels:
    return resize_images(np.asarray(load_dataset(name).test_images[:count]), shape)


def _scramble_test_images(name: str, count: int, shape: ImageShape) -> Pixels:
    return scramble_pixels(_load_test_images(name, count, shape))


def resize_images(images: Pixels, shape: ImageShape) -> Pixels:
    """Images uint8 (N, h, w, channels) at another size and number of channels: (N, *shape)."""
    if images.shape[1:] == shape:
        return images
    return np.array([resize_pixels(image, shape) for image in images], np.uint8).reshape(-1, *shape)


def draw_smooth_noise(
    count: int, seed: int = 0, shape: ImageShape = (_NOISE_IMAGE_SIDE, _NOISE_IMAGE_SIDE, 1)
) -> Pixels:
    """Gaussian noise, blurred; each image stretched to go from 0 to 255: uint8 (count, *shape).

    Args:
      count: how many images.
      seed: of the draw; the first images are the same for every count.
      shape: (H, W, channels); every channel has noise of its own.
    """
    from scipy import ndimage  # late: it takes a while to import

    draws, noise = np.random.default_rng(seed), np.empty((count, *shape), np.uint8)
    step = max(1, NUMBERS_PER_BLOCK // int(np.prod(shape)))
    sigma = _NOISE_BLUR_SIGMA * min(shape[:2]) / _NOISE_IMAGE_SIDE
    for at in range(0, count, step):
        drawn = draws.standard_normal((min(step, count - at), *shape), np.float32)
        smooth = ndimage.gaussian_filter(drawn, (0, sigma, sigma, 0), mode="wrap")
        low = smooth.min(axis=(1, 2, 3), keepdims=True)
        high = smooth.max(axis=(1, 2, 3), keepdims=True)
        noise[at : at + step] = np.rint(255 * (smooth - low) / (high - low))
    return noise


def scramble_pixels(images: Pixels, seed: int = 0) -> Pixels:
    """The pixels of each image in an order of its own, drawn at random.

    Args:
      images: uint8 (N, H, W, channels); a pixel keeps its colour.
      seed: of the draw.
    """
    draws, (high, wide, channels) = np.random.default_rng(seed), images.shape[1:]
    if channels == 1:
        rows = images.reshape(len(images), high * wide)
        return draws.permuted(rows, axis=1).reshape(images.shape)
    # A permutation of whole pixels each: permuted() would tear their colours apart.
    pixels = images.reshape(len(images), high * wide, channels)
    mixed = [pixel[draws.permutation(high * wide)] for pixel in pixels]
    return np.array(mixed, np.uint8).reshape(images.shape)
