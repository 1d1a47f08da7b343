"""Whether votes tell anything about the labels, or only guess."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.inference.proportion_interval import wilson_interval

Ints = NDArray[np.integer]

MAX_CHANCE_SKILL = 0.1  # a claim of guessing has to rule out this share of perfect votes' skill
_MAX_ERROR_RATE = 0.05  # of claims of guessing, if the true skill is at least that
_MAX_EXTRA_SHARE = 0.03  # of the most frequent class above 1 / C, if accuracy alone is known


def is_at_chance(votes: Ints, labels: Ints, groups: Groups | None = None, *, tests: int = 1) -> bool:
    """Return whether votes are shown to be guesses, which tell nothing about the labels.

    A difference that is not significant does not show that. The interval of the skill
    (`estimate_skill`) has to contain 0 and end below `MAX_CHANCE_SKILL`: votes with at least that
    skill are then called guesses in at most 5 % of draws (one half of two one-sided tests of
    equivalence). Unlike accuracy, the skill is 0 for a constant vote and for random votes,
    whatever the share of the most frequent class, and positive for votes that find a rare class
    at the price of accuracy. Votes can also depend on the labels without skill (swapped classes),
    so a chi-squared test must not reject their independence.

    The answer is False for few examples, which do not show so much, and for labels of only one
    class, because guessing and knowing then look the same.

    Args:
      votes: (N,), class numbers.
      labels: (N,), class numbers.
      groups: (N,), the group of each example, from 0; None if all are independent.
      tests: number of members that are judged together; the error rate holds for all of them
        (Bonferroni).

    Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
    approach", J. Pharmacokinet. Biopharm. 15 (1987), 657-680.
    """
    most_frequent = np.bincount(labels).max() / len(labels)
    if not may_be_at_chance(int((votes == labels).sum()), len(labels), most_frequent):
        return False
    low, high = estimate_skill(votes, labels, groups, level=1 - 2 * _MAX_ERROR_RATE / tests)
    return low <= 0 <= high < MAX_CHANCE_SKILL and compute_independence_p(votes, labels) > 0.05


def estimate_skill(votes: Ints, labels: Ints, groups: Groups | None = None, *, level: float) -> tuple[float, float]:
    """Return an interval of the Peirce skill score of votes.

    The score is (a − e) / (1 − Σ p_c²), with the accuracy a, the shares p_c of the labels and
    v_c of the votes, and the accuracy e = Σ p_c v_c of votes that are independent of the labels:
    0 for these, 1 if all votes are right. It equals Youden's J (sensitivity + specificity − 1)
    for two classes, and Cohen's kappa for equally frequent ones. Its numerator is a mean over the
    labels l, with weights p_l, of the scores [vote = l] − p_vote. The Clopper-Pearson interval of
    each label's mean, on the range of its scores, is combined by the method of variance estimates
    recovery (MOVER). So the interval stays wide if a label has few examples, even if all its votes
    agree. Examples of one group count as one.

    Args:
      votes: (N,), class numbers.
      labels: (N,), class numbers, at least two different ones.
      groups: (N,), the group of each example, from 0; None if all are independent.
      level: in (0, 1).

    Returns:
      (low, high).

    Sources: D. S. Wilks, "Statistical methods in the atmospheric sciences", 3rd ed., 2011,
    sec. 8.2 (the score); G. Y. Zou and A. Donner, "Construction of confidence limits about effect
    measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702 (MOVER).
    """
    from scipy.special import betaincinv

    classes = int(max(votes.max(), labels.max())) + 1
    counts = np.bincount(labels, minlength=classes)
    shares, known = counts / len(labels), np.flatnonzero(counts)
    scores = (votes == labels) - shares[votes]
    means = np.bincount(labels, scores, minlength=classes)[known] / counts[known]
    examples, weights = _count_effective_examples(labels, groups)[known], shares[known]
    # A wrong vote costs most if it names the most frequent of the other classes.
    second, first = np.sort(shares)[-2:]
    lowest = -np.where(np.arange(len(known)) == weights.argmax(), second, first)
    spans, tail = 1 - weights - lowest, (1 - level) / 2
    hits = examples * np.clip((means - lowest) / spans, 0, 1)
    misses, least = examples - hits, np.finfo(float).tiny
    lows = np.where(hits > 0, betaincinv(np.maximum(hits, least), misses + 1, tail), 0)
    highs = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, least), 1 - tail), 1)
    below, above = (np.sqrt(((weights * (lowest + spans * ends - means)) ** 2).sum()) for ends in (lows, highs))
    middle, most = weights @ means, 1 - shares @ shares
    return float((middle - below) / most), float((middle + above) / most)


def compute_independence_p(votes: Ints, labels: Ints) -> float:
    """Return the p-value of Pearson's chi-squared test that votes and labels are independent."""
    from scipy.stats import chi2_contingency

    rows, columns = (np.unique(each, return_inverse=True)[1] for each in (votes, labels))
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    return float(chi2_contingency(table, correction=False).pvalue)


def is_accuracy_at_chance(right: float, examples: int, guessing_rate: float, classes: int) -> bool:
    """Return whether an accuracy alone shows guessing, as for runs whose votes are lost.

    Only if all classes are about equally frequent: otherwise votes can tell much about the labels
    and still be right no more often than the most frequent class. See `is_at_chance`.

    Args:
      right: number of right answers, in [0, examples].
      examples: number of examples.
      guessing_rate: share of the most frequent class among the examples, in (0, 1].
      classes: number of classes.
    """
    if not may_be_at_chance(right, examples, guessing_rate):
        return False
    high = wilson_interval(right, examples, level=1 - 2 * _MAX_ERROR_RATE)[1]
    return guessing_rate <= 1 / classes + _MAX_EXTRA_SHARE and high < guessing_rate + MAX_CHANCE_SKILL * (
        1 - guessing_rate
    )


def may_be_at_chance(right: float, examples: int, guessing_rate: float) -> bool:
    """Return whether an accuracy is not significantly above guessing, so that votes may be guesses.

    False if only one class was tested (one example included).

    Args:
      right: number of right answers, in [0, examples].
      examples: number of examples.
      guessing_rate: share of the most frequent class among the examples, in (0, 1].
    """
    if guessing_rate >= 1 or not examples:
        return False
    return wilson_interval(right, examples)[0] <= guessing_rate


def _count_effective_examples(labels: Ints, groups: Groups | None) -> NDArray[np.float64]:
    """Return the effective number of independent examples of each class, (C,).

    Examples of one group are taken as alike. Groups of sizes s are worth (Σ s)² / Σ s² examples
    (Kish), over the examples of the class or over all of them, whichever is less.
    """
    counts = np.bincount(labels).astype(np.float64)
    if groups is None:
        return counts
    sizes = np.bincount(groups)
    cells, parts = np.unique(groups * len(counts) + labels, return_counts=True)
    squares = np.bincount(cells % len(counts), parts**2.0)
    alike = np.maximum((sizes**2.0).sum() / len(labels), squares / np.maximum(counts, 1))
    return counts / alike
