"""What an ensemble says: averages of the members' probabilities, votes and confidence.

Probabilities are averaged, never logits: the ensemble is the mixture of its members.
"""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]


def average_probabilities(probabilities: Floats) -> NDArray[np.float64]:
    """The ensemble's probabilities: the mean over members.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N, C), in double precision, so that the order of the members does not matter.
    """
    # Members one by one: reading (M, N, C) along its first axis is several times slower.
    total = np.zeros(probabilities.shape[1:])
    for member in probabilities:
        total += member
    return total / len(probabilities)


def most_likely_classes(probabilities: Floats) -> NDArray[np.int64]:
    """Each member's likeliest class, the lower one of two that are equal.

    Args:
      probabilities: (..., C).

    Returns:
      (...), class numbers in [0, C).
    """
    if probabilities.ndim != 2:
        return probabilities.argmax(axis=-1)
    classes = np.empty(len(probabilities), np.int64)
    for rows in iterate_blocks(*probabilities.shape):  # of what is read-only NumPy makes a copy
        classes[rows] = probabilities[rows].argmax(axis=-1)
    return classes


def prediction_confidence(averaged: Floats) -> Floats:
    """The averaged probability of the class that the ensemble says, in [1 / C, 1].

    Args:
      averaged: (N, C), from `average_probabilities`.

    Returns:
      (N,).
    """
    return averaged.max(axis=-1)


def count_votes(votes: Ints, classes: int) -> NDArray[np.int64]:
    """How many members vote for each class.

    Args:
      votes: (M, N), class numbers in [0, C).
      classes: C.

    Returns:
      (N, C); every row sums to M.
    """
    examples = votes.shape[1]
    flat = votes + classes * np.arange(examples)
    return np.bincount(flat.ravel(), minlength=examples * classes).reshape(examples, classes)
