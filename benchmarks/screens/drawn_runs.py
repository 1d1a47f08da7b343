"""Predictions drawn at random, as members give them, for measuring screens."""

import numpy as np

EXAMPLES, CLASSES, ROUNDS = 10_000, 10, 5


def probabilities(labels: np.ndarray, members: int, seed: int = 0) -> np.ndarray:
    """(M, N, C) of members that are right about 98 times in 100, mostly of the same examples.

    An example is as easy as chance has it, some look like another class to all members, and
    each member sees it a little differently.
    """
    draws = np.random.default_rng(seed)
    shape = len(labels), CLASSES
    ease = draws.gamma(5.0, 2.4, size=len(labels))
    shared = draws.normal(size=shape) * 1.2
    shared[np.arange(len(labels)), labels] += ease
    logits = shared + draws.normal(size=(members, *shape))
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
