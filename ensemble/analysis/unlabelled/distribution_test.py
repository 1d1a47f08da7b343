"""Two-sample tests of the members' outputs on new images against those on labeled images."""

import math
from dataclasses import dataclass

import numpy as np

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.unlabelled.output_measures import OutputMeasures

LEVEL = 0.05  # of all tests together: the false alarms on images drawn like the labeled ones
# Each test's share of LEVEL. The mean confidence gets most of it because it falls when more answers
# are wrong: `benchmarks.verdicts` measures its power.
LEVEL_SHARES = {"confidence": 0.05, "entropy": 0.05, "epistemic": 0.05, "answers": 0.05, "mean_confidence": 0.8}
_MIN_SKEWNESS = 1e-4  # skewness below which a Pearson type III distribution is taken as normal
_MIN_EXPECTED_ANSWERS = 5  # of a class in either sample: rarer ones are counted as one


@dataclass(frozen=True)
class DistributionTest:
    """Tests of whether the members' outputs differ between new and labeled images.

    Attributes:
      p_values: by the names of `LEVEL_SHARES`, before correction.
      n: the number of new images.
      reference: the number of independent labeled images that the labeled ones are worth.
      mean_confidence: of the labeled and of the new images, each in [1 / C, 1].
    """

    p_values: dict[str, float]
    n: int
    reference: int
    mean_confidence: tuple[float, float]

    @property
    def corrected(self) -> dict[str, float]:
        """The p-values after the weighted Bonferroni correction, each at most 1."""
        return {name: min(1.0, p / LEVEL_SHARES[name]) for name, p in self.p_values.items()}

    @property
    def strongest(self) -> tuple[str, float]:
        """The test with the smallest corrected p, and that p."""
        corrected = self.corrected
        name = min(corrected, key=lambda measure: corrected[measure])
        return name, corrected[name]

    @property
    def is_unlike(self) -> bool:
        """Whether one of the tests is significant at `LEVEL` after correction."""
        return self.strongest[1] < LEVEL


def compare_distributions(
    labelled: OutputMeasures, new: OutputMeasures, groups: Ints | None = None
) -> DistributionTest:
    """Test whether new images are drawn like the labeled ones, at `LEVEL` over all five tests.

    The confidence, the entropy of the average and the mutual information are compared by the
    Kolmogorov-Smirnov test (asymptotic, conservative with ties), the predicted classes by Pearson's
    χ², and the mean confidence by a permutation test. Each has its share of the level
    (weighted Bonferroni), so at most 5 % of images drawn alike are called unlike.

    Args:
      labelled: outputs for the labeled images, at least one.
      new: outputs for the new images, at least one; taken to be independent.
      groups: (F,), which labeled images belong together. They then count as F² / Σ n_g² images, the
        number that is left if all images of a group are alike. None if all are independent.

    Source: F. J. Massey, "The Kolmogorov-Smirnov test for goodness of fit", JASA 46 (1951), 68-78;
    S. Rabanser, S. Günnemann and Z. C. Lipton, "Failing loudly: an empirical study of methods for
    detecting dataset shift", NeurIPS 2019 (tests of a classifier's outputs, Bonferroni).
    """
    sizes = np.ones(labelled.n) if groups is None else np.bincount(groups)
    reference = int(labelled.n**2 / (sizes**2).sum())
    p_values = {
        name: _kolmogorov_smirnov_p_value(getattr(labelled, name), getattr(new, name), reference)
        for name in ("confidence", "entropy", "epistemic")
    }
    p_values["answers"] = _answer_share_p_value(labelled.answers, new.answers, labelled.averaged.shape[1], reference)
    p_values["mean_confidence"] = mean_difference_p_value(labelled.confidence, new.confidence, reference)
    means = float(labelled.confidence.mean()), float(new.confidence.mean())
    return DistributionTest(p_values, new.n, reference, means)


