"""What an ensemble of normal distributions says of numbers, as the mixture of its members.

Each member gives every example a mean and a variance; the ensemble is the mixture of these normal
distributions with equal weights (Lakshminarayanan, Pritzel and Blundell, "Simple and scalable
predictive uncertainty estimation using deep ensembles", NeurIPS 2017, section 2.4, which then
takes the normal distribution of the same mean and variance; here the mixture itself is judged).
"""

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

Doubles = NDArray[np.float64]
_MAX_STEPS = 60  # towards a quantile: by then halving alone is as near as doubles are
_QUANTILE_TOLERANCE = 1e-12  # of its probability
_LEAST_DENSITY = 1e-300  # below which Newton's step leads nowhere
_LOG_ROOT_TAU = 0.5 * np.log(2 * np.pi)
_ROOT_PI = np.sqrt(np.pi)
INTERVAL_LEVELS = (0.5, 0.8, 0.9, 0.95)  # of predictions, whose coverage is counted


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """The members' normal distributions for each example.

    Attributes:
      mean: (M, N), of each member for each example, finite, in the unit of the targets.
      variance: (M, N), positive, in the square of that unit.
    """

    mean: Doubles
    variance: Doubles
    form: ClassVar[str] = "normal"

    def __post_init__(self) -> None:
        """ValueError where shapes differ, there is nothing, or a number is none that it may be."""
        if self.mean.ndim != 2 or not self.mean.size or self.mean.shape != self.variance.shape:
            raise ValueError(
                f"Means {self.mean.shape} and variances {self.variance.shape} have to be (members, "
                "examples), both alike, and not empty."
            )
        if not np.isfinite(self.mean).all():
            raise ValueError("A mean is not a finite number.")
        if not (np.isfinite(self.variance).all() and (self.variance > 0).all()):
            raise ValueError("A variance is not a positive finite number.")

    @property
    def members(self) -> int:
        """M."""
        return len(self.mean)

    @property
    def examples(self) -> int:
        """N."""
        return self.mean.shape[1]

    def select_members(self, chosen: NDArray[np.integer] | list[int]) -> "NormalMixture":
        """The mixture of these members alone."""
        return NormalMixture(self.mean[chosen], self.variance[chosen])

    def select_examples(self, chosen: NDArray[np.generic]) -> "NormalMixture":
        """The same of these examples alone."""
        return NormalMixture(self.mean[:, chosen], self.variance[:, chosen])

    def compute_mean(self) -> Doubles:
        """(N,) the ensemble's mean of each example."""
        mean: Doubles = self.mean.mean(axis=0)
        return mean

    def compute_aleatoric_variance(self) -> Doubles:
        """(N,) the mean of the members' variances: noise that more members do not take away."""
        aleatoric: Doubles = self.variance.mean(axis=0)
        return aleatoric

    def compute_epistemic_variance(self) -> Doubles:
        """(N,) the variance of the members' means, divided by M: their disagreement.

        With the aleatoric part it adds up to the mixture's variance, by the law of total variance.
        """
        epistemic: Doubles = self.mean.var(axis=0)
        return epistemic

    def compute_variance(self) -> Doubles:
        """(N,) the mixture's variance: the aleatoric part and the epistemic one."""
        return self.compute_aleatoric_variance() + self.compute_epistemic_variance()

    def compute_spread(self) -> Doubles:
        """(N,) the mixture's standard deviation."""
        spread: Doubles = np.sqrt(self.compute_variance())
        return spread

    @property
    def interval_levels(self) -> tuple[float, ...]:
        """The levels whose central intervals are counted: any could be."""
        return INTERVAL_LEVELS

    def compute_interval(self, level: float) -> tuple[Doubles, Doubles]:
        """(N,) the ends of the central interval that holds a share `level` of the mixture."""
        tail = (1 - level) / 2
        return self.compute_quantile(tail), self.compute_quantile(1 - tail)

    def compute_losses(self, targets: Doubles) -> dict[str, Doubles]:
        """(N,) each, by name: what is convex in what is averaged, so that no ensemble loses."""
        return {
            "squared_error": (targets - self.compute_mean()) ** 2,
            "nll": self.compute_nll(targets),
            "crps": self.compute_crps(targets),
        }

    def compute_cdf(self, values: Doubles) -> Doubles:
        """(N,) the probability of at most `values` (N,)."""
        total = np.zeros(self.examples)
        for mean, variance in zip(self.mean, self.variance, strict=True):
            total += ndtr((values - mean) / np.sqrt(variance))
        return total / self.members

    def compute_quantile(self, probability: float) -> Doubles:
        """(N,) the value that lies above a share of the mixture, by Newton's steps or halving.

        Args:
          probability: in (0, 1).

        Raises:
          ValueError: it is not.
        """
        if not 0 < probability < 1:
            raise ValueError(f"A probability of {probability:g} is outside 0 to 1.")
        # The mixture's quantile lies between the lowest and the highest of the members'.
        own = self.mean + np.sqrt(self.variance) * float(ndtri(probability))
        low, high = own.min(axis=0), own.max(axis=0)
        quantile = (low + high) / 2
        pending, mixture, at = np.arange(self.examples), self, quantile
        for _ in range(_MAX_STEPS):
            excess = mixture.compute_cdf(at) - probability
            apart = np.abs(excess) >= _QUANTILE_TOLERANCE
            if not apart.any():
                break
            pending, excess, at = pending[apart], excess[apart], at[apart]
            low, high = low[apart], high[apart]
            mixture = mixture.select_examples(apart)
            low, high = np.where(excess < 0, at, low), np.where(excess < 0, high, at)
            step = at - excess / np.maximum(np.exp(-mixture.compute_nll(at)), _LEAST_DENSITY)
            at = np.where((low < step) & (step < high), step, (low + high) / 2)
            quantile[pending] = at
        return quantile

    def compute_nll(self, targets: Doubles) -> Doubles:
        """(N,) the negative log-density of targets (N,), in nats per example.

        The mean of the members' densities, its logarithm by the sum of exponentials that does
        not underflow. A density has the unit one over that of the targets, so that the NLL of
        targets in other units is another by a constant, and may be negative.
        """
        z = (targets - self.mean) / np.sqrt(self.variance)
        log_density = -0.5 * z**2 - 0.5 * np.log(self.variance) - _LOG_ROOT_TAU
        nll: Doubles = -(logsumexp(log_density, axis=0) - np.log(self.members))
        return nll

    def compute_crps(self, targets: Doubles) -> Doubles:
        """(N,) the continuous ranked probability score of targets (N,), in their unit; low is good.

        Source: E. P. Grimit, T. Gneiting, V. J. Berrocal and N. A. Johnson, "The continuous ranked
        probability score for circular variables and its application to mesoscale forecast ensemble
        verification" (2006), equation 5: with A(μ, σ²) = E|X| of X normal,
        CRPS = mean of A(y − μᵢ, σᵢ²) − ½ mean over i, j of A(μᵢ − μⱼ, σᵢ² + σⱼ²).
        """
        first = np.zeros(self.examples)
        for mean, variance in zip(self.mean, self.variance, strict=True):
            first += compute_absolute_mean(targets - mean, variance)
        within, between = self.pair_spreads
        pairs = self.members * (self.members - 1)
        second = (self.members * within + pairs * between) / self.members**2
        return first / self.members - second / 2

    @functools.cached_property
    def pair_spreads(self) -> tuple[Doubles, Doubles]:
        """(N,) How far two draws of one member lie apart, over members, and draws of two members.

        The second is 0 where there is one member alone.
        """
        within = (2 / _ROOT_PI * np.sqrt(self.variance)).mean(axis=0)
        between = np.zeros(self.examples)
        for i in range(self.members):
            for j in range(i):
                between += compute_absolute_mean(self.mean[i] - self.mean[j], self.variance[i] + self.variance[j])
        pairs = self.members * (self.members - 1) / 2
        return within, between / max(pairs, 1)


def compute_absolute_mean(mean: Doubles, variance: Doubles) -> Doubles:
    spread = np.sqrt(variance)
    z = mean / spread
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    absolute: Doubles = 2 * spread * density + mean * (2 * ndtr(z) - 1)
    return absolute
