"""Populations of predictions with a truth that is known, to draw test sets from.

A population is a large set of examples of which M members have said their probabilities. A test
set is N of them, drawn with replacement; what a verdict claims of the members on new images is
true or not of the population itself. Weights bring a difference to exactly the size that is
wanted: examples that speak for it are drawn more often, all else stays (exponential tilting).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Doubles = NDArray[np.float64]
TestSet = tuple[NDArray[np.float32], NDArray[np.int64]]

EXAMPLES = 20_000
CLASSES = 10
EVIDENCE = 10.0  # how far the label's logit stands out on average, and
SPREAD = 3.5  # by how much images differ in that
OWN_NOISE = 1.0  # of each member's logits
STEEPEST = 200.0  # tilts, in units of one over the largest difference


@dataclass(frozen=True, eq=False)
class Population:
    """Examples to draw from.

    Attributes:
      probabilities: (M, P, C), float32; each row of C a distribution.
      labels: (P,), class numbers.
      weights: (P,), how likely each is drawn; they sum to 1.
    """

    probabilities: NDArray[np.float32]
    labels: NDArray[np.int64]
    weights: Doubles

    def draw(self, n: int, rng: np.random.Generator) -> TestSet:
        """A test set: probabilities (M, N, C) and labels (N,)."""
        rows = rng.choice(len(self.labels), n, p=self.weights)
        return np.ascontiguousarray(self.probabilities[:, rows]), self.labels[rows]

    def draw_calibrated(self, n: int, rng: np.random.Generator) -> TestSet:
        """As `draw`, but what each example is is drawn from the ensemble's own probabilities.

        What it says with 80 % is so in 80 % of all draws: as calibrated as can be.
        """
        probabilities, _ = self.draw(n, rng)
        steps = probabilities.mean(axis=0, dtype=np.float64).cumsum(axis=1)
        return probabilities, (rng.random((n, 1)) * steps[:, -1:] > steps).sum(axis=1)

    def mean(self, values: Doubles) -> Doubles:
        """The true mean of a figure of each example, (…, P) to (…)."""
        return values @ self.weights

    def tilted(self, values: Doubles, target: float) -> "Population":
        """The same examples, weighted so that the true mean of `values` (P,) is `target`.

        Raises:
          ValueError: no weights do that: all values lie on one side of the target.
        """
        if not values.min() < target < values.max():
            raise ValueError(f"No weights bring the mean to {target:g}.")
        apart = (values - target) / np.abs(values - target).max()

        def weighted(tilt: float) -> Doubles:
            logs = np.log(self.weights) + tilt * apart
            powers = np.exp(logs - logs.max())
            return powers / powers.sum()

        tilt = brentq(lambda tilt: weighted(tilt) @ apart, -STEEPEST, STEEPEST, xtol=1e-12)
        return Population(self.probabilities, self.labels, weighted(tilt))


def exchangeable(members: int, rng: np.random.Generator) -> Population:
    """Members that differ by chance alone: each sees what all see, and noise of its own.

    Args:
      members: M.
      rng: what is drawn from.
    """
    labels = rng.integers(CLASSES, size=EXAMPLES)
    shared = rng.normal(0, 1, (EXAMPLES, CLASSES))
    shared[np.arange(EXAMPLES), labels] += rng.normal(EVIDENCE, SPREAD, EXAMPLES)
    each = [softmax(shared + rng.normal(0, OWN_NOISE, shared.shape)).astype(np.float32) for _ in range(members)]
    return Population(np.stack(each), labels, np.full(EXAMPLES, 1 / EXAMPLES))


def softmax(logits: Doubles) -> Doubles:
    """Distributions from logits, along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
