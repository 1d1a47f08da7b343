"""How many of N events happen where each has a probability of its own: the Poisson binomial law."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats

BLOCK_EVENTS = 64  # events that are added one by one, before products by Fourier transform take over


def poisson_binomial_distribution(probabilities: Floats) -> NDArray[np.float64]:
    """The probability of each number of events: P(X = 0), …, P(X = N).

    Blocks of events are added one by one, and the laws of two blocks multiplied as polynomials
    (by Fourier transform) until one is left: O(N log² N). Exact but for rounding, which is below
    1e-14 in each entry.

    Args:
      probabilities: (N,), in [0, 1], of independent events; N may be 0.

    Returns:
      (N + 1,), which sum to 1.

    Source: the law is S. D. Poisson's (1837); the products are those of W. Biscarri, S. D. Zhao
    and R. J. Brunner, "A simple and fast method for computing the Poisson binomial distribution
    function", Computational Statistics & Data Analysis 122 (2018), 92-100.
    """
    n = len(probabilities)
    blocks = 1 << max(0, -(-n // BLOCK_EVENTS) - 1).bit_length()
    padded = np.zeros(blocks * BLOCK_EVENTS)  # what is added has no chance of happening
    padded[:n] = probabilities
    laws = _convolve_blocks(padded.reshape(BLOCK_EVENTS, blocks))
    while len(laws) > 1:
        size = 2 * (laws.shape[1] - 1)
        # One more than the size of the transform: the last entry comes round to the first, and is
        # the product of the two last ones.
        top = laws[::2, -1] * laws[1::2, -1]
        spectrum = np.fft.rfft(laws, size)
        laws = np.fft.irfft(spectrum[::2] * spectrum[1::2], size)
        laws = np.column_stack([laws, top])
        laws[:, 0] -= top
    law = np.maximum(laws[0, : n + 1], 0.0)
    return np.asarray(law / law.sum())


def poisson_binomial_p_value(probabilities: Floats, events: int) -> float:
    """How often chance alone goes as far: min(1, 2 min(P(X ≤ events), P(X ≥ events))).

    Args:
      probabilities: (N,), in [0, 1], of independent events.
      events: how many happened, in [0, N].

    Returns:
      In [0, 1]; what is below about 1e-12 is rounding.

    Raises:
      ValueError: there are not so many events.
    """
    if not 0 <= events <= len(probabilities):
        raise ValueError(f"{events} of {len(probabilities)} events cannot have happened.")
    law = poisson_binomial_distribution(probabilities)
    tail = min(law[: events + 1].sum(), law[events:].sum())
    return float(min(1.0, 2 * tail))


def _convolve_blocks(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The laws of B blocks of K events, (B, K + 1), of probabilities (K, B)."""
    events, blocks = probabilities.shape
    laws = np.zeros((events + 1, blocks))
    laws[0] = 1.0
    for done, p in enumerate(probabilities, 1):
        laws[1 : done + 1] = laws[1 : done + 1] * (1 - p) + laws[:done] * p
        laws[0] *= 1 - p
    return laws.T
