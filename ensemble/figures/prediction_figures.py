"""The figures of Inspect in one line each: predictions in, a Plotly figure out.

The pages draw with the same functions, one floor of detail below: `ensemble.figures.inspect`. What
is fitted (a threshold, weights, conformal sets) is fitted on one half of the examples and judged on
the other, unless `fit` has the same members' predictions of other examples.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ensemble.analysis.members.committees import COMMITTEE_METRICS
from ensemble.analysis.members.committees import evaluate_committees as judge_committees
from ensemble.analysis.members.diversity import nll_decomposition as parts_of_loss
from ensemble.analysis.members.sufficient_size import DEFAULT_MARGINS, find_sufficient_size
from ensemble.analysis.members.uncertainty import measure_uncertainty as measures_of
from ensemble.analysis.named_predictions import NamedPredictions as Named
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import MISS_RATE, evaluate_conformal_sets
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE
from ensemble.analysis.quality.selective import ERROR_RATE
from ensemble.errors import ConfigError
from ensemble.figures.inspect import calibration as calibration_figure
from ensemble.figures.inspect import combining as combining_figure
from ensemble.figures.inspect import committee as committee_figure
from ensemble.figures.inspect import conformal as conformal_figure
from ensemble.figures.inspect import confusion as confusion_figure
from ensemble.figures.inspect import decomposition as decomposition_figure
from ensemble.figures.inspect import pairwise_heatmap as pairs_figure
from ensemble.figures.inspect import selective as selective_figure
from ensemble.figures.inspect import uncertainty as uncertainty_figure
from ensemble.figures.inspect import wins_by_class as compare_figure
from ensemble.figures.palette import LIGHT, Palette
from ensemble.wording.verdicts import conformal_sets
from ensemble.wording.verdicts.pairwise_measures import MEASURES, compute_pairwise_matrix

if TYPE_CHECKING:
    import plotly.graph_objects as go


def calibration(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, with the count of each bin below.

    Args:
      made: the predictions.
      palette: `LIGHT`, or `DARK` for a dark page.
    """
    whole, members = calibration_figure.compute_reliability_diagrams(made)
    title = format_figure_title("Reliability", made)
    return calibration_figure.plot_reliability_diagram(whole, members, made.noun, title, palette)


def confusion(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The confusion matrix: rows are what an example is, columns what the ensemble says."""
    counts = confusion_figure.compute_confusion_matrix(made)
    title = format_figure_title("Confusion matrix", made)
    return confusion_figure.plot_confusion_matrix(
        counts, None, made.class_names, made.noun, title, palette
    )


def uncertainty(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """Each example by its aleatoric and its epistemic uncertainty, in nats.

    Of many examples the surest that are right are thinned out.

    Raises:
      ConfigError: there is one member, which has nobody to disagree with.
    """
    check_two_members(made)
    measures = measures_of(made)
    return uncertainty_figure.plot_uncertainty_scatter(
        made,
        measures,
        uncertainty_figure.select_drawn_images(made, measures),
        made.class_names,
        made.noun,
        format_figure_title("Uncertainty", made),
        palette,
    )


def agreement(
    made: Named, measure: str = "disagreement", *, palette: Palette = LIGHT
) -> "go.Figure":
    """How far every two members differ, as a heat map.

    Args:
      made: the predictions.
      measure: "disagreement", "kl", "q" or "double_fault".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such measure, or there is one member.
    """
    check_allowed_value("measure", measure, tuple(MEASURES))
    check_two_members(made)
    known = MEASURES[measure]
    return pairs_figure.plot_pairwise_heatmap(
        known,
        compute_pairwise_matrix(made, measure),
        len(made.labels),
        made.noun,
        format_figure_title(known.title, made),
        palette,
    )


def committee(made: Named, figure: str = "accuracy", *, palette: Palette = LIGHT) -> "go.Figure":
    """A figure over the number of members whose probabilities are averaged, and who is enough.

    Above 12 members committees are drawn by chance; of 64 it takes a few seconds.

    Args:
      made: the predictions.
      figure: "accuracy", "nll", "brier" or "ece".
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such figure, or there is one member.
    """
    check_allowed_value("figure", figure, COMMITTEE_METRICS)
    check_two_members(made)
    judged = judge_committees(made.probabilities, made.labels)
    found = find_sufficient_size(judged, figure) if figure in DEFAULT_MARGINS else None
    title = format_figure_title(
        f"{committee_figure.METRIC_NAMES[figure]} over the committee's size", made
    )
    return committee_figure.plot_committee_curve(judged, figure, found, title, palette)


def combining(
    made: Named, figure: str = "accuracy", *, fit: Named | None = None, palette: Palette = LIGHT
) -> "go.Figure":
    """Four ways to make one answer of the members', side by side, and the fitted weights.

    Args:
      made: the predictions.
      figure: "accuracy", "nll", "brier" or "ece".
      fit: the same members' predictions of other examples, to fit the weights on.
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no such figure, one member, or too few examples to halve.
    """
    check_allowed_value("figure", figure, COMMITTEE_METRICS)
    check_two_members(made)
    check_enough_to_halve(made, fit)
    combined, members = combining_figure.compare_rules_and_members(made, fit)
    title = format_figure_title(f"Ways of combining, {committee_figure.METRIC_NAMES[figure]}", made)
    return combining_figure.plot_combinations(combined, members, figure, title, palette)


def selective(
    made: Named, rate: float = ERROR_RATE, *, fit: Named | None = None, palette: Palette = LIGHT
) -> "go.Figure":
    """Risk by coverage: the share that is wrong over the share that is answered, surest first.

    Args:
      made: the predictions.
      rate: the share of wrong answers that you accept, in [0, 1].
      fit: the same members' predictions of other examples, to find the threshold on.
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: the rate is out of its range, or there are too few examples to halve.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"rate is {rate:g}: it has to be a share from 0 to 1.")
    check_enough_to_halve(made, fit)
    whole, members = selective_figure.compute_risk_coverage_curves(made)
    found = selective_figure.choose_error_thresholds(made, rate, fit)[0]
    title = format_figure_title("Risk by coverage", made)
    return selective_figure.plot_risk_coverage(whole, members, rate, found, title, palette)


