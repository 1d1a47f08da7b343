"""How good a classifier is class by class, and on average over classes instead of examples."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.inference.image_groups import (
    Groups,
    collapse_groups,
    effective_examples,
    grouped_share_interval,
    select_groups,
)
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.calibration import BINS

LEVEL = 0.95
_MIN_GROUP_EXAMPLES = 10  # of a group that is compared with the others
_PRIOR_EXAMPLES = 2.0  # that count in a class's spread with the accuracy of all
_TINY = 1e-12  # in place of 0 below a fraction
_CALIBRATED_DRAWS = 100  # sets of labels drawn from the probabilities themselves


@dataclass(frozen=True)
class ScoreInterval:
    """A figure in [0, 1] with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The figures of C classes; of a class without examples, or that is never said, NaN.

    Attributes:
      counts: (C,), how many examples are of the class.
      said: (C,), how many the classifier says are of it.
      right: (C,), how many are both.
      recall: (C,), the share of its examples that are right.
      low: (C,), the lower ends of the recalls' intervals, which hold for all classes at once with
        95 %.
      high: (C,), the upper ends.
      precision: (C,), the share of what is said to be of it that is.
      f1: (C,), the harmonic mean of both.
      excess: (C,), the mean probability given to the class less the share that it has.
      balanced_accuracy: the mean of the recalls, of the classes that have examples.
      macro_f1: the mean of `f1`, of the classes that have examples or are said.
      lowest: the class with the lowest recall; of equal ones that with the most examples.
      lowest_p: how likely chance alone makes the lowest of equal classes as low or lower, with
        Holm's correction for all classes; 1 where only one class has examples.
    """

    counts: NDArray[np.int64]
    said: NDArray[np.int64]
    right: NDArray[np.int64]
    recall: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    precision: NDArray[np.float64]
    f1: NDArray[np.float64]
    excess: NDArray[np.float64]
    balanced_accuracy: ScoreInterval
    macro_f1: ScoreInterval
    lowest: int
    lowest_p: float

    @property
    def others_recall(self) -> float:
        """The share right of all examples but those of the lowest class; NaN of none."""
        rest = int(self.counts.sum() - self.counts[self.lowest])
        right = int(self.right.sum() - self.right[self.lowest])
        return right / rest if rest else float("nan")


@dataclass(frozen=True)
class ClasswiseCalibration:
    """The class-wise calibration error, and what chance alone makes of it.

    Attributes:
      error: the measured one, in [0, 1].
      chance: its mean where labels are drawn from the probabilities themselves.
      chance_high: the 95th percentile of that.
    """

    error: float
    chance: float
    chance_high: float


@dataclass(frozen=True)
class LowestGroup:
    """The group of test images that is right least often.

    Attributes:
      groups: how many groups are large enough to be looked at.
      least: how many images those have at least.
      first: the number of its first image.
      count: how many images it has.
      right: how many of them are right.
      low: the lower end of the share's interval, which holds for all groups at once with 95 %.
      high: the upper end.
      others: the share right of all images of the other groups.
      p: how likely chance alone makes the lowest of equal groups as low, corrected for all.
    """

    groups: int
    least: int
    first: int
    count: int
    right: int
    low: float
    high: float
    others: float
    p: float


def measure_class_scores(probabilities: Floats, said: Ints, labels: Ints, groups: Groups | None = None) -> ClassScores:
    """The figures of every class.

    Intervals of means over classes are Wilson's, of as many examples as have their variance: the
    balanced accuracy's is the sum over classes, that of the macro F1, and of both where examples
    are in groups, the variance of each example's influence.

    Args:
      probabilities: (N, C), each row a distribution.
      said: (N,), the class that is said of each.
      labels: (N,), the class that each is of.
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: there is no example.

    Source: K. H. Brodersen and others, "The balanced accuracy and its posterior distribution",
    ICPR 2010; J. Opitz and S. Burst, "Macro F1 and macro F1", arXiv:1911.03347 (the mean of the
    classes' F1).
    """
    if not len(labels):
        raise ValueError("Figures of classes need at least one example.")
    classes, n = probabilities.shape[1], len(labels)
    hits = said == labels
    counts, answers = (np.bincount(each, minlength=classes) for each in (labels, said))
    right = np.bincount(labels[hits], minlength=classes)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = right / counts, right / answers
        f1 = 2 * right / (counts + answers)
    present, used = np.flatnonzero(counts), np.flatnonzero(counts + answers)
    low, high = np.full((2, classes), np.nan)
    for number in present:
        own, level = labels == number, 1 - (1 - LEVEL) / len(present)
        low[number], high[number] = grouped_share_interval(hits[own], select_groups(groups, own), level)
    lowest = int(present[np.lexsort((-counts[present], recall[present]))[0]])
    return ClassScores(
        counts=counts,
        said=answers,
        right=right,
        recall=recall,
        low=low,
        high=high,
        precision=precision,
        f1=f1,
        excess=probabilities.mean(axis=0, dtype=np.float64) - counts / n,
        balanced_accuracy=_estimate_balanced_accuracy(hits, labels, recall, counts, groups),
        macro_f1=_estimate_macro_f1(hits, labels, said=said, f1=f1, both=counts + answers, used=used, groups=groups),
        lowest=lowest,
        lowest_p=_test_lowest_class(
            right, counts, present=present, lowest=lowest, hits=hits, labels=labels, groups=groups
        ),
    )


def _estimate_balanced_accuracy(
    hits: NDArray[np.bool_], labels: Ints, recall: NDArray[np.float64], counts: NDArray[np.int64], groups: Groups | None
) -> ScoreInterval:
    present = counts > 0
    own, sizes, classes = recall[present], counts[present], int(present.sum())
    mean = float(own.mean())
    if groups is None:
        # Of a class whose few examples are all right less is known than that it has no spread.
        spread = (own * sizes + _PRIOR_EXAMPLES * mean) / (sizes + _PRIOR_EXAMPLES)
        parts = spread * (1 - spread) / sizes / classes**2
        shares = parts / max(float(parts.sum()), _TINY)  # of the whole: squares of parts vanish
        freedom = 1 / max(float((shares**2 / np.maximum(1, sizes - 1)).sum()), _TINY)
        alike = classes**2 / float((1 / sizes).sum())
        return _convert_to_interval(mean, float(parts.sum()), alike, float(freedom))
    influence = len(labels) / (classes * counts[labels]) * (hits - recall[labels])
    return _estimate_by_influence(mean, influence, groups)


def _estimate_macro_f1(
    hits: NDArray[np.bool_],
    labels: Ints,
    said: Ints,
    f1: NDArray[np.float64],
    both: NDArray[np.int64],
    used: NDArray[np.int64],
    groups: Groups | None,
) -> ScoreInterval:
    """The mean of the F1 of the classes that occur, with its interval."""
    share = len(labels) / np.maximum(both, 1)
    # An example counts in the class that it is of, and in the one that is said of it.
    influence = (share[labels] * (hits - f1[labels]) + share[said] * (hits - f1[said])) / len(used)
    return _estimate_by_influence(float(f1[used].mean()), influence, groups)


def _estimate_by_influence(value: float, influence: NDArray[np.float64], groups: Groups | None) -> ScoreInterval:
    """A figure with the interval that follows from each example's influence on it, (N,)."""
    each = influence if groups is None else collapse_groups(influence, groups)
    n = len(each)
    square = (each - each.mean()) ** 2
    variance, freedom = float(square.sum()) / max(1, n - 1) / n, float(n - 1)
    if variance > 0 and n > 3:  # A few that weigh much tell less of the spread than many alike.
        kurtosis = float((square**2).mean() / square.mean() ** 2)
        freedom = min(freedom, max(1.0, 2 * n / max(kurtosis - (n - 3) / (n - 1), _TINY)))
    return _convert_to_interval(value, variance, n, freedom)


def _convert_to_interval(value: float, variance: float, alike: float, freedom: float) -> ScoreInterval:
    """Wilson's interval of a share that is known as well as `value` is.

    Args:
      value: the figure, in [0, 1].
      variance: its variance.
      alike: as many independent examples it is worth where its variance is 0.
      freedom: degrees of freedom of the variance.
    """
    from scipy.special import stdtrit

    tail = (1 - LEVEL) / 2
    examples = value * (1 - value) / variance if variance > 0 and 0 < value < 1 else alike
    if freedom > 0:
        examples *= (NormalDist().inv_cdf(tail) / float(stdtrit(freedom, tail))) ** 2
    examples = max(1.0, examples)
    return ScoreInterval(value, *wilson_interval(value * examples, examples, level=LEVEL))


def _test_lowest_class(
    right: NDArray[np.int64],
    counts: NDArray[np.int64],
    present: NDArray[np.int64],
    lowest: int,
    hits: NDArray[np.bool_],
    labels: Ints,
    groups: Groups | None,
) -> float:
    """Return Fisher's exact one-sided p of the lowest class against the rest, times the number of classes."""
    if len(present) < 2:
        return 1.0
    own = labels == lowest
    inside, outside = int(counts[lowest]), int(counts.sum() - counts[lowest])
    inner, outer = int(right[lowest]), int(right.sum() - right[lowest])
    if groups is not None:  # as many examples as the groups are worth
        parts = [
            effective_examples(hits[chosen], groups_of)
            for chosen in (own, ~own)
            if (groups_of := select_groups(groups, chosen)) is not None
        ]
        inner, outer = round(inner / inside * parts[0]), round(outer / outside * parts[1])
        inside, outside = round(parts[0]), round(parts[1])
    return min(1.0, len(present) * _compute_fisher_p(inner, inside, outer, outside))


def _compute_fisher_p(inner: int, inside: int, outer: int, outside: int) -> float:
    """How likely `inner` of `inside` or fewer are right, were they as often as of all."""
    from scipy.stats import hypergeom

    return float(hypergeom.cdf(inner, inside + outside, inner + outer, inside))


def find_lowest_group(hits: NDArray[np.bool_], groups: Groups, least: int = _MIN_GROUP_EXAMPLES) -> LowestGroup | None:
    """The group that is right least often, of those with enough examples.

    Args:
      hits: (N,), where the answer was right.
      groups: (N,), the group of each example, from 0.
      least: so many examples a group needs.

    Returns:
      None where fewer than two have so many.
    """
    counts, right = np.bincount(groups), np.bincount(groups, hits).astype(np.int64)
    large = np.flatnonzero(counts >= least)
    if len(large) < 2:
        return None
    lowest = int(large[np.lexsort((-counts[large], right[large] / counts[large]))[0]])
    inside, inner = int(counts[lowest]), int(right[lowest])
    outside, outer = int(counts[large].sum()) - inside, int(right[large].sum()) - inner
    level = 1 - (1 - LEVEL) / len(large)
    return LowestGroup(
        len(large),
        least,
        int(np.flatnonzero(groups == lowest)[0]),
        inside,
        inner,
        *wilson_interval(inner, inside, level=level),
        outer / outside,
        min(1.0, len(large) * _compute_fisher_p(inner, inside, outer, outside)),
    )


def measure_classwise_calibration(
    probabilities: Floats, labels: Ints, bins: int = BINS, seed: int = 0
) -> ClasswiseCalibration:
    """The mean over classes of how far the probability of a class is from how often it is it.

    Σ_c Σ_b n_cb / N · |share of class c in bin b − mean p_c in it| / C, with bins of equal width
    of each class's probability, of every example. Chance alone makes some of it: beside it stands
    what it is where each label is drawn from the example's own probabilities.

    Args:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C).
      bins: B, at least 1.
      seed: of the draws.

    Source: M. Kull and others, "Beyond temperature scaling: obtaining well-calibrated multi-class
    probabilities with Dirichlet calibration", NeurIPS 2019 (classwise-ECE); the draws are those of
    J. Bröcker and L. A. Smith, "Increasing the reliability of reliability diagrams", Weather and
    Forecasting 22 (2007), 651-661.
    """
    n, classes = probabilities.shape
    draw, edges = np.random.default_rng(seed), np.linspace(0, 1, bins + 1)[1:-1]
    sums, found = np.zeros(classes * bins), np.zeros((_CALIBRATED_DRAWS + 1, classes * bins))
    for rows in iterate_blocks(n, classes, 1 << 20):
        part = probabilities[rows].astype(np.float64)
        drawn = _draw_labels(part, draw.random((_CALIBRATED_DRAWS, len(part))))
        places = np.searchsorted(edges, part, side="left") + np.arange(classes) * bins
        sums += np.bincount(places.ravel(), part.ravel(), minlength=classes * bins)
        for count, each in zip(found, (labels[rows], *drawn), strict=True):
            count += np.bincount(places[np.arange(len(part)), each], minlength=classes * bins)
    error, *chances = np.abs(found - sums).sum(axis=1) / (n * classes)
    return ClasswiseCalibration(float(error), float(np.mean(chances)), float(np.quantile(chances, 0.95)))


def _draw_labels(probabilities: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """(K, N), classes drawn from N distributions (N, C) by uniform numbers (K, N) in [0, 1)."""
    cumulative = np.cumsum(probabilities, axis=1)
    cumulative /= cumulative[:, -1:]
    n, classes = cumulative.shape
    # Row after row in one rising line.
    line = (cumulative + np.arange(n)[:, None]).ravel()
    places = np.searchsorted(line, uniform + np.arange(n), side="right")
    return np.clip(places - np.arange(n) * classes, 0, classes - 1)
