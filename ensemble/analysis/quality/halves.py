"""Two halves of the examples: one to fit a figure on, the other to judge it on."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Ints

MIN_EXAMPLES_TO_HALVE = 20  # examples, below which a figure fitted on one half says nothing on the other


def split_halves(labels: Ints, groups: Ints | None = None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Every other example of each class to one half, the rest to the other.

    In the order of the examples, with no chance in it, so that a figure stays the same. An odd
    one out goes to the two halves by turns: they differ by one example at most, also where
    most classes have a single one.

    Args:
      labels: (N,), class numbers.
      groups: (N,), examples that belong together, who come to one half: the largest group first,
        each to the half that has fewer examples by then. None where all are independent.

    Returns:
      (fitted, judged), each (N,): every example is in one of them.

    Raises:
      ValueError: there are fewer than two examples.
    """
    if len(labels) < 2:
        raise ValueError("Two halves need at least two examples.")
    fitted = np.zeros(len(labels), bool)
    if groups is None or groups.max() == 0:
        fitted[np.argsort(labels, kind="stable")[::2]] = True
        return fitted, ~fitted
    sizes = np.bincount(groups)
    counts, first = [0, 0], np.zeros(len(sizes), bool)
    for group in np.argsort(-sizes, kind="stable"):
        half = int(counts[1] < counts[0])
        counts[half] += int(sizes[group])
        first[group] = not half
    fitted = first[groups]
    return fitted, ~fitted
