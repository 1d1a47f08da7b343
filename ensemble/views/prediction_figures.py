"""The figures of Inspect as functions of predictions, which notebooks call by `ensemble.figures`.

Pages draw with the same functions of the views. What is fitted (a threshold, weights, conformal sets) is fitted on one
half of the examples and judged on the other, unless `fit` has the same members' predictions of other examples.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.members.committees import COMMITTEE_METRICS
from ensemble.analysis.members.committees import evaluate_committees as judge_committees
from ensemble.analysis.members.diversity import nll_decomposition as parts_of_loss
from ensemble.analysis.members.sufficient_size import DEFAULT_MARGINS, find_sufficient_size
from ensemble.analysis.named_predictions import NamedPredictions as Named
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import MISS_RATE, evaluate_ensemble_sets
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE
from ensemble.analysis.quality.selective import ERROR_RATE
from ensemble.errors import ConfigError
from ensemble.figures.palette import LIGHT, Palette
from ensemble.views import calibration as calibration_figure
from ensemble.views import conformal as conformal_figure
from ensemble.views import conformal as conformal_sets
from ensemble.views import confusion as confusion_figure
from ensemble.views import how_many_members as committee_figure
from ensemble.views import run_comparison as compare_figure
from ensemble.views import selective as selective_figure
from ensemble.views import uncertainty as uncertainty_figure
from ensemble.views.members import agreement as pairs_figure
from ensemble.views.members import combining as combining_figure
from ensemble.views.members import diversity as decomposition_figure
from ensemble.views.members.agreement import MEASURES, compute_pairwise_matrix

if TYPE_CHECKING:
    import plotly.graph_objects as go


def calibration(predictions: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, with the count of each bin below.

    Args:
      palette: `LIGHT`, or `DARK` for a dark page.
    """
    whole, members = calibration_figure.compute_reliability_diagrams(predictions)
    title = _format_figure_title("Reliability", predictions)
    return calibration_figure.plot_reliability_diagram(whole, members, predictions.noun, title, palette)


def confusion(predictions: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The confusion matrix: rows are what an example is, columns what the ensemble says."""
    counts = confusion_figure.compute_confusion_matrix(predictions)
    title = _format_figure_title("Confusion matrix", predictions)
    return confusion_figure.plot_confusion_matrix(
        counts, None, names=predictions.class_names, noun=predictions.noun, title=title, palette=palette
    )


def uncertainty(predictions: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """Each example by its aleatoric and its epistemic uncertainty, in nats.

    Of many examples the surest that are right are thinned out.

    Raises:
      ConfigError: there is one member, which has nobody to disagree with.
    """
    check_two_members(predictions)
    measures = compute_measures(predictions, uncertainty_figure.UNCERTAINTY_PARTS)
    return uncertainty_figure.plot_uncertainty_scatter(
        predictions,
        measures,
        drawn=uncertainty_figure.select_drawn_images(predictions, measures),
        names=predictions.class_names,
        noun=predictions.noun,
        title=_format_figure_title("Uncertainty", predictions),
        palette=palette,
    )


def agreement(predictions: Named, measure: str = "disagreement", *, palette: Palette = LIGHT) -> "go.Figure":
    """How far every two members differ, as a heat map.

    Args:
      measure: "disagreement", "kl", "q" or "double_fault".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such measure, or there is one member.
    """
    check_allowed_value("measure", measure, tuple(MEASURES))
    check_two_members(predictions)
    pairwise_measure = MEASURES[measure]
    return pairs_figure.plot_pairwise_heatmap(
        pairwise_measure,
        compute_pairwise_matrix(predictions, measure),
        n=len(predictions.labels),
        noun=predictions.noun,
        title=_format_figure_title(pairwise_measure.title, predictions),
        palette=palette,
    )


def committee(predictions: Named, figure: str = "accuracy", *, palette: Palette = LIGHT) -> "go.Figure":
    """A figure over the number of members whose probabilities are averaged, and who is enough.

    Above 12 members committees are drawn by chance; of 64 it takes a few seconds.

    Args:
      figure: "accuracy", "nll", "brier" or "ece".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such figure, or there is one member.
    """
    check_allowed_value("figure", figure, COMMITTEE_METRICS)
    check_two_members(predictions)
    judged = judge_committees(predictions.probabilities, predictions.labels)
    sufficient_size = find_sufficient_size(judged, figure) if figure in DEFAULT_MARGINS else None
    title = _format_figure_title(f"{committee_figure.METRIC_NAMES[figure]} over the committee's size", predictions)
    return committee_figure.plot_committee_curve(judged, figure, sufficient_size, title, palette)


def combining(
    predictions: Named, figure: str = "accuracy", *, fit: Named | None = None, palette: Palette = LIGHT
) -> "go.Figure":
    """Four ways to make one answer of the members', side by side, and the fitted weights.

    Args:
      figure: "accuracy", "nll", "brier" or "ece".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such figure, one member, or too few examples to halve.
    """
    check_allowed_value("figure", figure, COMMITTEE_METRICS)
    check_two_members(predictions)
    check_enough_to_halve(predictions, fit)
    combined, members = combining_figure.compare_rules_and_members(predictions, fit)
    title = _format_figure_title(f"Ways of combining, {committee_figure.METRIC_NAMES[figure]}", predictions)
    return combining_figure.plot_combinations(combined, members, figure, title, palette)


def selective(
    predictions: Named, rate: float = ERROR_RATE, *, fit: Named | None = None, palette: Palette = LIGHT
) -> "go.Figure":
    """Risk by coverage: the share that is wrong over the share that is answered, surest first.

    Args:
      rate: the share of wrong answers that you accept, in [0, 1].
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: the rate is out of its range, or there are too few examples to halve.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"rate is {rate:g}: it has to be a share from 0 to 1.")
    check_enough_to_halve(predictions, fit)
    whole, members = selective_figure.compute_risk_coverage_curves(predictions)
    error_threshold = selective_figure.choose_error_thresholds(predictions, rate, fit)[0]
    title = _format_figure_title("Risk by coverage", predictions)
    return selective_figure.plot_risk_coverage(
        whole, members, rate=rate, threshold=error_threshold, title=title, palette=palette
    )


