"""What an ensemble is better by, on the same examples, and whether that is more than luck."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Floats, Ints, votes
from ensemble.analysis.quality.scores import log_loss

RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True)
class MeanGain:
    """What the ensemble is better by than its members on average. Positive is better.

    Attributes:
      n: N, the examples.
      digits: how many more of them are right; a fraction, as a mean of members may be.
      digits_low: the lower end of the 95 % interval of it.
      digits_high: the upper end.
      nll: the mean negative log-likelihood that is saved per example, in nats.
      nll_low: the lower end of the 95 % interval of it.
      nll_high: the upper end.
    """

    n: int
    digits: float
    digits_low: float
    digits_high: float
    nll: float
    nll_low: float
    nll_high: float


@dataclass(frozen=True)
class Gain(MeanGain):
    """What one classifier is better by than another. Positive is better.

    Attributes:
      won: how many examples only ours has right.
      lost: how many only theirs has right; digits = won − lost.
      p: McNemar's exact two-sided p of won and lost: how often chance alone does as much.
    """

    won: int
    lost: int
    p: float


def mcnemar(won: int | Ints, lost: int | Ints) -> Any:
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


def gain(ours: Floats, theirs: Floats, labels: Ints, seed: int = 0) -> Gain:
    """What `ours` is better by than `theirs` on the same examples.

    Args:
      ours: (N, C), a distribution for each example.
      theirs: (N, C), another's for the same.
      labels: (N,), class numbers in [0, C).
      seed: of the bootstrap's draws.

    Raises:
      ValueError: there is no example.
    """
    hits = votes(ours) == labels
    others = votes(theirs) == labels
    won, lost = int((hits & ~others).sum()), int((others & ~hits).sum())
    digits = hits.astype(np.float64) - others
    saved = log_loss(theirs, labels) - log_loss(ours, labels)
    figures = vars(_mean_gain(digits, saved, seed)) | {"digits": won - lost}
    return Gain(**figures, won=won, lost=lost, p=mcnemar(won, lost))


def gain_over_mean(made: Predictions, seed: int = 0) -> MeanGain:
    """What the ensemble is better by than its members on average, on the same examples.

    There is no McNemar test of it: a mean of members gives no verdicts of its own.

    Args:
      made: the predictions.
      seed: of the bootstrap's draws.
    """
    digits = made.right - (made.votes == made.labels).mean(axis=0)
    members = sum(log_loss(member, made.labels) for member in made.probabilities)
    saved = members / made.members - log_loss(made.averaged, made.labels)
    return _mean_gain(digits, saved, seed)


def typical_member(made: Predictions) -> int:
    """The number of the member with the median accuracy.

    Of an even number of members the lower of the two in the middle; of equal ones as a stable
    sort by accuracy puts them.
    """
    hits = (made.votes == made.labels).sum(axis=1)
    return int(np.argsort(hits, kind="stable")[(made.members - 1) // 2])


def resampled_means(first: Floats, second: Floats, seed: int = 0) -> NDArray[np.float64]:
    """Means of two figures over examples drawn with replacement, RESAMPLES times.

    Both figures of one resample are of the same examples.

    Args:
      first: (N,), a figure of each example.
      second: (N,), another.
      seed: of the draws.

    Returns:
      (2, RESAMPLES).

    Raises:
      ValueError: there is no example.

    Source: B. Efron and R. J. Tibshirani, "An introduction to the bootstrap", 1993, ch. 6, 13.
    """
    n = len(first)
    if not n:
        raise ValueError("A resample needs at least one example.")
    rng = np.random.default_rng(seed)
    both = first + 1j * second  # as one complex number the two cost one gather
    sums = np.array([both.take(rng.integers(n, size=n)).sum() for _ in range(RESAMPLES)])
    return np.stack([sums.real, sums.imag]) / n


def _mean_gain(digits: NDArray[np.float64], saved: NDArray[np.float64], seed: int) -> MeanGain:
    n = len(digits)
    means = resampled_means(digits, saved, seed)
    (digits_low, nll_low), (digits_high, nll_high) = np.quantile(
        means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1
    )
    return MeanGain(
        n=n,
        digits=float(digits.sum()),
        digits_low=float(digits_low * n),
        digits_high=float(digits_high * n),
        nll=float(saved.mean()),
        nll_low=float(nll_low),
        nll_high=float(nll_high),
    )
