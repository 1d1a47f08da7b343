"""Novelty: how unlike the digits of training a mark is, by measures fitted on digits alone.

An ensemble that has learnt digits alone is sure of many a letter, and its members agree on it:
their answers tell half of the non-digits at best. What tells more is whether the mark looks like
those digits of training whose class it is given. So there are measures, each higher for what is
less like them: here the distance of the mark, as a picture and as a form, from what the nearest
digits of its class make up, and how unusual its strokes are for that class; in `class_subspaces.py`
two that ask the members, their energy and what they see.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.recognition.reconstruction import compute_neighbor_residuals, normalize_rows
from ensemble.recognition.stroke_traits import compute_stroke_traits, fit_gaussian, mahalanobis_distance

Pixels = NDArray[np.uint8]

SIDE = 28
_BLUR_SIGMA = 0.8  # σ in pixels: a pen's stroke a pixel beside another's is near it
_STROKE_SAMPLE_STEP = 3  # every third image says enough of eighteen traits


@dataclass(frozen=True, eq=False)
class KnownDigits:
    """Digits of training, as marks are compared with them.

    Attributes:
      classes: C.
      pictures: by class, (R_c, 144): upright, blurred, at half the resolution.
      forms: the same, each brought to length 1, so that the strokes' width matters less.
      strokes: by class, the mean (T,) of the traits of strokes, and the inverse (T, T) of
        their covariance.
    """

    MEASURE_NAMES: ClassVar = ("picture", "form", "strokes")

    classes: int
    pictures: tuple[NDArray[np.float32], ...]
    forms: tuple[NDArray[np.float32], ...]
    strokes: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def from_images(cls, images: Pixels, labels: Ints, classes: int) -> "KnownDigits":
        """From training images, uint8 (R, 28, 28, 1), and their labels (R,)."""
        reduced, stroke_traits = (reduce_digit_images(images), compute_stroke_traits(images[::_STROKE_SAMPLE_STEP]))
        strokes = tuple(fit_gaussian(stroke_traits[labels[::_STROKE_SAMPLE_STEP] == c]) for c in range(classes))
        own = tuple(reduced[labels == c] for c in range(classes))
        return cls(classes, own, tuple(map(normalize_rows, own)), strokes)

    def as_arrays(self) -> dict[str, NDArray[np.generic]]:
        """As arrays to be cached; `from_arrays` reads them."""
        return {
            "pictures": np.concatenate(self.pictures),
            "counts": np.array([len(own) for own in self.pictures]),
            "means": np.stack([mean for mean, _ in self.strokes]),
            "inverses": np.stack([inverse for _, inverse in self.strokes]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "KnownDigits":
        """From what `as_arrays` gives."""
        own = tuple(np.split(arrays["pictures"], np.cumsum(arrays["counts"])[:-1]))
        strokes = tuple(zip(arrays["means"], arrays["inverses"], strict=True))
        return cls(len(own), own, tuple(map(normalize_rows, own)), strokes)

    def compute_measures(self, images: Pixels, answers: Ints) -> NDArray[np.float64]:
        """Measures of novelty, as in `MEASURE_NAMES`: (3, N), higher for what is less known.

        Args:
          images: uint8 (N, 28, 28, 1).
          answers: (N,), the ensemble's answers.

        Source: distance to the nearest known examples as an OOD score: Y. Sun and others,
        "Out-of-distribution detection with deep nearest neighbors", ICML 2022, here of pictures
        instead of features, within the class said, and from what they make up together. A
        Gaussian for each class: K. Lee and others, "A simple unified framework for detecting
        out-of-distribution samples and adversarial attacks", NeurIPS 2018, here of strokes.
        """
        result = np.zeros((len(self.MEASURE_NAMES), len(images)))
        if not len(images):
            return result
        reduced, stroke_traits = reduce_digit_images(images), compute_stroke_traits(images)
        forms = normalize_rows(reduced)
        for c in np.unique(answers):
            mine = answers == c
            result[0, mine] = compute_neighbor_residuals(reduced[mine], self.pictures[c])
            result[1, mine] = compute_neighbor_residuals(forms[mine], self.forms[c])
            result[2, mine] = mahalanobis_distance(stroke_traits[mine], *self.strokes[c])
        return result


def reduce_digit_images(images: Pixels) -> NDArray[np.float32]:
    """Images set upright, blurred and reduced: (N, 144), what their distances are taken in."""
    from scipy import ndimage

    blurred = ndimage.gaussian_filter(deskew_images(images), (0, _BLUR_SIGMA, _BLUR_SIGMA))
    inner = blurred[:, 2:-2, 2:-2].reshape(len(images), 12, 2, 12, 2)
    return inner.mean(axis=(2, 4)).reshape(len(images), 144)


def deskew_images(images: Pixels) -> NDArray[np.float32]:
    """Images with their slant taken out, (N, 28, 28) in 0…1: rows moved until none goes sideways.

    Source: deslanting as in Y. LeCun and others, "Gradient-based learning applied to document
    recognition" (1998), section III.A (deskewing).
    """
    x = images[..., 0].astype(np.float32) / np.float32(255)
    at = np.arange(SIDE, dtype=np.float32)
    mass = x.sum(axis=(1, 2)) + 1e-6
    below = at - ((x.sum(axis=2) * at).sum(axis=1) / mass)[:, None]
    beside = at - ((x.sum(axis=1) * at).sum(axis=1) / mass)[:, None]
    together = np.einsum("nij,ni,nj->n", x, below, beside, optimize=True) / mass
    high = np.maximum((x.sum(axis=2) * below**2).sum(axis=1) / mass, 1e-3)
    slant = np.clip(together / high, -1, 1)
    middle = at[-1] / 2 - (at - beside)[:, 0]  # what the centre of mass is off the middle
    move = slant[:, None] * below - middle[:, None]
    whole = np.floor(move)
    beyond = (move - whole)[..., None]
    where = at.astype(np.int64) + whole[..., None].astype(np.int64)
    return (1 - beyond) * _gather_shifted_pixels(x, where) + beyond * _gather_shifted_pixels(x, where + 1)


def _gather_shifted_pixels(x: NDArray[np.float32], where: NDArray[np.int64]) -> NDArray[np.float32]:
    inside = (where >= 0) & (where < SIDE)
    return np.take_along_axis(x, where.clip(0, SIDE - 1), axis=2) * inside
