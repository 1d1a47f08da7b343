"""Several tests at once: how surely all that are called significant are so."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def adjust_p_holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted for being several: below α, all of them together are wrong at most α.

    The smallest is multiplied by K, the next by K − 1, and so on; none is below one that was
    smaller. No assumption on how the tests hang together.

    Args:
      p: (K,), in [0, 1].

    Returns:
      (K,), in [0, 1], at least as large each.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979), 65-70.
    """
    given = np.asarray(p, np.float64)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