def mean_difference_p_value(first: Floats, second: Floats, worth: int) -> float:
    """Return the two-sided p of a permutation test of two means, without permuting.

    Under the hypothesis that all values are drawn alike, every split of the pooled values is as
    likely. The first three moments of the second mean over all splits are known, and a Pearson type
    III distribution with these moments gives the p. Unlike Welch's test it holds for skewed
    values: of 0.05 Welch's makes 0.16 with 5,000 and 30 confidences.

    Args:
      first: (F,), at least one value.
      second: (N,), at least one value.
      worth: the number of independent values that the first are worth, from 1 to F.

    Source: P. W. Mielke and K. J. Berry, "Permutation methods: a distance function approach", 2nd
    ed., 2007 (Pearson type III from exact permutation moments).
    """
    from scipy.special import gammainc, gammaincc, ndtr  # here: SciPy takes a while to import

    N, total = len(second), worth + len(second)
    weights = np.repeat([worth / len(first), 1.0], [len(first), N]) / total
    pooled = np.concatenate([first, second]).astype(np.float64)
    apart = pooled - weights @ pooled
    variance, third = float(weights @ apart**2), float(weights @ apart**3)
    if total < 3 or np.ptp(pooled) == 0:
        return 1.0
    # Moments of the sum of N values drawn without replacement from `total`.
    spread = math.sqrt(N * worth / (total - 1) * variance)
    skewness = N * worth * (worth - N) / ((total - 1) * (total - 2)) * third / spread**3
    z = float(apart[-N:].sum()) / spread
    if abs(skewness) < _MIN_SKEWNESS:
        return 2 * float(ndtr(-abs(z)))
    shape = 4 / skewness**2
    reached = max(0.0, shape + math.copysign(math.sqrt(shape), skewness) * z)
    return 2 * min(0.5, float(gammainc(shape, reached)), float(gammaincc(shape, reached)))


def _kolmogorov_smirnov_p_value(first: Floats, second: Floats, worth: int) -> float:
    """P of the largest difference between two empirical distribution functions.

    Args:
      first: (F,), at least one value.
      second: (N,), at least one value.
      worth: how many independent values the first are worth.
    """
    from scipy.special import kolmogorov  # here, for SciPy takes a while to import

    first, second = np.sort(first), np.sort(second)
    every = np.concatenate([first, second])
    shares = [np.searchsorted(values, every, side="right") / len(values) for values in (first, second)]
    largest = float(np.abs(shares[0] - shares[1]).max())
    return float(kolmogorov(math.sqrt(worth * len(second) / (worth + len(second))) * largest))


def _answer_share_p_value(first: Ints, second: Ints, classes: int, worth: int) -> float:
    """P of Pearson's χ² between the classes that two sets of images are taken for.

    Classes of which fewer than `_MIN_EXPECTED_ANSWERS` are expected in one of them are counted as
    one, with the rarest of the others where they are fewer even so; 1 where one class is left.

    Args:
      first: (F,), class numbers in [0, C).
      second: (N,), class numbers.
      classes: C.
      worth: how many independent answers the first are worth.
    """
    from scipy.special import chdtrc

    counts = np.stack([np.bincount(answers, minlength=classes) for answers in (first, second)])
    counts = counts * np.array([[worth / len(first)], [1.0]])
    sizes = counts.sum(axis=1)
    shares = counts.sum(axis=0) / sizes.sum()
    common = shares * sizes.min() >= _MIN_EXPECTED_ANSWERS
    if shares[~common].sum() * sizes.min() < _MIN_EXPECTED_ANSWERS and common.any():
        common[np.flatnonzero(common)[shares[common].argmin()]] = False
    parts = [counts[:, common], counts[:, ~common].sum(axis=1, keepdims=True)]
    counts = np.hstack([part for part in parts if part.any()])
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(sizes, counts.sum(axis=0) / sizes.sum())
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chdtrc(counts.shape[1] - 1, statistic))
