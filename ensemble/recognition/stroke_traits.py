"""Traits of strokes: eighteen figures of what a pen has left, and how unusual they are for a class.

Components and loops, ink, extent, how often rows and columns cross a stroke, its edge, and whether
its width is that of one pen: that of a shape that is filled, or of a photograph's parts, is not.
"""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats

Pixels = NDArray[np.uint8]

_INK_LEVEL = 100  # of 255: what is counted as stroke
_PEN_ENLARGEMENT = 3  # times enlarged: strokes two pixels wide have a middle then
# Added to the variance of every trait, so that one that all digits of a class share does not
# reject what has a little more of it.
VARIANCE_SLACK = 0.05


def compute_stroke_traits(images: Pixels) -> NDArray[np.float64]:
    """Eighteen figures of the strokes of images (N, 28, 28, 1): (N, 18), each to vary by about 1.

    Of the pen's width the last two: its deviation, as a share of its mean, and how much wider than
    most of the strokes the widest place is.
    """
    ink = images[..., 0] > _INK_LEVEL
    rows, columns = _count_row_crossings(ink), _count_row_crossings(ink.swapaxes(1, 2))
    tall, wide = (ink.any(axis=axis).sum(axis=1) for axis in (2, 1))
    edge, area = _count_edge_pixels(ink), ink.sum(axis=(1, 2))
    return np.stack(
        [
            _count_components(ink, True),
            _count_components(~ink, False) - 1,
            images.sum(axis=(1, 2, 3)) / 255 / 50,
            tall / 5,
            wide / 5,
            rows.max(axis=1),
            columns.max(axis=1),
            2 * _mean_over_count(rows, tall),
            2 * _mean_over_count(columns, wide),
            5 * _mean_over_count(rows >= 3, tall),
            5 * _mean_over_count(columns >= 4, wide),
            5 * _mean_over_count(columns >= 3, wide),
            edge / 20,
            2 * area / np.maximum(edge, 1),
            _count_crossing_changes(rows),
            _count_crossing_changes(columns),
            *measure_pen_widths(images).T * np.array([[10.0], [2.0]]),
        ],
        axis=1,
    ).astype(np.float64)


def measure_pen_widths(images: Pixels) -> NDArray[np.float64]:
    """(N, 2): the deviation of strokes' widths by their mean, and the widest by the median.

    Widths are twice the distances to the edge along the strokes' middles: where a distance is the
    largest of its neighbours'. Without ink both are 0.
    """
    from scipy import ndimage

    widths = np.zeros((len(images), 2))
    for n, image in enumerate(images[..., 0]):
        grey = image.astype(np.float32) / np.float32(255)
        ink = np.pad(ndimage.zoom(grey, _PEN_ENLARGEMENT, order=1) > 0.5, 1)
        inside = ndimage.distance_transform_edt(ink)
        middle = inside[(inside == ndimage.maximum_filter(inside, 3)) & (inside > 1)]
        if middle.size:
            widths[n] = middle.std() / middle.mean(), middle.max() / np.median(middle)
    return widths


def fit_gaussian(traits: Floats) -> tuple[Floats, Floats]:
    """The mean (T,) of traits (N, T), and the inverse (T, T) of their covariance with slack."""
    mean = traits.mean(axis=0) if len(traits) else np.zeros(traits.shape[1])
    spread = (traits - mean).T @ (traits - mean) / max(len(traits) - 1, 1)
    return mean, np.linalg.inv(spread + VARIANCE_SLACK * np.eye(len(mean)))


def mahalanobis_distance(traits: Floats, mean: Floats, inverse: Floats) -> NDArray[np.float64]:
    """How many deviations traits (N, T) are from the mean (T,), all taken together: (N,)."""
    off = traits - mean
    return np.sqrt(np.einsum("nt,tu,nu->n", off, inverse, off))


def _count_row_crossings(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(N, 28): how many strokes each row crosses."""
    starts = ink.copy()
    starts[:, :, 1:] &= ~ink[:, :, :-1]
    return starts.sum(axis=2)


def _mean_over_count(values: NDArray[np.generic], count: NDArray[np.generic]) -> NDArray[np.float64]:
    return values.sum(axis=1) / np.maximum(count, 1)


def _count_crossing_changes(crossings: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.abs(np.diff(crossings, axis=1)).sum(axis=1)


def _count_edge_pixels(ink: NDArray[np.bool_]) -> NDArray[np.int64]:
    wide = np.pad(ink, ((0, 0), (1, 1), (1, 1)))
    inside = wide[:, :-2, 1:-1] & wide[:, 2:, 1:-1] & wide[:, 1:-1, :-2] & wide[:, 1:-1, 2:]
    return (ink & ~inside).sum(axis=(1, 2))


def _count_components(ink: NDArray[np.bool_], slanting: bool) -> NDArray[np.int64]:
    """How many connected components each image has, (N,); corner to corner counts for ink alone."""
    from scipy import ndimage

    within = np.zeros((3, 3, 3), bool)  # images do not touch one another
    within[1] = ndimage.generate_binary_structure(2, 2 if slanting else 1)
    labels, count = ndimage.label(ink, within)
    image = np.zeros(count + 1, np.int64)
    image[labels] = np.arange(len(ink))[:, None, None]
    return np.bincount(image[1:], minlength=len(ink))
