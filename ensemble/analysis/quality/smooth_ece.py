"""SmoothECE: how far confidence is from accuracy, without bins."""

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
    wide, narrow = 1.0, 0.0
    if wide < _smooth_error_at_bandwidth(sure, residual, wide):
        narrow = wide
    for _ in range(_BANDWIDTH_HALVINGS if narrow < wide else 0):
        middle = (wide + narrow) / 2
        if middle < _LEAST_BANDWIDTH or middle < _smooth_error_at_bandwidth(sure, residual, middle):
            narrow = middle
        else:
            wide = middle
    return _smooth_error_at_bandwidth(sure, residual, wide)


def _smooth_error_at_bandwidth(
    confidence: NDArray[np.float64], residual: NDArray[np.float64], bandwidth: float
) -> float:
    """The mean size of the smoothed residual, at one bandwidth.

    Args:
      confidence: (N,), in [0, 1].
      residual: (N,), confidence minus 1 where right, else 0.
      bandwidth: the standard deviation of the kernel, in (0, 1].
    """
    points = max(_MIN_GRID_POINTS, round(20 / bandwidth)) // 2 + 1
    evaluated = np.linspace(0, 1, max(round(10 / bandwidth), _MIN_EVALUATED_POINTS))
    on_grid = np.stack(
        [_spread_on_grid(confidence, residual, points), _spread_on_grid(confidence, np.ones_like(residual), points)]
    )
    smoothed = _smooth_with_reflection(on_grid, bandwidth)
    grid = np.linspace(0, 1, points)
    error, density = (np.interp(evaluated, grid, curve) for curve in smoothed)
    return float(np.abs(error).sum() / (density + _MIN_DENSITY).sum())


def _spread_on_grid(places: NDArray[np.float64], weights: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """(points,), the weights on a grid over [0, 1], each shared by its two neighbours in it."""
    at = places * (points - 1)
    below = at.astype(int).clip(0, points - 2)
    share = at - below
    on_grid = np.zeros(points)
    np.add.at(on_grid, below, (1 - share) * weights)
    np.add.at(on_grid, below + 1, share * weights)
    return on_grid


def _smooth_with_reflection(values: NDArray[np.float64], bandwidth: float) -> NDArray[np.float64]:
    """(K, points), each row smoothed by a Gaussian on [0, 1] with mirrors at both ends."""
    points = values.shape[1]
    distance = np.linspace(0, 1, points) - 0.5
    kernel = np.exp(-(distance**2) / (2 * bandwidth**2)) / (np.sqrt(2 * np.pi) * bandwidth)
    mirrored = np.concatenate([values[:, :0:-1], values, values[:, -2::-1]], axis=1)
    size = next_fast_len(mirrored.shape[1] + points - 1, real=True)
    product = irfft(rfft(mirrored, size) * rfft(kernel, size), size)
    # What the kernel fits into whole, and of that the middle third.
    return product[:, points - 1 : mirrored.shape[1]][:, points // 2 : points // 2 + points]
