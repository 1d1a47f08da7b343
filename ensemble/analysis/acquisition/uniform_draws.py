"""Numbers drawn by a seed that are the same with every version of NumPy."""

import numpy as np
from numpy.typing import NDArray

_ACQUISITION_STREAM = 0xAC7  # tells these draws from any other by the same seed
_MANTISSA_BITS = 53  # of a double


def draw_uniform_numbers(count: int, *seeds: int) -> NDArray[np.float64]:
    """Numbers (count,) in (0, 1), neither end among them.

    Args:
      count: how many.
      seeds: whole numbers from 0; other ones give other draws.
    """
    words = np.random.PCG64([_ACQUISITION_STREAM, *seeds]).random_raw(count)
    shifted = (np.asarray(words, np.uint64) >> np.uint64(64 - _MANTISSA_BITS)).astype(np.float64)
    return (shifted + 0.5) / 2.0**_MANTISSA_BITS


def shuffle_numbers(count: int, *seeds: int) -> NDArray[np.int64]:
    """The numbers from 0 to `count` − 1 in an order drawn by the seeds."""
    return np.argsort(draw_uniform_numbers(count, *seeds), kind="stable")
