"""The accuracy on images without labels: three estimates, a range, and how far to trust them."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import effective_examples, select_groups
from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Floats, Ints, prediction_confidence
from ensemble.analysis.quality.calibration_test import CalibrationTest, calibration_test
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.temperature_scaling import (
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    apply_temperature,
    fit_temperature,
    select_fitting_examples,
)
from ensemble.analysis.unlabelled.distribution_test import DistributionTest, compare_distributions
from ensemble.analysis.unlabelled.output_measures import OutputMeasures, measure_outputs

ESTIMATORS = ("agreement", "confidence", "threshold")
MIN_IMAGES = 30  # images, labelled or new, below which nothing is said
DRAWS = 1_000  # of which the intervals are quantiles
_DRAW_NUMBERS = 1 << 22  # numbers that are drawn at once: 32 MB
_INTERVAL_LEVEL = 0.95
# Change of accuracy, by any estimate, beyond which a range of lower trust has no lower end. On
# corrupted digits the accuracy falls by more than twice the estimated change from about 0.13 on.
MAX_CHANGE = 0.1
_NO_UPPER_END = 0.9995  # which would be shown as 100.0 %

Trust = Literal["checked", "lower", "none"]


@dataclass(frozen=True)
class EstimatedShare:
    """An estimated share of right answers.

    Attributes:
      value: the share, in [0, 1].
      low: the lower end of the 95 % interval of the share that is right of these images.
      high: its upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class AccuracyFit:
    """What the estimators take from F labelled images; made by `fit_accuracy`.

    Attributes:
      measures: what the members say of them.
      right: (F,), where the ensemble is.
      member_errors: (F,), the share of members that are wrong.
      groups: (F,), which of them belong together; None where all are independent.
      temperature: of the averaged probabilities: where NLL is least, 1 where it falls for ever.
      tempered: (F,), the confidence at that temperature.
      certainty: (F,), the negative entropy at that temperature, in nats.
      threshold: the certainty that as large a share of them reaches as is right.
      errors_per_disagreement: the ensemble's errors in multiples of the pairwise disagreement; None
        where no members disagree.
      member_errors_per_disagreement: a member's, on average: 1 where generalization disagreement
        equality holds; None likewise.
      calibration: whether confidence at a temperature that was fitted on the other half of them
        differs from accuracy.
    """

    measures: OutputMeasures
    right: NDArray[np.bool_]
    member_errors: Floats
    groups: Ints | None
    temperature: float
    tempered: Floats
    certainty: Floats
    threshold: float
    errors_per_disagreement: float | None
    member_errors_per_disagreement: float | None
    calibration: CalibrationTest
    _errors: dict[int, dict[str, NDArray[np.float64]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def n(self) -> int:
        """F."""
        return len(self.right)

    def recall_estimate_errors(self, n: int) -> dict[str, NDArray[np.float64]]:
        """`_draw_estimate_errors` for n new images, drawn once: they depend on no image of these."""
        if n not in self._errors:
            self._errors[n] = _draw_estimate_errors(self, n)
        return self._errors[n]

    @property
    def accuracy(self) -> float:
        """The share of them that is right."""
        return float(self.right.mean())

    @property
    def disagreement(self) -> float:
        """The mean share of pairs of members that vote for different classes."""
        return float(self.measures.disagreement.mean())

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether no difference between confidence and accuracy is shown."""
        return self.calibration.verdict == "none"


@dataclass(frozen=True, eq=False)
class AccuracyEstimate:
    """The accuracy of an ensemble on N images without labels, and how far to trust it.

    Attributes:
      n: N.
      labelled: F, how many labelled images it is fitted on; 0 where they are too few.
      estimates: by `ESTIMATORS`: of members' agreement none where no two disagree on the labelled
        images. Empty where there are too few images.
      member: the accuracy of a member on average, by the members' agreement; None likewise.
      disagreement: the mean pairwise disagreement on the N; NaN where there are too few.
      likeness: whether the members say of these images what they say of the labelled ones; None
        where there are too few.
      refusals: why it cannot be told: "few_labelled", "few_new", "calibration", "unlike".
      range: (low, high), the span of the estimates' intervals if both checks pass; if one fails,
        `widen_range`, or None if that is 0 to 100 %; None if there are too few images.
    """

    n: int
    labelled: int
    estimates: dict[str, EstimatedShare]
    member: EstimatedShare | None
    disagreement: float
    likeness: DistributionTest | None
    refusals: tuple[str, ...]
    range: tuple[float, float] | None = None

    @property
    def can_be_told(self) -> bool:
        """Whether all checks are passed, so that the estimates may be shown."""
        return not self.refusals

    @property
    def trust(self) -> Trust:
        """Trust in `range`: "checked" if both checks pass, "lower" if one fails, "none" of None."""
        return "none" if self.range is None else "lower" if self.refusals else "checked"


def fit_accuracy(predictions: EnsemblePredictions) -> AccuracyFit:
    """What labelled images, from which nothing was learnt, say of how certainty becomes accuracy.

    The temperature is fitted after averaging. The threshold is ATC's on the negative entropy at
    that temperature: as many labelled images reach it as are right. Of members' agreement the
    ensemble's errors are so many times the disagreement as on the labelled images.

    Args:
      predictions: of F labelled images, at least two.

    Raises:
      ValueError: there are fewer than two images.

    Source: Y. Jiang, V. Nagarajan, C. Baek and J. Z. Kolter, "Assessing generalization of SGD via
    disagreement", ICLR 2022; S. Garg, S. Balakrishnan, Z. C. Lipton, B. Neyshabur and H. Sedghi,
    "Leveraging unlabeled data to predict out-of-distribution performance", ICLR 2022 (ATC); C. Guo
    and others, "On calibration of modern neural networks", ICML 2017.
    """
    labels, groups = predictions.labels, predictions.groups
    measures = measure_outputs(predictions.probabilities)
    right = predictions.right
    member_errors = (predictions.votes != labels).mean(axis=0)
    temperature = _fit_bounded_temperature(measures.averaged, labels)
    tempered, certainty = _temper_outputs(measures.averaged, temperature)
    hits = int(right.sum())
    threshold = float(np.sort(certainty)[-hits]) if hits else math.inf
    differ = float(measures.disagreement.mean())
    return AccuracyFit(
        measures=measures,
        right=right,
        member_errors=member_errors,
        groups=groups,
        temperature=temperature,
        tempered=tempered,
        certainty=certainty,
        threshold=threshold,
        errors_per_disagreement=float((~right).mean()) / differ if differ else None,
        member_errors_per_disagreement=float(member_errors.mean()) / differ if differ else None,
        calibration=calibration_test(_cross_fit_confidence(measures.averaged, labels, groups), right, groups=groups),
    )


def fit_half_accuracy(predictions: EnsemblePredictions) -> tuple[AccuracyFit, NDArray[np.bool_]]:
    """The fit of every other image of each class, and (N,) where the images are that it left out.

    Raises:
      ValueError: there are fewer than four images.
    """
    if len(predictions.labels) < 4:
        raise ValueError("A half to fit on needs at least two examples.")
    fitted, rest = split_halves(predictions.labels, predictions.groups)
    half = evaluate_predictions(
        predictions.probabilities[:, fitted], predictions.labels[fitted], select_groups(predictions.groups, fitted)
    )
    return fit_accuracy(half), rest


def estimate_accuracy(fit: AccuracyFit, new: OutputMeasures) -> AccuracyEstimate:
    """Estimate the ensemble's accuracy on new images in three ways, with a range and the checks.

    Every interval is of the share that is right of these very images, if they are drawn like the
    labelled ones: `_draw_estimate_errors` says how. If a check fails, the range is `widen_range`.

    Args:
      fit: of labelled images.
      new: what the same members say of N others.

    Source: A. Kirsch and Y. Gal, "A note on 'Assessing generalization of SGD via disagreement'",
    TMLR 2022, on why such estimates cannot be trusted if calibration fails or cannot be checked.
    """
    refusals = []
    if fit.n < MIN_IMAGES:
        refusals.append("few_labelled")
    if new.n < MIN_IMAGES:
        refusals.append("few_new")
    if refusals:
        return AccuracyEstimate(
            n=new.n,
            labelled=fit.n,
            estimates={},
            member=None,
            disagreement=math.nan,
            likeness=None,
            refusals=tuple(refusals),
        )
    likeness = compare_distributions(fit.measures, new, fit.groups)
    refusals += [] if fit.is_calibrated else ["calibration"]
    refusals += ["unlike"] if likeness.is_unlike else []
    tempered, certainty = _temper_outputs(new.averaged, fit.temperature)
    differ = float(new.disagreement.mean())
    values = {"confidence": float(tempered.mean())}
    values["threshold"] = float((certainty >= fit.threshold).mean())
    if fit.errors_per_disagreement is not None and fit.member_errors_per_disagreement is not None:
        values["agreement"] = 1 - fit.errors_per_disagreement * differ
        values["member"] = 1 - fit.member_errors_per_disagreement * differ
    errors = fit.recall_estimate_errors(new.n)
    shares = {name: _build_estimated_share(value, errors[name]) for name, value in values.items()}
    estimates = {name: shares[name] for name in ESTIMATORS if name in shares}
    span = (
        widen_range(estimates.values(), fit.accuracy)
        if refusals
        else (min(share.low for share in estimates.values()), max(share.high for share in estimates.values()))
    )
    return AccuracyEstimate(
        n=new.n,
        labelled=fit.n,
        estimates=estimates,
        member=shares.get("member"),
        disagreement=differ,
        likeness=likeness,
        refusals=tuple(refusals),
        range=None if refusals and span[0] <= 0 and span[1] >= _NO_UPPER_END else span,
    )


def widen_range(shares: Collection[EstimatedShare], accuracy: float) -> tuple[float, float]:
    """Return the (low, high) of a range of lower trust, for images that a check speaks against.

    Under a shift the estimates may be far off in either direction. Each interval is widened at both
    ends by its estimate's change from the labeled images, so that the range extends from no change
    to twice the change. If an estimate changes by more than `MAX_CHANGE`, the range begins at 0.

    Args:
      shares: the estimates, at least one.
      accuracy: of the labeled images, in [0, 1].
    """
    changes = [abs(share.value - accuracy) for share in shares]
    low = min(share.low - change for share, change in zip(shares, changes, strict=True))
    high = max(share.high + change for share, change in zip(shares, changes, strict=True))
    return 0.0 if max(changes) > MAX_CHANGE else max(0.0, low), min(1.0, high)


def _draw_estimate_errors(
    fit: AccuracyFit, n: int, draws: int = DRAWS, seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """By how much estimates fall short of the accuracy on n new images, in draws of both.

    Each draw is of a population that the labelled images may come from, and of n images of that.
    The population's error rate is drawn from Jeffreys' posterior, Beta(k + ½, F − k + ½) of k
    errors in F; how often each labelled image occurs among the right and among the wrong, from the
    Bayesian bootstrap (each group of images as one). Where none is wrong, those that would be are
    drawn by what the ensemble thinks of each. So the labelled images that the estimators are fitted
    on and the new ones are both as uncertain as they are, and without any error seen it still says
    that some may come.

    Args:
      fit: of F labelled images.
      n: N, at least 1.
      draws: how many.
      seed: of the draws.

    Returns:
      By estimator, "member" among them: (draws,), accuracy less estimate.

    Source: D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981), 130-134; L. D.
    Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion", Statistical
    Science 16 (2001), 101-133 (Jeffreys' prior).
    """
    random = np.random.default_rng(seed)
    F = fit.n
    rows, is_right, prior = _list_drawn_rows(fit)
    figures = _collect_short_falls(fit, rows, is_right)
    worth = float(F) if fit.groups is None else effective_examples(fit.right, fit.groups)
    wrong = (1 - fit.accuracy) * worth
    rates = random.beta(wrong + 0.5, worth - wrong + 0.5, size=draws)
    found = np.empty((draws, len(figures)))
    step = max(1, _DRAW_NUMBERS // len(rows))
    values = np.stack(list(figures.values()), axis=1)
    groups = np.arange(F) if fit.groups is None else fit.groups
    for start in range(0, draws, step):
        some = rates[start : start + step, None]
        often = random.standard_exponential((len(some), int(groups.max()) + 1))
        weights = often[:, groups[rows]] * prior
        for part, share in ((is_right, 1 - some), (~is_right, some)):
            weights[:, part] *= share / weights[:, part].sum(axis=1, keepdims=True)
        weights /= weights.sum(axis=1, keepdims=True)
        found[start : start + step] = random.multinomial(n, weights) @ values / n
    return dict(zip(figures, found.T, strict=True))


def _temper_outputs(averaged: Floats, temperature: float) -> tuple[Floats, Floats]:
    """Confidence (N,) and negative entropy (N,), in nats, of distributions at a temperature."""
    distributions = apply_temperature(averaged, temperature)
    return prediction_confidence(distributions), -entropy(distributions)


def _fit_bounded_temperature(averaged: Floats, labels: Ints) -> float:
    """The temperature where NLL is least; 1 where it would go on falling beyond all bounds."""
    chosen = select_fitting_examples(labels, averaged.shape[1])
    temperature = fit_temperature(averaged[chosen], labels[chosen])
    return temperature if MIN_TEMPERATURE < temperature < MAX_TEMPERATURE else 1.0


def _cross_fit_confidence(averaged: Floats, labels: Ints, groups: Ints | None) -> Floats:
    """(F,), the confidence of each at the temperature that the half without it has."""
    confidence = np.empty(len(labels))
    first, second = split_halves(labels, groups)
    for judged, fitted in ((first, second), (second, first)):
        if not judged.any():
            continue
        source = fitted if fitted.any() else judged
        temperature = _fit_bounded_temperature(averaged[source], labels[source])
        confidence[judged] = _temper_outputs(averaged[judged], temperature)[0]
    return confidence


def _list_drawn_rows(fit: AccuracyFit) -> tuple[NDArray[np.int64], NDArray[np.bool_], Floats]:
    """Labelled images to draw from (R,), whether each counts as right (R,), and how often (R,).

    Where all are right, or none, the other kind is each image once more, as often as it is thought.
    """
    rows, is_right, often = np.arange(fit.n), fit.right, np.ones(fit.n)
    if 0 < fit.right.sum() < fit.n:
        return rows, is_right, often
    thought = 1 - fit.tempered if fit.right.all() else fit.tempered
    thought = thought + np.finfo(np.float64).tiny  # Where all are certain, all alike.
    return (
        np.concatenate([rows, rows]),
        np.concatenate([is_right, ~is_right]),
        np.concatenate([often, thought / thought.max()]),
    )


def _collect_short_falls(fit: AccuracyFit, rows: NDArray[np.int64], is_right: NDArray[np.bool_]) -> dict[str, Floats]:
    """By estimator (R,): whether an image is right, less what it adds to the estimate."""
    found: dict[str, Floats] = {
        "confidence": is_right - fit.tempered[rows],
        "threshold": is_right - (fit.certainty[rows] >= fit.threshold).astype(np.float64),
    }
    if fit.errors_per_disagreement is not None and fit.member_errors_per_disagreement is not None:
        differ = fit.measures.disagreement[rows]
        found["agreement"] = is_right - (1 - fit.errors_per_disagreement * differ)
        # An image that counts as the other kind is so for every member.
        errors = np.where(is_right == fit.right[rows], fit.member_errors[rows], ~is_right)
        found["member"] = (1 - errors) - (1 - fit.member_errors_per_disagreement * differ)
    return found


def _build_estimated_share(value: float, errors: NDArray[np.float64]) -> EstimatedShare:
    """The estimate within [0, 1], with the interval that its errors leave; it lies within."""
    tail = 100 * (1 - _INTERVAL_LEVEL) / 2
    low, high = value + np.percentile(errors, [tail, 100 - tail])
    value = min(1.0, max(0.0, value))
    return EstimatedShare(value, min(value, max(0.0, float(low))), max(value, min(1.0, float(high))))
