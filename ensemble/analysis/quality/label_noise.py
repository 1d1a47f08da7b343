"""How labels come about: a temperature for the averaged probabilities, and a matrix of mistakes.

An example is of class j with the probability that the ensemble gives it, after one temperature;
and what is of class j is labelled i with the probability T[j, i]. Both are fitted by maximum
likelihood, T by expectation and maximization: A. P. Dawid and A. M. Skene, "Maximum likelihood
estimation of observer error-rates using the EM algorithm", Applied Statistics 28 (1979), 20-28,
with the ensemble in place of further observers.
"""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints

_MAX_FITTED_NUMBERS = 1_000_000  # probabilities that are fitted on; of more, those of some examples
_LOG_TEMPERATURES = (-1.4, 1.4)
_TEMPERATURE_STEPS = 9
_SEARCH_ITERATIONS, _ITERATIONS = 10, 40  # at each temperature, and at the one that was found
_FIRST_RATE = 0.02
# Examples of each class that are mislabelled as it is on the whole, before any is seen: a class of
# few examples has hardly a rate of its own.
_PRIOR_EXAMPLES = 10.0
_SMALLEST = 1e-12
_GOLDEN = (5**0.5 - 1) / 2
_CHI_SQUARED_95 = 3.841458820694124  # of one degree of freedom


@dataclass(frozen=True, eq=False)
class LabelNoise:
    """What was fitted.

    Attributes:
      temperature: by which the logarithms of the averaged probabilities are divided.
      matrix: (C, C), the probability that what is of the class of a row is labelled as each.
    """

    temperature: float
    matrix: Floats


