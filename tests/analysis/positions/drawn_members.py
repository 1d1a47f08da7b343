"""Members whose answers are drawn, so that it is known how far apart they stand."""

import numpy as np
from numpy.typing import NDArray


def change_answers(answers: NDArray[np.int64], share: float, seed: int) -> NDArray[np.int64]:
    """The answers (N,) of ten classes, a share of them changed to any other class."""
    rng = np.random.default_rng(seed)
    other = (answers + rng.integers(1, 10, len(answers))) % 10
    return np.where(rng.random(len(answers)) < share, other, answers)
