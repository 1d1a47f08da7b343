"""One number that makes probabilities milder or bolder until they deserve their confidence."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ensemble.analysis.blocks import SUM_BLOCK_SIZE, iterate_blocks
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll, saved_nll_interval
from ensemble.analysis.quality.averaging import (
    Floats,
    Ints,
    average_probabilities,
    most_likely_classes,
    prediction_confidence,
)
from ensemble.analysis.quality.calibration import ReliabilityBins, reliability_bins
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY, log_loss
from ensemble.analysis.quality.quality import Quality, measure_quality

MIN_TEMPERATURE, MAX_TEMPERATURE = 1 / 16, 16.0
_MIN_NLL_DIFFERENCE = 1e-12  # nats: less is rounding
MAX_FITTED_PROBABILITIES = 1 << 24  # probabilities that a temperature is fitted on, in about a second,
_MAX_FITTED_MEMBERS = 64
_MIN_FITTED_EXAMPLES = 1_000  # but on no fewer examples than these
_BLOCK_PROBABILITIES = 1 << 18  # of these at a time: more than a cache holds, for sums over long rows
MIN_JUDGED_EXAMPLES = 25  # judged examples, below which the interval of what is saved is too short


@dataclass(frozen=True, eq=False)
class TemperatureResult:
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
    reliability: ReliabilityBins
    saved: float
    saved_low: float
    saved_high: float

    @property
    def improves_nll(self) -> bool:
        """Whether it saves NLL, and more than chance: said in vain in at most 5 % of draws.

        Never with fewer than `MIN_JUDGED_EXAMPLES` examples. With labels drawn from the probabilities it was said
        in 0 to 3.5 % of draws, with 25 to 5,000 judged and 0 to 1,000 errors.
        """
        return self.quality.n >= MIN_JUDGED_EXAMPLES and self.saved_low > _MIN_NLL_DIFFERENCE


@dataclass(frozen=True, eq=False)
class TemperatureComparison:
    """The ensemble as it is, and with a temperature before and after its members are averaged.

    Attributes:
      unscaled: at temperature 1.
      scaled_members: all members tempered with the same temperature, then averaged.
      scaled_average: averaged, then tempered.
      fitted: on how many examples both temperatures were fitted.
      offered: how many there were to fit on: of more than `MAX_FITTED_PROBABILITIES` allows, some
        are left out.
      judged: on how many others all three are judged.
      halved: whether both are halves of one set, rather than two sets.
    """

    unscaled: TemperatureResult
    scaled_members: TemperatureResult
    scaled_average: TemperatureResult
    fitted: int
    offered: int
    judged: int
    halved: bool


def apply_temperature(probabilities: Floats, temperature: float) -> NDArray[np.float64]:
    """Distributions at another temperature: p_c^(1/T) / Σ_k p_k^(1/T).

    The softmax of logits divided by T, for any logits that give these probabilities; a p below
    `MIN_PROBABILITY` counts as that. Which class is the likeliest stays as it is.

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
    distributions = np.empty(probabilities.shape)
    rows = distributions.reshape(-1, probabilities.shape[-1])
    rows[:] = probabilities.reshape(rows.shape)
    for part in iterate_blocks(len(rows), probabilities.shape[-1]):
        logs = np.log(np.maximum(rows[part], MIN_PROBABILITY))
        powers = np.exp((logs - logs.max(axis=-1, keepdims=True)) / temperature)
        np.divide(powers, powers.sum(axis=-1, keepdims=True), out=rows[part])
    return distributions


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
    loss = _build_temperature_loss(probabilities, labels)
    # Of one distribution the loss is convex in 1/T, of an average it need not be: look around.
    grid = np.geomspace(1 / MAX_TEMPERATURE, 1 / MIN_TEMPERATURE, 9)
    losses = [loss(inverse) for inverse in grid]
    if np.ptp(losses) < _MIN_NLL_DIFFERENCE:
        return 1.0
    best = int(np.argmin(losses))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    minimum = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    # The search comes near an end of its bounds, but never reaches it.
    return float(1 / (minimum.x if minimum.fun < losses[best] else grid[best]))


