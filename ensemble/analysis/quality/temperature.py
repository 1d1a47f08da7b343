"""One number that makes probabilities milder or bolder until they deserve their confidence."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ensemble.analysis.blocks import blocks
from ensemble.analysis.inference.paired import mean_interval
from ensemble.analysis.quality.averaging import Floats, Ints, average, confidence, votes
from ensemble.analysis.quality.calibration import Reliability, reliability
from ensemble.analysis.quality.halves import halves
from ensemble.analysis.quality.scores import TINY, log_loss
from ensemble.analysis.quality.summary import Quality, quality

COLDEST, HOTTEST = 1 / 16, 16.0
FLAT = 1e-12  # nats: less is rounding
FITTED = 1 << 24  # probabilities that a temperature is fitted on, in about a second,
FEWEST = 1_000  # but on no fewer examples than these
TOGETHER = 1 << 18  # of these at a time: more than a cache holds, for sums over long rows
LEAST = 25  # judged examples, below which the interval of what is saved is too short


@dataclass(frozen=True, eq=False)
class Tempered:
    """The ensemble at one temperature, judged on examples that it was not fitted on.

    Attributes:
      temperature: above 1 it was too sure, below 1 not sure enough.
      quality: its figures on the judged ones.
      reliability: its reliability diagram there.
      saved: the NLL that it saves there against temperature 1, in nats; below 0 where it costs.
      saved_low: the lower end of the paired 95 % interval of that.
      saved_high: the upper end.
    """

    temperature: float
    quality: Quality
    reliability: Reliability
    saved: float
    saved_low: float
    saved_high: float

    @property
    def helps(self) -> bool:
        """Whether it saves NLL, and more than chance: said in vain in at most 5 % of draws.

        Never of fewer than LEAST examples. With labels drawn from the probabilities it was said
        in 0 to 3.5 % of draws, with 25 to 5,000 judged and 0 to 1,000 errors.
        """
        return self.quality.n >= LEAST and self.saved_low > FLAT


@dataclass(frozen=True, eq=False)
class Temperatures:
    """The ensemble as it is, and with a temperature before and after its members are averaged.

    Attributes:
      as_it_is: at temperature 1.
      before: all members tempered with the same temperature, then averaged.
      after: averaged, then tempered.
      fitted: on how many examples both temperatures were fitted.
      offered: how many there were to fit on: of more than `FITTED` allows, some are left out.
      judged: on how many others all three are judged.
      halved: whether both are halves of one set, rather than two sets.
    """

    as_it_is: Tempered
    before: Tempered
    after: Tempered
    fitted: int
    offered: int
    judged: int
    halved: bool


def tempered(probabilities: Floats, temperature: float) -> NDArray[np.float64]:
    """Distributions at another temperature: p_c^(1/T) / Σ_k p_k^(1/T).

    The softmax of logits divided by T, for any logits that give these probabilities; a p below
    `scores.TINY` counts as that. Which class is the likeliest stays as it is.

    Args:
      probabilities: (..., C), each row a distribution.
      temperature: T, above 0; 1 changes nothing, more makes them milder.

    Returns:
      (..., C), each row a distribution.

    Raises:
      ValueError: the temperature is not above 0.

    Source: C. Guo and others, "On calibration of modern neural networks", ICML 2017.
    """
    if not temperature > 0:
        raise ValueError(f"A temperature is above 0, not {temperature:g}.")
    found = np.empty(probabilities.shape)
    rows = found.reshape(-1, probabilities.shape[-1])
    rows[:] = probabilities.reshape(rows.shape)
    for part in blocks(len(rows), probabilities.shape[-1]):
        logs = np.log(np.maximum(rows[part], TINY))
        powers = np.exp((logs - logs.max(axis=-1, keepdims=True)) / temperature)
        np.divide(powers, powers.sum(axis=-1, keepdims=True), out=rows[part])
    return found


def fit_temperature(probabilities: Floats, labels: Ints) -> float:
    """The temperature at which the mean negative log-likelihood is least.

    With a member axis all members have the one temperature and the loss is that of their
    average ("before averaging"); hand in the average itself for "after averaging". Looked for
    between 1/16 and 16: one of these is returned where the loss goes on falling beyond it, as it
    does where every answer is right. 1 where temperature makes no difference.

    Args:
      probabilities: (M, N, C) or (N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).

    Returns:
      In [1/16, 16].

    Raises:
      ValueError: there is no example.

    Source: C. Guo and others, ICML 2017; R. Rahaman and A. H. Thiery, "Uncertainty
    quantification and deep ensembles", NeurIPS 2021, and X. Wu and M. Gales, "Should ensemble
    members be calibrated?" (2021), arXiv:2101.05397, on before or after.
    """
    if not len(labels):
        raise ValueError("A temperature is fitted on at least one example.")
    loss = _loss(probabilities, labels)
    # Of one distribution the loss is convex in 1/T, of an average it need not be: look around.
    grid = np.geomspace(1 / HOTTEST, 1 / COLDEST, 9)
    losses = [loss(inverse) for inverse in grid]
    if np.ptp(losses) < FLAT:
        return 1.0
    best = int(np.argmin(losses))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    # The search comes near an end of its bounds, but never reaches it.
    return float(1 / (found.x if found.fun < losses[best] else grid[best]))


def compare(
    probabilities: Floats, labels: Ints, fitting: tuple[Floats, Ints] | None = None
) -> Temperatures:
    """The ensemble as it is, tempered before and tempered after averaging.

    Temperatures are fitted on `fitting` and all three judged on all of the examples; without it
    they are fitted on one half of the examples (`halves`) and judged on the other. With one
    member, before and after are the same.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).
      fitting: what the same members make of other examples, (M, F, C) and (F,), such as a
        validation split: nothing that is judged then had a say in the temperature.

    Raises:
      ValueError: there are fewer than two examples, or none to fit on.
    """
    halved = fitting is None
    if fitting is None:
        first, rest = (np.flatnonzero(half) for half in halves(labels))
        fitting = probabilities, labels
    else:
        first, rest = np.arange(len(fitting[1])), np.arange(len(labels))
    chosen = first[_spread(fitting[1][first], len(probabilities) * probabilities.shape[2])]
    known, known_labels = fitting[0][:, chosen], fitting[1][chosen]
    before = fit_temperature(known, known_labels)
    after = fit_temperature(average(known), known_labels)
    del known
    labels = labels[rest]
    averaged, each = np.empty((2, len(rest), probabilities.shape[2]))
    for rows in blocks(len(rest), probabilities[:, 0].size):
        part = probabilities[:, rest[rows]]
        averaged[rows] = average(part)
        each[rows] = average(tempered(part, before))
    loss = log_loss(averaged, labels)
    return Temperatures(
        as_it_is=_judge(1.0, averaged, labels, loss),
        before=_judge(before, each, labels, loss),
        after=_judge(after, tempered(averaged, after), labels, loss),
        fitted=len(chosen),
        offered=len(first),
        judged=len(labels),
        halved=halved,
    )


def _spread(labels: Ints, numbers: int) -> NDArray[np.int64]:
    """Which of the examples to fit on: all, or as many as are quick, of each class alike.

    Args:
      labels: (N,).
      numbers: how many probabilities there are of each example, M times C.
    """
    kept = min(len(labels), max(FEWEST, FITTED // numbers))
    every = np.linspace(0, len(labels) - 1, kept).round().astype(np.int64)
    return np.sort(np.argsort(labels, kind="stable")[every])


def _judge(
    temperature: float, probabilities: NDArray[np.float64], labels: Ints, as_it_is: Floats
) -> Tempered:
    """One temperature on examples whose losses (N,) are known as they are without it."""
    right = votes(probabilities) == labels
    found = reliability(confidence(probabilities), right)
    saved = as_it_is - log_loss(probabilities, labels)
    low, high = mean_interval(saved)
    return Tempered(
        temperature, quality(probabilities, labels), found, float(saved.mean()), low, high
    )


def _loss(probabilities: Floats, labels: Ints) -> Callable[[float], float]:
    """The mean loss of the average as a function of 1/T; the logarithms are taken once."""
    members = probabilities.reshape(-1, *probabilities.shape[-2:])
    M, N, C = members.shape
    label, sums, parts = np.empty((N, M)).T, np.empty((M, N)), []
    for rows in blocks(N, M * C, TOGETHER):
        # Classes first: sums over a short last axis are several times slower.
        part = np.moveaxis(members[:, rows], -1, 0).astype(np.float64, order="C")
        logs = np.log(np.maximum(part, TINY, out=part), out=part)
        logs -= logs.max(axis=0)
        label[:, rows] = logs[labels[rows], :, np.arange(logs.shape[2])].T
        parts.append((rows, logs))

    def at(inverse: float) -> float:
        for rows, logs in parts:
            powers = logs * inverse
            sums[:, rows] = np.exp(powers, out=powers).sum(axis=0)
        own = label * inverse - np.log(sums)  # (M, N), ln p_label
        top = own.max(axis=0)
        return float(np.log(len(own)) - (top + np.log(np.exp(own - top).sum(axis=0))).mean())

    return at