def conformal(
    made: Named,
    rate: float = MISS_RATE,
    method: str = METHODS[0],
    *,
    fit: Named | None = None,
    palette: Palette = LIGHT,
) -> "go.Figure":
    """Conformal sets: how large they are, and how many of each size hold what the example is.

    Args:
      made: the predictions.
      rate: the share of sets that may miss, in (0, 1).
      method: "aps", "raps" or "lac".
      fit: the same members' predictions of other examples, to calibrate on.
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: the rate or the method is out of its range, or there are too few examples.
    """
    if not 0 < rate < 1:
        raise ConfigError(f"rate is {rate:g}: it has to be a share between 0 and 1.")
    check_allowed_value("method", method, METHODS)
    check_enough_to_halve(made, fit)
    apart = None if fit is None else (fit.averaged, fit.labels)
    _, found = evaluate_conformal_sets(made.averaged, made.labels, rate, method, apart)
    title = format_figure_title(f"Conformal sets at {conformal_sets.format_set_level(rate)}", made)
    return conformal_figure.plot_set_sizes(found, made.noun, title, palette)


def compare(ours: Named, theirs: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """What only `ours` gets right up, what only `theirs` does down, class by class.

    Raises:
      ConfigError: the two are not of the same examples.
    """
    if ours.labels.shape != theirs.labels.shape or (ours.labels != theirs.labels).any():
        raise ConfigError("The two are of different examples: only the same can be compared.")
    won, lost = compare_figure.find_won_and_lost(ours, theirs)
    counts = compare_figure.count_wins_by_class(ours.labels, won, lost, len(ours.class_names))
    title = format_figure_title("Won and lost", ours)
    if ours.source and theirs.source:
        title += f", against {theirs.source}"
    return compare_figure.plot_wins_by_class(counts, ours.class_names, ours.noun, title, palette)


def decomposition(epochs: Mapping[int, Named], *, palette: Palette = LIGHT) -> "go.Figure":
    """What averaging saves, epoch by epoch: the mean member's NLL, the ensemble's, in nats.

    Args:
      epochs: the predictions of each epoch.
      palette: `LIGHT`, or `DARK` for a dark page.

    Raises:
      ConfigError: there is no epoch, or there is one member.
    """
    if not epochs:
        raise ConfigError("There is no epoch: give a dictionary of predictions by their epoch.")
    for made in epochs.values():
        check_two_members(made)
    found = {e: parts_of_loss(epochs[e].probabilities, epochs[e].labels) for e in sorted(epochs)}
    last = max(epochs)
    return decomposition_figure.plot_loss_decomposition(
        found, last, format_figure_title("Diversity", epochs[last]), palette
    )


def format_figure_title(words: str, made: Named) -> str:
    """A figure's title: what it shows, and whose it is where that is known."""
    return f"{words} · {made.source}" if made.source else words


def check_allowed_value(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a word that is none of those there are, with a ConfigError that lists them."""
    if value not in known:
        raise ConfigError(f"{name} is {value!r:.60}: it has to be one of {', '.join(known)}.")


def check_two_members(made: Named) -> None:
    """Refuse a single member, which has nobody to be held against, with a ConfigError."""
    if made.members == 1:
        raise ConfigError("With one member there is nothing to compare: this takes two or more.")


def check_enough_to_halve(made: Named, fit: Named | None) -> None:
    """Refuse so few examples that one half says nothing of the other, with a ConfigError."""
    if fit is None and len(made.labels) < MIN_EXAMPLES_TO_HALVE:
        raise ConfigError(
            f"{len(made.labels):,} examples are too few to fit on one half and judge on the "
            f"other: it takes {MIN_EXAMPLES_TO_HALVE}, or predictions to fit on as `fit`."
        )
