"""Novelty: how unlike the digits of training a mark is, by four measures fitted on digits alone.

An ensemble that has learnt digits alone is sure of many a letter, and its members agree on it:
their answers tell half of the non-digits at best. What tells more is whether the mark looks like
those digits of training whose class it is given. So there are four measures, each higher for what
is less like them: the entropy of the ensemble's answer; the distance of the mark, as a picture and
as a form, from the nearest digit of its class; and how unusual its strokes are for that class.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.averaging import Floats, Ints, average

Pixels = NDArray[np.uint8]

SIDE = 28
BLUR = 0.8  # σ in pixels: a pen's stroke a pixel beside another's is near it
INK = 100  # of 255: what is counted as stroke
BLOCK = 256  # images compared with all known digits at once: tens of MB
# Added to the variance of every trait, so that one that all digits of a class share does not
# reject what has a little more of it.
SLACK = 0.05
THIN_OUT = 3  # every third image says enough of sixteen traits


@dataclass(frozen=True, eq=False)
class Known:
    """Digits of training, as marks are compared with them.

    Attributes:
      classes: C.
      pictures: by class, (R_c, 144): upright, blurred, at half the resolution.
      forms: the same, each brought to length 1, so that the strokes' width matters less.
      strokes: by class, the mean (T,) of the traits of strokes, and the inverse (T, T) of
        their covariance.
    """

    NAMES: ClassVar = ("decision", "picture", "form", "strokes")

    classes: int
    pictures: tuple[NDArray[np.float32], ...]
    forms: tuple[NDArray[np.float32], ...]
    strokes: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def of(cls, images: Pixels, labels: Ints, classes: int) -> "Known":
        """From training images, uint8 (R, 28, 28, 1), and their labels (R,)."""
        reduced, found = pictures(images), traits(images[::THIN_OUT])
        strokes = tuple(_gaussian(found[labels[::THIN_OUT] == c]) for c in range(classes))
        own = tuple(reduced[labels == c] for c in range(classes))
        return cls(classes, own, tuple(map(unit, own)), strokes)

    def as_arrays(self) -> dict[str, NDArray[np.generic]]:
        """As arrays to be cached; `from_arrays` reads them."""
        return {
            "pictures": np.concatenate(self.pictures),
            "counts": np.array([len(own) for own in self.pictures]),
            "means": np.stack([mean for mean, _ in self.strokes]),
            "inverses": np.stack([inverse for _, inverse in self.strokes]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Known":
        """From what `as_arrays` gives."""
        own = tuple(np.split(arrays["pictures"], np.cumsum(arrays["counts"])[:-1]))
        strokes = tuple(zip(arrays["means"], arrays["inverses"], strict=True))
        return cls(len(own), own, tuple(map(unit, own)), strokes)

    def measures(self, images: Pixels, probabilities: Floats) -> NDArray[np.float64]:
        """Four measures of novelty, in the order of `NAMES`: (4, N), higher for what is less known.

        Args:
          images: uint8 (N, 28, 28, 1).
          probabilities: (M, N, C), what the members make of them.

        Source: predictive entropy of an ensemble: B. Lakshminarayanan, A. Pritzel and
        C. Blundell, "Simple and scalable predictive uncertainty estimation using deep
        ensembles", NeurIPS 2017. Distance to the nearest known example as an OOD
        score: Y. Sun and others, "Out-of-distribution detection with deep nearest
        neighbors", ICML 2022, here of pictures instead of features, and within the class said.
        A Gaussian for each class: K. Lee and others, "A simple unified framework for detecting
        out-of-distribution samples and adversarial attacks", NeurIPS 2018, here of strokes.
        """
        averaged = average(probabilities)
        said = averaged.argmax(axis=-1)
        result = np.zeros((len(NAMES), len(images)))
        result[0] = entropy(averaged)
        if not len(images):
            return result
        reduced, found = pictures(images), traits(images)
        forms = unit(reduced)
        for c in np.unique(said):
            mine = said == c
            result[1, mine] = nearest(reduced[mine], self.pictures[c])
            result[2, mine] = nearest(forms[mine], self.forms[c])
            result[3, mine] = _mahalanobis(found[mine], *self.strokes[c])
        return result


NAMES = Known.NAMES


def pictures(images: Pixels) -> NDArray[np.float32]:
    """Images set upright, blurred and reduced: (N, 144), what their distances are taken in."""
    from scipy import ndimage

    blurred = ndimage.gaussian_filter(upright(images), (0, BLUR, BLUR))
    inner = blurred[:, 2:-2, 2:-2].reshape(len(images), 12, 2, 12, 2)
    return inner.mean(axis=(2, 4)).reshape(len(images), 144)


def upright(images: Pixels) -> NDArray[np.float32]:
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
    return (1 - beyond) * _taken(x, where) + beyond * _taken(x, where + 1)


def _taken(x: NDArray[np.float32], where: NDArray[np.int64]) -> NDArray[np.float32]:
    inside = (where >= 0) & (where < SIDE)
    return np.take_along_axis(x, where.clip(0, SIDE - 1), axis=2) * inside


def traits(images: Pixels) -> NDArray[np.float64]:
    """Sixteen figures of an image's strokes, (N, 16), each scaled to vary by about 1.

    Components and loops, ink, extent, how often rows and columns cross a stroke, and its edge.
    """
    ink = images[..., 0] > INK
    rows, columns = _crossings(ink), _crossings(ink.swapaxes(1, 2))
    tall, wide = (ink.any(axis=axis).sum(axis=1) for axis in (2, 1))
    edge, area = _edge(ink), ink.sum(axis=(1, 2))
    return np.stack([
        _components(ink, True), _components(~ink, False) - 1, images.sum(axis=(1, 2, 3)) / 255 / 50,
        tall / 5, wide / 5, rows.max(axis=1), columns.max(axis=1),
        2 * _mean(rows, tall), 2 * _mean(columns, wide),
        5 * _mean(rows >= 3, tall), 5 * _mean(columns >= 4, wide), 5 * _mean(columns >= 3, wide),
        edge / 20, 2 * area / np.maximum(edge, 1), _changes(rows), _changes(columns),
    ], axis=1).astype(np.float64)  # fmt: skip


def _crossings(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(N, 28): how many strokes each row crosses."""
    starts = ink.copy()
    starts[:, :, 1:] &= ~ink[:, :, :-1]
    return starts.sum(axis=2)


