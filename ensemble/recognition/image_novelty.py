"""Novelty of an image of anything: how unlike the training images of its class it is.

For digits `digit_novelty.py` looks at strokes. Here four measures, each higher for what is less
like training, know nothing of what the images show: the entropy of the ensemble's answer; the
distance to the nearest training image of the class said, as a small picture and, its light and
contrast taken out, as a form; and how unusual its colours and textures are for that class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities
from ensemble.recognition.reconstruction import compute_nearest_distances, normalize_rows
from ensemble.recognition.stroke_traits import VARIANCE_SLACK

Pixels = NDArray[np.uint8]

_GRAY_SIDE, _COLOR_SIDE = 12, 8  # of the small picture: 144 and 192 numbers
IMAGES_PER_BLOCK = 64  # images looked at together: 10 MB of 224×224 in colour
_TEXTURE_SCALES = (1, 2, 4)  # pixels apart, between which texture is told
_MIN_DOWNSAMPLED_SIDE = 32  # pixels that the shorter side keeps at least where images are averaged down
_MIN_DEVIATION = 2.0  # levels of 255 that an image with nothing on it is taken to vary by


@dataclass(frozen=True, eq=False)
class ImageSubset:
    """Some images of many, read as they are asked for: large ones would not fit into memory.

    Attributes:
      images: uint8 (N, H, W, channels), it may be a memory map.
      numbers: (R,), which of them.
    """

    images: Pixels
    numbers: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> Pixels:
        return np.asarray(self.images[self.numbers[part]])


@dataclass(frozen=True, eq=False)
class KnownImages:
    """Training images, as others are compared with them.

    Attributes:
      pictures: by class, (R_c, F): the images averaged down to a few numbers, in 0…1.
      forms: the same, mean 0 and length 1.
      means: (C, T), by class the mean of the traits of colour and texture.
      inverse: (T, T), the inverse of the covariance within classes, which all share: a class may
        have fewer images than traits.
      scale: (T,), what the traits are divided by.
    """

    MEASURE_NAMES: ClassVar = ("decision", "picture", "form", "texture")

    pictures: tuple[NDArray[np.float32], ...]
    forms: tuple[NDArray[np.float32], ...]
    means: Floats
    inverse: Floats
    scale: Floats

    @classmethod
    def from_images(cls, images: Pixels | ImageSubset, labels: Ints, classes: int) -> "KnownImages":
        """From training images, uint8 (R, H, W, channels), and their labels (R,)."""
        reduced, image_traits = reduce_images(images), compute_image_traits(images)
        scale = np.maximum(image_traits.std(axis=0), 1e-3)
        image_traits = image_traits / scale
        means = np.stack(
            [
                image_traits[labels == c].mean(axis=0) if (labels == c).any() else image_traits.mean(axis=0)
                for c in range(classes)
            ]
        )
        off = image_traits - means[labels]
        spread = off.T @ off / max(len(off) - classes, 1)
        inverse = np.linalg.inv(spread + VARIANCE_SLACK * np.eye(len(scale)))
        own = tuple(reduced[labels == c] for c in range(classes))
        return cls(own, tuple(map(_remove_light_and_contrast, own)), means, inverse, scale)

    def as_arrays(self) -> dict[str, NDArray[np.generic]]:
        """As arrays to be cached; `from_arrays` reads them."""
        counts = np.array([len(own) for own in self.pictures])
        return {
            "pictures": np.concatenate(self.pictures),
            "counts": counts,
            "means": self.means,
            "inverse": self.inverse,
            "scale": self.scale,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "KnownImages":
        """From what `as_arrays` gives."""
        own = tuple(np.split(arrays["pictures"], np.cumsum(arrays["counts"])[:-1]))
        return cls(
            own, tuple(map(_remove_light_and_contrast, own)), *(arrays[name] for name in ("means", "inverse", "scale"))
        )

    def compute_measures(self, images: Pixels, probabilities: Floats) -> NDArray[np.float64]:
        """Four measures of novelty, as in `MEASURE_NAMES`: (4, N), higher for what is less known.

        Args:
          images: uint8 (N, H, W, channels).
          probabilities: (M, N, C), what the members make of them.

        Source: as `KnownDigits.compute_measures`, here of the nearest one alone; predictive entropy of an
        ensemble: B. Lakshminarayanan, A. Pritzel and C. Blundell, "Simple and scalable predictive
        uncertainty estimation using deep ensembles", NeurIPS 2017; one covariance for all classes
        as K. Lee and others, "A simple unified framework for detecting out-of-distribution samples
        and adversarial attacks", NeurIPS 2018, have it.
        """
        averaged = average_probabilities(probabilities)
        answers = averaged.argmax(axis=-1)
        result = np.zeros((len(self.MEASURE_NAMES), len(images)))
        result[0] = entropy(averaged)
        if not len(images):
            return result
        reduced = reduce_images(images)
        forms = _remove_light_and_contrast(reduced)
        for c in np.unique(answers):
            mine = answers == c
            result[1, mine] = compute_nearest_distances(reduced[mine], self.pictures[c])
            result[2, mine] = compute_nearest_distances(forms[mine], self.forms[c])
        off = compute_image_traits(images) / self.scale - self.means[answers]
        result[3] = np.sqrt(np.einsum("nt,tu,nu->n", off, self.inverse, off))
        return result


def reduce_images(images: Pixels | ImageSubset) -> NDArray[np.float32]:
    """Images averaged down to a few pixels, (N, F) in 0…1: what their distances are taken in."""
    return _apply_in_blocks(_reduce_image_block, images)


def _reduce_image_block(images: Pixels) -> NDArray[np.float32]:
    channels = images.shape[3]
    side = _GRAY_SIDE if channels == 1 else _COLOR_SIDE
    size = min(side, images.shape[2]), min(side, images.shape[1])
    each = [
        np.asarray(Image.fromarray(image[..., 0] if channels == 1 else image).resize(size, Image.Resampling.BOX))
        for image in images
    ]
    return np.array(each, np.float32).reshape(len(images), -1) / np.float32(255)


def _remove_light_and_contrast(reduced: NDArray[np.float32]) -> NDArray[np.float32]:
    """Small pictures (N, F) without their light and contrast: mean 0, length 1."""
    return normalize_rows(reduced - reduced.mean(axis=-1, keepdims=True))


def compute_image_traits(images: Pixels | ImageSubset) -> NDArray[np.float64]:
    """Figures of an image's colours and texture, (N, T): T is 8 for grey and 15 for colour.

    Each channel's mean and standard deviation, how much the brightness changes over 1, 2 and 4
    pixels along rows and columns as a share of all it varies, and how the channels go together.
    Images of 64 pixels and more are averaged down first.
    """
    return _apply_in_blocks(_compute_block_traits, images)


def _compute_block_traits(images: Pixels) -> NDArray[np.float64]:
    x = downsample_images(images, max(1, min(images.shape[1:3]) // _MIN_DOWNSAMPLED_SIDE))
    channels = x.shape[3]
    mean, deviation = x.mean(axis=(1, 2)), x.std(axis=(1, 2))
    grey = x.mean(axis=3)
    varies = grey.std(axis=(1, 2)) + _MIN_DEVIATION
    traits = [*mean.T, *deviation.T]
    for apart in _TEXTURE_SCALES:
        traits.append(np.abs(grey[:, apart:] - grey[:, :-apart]).mean(axis=(1, 2)) / varies)
        traits.append(np.abs(grey[:, :, apart:] - grey[:, :, :-apart]).mean(axis=(1, 2)) / varies)
    off = x - mean[:, None, None]
    for channel, other in ((0, 1), (0, 2), (1, 2)) if channels == 3 else ():
        together = (off[..., channel] * off[..., other]).mean(axis=(1, 2))
        traits.append(together / (deviation[:, channel] * deviation[:, other] + _MIN_DEVIATION**2))
    return np.stack(traits, axis=1).astype(np.float64)


def downsample_images(images: Pixels, factor: int) -> NDArray[np.float32]:
    """One pixel for `factor` × `factor`, float32; what is left over at the right and below is not.

    Args:
      images: uint8 (N, H, W, channels).
      factor: from 1, at which they are as they were.
    """
    if factor == 1:
        return images.astype(np.float32)
    high, wide = images.shape[1] // factor, images.shape[2] // factor
    whole = images[:, : high * factor, : wide * factor]
    rows = whole.reshape(len(images), high, factor, wide * factor * images.shape[3])
    rows = rows.sum(axis=2, dtype=np.uint16)
    cells = rows.reshape(len(images), high, wide, factor, images.shape[3])
    return cells.sum(axis=3, dtype=np.float32) / np.float32(factor * factor)


def _apply_in_blocks(function: Callable[[Pixels], NDArray[Any]], images: Pixels | ImageSubset) -> NDArray[Any]:
    """A function of images, asked of some at a time: they may be a memory map of gigabytes."""
    starts = range(0, max(len(images), 1), IMAGES_PER_BLOCK)
    return np.concatenate([function(np.asarray(images[at : at + IMAGES_PER_BLOCK])) for at in starts])