def _choose_member_step(members: int) -> int:
    return -(-members // _MAX_FITTED_MEMBERS)


def count_fitted_members(members: int) -> int:
    """Return how many of M members the temperature before averaging is fitted on, at most 64."""
    return len(range(0, members, _choose_member_step(members)))


def compare_fitted_temperatures(
    probabilities: Floats, labels: Ints, fitting: tuple[Floats, Ints] | None = None, groups: Ints | None = None
) -> TemperatureComparison:
    """The ensemble as it is, tempered before and tempered after averaging.

    Temperatures are fitted on `fitting` and all three judged on all of the examples; without it
    they are fitted on one half of the examples (`split_halves`) and judged on the other. With one
    member, before and after are the same. The one before averaging is fitted on at most 64 members, evenly chosen.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).
      fitting: what the same members make of other examples, (M, F, C) and (F,), such as a
        validation split: nothing that is judged then had a say in the temperature.
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: there are fewer than two examples, or none to fit on.
    """
    halved = fitting is None
    if fitting is None:
        first, rest = (np.flatnonzero(half) for half in split_halves(labels, groups))
        fitting = probabilities, labels
    else:
        first, rest = np.arange(len(fitting[1])), np.arange(len(labels))
    chosen = first[select_fitting_examples(fitting[1][first], len(probabilities) * probabilities.shape[2])]
    fit_probabilities, known_labels = fitting[0][:, chosen], fitting[1][chosen]
    before = fit_temperature(fit_probabilities[:: _choose_member_step(len(probabilities))], known_labels)
    after = fit_temperature(average_probabilities(fit_probabilities), known_labels)
    del fit_probabilities
    labels, groups = labels[rest], select_groups(groups, rest)
    averaged, each = np.empty((2, len(rest), probabilities.shape[2]))
    for rows in iterate_blocks(len(rest), probabilities[:, 0].size, SUM_BLOCK_SIZE):
        part = probabilities[:, rest[rows]]
        averaged[rows] = average_probabilities(part)
        each[rows] = average_probabilities(apply_temperature(part, before))
    loss, mistake_nll = log_loss(averaged, labels), estimate_mistake_nll(averaged)
    return TemperatureComparison(
        unscaled=_evaluate_temperature(
            1.0, averaged, labels=labels, as_it_is=loss, mistake_nll=mistake_nll, groups=groups
        ),
        scaled_members=_evaluate_temperature(
            before, each, labels=labels, as_it_is=loss, mistake_nll=mistake_nll, groups=groups
        ),
        scaled_average=_evaluate_temperature(
            after,
            apply_temperature(averaged, after),
            labels=labels,
            as_it_is=loss,
            mistake_nll=mistake_nll,
            groups=groups,
        ),
        fitted=len(chosen),
        offered=len(first),
        judged=len(labels),
        halved=halved,
    )


def select_fitting_examples(labels: Ints, probability_count: int) -> NDArray[np.int64]:
    """Which of the examples to fit on: all, or as many as are quick, of each class alike.

    Args:
      labels: (N,).
      probability_count: how many probabilities there are of each example, M times C.
    """
    kept = min(len(labels), max(_MIN_FITTED_EXAMPLES, MAX_FITTED_PROBABILITIES // probability_count))
    every = np.linspace(0, len(labels) - 1, kept).round().astype(np.int64)
    return np.sort(np.argsort(labels, kind="stable")[every])


def _evaluate_temperature(
    temperature: float,
    probabilities: NDArray[np.float64],
    labels: Ints,
    as_it_is: Floats,
    mistake_nll: float,
    groups: Ints | None,
) -> TemperatureResult:
    """One temperature on examples whose losses (N,) are known as they are without it.

    `mistake_nll` is what a mistake costs without it.
    """
    right = most_likely_classes(probabilities) == labels
    reliability = reliability_bins(prediction_confidence(probabilities), right)
    saved = as_it_is - log_loss(probabilities, labels)
    extra = estimate_mistake_nll(probabilities) - mistake_nll
    low, high = saved_nll_interval(saved, extra, groups)
    return TemperatureResult(
        temperature=temperature,
        quality=measure_quality(probabilities, labels, groups),
        reliability=reliability,
        saved=float(saved.mean()),
        saved_low=low,
        saved_high=high,
    )


def _build_temperature_loss(probabilities: Floats, labels: Ints) -> Callable[[float], float]:
    """The mean loss of the average as a function of 1/T; the logarithms are taken once."""
    members = probabilities.reshape(-1, *probabilities.shape[-2:])
    M, N, C = members.shape
    label, sums, parts = np.empty((N, M)).T, np.empty((M, N)), []
    for rows in iterate_blocks(N, M * C, _BLOCK_PROBABILITIES):
        # Classes first: sums over a short last axis are several times slower.
        part = np.moveaxis(members[:, rows], -1, 0).astype(np.float64, order="C")
        logs = np.log(np.maximum(part, MIN_PROBABILITY, out=part), out=part)
        logs -= logs.max(axis=0)
        label[:, rows] = logs[labels[rows], :, np.arange(logs.shape[2])].T
        parts.append((rows, logs))

    def loss_at(inverse: float) -> float:
        for rows, logs in parts:
            powers = logs * inverse
            sums[:, rows] = np.exp(powers, out=powers).sum(axis=0)
        own = label * inverse - np.log(sums)  # (M, N), ln p_label
        top = own.max(axis=0)
        return float(np.log(len(own)) - (top + np.log(np.exp(own - top).sum(axis=0))).mean())

    return loss_at