def _mean(values: NDArray[np.generic], count: NDArray[np.generic]) -> NDArray[np.float64]:
    return values.sum(axis=1) / np.maximum(count, 1)


def _changes(crossings: NDArray[np.int64]) -> NDArray[np.int64]:
    """How much the number of strokes changes from row to row."""
    return np.abs(np.diff(crossings, axis=1)).sum(axis=1)


def _edge(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many pixels of ink have a neighbour that is none."""
    wide = np.pad(ink, ((0, 0), (1, 1), (1, 1)))
    inside = wide[:, :-2, 1:-1] & wide[:, 2:, 1:-1] & wide[:, 1:-1, :-2] & wide[:, 1:-1, 2:]
    return (ink & ~inside).sum(axis=(1, 2))


def _components(ink: NDArray[np.bool_], slanting: bool) -> NDArray[np.int64]:
    """How many connected components each image has, (N,); corner to corner counts for ink alone."""
    from scipy import ndimage

    within = np.zeros((3, 3, 3), bool)  # images do not touch one another
    within[1] = ndimage.generate_binary_structure(2, 2 if slanting else 1)
    labels, count = ndimage.label(ink, within)
    image = np.zeros(count + 1, np.int64)
    image[labels] = np.arange(len(ink))[:, None, None]
    return np.bincount(image[1:], minlength=len(ink))


def nearest(rows: NDArray[np.float32], known: NDArray[np.float32]) -> NDArray[np.float32]:
    """The Euclidean distance of each row (N, F) to the nearest of the known (R, F)."""
    if not len(known):
        return np.full(len(rows), 2 * np.sqrt(rows.shape[1]), np.float32)
    squares, found = (known**2).sum(axis=1), np.empty(len(rows), np.float32)
    for at in range(0, len(rows), BLOCK):
        block = rows[at : at + BLOCK]
        found[at : at + BLOCK] = (squares - 2 * block @ known.T).min(axis=1)
    return np.sqrt(np.maximum(found + (rows**2).sum(axis=1), 0))


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row brought to length 1; a row of zeros stays."""
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.float32(1e-6))


def _gaussian(found: Floats) -> tuple[Floats, Floats]:
    mean = found.mean(axis=0) if len(found) else np.zeros(found.shape[1])
    spread = (found - mean).T @ (found - mean) / max(len(found) - 1, 1)
    return mean, np.linalg.inv(spread + SLACK * np.eye(len(mean)))


def _mahalanobis(found: Floats, mean: Floats, inverse: Floats) -> NDArray[np.float64]:
    off = found - mean
    return np.sqrt(np.einsum("nt,tu,nu->n", off, inverse, off))