def fit_label_noise(averaged: Floats, labels: Ints) -> LabelNoise:
    """The temperature and the matrix that make the labels most likely.

    Args:
      averaged: (N, C), probabilities.
      labels: (N,), in [0, C).
    """
    step = -(-averaged.size // _MAX_FITTED_NUMBERS)
    logs, labels = np.log(averaged[::step].clip(_SMALLEST)), labels[::step]
    order = np.argsort(labels, kind="stable")
    logs, labels = logs[order], labels[order]
    found: dict[float, float] = {}

    def fit_at(place: float) -> float:
        if place not in found:
            softened = _soften_logs(logs, np.exp(place))
            found[place] = _fit_matrix(softened, labels, _SEARCH_ITERATIONS)[0]
        return found[place]

    low, high = _LOG_TEMPERATURES
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    for _ in range(_TEMPERATURE_STEPS):
        if fit_at(left) >= fit_at(right):
            high, right = right, left
            left = high - _GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + _GOLDEN * (high - low)
    temperature = float(np.exp(max(found, key=lambda place: found[place])))
    return LabelNoise(temperature, _fit_matrix(_soften_logs(logs, temperature), labels, _ITERATIONS)[1])


def soften(probabilities: Floats, temperature: float) -> Floats:
    """(N, C), probabilities (N, C) at a temperature."""
    return _soften_logs(np.log(probabilities.clip(_SMALLEST)), temperature)


def _soften_logs(logs: Floats, temperature: float) -> Floats:
    """(N, C), the probabilities at a temperature, from their logarithms."""
    softened = logs / temperature
    softened -= softened.max(axis=1, keepdims=True)
    np.exp(softened, out=softened)
    softened /= softened.sum(axis=1, keepdims=True)
    return softened


def _fit_matrix(probabilities: Floats, labels: Ints, iterations: int) -> tuple[float, Floats]:
    """The log likelihood, and the matrix (C, C), for labels that are sorted."""
    classes = probabilities.shape[1]
    matrix = _build_even_matrix(_FIRST_RATE, classes)
    present, starts = np.unique(labels, return_index=True)
    likelihood = -np.inf
    for _ in range(iterations):
        weights = probabilities * matrix.T[labels]
        every = weights.sum(axis=1, keepdims=True).clip(_SMALLEST)
        likelihood = float(np.log(every).sum())
        weights /= every
        counts = np.zeros((classes, classes))
        counts[:, present] = np.add.reduceat(weights, starts, axis=0).T
        rate = float(1 - np.trace(counts) / counts.sum())
        matrix = counts + _PRIOR_EXAMPLES * _build_even_matrix(rate, classes)
        matrix /= matrix.sum(axis=1, keepdims=True)
    return likelihood, matrix


def _build_even_matrix(rate: float, classes: int) -> Floats:
    """(C, C): each class is mislabelled at this rate, as any other alike."""
    matrix = np.full((classes, classes), rate / max(1, classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def raise_noise_rate(noise: LabelNoise, rate: float) -> LabelNoise:
    """Return the noise with each class mislabeled at least at this rate, as any other class alike.

    A pair of classes without a confident example keeps a rate above 0, so that no label is beyond
    doubt because of its class alone.
    """
    classes = len(noise.matrix)
    own = 1 - np.diag(noise.matrix)
    missing = np.maximum(rate - own, rate / 10)[:, None]  # a tenth for the pairs that were not seen
    matrix = (1 - missing) * noise.matrix + missing * _build_even_matrix(1.0, classes)
    return LabelNoise(noise.temperature, matrix)


def estimate_likelihoods(averaged: Floats, labels: Ints, noise: LabelNoise) -> tuple[Floats, Floats]:
    """How likely each label is, as a right one and as a wrong one; both (N,).

    Args:
      averaged: (N, C), probabilities.
      labels: (N,), in [0, C).
      noise: as it was fitted.
    """
    right, wrong = np.empty((2, len(labels)))
    for rows in iterate_blocks(*averaged.shape):
        softened = soften(averaged[rows], noise.temperature)
        weights = softened * noise.matrix.T[labels[rows]]
        place = np.arange(len(weights))
        right[rows] = weights[place, labels[rows]]
        weights[place, labels[rows]] = 0
        wrong[rows] = weights.sum(axis=1)
    return right, wrong


def estimate_doubt(right: Floats, wrong: Floats) -> Floats:
    """(N,), the probability of each label to be wrong, by Bayes' rule.

    Args:
      right: (N,), how likely each label is as a right one.
      wrong: (N,), how likely it is as a wrong one.
    """
    doubt: Floats = np.divide(wrong, right + wrong, out=np.zeros(len(right)), where=wrong > 0)
    return doubt


def compute_rate_interval(
    right: Floats, wrong: Floats, kept: Floats, groups: Ints | None = None
) -> tuple[float, float]:
    """How many times the fitted rate the rate of mistakes may be: its 95 % interval.

    By the likelihood of all mistakes being so many times as frequent, with the temperature and what
    is taken for what as they were fitted. Where examples belong together it is as wide as sums over
    groups make it.

    Args:
      right: (N,), how likely each label is as a right one.
      wrong: (N,), how likely it is as a wrong one.
      kept: (N,), the probability that what is of the label's class is labelled so.
      groups: (N,), numbers from 0, where some examples belong together.
    """
    kept = kept.clip(min=_SMALLEST)  # Of a class all labels may be wrong.
    own, lost = right / kept, (1 - kept) / kept
    limit = 1 / float((1 - kept).max(initial=_SMALLEST))
    grid = np.concatenate([[0.0], np.geomspace(1e-3, min(limit, 50.0), 400)])
    every = (right + wrong).clip(_SMALLEST)
    scores = (wrong - right * lost) / every
    width = 1.0
    if groups is not None and (scores**2).sum() > 0:
        sums = np.bincount(groups, weights=scores)
        width = max(1.0, float((sums**2).sum() / (scores**2).sum()))
    heights = np.array(
        [np.log((own * (1 - factor * (1 - kept)) + factor * wrong).clip(_SMALLEST)).sum() for factor in grid]
    )
    inside = grid[heights >= heights.max() - width * _CHI_SQUARED_95 / 2]
    return float(inside.min()), float(inside.max())
