"""Corrupted test images: what an ensemble is asked when the world is not its training set.

Five kinds, each in steps from none to strong, after the shifted test sets of Ovadia et al.
(2019, "Can You Trust Your Model's Uncertainty?": rotation and translation of MNIST),
Hendrycks and Dietterich (2019, "Benchmarking Neural Network Robustness to Common Corruptions":
noise, blur, contrast) and Mu and Gilmer (2019, "MNIST-C"). Pixels that come in from outside
are ground (0), as around every digit; results are rounded and clipped to 0…255. Amounts in pixels
are as large a share of an image as they are of one of 28×28.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import ConfigError

Pixels = NDArray[np.uint8]

_FULL_SCALE = 255
REFERENCE_SIDE = 28  # the images that the amounts of `CORRUPTION_KINDS` are for
NUMBERS_PER_BLOCK = 2**24  # numbers that are worked on at once: 64 MB of them, twice or three times


@dataclass(frozen=True)
class Corruption:
    """A kind of corruption.

    Attributes:
      name: its name in files and addresses.
      title: what people call it.
      unit: what is written behind an amount: "°" or " px".
      measure: what `amounts` count, as an axis names it.
      amounts: the steps to be measured, the neutral one first, then stronger and stronger.
    """

    name: str
    title: str
    unit: str
    measure: str
    amounts: tuple[float, ...]

    @property
    def neutral_amount(self) -> float:
        """The amount that changes nothing."""
        return self.amounts[0]

    def format_amount(self, value: float) -> str:
        """Return an amount with its unit: "30°", "4 px", "σ 0.3"."""
        before = "σ " if self.name in ("noise", "blur") else ""
        return f"{before}{value:g}{self.unit}".replace("-", "−")


CORRUPTION_KINDS = {
    kind.name: kind
    for kind in (
        Corruption("rotation", "Rotation", "°", "degrees", (0, 15, 30, 45, 60, 75, 90)),
        Corruption("shift", "Shift", " px", "pixels to the right", (0, 1, 2, 3, 4, 6, 8)),
        Corruption("noise", "Noise", "", "σ (1 is full scale)", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
        Corruption("blur", "Blur", " px", "σ in pixels", (0, 0.5, 1, 1.5, 2, 2.5, 3)),
        Corruption("contrast", "Contrast", "", "share left", (1, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)),
    )
}


def scale_corruptions(shape: Sequence[int]) -> dict[str, Corruption]:
    """The kinds for images (H, W, …): `CORRUPTION_KINDS`, pixels counted by their size.

    Where they are 28 or more, shifts are whole pixels: between two an image is blurred, too.
    """
    share = min(shape[0], shape[1]) / REFERENCE_SIDE
    if share == 1:
        return CORRUPTION_KINDS
    whole = share >= 1
    shifts = tuple(
        math.floor(amount * share + 0.5) if whole else round(amount * share, 2)
        for amount in CORRUPTION_KINDS["shift"].amounts
    )
    blurs = tuple(round(amount * share, 2) for amount in CORRUPTION_KINDS["blur"].amounts)
    return CORRUPTION_KINDS | {
        "shift": replace(CORRUPTION_KINDS["shift"], amounts=shifts),
        "blur": replace(CORRUPTION_KINDS["blur"], amounts=blurs),
    }


def corrupt_images(images: Pixels, kind: str, amount: float, seed: int = 0) -> Pixels:
    """The images, corrupted; at the kind's neutral amount a copy, equal to the bit.

    Args:
      images: uint8 (N, H, W, channels), 0 to 255.
      kind: a name in `CORRUPTION_KINDS`.
      amount: rotation in degrees, counterclockwise; shift in pixels to the right; noise as the
        standard deviation in units of full scale (255); blur as σ in pixels; contrast as the
        share in [0, 1] that is left. Any amount, not only those of the steps.
      seed: of the noise. Its draw is the same at every amount, only scaled, so that neighbouring
        amounts can be compared.

    Returns:
      uint8 (N, H, W, channels).

    Raises:
      ConfigError: no such kind, or an amount that it cannot have.
    """
    if kind not in CORRUPTION_KINDS:
        raise ConfigError(f"No such corruption: {kind!r}. There are: {', '.join(CORRUPTION_KINDS)}.")
    if not math.isfinite(amount) or (amount < 0 and kind not in ("rotation", "shift")):
        raise ConfigError(f"The amount of {kind} is {amount:g}: it has to be 0 or more.")
    if kind == "contrast" and amount > 1:
        raise ConfigError(f"The amount of contrast is {amount:g}: it has to be from 0 to 1.")
    if amount == CORRUPTION_KINDS[kind].neutral_amount or not len(images):
        return images.copy()
    draws, result = np.random.default_rng(seed), np.empty_like(images)
    step = max(1, NUMBERS_PER_BLOCK // images[0].size)
    for at in range(0, len(images), step):
        block = images[at : at + step].astype(np.float32)
        values = _CORRUPTION_FUNCTIONS[kind](block, amount, draws)
        result[at : at + step] = np.clip(np.rint(values), 0, _FULL_SCALE)
    return result


Floats = NDArray[np.float32]
Draws = np.random.Generator


def _rotate_images(images: Floats, degrees: float, draws: Draws) -> Floats:
    """Turned counterclockwise about the image's middle, bilinear; by 90° exactly `np.rot90`."""
    from scipy import ndimage  # late: it takes a while to import, and pages seldom need it

    # "grid-constant": a corner that lands 1e-15 outside is still itself, not ground.
    return ndimage.rotate(images, degrees, axes=(2, 1), reshape=False, order=1, mode="grid-constant")


def _shift_images(images: Floats, pixels: float, draws: Draws) -> Floats:
    """Moved to the right (left where negative); between whole pixels their weighted mean."""
    whole = math.floor(pixels)
    part = np.float32(pixels - whole)
    return (1 - part) * _shift_whole_pixels(images, whole) + part * _shift_whole_pixels(images, whole + 1)


def _shift_whole_pixels(images: Floats, pixels: int) -> Floats:
    width = images.shape[2]
    pixels = max(-width, min(width, pixels))
    result = np.zeros_like(images)
    result[:, :, max(pixels, 0) : width + pixels] = images[:, :, max(-pixels, 0) : width - pixels]
    return result


def _add_gaussian_noise(images: Floats, sigma: float, draws: Draws) -> Floats:
    drawn = draws.standard_normal(images.shape, np.float32)
    return images + np.float32(sigma * _FULL_SCALE) * drawn


def _blur_images(images: Floats, sigma: float, draws: Draws) -> Floats:
    """Smoothed by a Gaussian, mirrored at the edges: each image keeps its mean."""
    from scipy import ndimage

    return ndimage.gaussian_filter(images, (0, sigma, sigma, 0), mode="reflect")


def _reduce_contrast(images: Floats, left: float, draws: Draws) -> Floats:
    """Blend each image with the mean of each channel, as Hendrycks and Dietterich do."""
    mean = images.mean(axis=(1, 2), keepdims=True)
    return mean + np.float32(left) * (images - mean)


_CORRUPTION_FUNCTIONS: dict[str, Callable[[Floats, float, Draws], Floats]] = {
    "rotation": _rotate_images,
    "shift": _shift_images,
    "noise": _add_gaussian_noise,
    "blur": _blur_images,
    "contrast": _reduce_contrast,
}
