"""Predictions that measures have to bear: random ones, and those at the edge of what there is."""

import numpy as np
from numpy.typing import NDArray

from tests.analysis.draws import distributions

Case = tuple[NDArray[np.float32], NDArray[np.int64]]


def labelled(M: int, N: int, C: int, seed: int = 0) -> Case:
    """Random members that are right more often than not, and what the examples are."""
    draws = np.random.default_rng(seed)
    probabilities = distributions(M, N, C, seed)
    guessed = probabilities.mean(axis=0).argmax(axis=1)
    return probabilities, np.where(draws.random(N) < 0.7, guessed, draws.integers(C, size=N))


def certain() -> Case:
    """Three members with probabilities of exactly 0 and 1, right and wrong."""
    said = np.array([[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 1, 0], [0, 1, 1, 2, 0, 1]])
    return np.eye(3, dtype=np.float32)[said], np.array([0, 1, 2, 0, 2, 2])


def tied() -> Case:
    """Members that hold several classes equally likely, with many equal confidences."""
    rows = [[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0], [0, 0.5, 0, 0.5], [0.5, 0.25, 0.25, 0]]
    members = [np.array(np.roll(rows, turn, axis=0).tolist() * 5) for turn in range(3)]
    return np.stack(members).astype(np.float32), np.arange(20) % 3


def cases() -> dict[str, Case]:
    """All of them by name."""
    probabilities, labels = labelled(5, 200, 10)
    lone, its_labels = labelled(1, 200, 10, seed=1)
    return {
        "random": (probabilities, labels),
        "two classes": labelled(4, 150, 2, seed=2),
        "one member": (lone, its_labels),
        "unanimous": (np.repeat(lone, 4, axis=0), its_labels),
        "certain": certain(),
        "a class missing": (probabilities, np.where(labels == 3, 4, labels)),
        "one example": (probabilities[:, :1], labels[:1]),
        "tied": tied(),
    }
