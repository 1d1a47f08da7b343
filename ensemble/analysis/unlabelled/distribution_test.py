"""Whether members say of new images what they said of the labelled ones: a two-sample test."""

import math
from dataclasses import dataclass

import numpy as np

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.unlabelled.output_measures import OutputMeasures

LEVEL = 0.05  # at most this share of new images that are drawn like the labelled is called unlike
MIN_EXPECTED_ANSWERS = 5  # of a class in either sample: rarer ones are counted as one


@dataclass(frozen=True)
class DistributionTest:
    """Whether two sets of images differ in what members say of them.

    Attributes:
      p_values: by what was compared, "confidence", "entropy", "information" and "answers".
      n: how many new images there were.
      reference: how many labelled ones, or groups of them.
    """

    p_values: dict[str, float]
    n: int
    reference: int

    @property
    def strongest(self) -> tuple[str, float]:
        """What chance explains least, and its p after Bonferroni's correction, at most 1."""
        name = min(self.p_values, key=lambda measure: self.p_values[measure])
        return name, min(1.0, len(self.p_values) * self.p_values[name])

    @property
    def is_unlike(self) -> bool:
        """Whether one of the measures differs by more than chance, all of them counted."""
        return self.strongest[1] < LEVEL


def compare_distributions(
    labelled: OutputMeasures, new: OutputMeasures, groups: Ints | None = None
) -> DistributionTest:
    """Four tests of one question, at `LEVEL` together.

    The confidence, the entropy of the average and the mutual information are compared by
    Kolmogorov and Smirnov's test (asymptotic, with ties on the safe side), the classes that are
    answered by Pearson's χ²; each counts at `LEVEL` / 4 (Bonferroni).

    Args:
      labelled: what members say of the labelled images, at least one.
      new: what they say of the new ones, at least one.
      groups: (F,), which labelled images belong together: as many images as groups are counted
        then, so that the test says "unlike" no more often, though less surely. None where all are
        independent.

    Source: F. J. Massey, "The Kolmogorov-Smirnov test for goodness of fit", JASA 46 (1951), 68-78;
    S. Rabanser, S. Günnemann and Z. C. Lipton, "Failing loudly: an empirical study of methods for
    detecting dataset shift", NeurIPS 2019 (tests on what a classifier says, Bonferroni).
    """
    reference = labelled.n if groups is None else int(groups.max()) + 1
    p_values = {
        name: kolmogorov_smirnov_p_value(getattr(labelled, name), getattr(new, name), reference)
        for name in ("confidence", "entropy", "information")
    }
    p_values["answers"] = answer_share_p_value(
        labelled.answers, new.answers, labelled.averaged.shape[1], reference
    )
    return DistributionTest(p_values, new.n, reference)


def kolmogorov_smirnov_p_value(first: Floats, second: Floats, worth: int) -> float:
    """P of the largest difference between two empirical distribution functions.

    Args:
      first: (F,), at least one value.
      second: (N,), at least one value.
      worth: how many independent values the first are worth.
    """
    from scipy.special import kolmogorov  # here, for SciPy takes a while to import

    first, second = np.sort(first), np.sort(second)
    every = np.concatenate([first, second])
    shares = [
        np.searchsorted(values, every, side="right") / len(values) for values in (first, second)
    ]
    largest = float(np.abs(shares[0] - shares[1]).max())
    return float(kolmogorov(math.sqrt(worth * len(second) / (worth + len(second))) * largest))


def answer_share_p_value(first: Ints, second: Ints, classes: int, worth: int) -> float:
    """P of Pearson's χ² between the classes that two sets of images are taken for.

    Classes of which fewer than `MIN_EXPECTED_ANSWERS` are expected in one of them are counted as
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
    common = shares * sizes.min() >= MIN_EXPECTED_ANSWERS
    if shares[~common].sum() * sizes.min() < MIN_EXPECTED_ANSWERS and common.any():
        common[np.flatnonzero(common)[shares[common].argmin()]] = False
    parts = [counts[:, common], counts[:, ~common].sum(axis=1, keepdims=True)]
    counts = np.hstack([part for part in parts if part.any()])
    if counts.shape[1] < 2:
        return 1.0
    expected = np.outer(sizes, counts.sum(axis=0) / sizes.sum())
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chdtrc(counts.shape[1] - 1, statistic))
