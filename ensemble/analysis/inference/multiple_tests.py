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
    p_values = np.asarray(p, np.float64)
    order = np.argsort(p_values, kind="stable")
    raised = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