def conformal(
    predictions: Named,
    rate: float = MISS_RATE,
    method: str = METHODS[0],
    *,
    fit: Named | None = None,
    palette: Palette = LIGHT,
) -> "go.Figure":
    """Conformal sets: how large they are, and how many of each size hold what the example is.

    Args:
      rate: the share of sets that may miss, in (0, 1).
      method: "aps", "raps" or "lac".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: the rate or the method is out of its range, or there are too few examples.
    """
    if not 0 < rate < 1:
        raise ConfigError(f"rate is {rate:g}: it has to be a share between 0 and 1.")
    check_allowed_value("method", method, METHODS)
    check_enough_to_halve(predictions, fit)
    _, evaluation = evaluate_ensemble_sets(predictions, rate, method, fit)
    title = _format_figure_title(f"Conformal sets at {conformal_sets.format_set_level(rate)}", predictions)
    return conformal_figure.plot_set_sizes(evaluation, predictions.noun, title, palette)


def compare(predictions: Named, other_predictions: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """What only `predictions` gets right up, only `other_predictions` down, class by class.

    Raises:
      ConfigError: the two are not of the same examples.
    """
    if (
        predictions.labels.shape != other_predictions.labels.shape
        or (predictions.labels != other_predictions.labels).any()
    ):
        raise ConfigError("The two are of different examples: only the same can be compared.")
    won, lost = compare_figure.find_won_and_lost(predictions, other_predictions)
    counts = compare_figure.count_wins_by_class(predictions.labels, won, lost, len(predictions.class_names))
    title = _format_figure_title("Won and lost", predictions)
    if predictions.source and other_predictions.source:
        title += f", against {other_predictions.source}"
    return compare_figure.plot_wins_by_class(counts, predictions.class_names, predictions.noun, title, palette)


def decomposition(epochs: Mapping[int, Named], *, palette: Palette = LIGHT) -> "go.Figure":
    """What averaging saves, epoch by epoch: the average member's NLL, the ensemble's, in nats.

    Args:
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no epoch, or there is one member.
    """
    if not epochs:
        raise ConfigError("There is no epoch: give a dictionary of predictions by their epoch.")
    for predictions in epochs.values():
        check_two_members(predictions)
    parts_by_epoch = {e: parts_of_loss(epochs[e].probabilities, epochs[e].labels) for e in sorted(epochs)}
    last = max(epochs)
    return decomposition_figure.plot_loss_decomposition(
        parts_by_epoch, last, _format_figure_title("Diversity", epochs[last]), palette
    )


def _format_figure_title(words: str, predictions: Named) -> str:
    """A figure's title: what it shows, and whose it is where that is known."""
    return f"{words} · {predictions.source}" if predictions.source else words


def check_allowed_value(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of those there are, with a ConfigError that lists them."""
    if value not in choices:
        raise ConfigError(f"{name} is {value!r:.60}: it has to be one of {', '.join(choices)}.")


def check_two_members(predictions: Named) -> None:
    """Refuse a single member, which has nobody to be held against, with a ConfigError."""
    if predictions.members == 1:
        raise ConfigError("With one member there is nothing to compare: this takes two or more.")


def check_enough_to_halve(predictions: Named, fit: Named | None) -> None:
    """Refuse so few examples that one half says nothing of the other, with a ConfigError."""
    if fit is None and len(predictions.labels) < MIN_EXAMPLES_TO_HALVE:
        raise ConfigError(
            f"{len(predictions.labels):,} examples are too few to fit on one half and judge on the "
            f"other: it takes {MIN_EXAMPLES_TO_HALVE}, or predictions to fit on as `fit`."
        )
