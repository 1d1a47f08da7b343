"""Conformal sets judged: how often they hold the label, and how large they are, class by class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from ensemble.analysis.inference.image_groups import effective_examples, grouped_share_interval, select_groups
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.conformal import METHODS, ConformalThreshold, conformal_rank, fit_conformal_threshold
from ensemble.analysis.quality.halves import split_halves

MISS_RATE = 0.05  # of the sets, accepted unless another is chosen
LabeledProbabilities = tuple[Floats, Ints]  # the ensemble's probabilities (n, C) and the labels (n,)


@dataclass(frozen=True, eq=False)
class ConformalCoverage:
    """What sets come to on n examples that had no part in their calibration.

    Attributes:
      n: how many.
      covered: how many of the sets hold the label.
      sizes: (C + 1,), how many sets have 0, 1, … C classes.
      sizes_covered: (C + 1,), how many of these hold the label.
      class_n: (C,), examples of each class.
      class_covered: (C,), how many of these have a set that holds it.
      class_size: (C,), the mean size of their sets; NaN where a class has no example.
      coverage_interval: the 95 % interval of the coverage: Wilson's, over groups where examples
        belong together.
      worth: as how many independent examples each counts, in (0, 1].
    """

    n: int
    covered: int
    sizes: NDArray[np.int64]
    sizes_covered: NDArray[np.int64]
    class_n: NDArray[np.int64]
    class_covered: NDArray[np.int64]
    class_size: NDArray[np.float64]
    coverage_interval: tuple[float, float]
    worth: float = 1.0

    @property
    def coverage(self) -> float:
        """The share of the sets that hold the label."""
        return self.covered / self.n

    @property
    def mean_size(self) -> float:
        """How many classes a set has on the average."""
        return float(self.sizes @ np.arange(len(self.sizes)) / self.n)

    @property
    def singleton_count(self) -> int:
        """How many sets name one class."""
        return int(self.sizes[1])

    @property
    def empty_count(self) -> int:
        """How many sets name none."""
        return int(self.sizes[0])


def coverage_p_value(threshold: ConformalThreshold, coverage: ConformalCoverage) -> float:
    """How often so few of the sets, or fewer, hold the label where the promise is kept.

    Both draws count, that of the calibration examples and that of these: the number covered is
    beta-binomial with k and n + 1 − k, k the rank of the threshold; ties only raise it. An
    interval of the coverage alone would take the promise for one about this very calibration.
    Where examples belong together both count as as many as they are worth.

    Returns:
      In [0, 1]; 1 where every set is all classes.

    Source: V. Vovk, "Conditional validity of inductive conformal predictors", ACML 2012.
    """
    if not threshold.has_enough_examples:
        return 1.0
    worth = coverage.worth
    fitted, judged = (max(1, round(worth * threshold.n)), round(worth * coverage.n))
    covered = round(coverage.coverage * judged)
    k = min(fitted, conformal_rank(fitted, threshold.error_rate))
    return float(betabinom.cdf(covered, judged, k, fitted + 1 - k))


def measure_coverage(sets: NDArray[np.bool_], labels: Ints, groups: Ints | None = None) -> ConformalCoverage:
    """What sets (N, C) come to on examples of known labels (N,), N at least 1.

    Raises:
      ValueError: there is no example.
    """
    N, C = sets.shape
    if not N:
        raise ValueError("No example to judge sets on.")
    hit, size = sets[np.arange(N), labels], sets.sum(axis=1)
    of_class = np.bincount(labels, minlength=C)
    with np.errstate(invalid="ignore"):
        class_size = np.bincount(labels, size, C) / of_class
    return ConformalCoverage(
        n=N,
        covered=int(hit.sum()),
        sizes=np.bincount(size, minlength=C + 1),
        sizes_covered=np.bincount(size[hit], minlength=C + 1),
        class_n=of_class,
        class_covered=np.bincount(labels[hit], minlength=C),
        class_size=class_size,
        coverage_interval=grouped_share_interval(hit, groups),
        worth=1.0 if groups is None else effective_examples(hit, groups) / N,
    )


def evaluate_conformal_sets(
    averaged: Floats,
    labels: Ints,
    error_rate: float,
    method: str = METHODS[0],
    calibration: LabeledProbabilities | None = None,
    groups: Ints | None = None,
) -> tuple[ConformalThreshold, ConformalCoverage]:
    """Sets calibrated on some examples, and judged on others.

    Args:
      averaged: (N, C), the ensemble's probabilities.
      labels: (N,), what the examples are.
      error_rate: α in (0, 1).
      method: one of `METHODS`.
      calibration: examples apart from these, such as validation predictions, with which all N
        are judged; without them one half of the N calibrates, and the other is judged.
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: as `fit_conformal_threshold`, or there are fewer than two examples.
    """
    if calibration is not None:
        conformal_threshold = fit_conformal_threshold(*calibration, error_rate, method)
        return conformal_threshold, measure_coverage(conformal_threshold.build_sets(averaged), labels, groups)
    fitted, judged = split_halves(labels, groups)
    conformal_threshold = fit_conformal_threshold(averaged[fitted], labels[fitted], error_rate, method)
    return conformal_threshold, measure_coverage(
        conformal_threshold.build_sets(averaged[judged]), labels[judged], select_groups(groups, judged)
    )


def evaluate_ensemble_sets(
    predictions: EnsemblePredictions,
    error_rate: float,
    method: str = METHODS[0],
    fit: EnsemblePredictions | None = None,
) -> tuple[ConformalThreshold, ConformalCoverage]:
    """`evaluate_conformal_sets` of an ensemble, calibrated on `fit`, else on one half."""
    return evaluate_conformal_sets(
        predictions.averaged,
        predictions.labels,
        error_rate=error_rate,
        method=method,
        calibration=(fit.averaged, fit.labels) if fit else None,
        groups=predictions.groups,
    )


def cross_conformal_sets(
    averaged: Floats,
    labels: Ints,
    error_rate: float,
    method: str = METHODS[0],
    calibration: LabeledProbabilities | None = None,
    groups: Ints | None = None,
) -> NDArray[np.bool_]:
    """A set for every example, (N, C), none of which has a part in its own calibration.

    Without `calibration` each half's are by the threshold of the other half; the arguments and
    errors are those of `evaluate_conformal_sets`.
    """
    if calibration is not None:
        return fit_conformal_threshold(*calibration, error_rate, method).build_sets(averaged)
    sets = np.empty(averaged.shape, bool)
    first, second = split_halves(labels, groups)
    for fitted, judged in ((first, second), (second, first)):
        conformal_threshold = fit_conformal_threshold(averaged[fitted], labels[fitted], error_rate, method)
        sets[judged] = conformal_threshold.build_sets(averaged[judged])
    return sets
