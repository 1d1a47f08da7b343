"""What an ensemble is better by, on the same examples, and whether that is more than luck."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from ensemble.analysis.inference.image_groups import collapse_groups, grouped_mean_interval
from ensemble.analysis.inference.paired_intervals import difference_interval, mean_p_value
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll, saved_nll_interval, saved_nll_p_value
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints, most_likely_classes
from ensemble.analysis.quality.proper_scores import log_loss

LEVEL = 0.95
SIGNIFICANCE_LEVEL = 0.05  # a two-sided p at least this large may be luck
ROUNDING = 1e-12  # nats: far above what rounding makes of two logarithms that are equal
# Nats: probabilities are stored as float32, whose rounding moves a logarithm by 6e-8 (2⁻²⁴), and by
# a few times that where other devices or batch sizes add the same numbers in another order.
_FLOAT32_ROUNDING = 1e-6


@dataclass(frozen=True)
class MeanGain:
    """What the ensemble is better by than a member drawn at random. Positive is better.

    Attributes:
      n: N, the examples.
      digits: how many more of them are right; a fraction, as a mean over members may be.
      digits_low: the lower end of the 95 % interval of it.
      digits_high: the upper end.
      nll: the mean negative log-likelihood that is saved per example, in nats.
      nll_low: the lower end of the 95 % interval of it.
      nll_high: the upper end.
      won: how many examples the ensemble has right and the member wrong, its mean over members.
      lost: how many the member has right and the ensemble wrong; digits = won − lost.
    """

    n: int
    digits: float
    digits_low: float
    digits_high: float
    nll: float
    nll_low: float
    nll_high: float
    won: float
    lost: float

    @property
    def accuracy_sign(self) -> int:
        """1 where more are shown to be right, −1 where fewer are, 0 where neither is shown."""
        return _significant_sign(self.digits_low, self.digits_high)

    @property
    def nll_sign(self) -> int:
        """1 where NLL is shown to be lower, −1 where higher, 0 where neither is shown."""
        return _significant_sign(self.nll_low, self.nll_high)


@dataclass(frozen=True)
class PairedGain(MeanGain):
    """What one classifier is better by than another. Positive is better; won, lost are whole.

    Attributes:
      p: McNemar's exact two-sided p of won and lost: how often chance alone does as much.
      nll_p: the two-sided p of the NLL, of the same test as its interval.
    """

    p: float
    nll_p: float


def mcnemar_p_value(won: int | Ints, lost: int | Ints) -> Any:
    """The exact two-sided p that won and lost differ by chance only.

    Of the won + lost examples that one of two classifiers has right and the other wrong, each
    is a fair coin's toss if they are equally good: min(1, 2 · P(X ≤ min(won, lost))) with X
    binomial of won + lost tosses. 1 where there is none.

    Args:
      won: how many only the first has right, at least 0; a number or an array.
      lost: how many only the second has right.

    Returns:
      In (0, 1]: a float for two numbers, an array of doubles for arrays.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12 (1947), 153-157; the exact form is the sign
    test.
    """
    tail = bdtr(np.minimum(won, lost).astype(float), np.add(won, lost), 0.5)
    p = np.minimum(1.0, 2 * tail)
    return p if np.ndim(p) else float(p)


def zero_rounding(saved: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of NLL (N,); 0 of every example where none is larger than float32's rounding.

    Classifiers that differ by rounding alone may do so to the same side on most examples, which any
    paired test takes for a difference.
    """
    return saved if (np.abs(saved) > _FLOAT32_ROUNDING).any() else np.zeros_like(saved)


def compute_gain(
    probabilities: Floats, other_probabilities: Floats, labels: Ints, groups: Ints | None = None
) -> PairedGain:
    """What `probabilities` is better by than `other_probabilities` on the same examples.

    Args:
      probabilities: (N, C), a distribution for each example.
      other_probabilities: (N, C), another's for the same.
      labels: (N,), class numbers in [0, C).
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: there is no example.
    """
    saved = log_loss(other_probabilities, labels) - log_loss(probabilities, labels)
    return paired_gain(
        most_likely_classes(probabilities) == labels,
        most_likely_classes(other_probabilities) == labels,
        saved,
        groups,
        estimate_mistake_nll(probabilities) - estimate_mistake_nll(other_probabilities),
    )


