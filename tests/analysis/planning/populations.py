"""Members that learn over epochs, drawn from a population whose own figures are known."""

import numpy as np
from numpy.typing import NDArray


def learning(M: int, labels: NDArray[np.int64], epochs: int, seed: int, C: int = 4) -> list[NDArray[np.float32]]:
    """(M, N, C) after each epoch: surer and more often right, members by their own skill."""
    draws = np.random.default_rng(seed)
    N = len(labels)
    ease = np.random.default_rng([seed, 1]).gamma(3.0, 0.6, size=N)
    skill = draws.normal(1.0, 0.25, size=(M, 1))
    own = draws.normal(size=(M, N, C))
    found = []
    for epoch in range(1, epochs + 1):
        logits = own.copy()
        logits[:, np.arange(N), labels] += skill * ease * (0.5 + epoch / epochs)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        found.append((powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32))
    return found
