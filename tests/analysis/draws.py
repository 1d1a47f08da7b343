"""Random members: probabilities as a softmax gives them, some sure and some not."""

import numpy as np
from numpy.typing import NDArray


def distributions(M: int, N: int, C: int, seed: int = 0) -> NDArray[np.float32]:
    """(M, N, C) float32; the members share most of what they think of an example."""
    draws = np.random.default_rng(seed)
    shared = draws.normal(size=(1, N, C)) * draws.uniform(0.2, 6, size=(1, N, 1))
    logits = shared + draws.normal(size=(M, N, C))
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