def paired_gain(
    hits: NDArray[np.bool_],
    other_hits: NDArray[np.bool_],
    saved: NDArray[np.float64],
    groups: Ints | None = None,
    extra_mistake_nll: float = 0.0,
) -> PairedGain:
    """What one classifier is better by than another, from how each did on each example.

    The interval of the digits is that of `difference_interval`, widened to hold 0 where
    McNemar's exact p is 0.05 or more; where p is less it never holds 0: the two agree. Where
    examples belong together, both are of the mean over groups (`collapse_groups`). The interval and
    the p of the NLL count half a mistake more of the surer one (unseen_mistakes.py).

    Args:
      hits: (N,), where ours is right.
      other_hits: (N,), where theirs is.
      saved: (N,), what ours has less of NLL, in nats.
      groups: (N,), which examples belong together; None where all are independent.
      extra_mistake_nll: how much more a mistake of ours costs than one of theirs, in nats.

    Raises:
      ValueError: there is no example.
    """
    n = len(hits)
    if not n:
        raise ValueError("A gain needs at least one example.")
    won, lost = int((hits & ~other_hits).sum()), int((other_hits & ~hits).sum())
    saved = zero_rounding(saved)
    if groups is None:
        p = mcnemar_p_value(won, lost)
        low, high = difference_interval(won, lost, n, LEVEL)
        if p >= SIGNIFICANCE_LEVEL:
            low, high = min(low, 0.0), max(high, 0.0)
    else:
        differences = hits.astype(np.float64) - other_hits
        p = mean_p_value(collapse_groups(differences, groups))
        ends = grouped_mean_interval(differences, groups, LEVEL, bound=1.0)
        low, high = (min(max(end, -1.0), 1.0) for end in ends)
    nll_low, nll_high = saved_nll_interval(saved, extra_mistake_nll, groups, LEVEL)
    return PairedGain(
        n=n,
        digits=won - lost,
        digits_low=low * n,
        digits_high=high * n,
        nll=float(saved.mean()),
        nll_low=nll_low,
        nll_high=nll_high,
        won=won,
        lost=lost,
        p=p,
        nll_p=saved_nll_p_value(saved, extra_mistake_nll, groups),
    )


def gain_over_mean_member(predictions: EnsemblePredictions) -> MeanGain:
    """What the ensemble is better by than a member drawn at random, on the same examples.

    That is the mean of its gains over each member, so no member is picked by how it did here,
    and it has no bias. Of each example it compares the ensemble with the share of the members
    that are right, and its NLL with their mean. The NLL is never above that mean, of no example:
    −ln of a mean is at most the mean of −ln (Jensen), so only its size is a finding, and its
    interval does not reach below 0.
    """
    right = predictions.votes == predictions.labels
    share = right.mean(axis=0)
    digits = predictions.right - share
    members = sum(log_loss(member, predictions.labels) for member in predictions.probabilities)
    saved = members / predictions.members - log_loss(predictions.averaged, predictions.labels)
    saved[np.abs(saved) < ROUNDING] = 0.0  # members that say the same save nothing
    n = len(predictions.labels)
    groups = predictions.groups
    low, high = grouped_mean_interval(digits, groups, LEVEL, bound=1.0)
    nll_low, nll_high = grouped_mean_interval(saved, groups, LEVEL)
    return MeanGain(
        n=n,
        digits=float(digits.sum()),
        digits_low=low * n,
        digits_high=high * n,
        nll=float(saved.mean()),
        nll_low=max(nll_low, 0.0),
        nll_high=nll_high,
        won=float((1 - share)[predictions.right].sum()),
        lost=float(share[~predictions.right].sum()),
    )


def find_best_member(predictions: EnsemblePredictions) -> tuple[int, int]:
    """(member, right): the member that has the most examples right, the first of equal ones.

    The best on these very examples: on new ones expect less of it.
    """
    hits = (predictions.votes == predictions.labels).sum(axis=1)
    member = int(hits.argmax())
    return member, int(hits[member])


def _significant_sign(low: float, high: float) -> int:
    return int(low > 0) - int(high < 0)
