"""SmoothECE: how far confidence is from accuracy, without bins."""

from collections.abc import Callable
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

_LEAST_BANDWIDTH = 0.001  # below which it is not looked for
_BANDWIDTH_HALVINGS = 10  # of the range in which the bandwidth is looked for
_MIN_EVALUATED_POINTS = 200  # places at least where the smoothed error is looked at
_MIN_GRID_POINTS = 2_000  # places at least of the grid that is smoothed, twice over
_MIN_DENSITY = 1e-4  # of the density, where there is nobody


def smooth_calibration_error(confidence: NDArray[np.floating], right: NDArray[np.bool_]) -> float:
    """SmoothECE, in [0, 1]: the calibration error after smoothing by as much as it is itself.

    Confidence minus accuracy is smoothed by a Gaussian kernel that is reflected at 0 and 1; its
    mean size is the error at that bandwidth. Taken is the bandwidth that equals its own error.
    Unlike an ECE over bins it does not jump where an answer crosses the edge of one. Błasiok and
    Nakkiran, Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing, 2023
    (arXiv:2309.12236); their relplot's discretisation.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer is right.
    """
    sure = np.asarray(confidence, np.float64)
    residual = sure - right
    smooth_error = cache(partial(_smooth_error_at_bandwidth, cache(partial(_transform_on_grid, sure, residual))))
    wide, narrow = 1.0, 0.0
    if wide < smooth_error(wide):
        narrow = wide
    for _ in range(_BANDWIDTH_HALVINGS if narrow < wide else 0):
        middle = (wide + narrow) / 2
        if middle < _LEAST_BANDWIDTH or middle < smooth_error(middle):
            narrow = middle
        else:
            wide = middle
    return float(smooth_error(wide))


def _smooth_error_at_bandwidth(transform_on_grid: Callable[[int], NDArray[np.complex128]], bandwidth: float) -> float:
    """The mean size of the smoothed residual, at one bandwidth.

    Args:
      transform_on_grid: `_transform_on_grid` of the examples, by the number of points.
      bandwidth: the standard deviation of the kernel, in (0, 1].
    """
    points = max(_MIN_GRID_POINTS, round(20 / bandwidth)) // 2 + 1
    evaluated = _divide_unit_interval(max(round(10 / bandwidth), _MIN_EVALUATED_POINTS))
    size = _choose_transform_size(points)
    product = irfft(transform_on_grid(points) * _transform_kernel(points, bandwidth, size), size)
    # What the kernel fits into whole, and of that the middle third.
    smoothed = product[:, points - 1 : 3 * points - 2][:, points // 2 : points // 2 + points]
    grid = _divide_unit_interval(points)
    error, density = (np.interp(evaluated, grid, curve) for curve in smoothed)
    return float(np.abs(error).sum() / (density + _MIN_DENSITY).sum())


def _spread_on_grid(places: NDArray[np.float64], weights: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """(2, points), the weights, and 1 each, on a grid over [0, 1], shared by the two neighbours in it."""
    at = places * (points - 1)
    below = at.astype(int).clip(0, points - 2)
    share = at - below
    both, shares = np.concatenate([below, below + 1]), np.concatenate([1 - share, share])
    return np.stack(
        [np.bincount(both, each, minlength=points) for each in (shares * np.concatenate([weights, weights]), shares)]
    )


def _transform_on_grid(
    confidence: NDArray[np.float64], residual: NDArray[np.float64], points: int
) -> NDArray[np.complex128]:
    """The Fourier transforms of the residual and of the examples on a grid, with mirrors at both ends of [0, 1]."""
    values = _spread_on_grid(confidence, residual, points)
    mirrored = np.concatenate([values[:, :0:-1], values, values[:, -2::-1]], axis=1)
    transformed: NDArray[np.complex128] = rfft(mirrored, _choose_transform_size(points))
    return transformed


@lru_cache(maxsize=64)
def _divide_unit_interval(points: int) -> NDArray[np.float64]:
    return np.linspace(0, 1, points)


@lru_cache(maxsize=64)
def _choose_transform_size(points: int) -> int:
    return int(next_fast_len(4 * points - 3, real=True))


@lru_cache(maxsize=64)  # the bandwidths that are looked at are the same for all members
def _transform_kernel(points: int, bandwidth: float, size: int) -> NDArray[np.complex128]:
    distance = np.linspace(0, 1, points) - 0.5
    kernel = np.exp(-(distance**2) / (2 * bandwidth**2)) / (np.sqrt(2 * np.pi) * bandwidth)
    transformed: NDArray[np.complex128] = rfft(kernel, size)
    return transformed
