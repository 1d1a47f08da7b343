"""The figures of Inspect in one line each: predictions in, a Plotly figure out.

The pages draw with the same functions, one floor of detail below: `ensemble.figures.inspect`. What
is fitted (a threshold, weights, conformal sets) is fitted on one half of the examples and judged on
the other, unless `fit` has the same members' predictions of other examples.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ensemble.analysis.members.committee import FIGURES
from ensemble.analysis.members.committee import committee as judge_committees
from ensemble.analysis.members.diversity import decomposition as parts_of_loss
from ensemble.analysis.members.enough import MARGINS, enough
from ensemble.analysis.members.uncertainty import uncertainty as measures_of
from ensemble.analysis.named import NamedPredictions as Named
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import MISS_RATE, judge_sets
from ensemble.analysis.quality.halves import LEAST
from ensemble.analysis.quality.selective import ERROR_RATE
from ensemble.errors import ConfigError
from ensemble.figures.inspect import calibration as calibration_figure
from ensemble.figures.inspect import combining as combining_figure
from ensemble.figures.inspect import committee as committee_figure
from ensemble.figures.inspect import compare as compare_figure
from ensemble.figures.inspect import conformal as conformal_figure
from ensemble.figures.inspect import confusion as confusion_figure
from ensemble.figures.inspect import decomposition as decomposition_figure
from ensemble.figures.inspect import pairs as pairs_figure
from ensemble.figures.inspect import selective as selective_figure
from ensemble.figures.inspect import uncertainty as uncertainty_figure
from ensemble.figures.palette import LIGHT, Palette
from ensemble.wording.verdicts import sets
from ensemble.wording.verdicts.pairs import MEASURES, matrix

if TYPE_CHECKING:
    import plotly.graph_objects as go


def calibration(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, with the count of each bin below.

    Args:
      made: the predictions.
      palette: `LIGHT`, or `DARK` for a dark page.
    """
    whole, members = calibration_figure.diagrams(made)
    title = titled("Reliability", made)
    return calibration_figure.figure(whole, members, made.noun, title, palette)


def confusion(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """The confusion matrix: rows are what an example is, columns what the ensemble says."""
    counts = confusion_figure.confusion(made)
    title = titled("Confusion matrix", made)
    return confusion_figure.figure(counts, None, made.class_names, made.noun, title, palette)


def uncertainty(made: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """Each example by its aleatoric and its epistemic uncertainty, in nats.

    Of many examples the surest that are right are thinned out.

    Raises:
      ConfigError: there is one member, which has nobody to disagree with.
    """
    needs_two(made)
    measures = measures_of(made)
    return uncertainty_figure.figure(
        made,
        measures,
        uncertainty_figure.points(made, measures),
        made.class_names,
        made.noun,
        titled("Uncertainty", made),
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
    among("measure", measure, tuple(MEASURES))
    needs_two(made)
    known = MEASURES[measure]
    return pairs_figure.figure(
        known,
        matrix(made, measure),
        len(made.labels),
        made.noun,
        titled(known.title, made),
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
    among("figure", figure, FIGURES)
    needs_two(made)
    judged = judge_committees(made.probabilities, made.labels)
    found = enough(judged, figure) if figure in MARGINS else None
    title = titled(f"{committee_figure.NAMES[figure]} over the committee's size", made)
    return committee_figure.figure(judged, figure, found, title, palette)


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
    among("figure", figure, FIGURES)
    needs_two(made)
    needs_halves(made, fit)
    combined, members = combining_figure.side_by_side(made, fit)
    title = titled(f"Ways of combining, {committee_figure.NAMES[figure]}", made)
    return combining_figure.figure(combined, members, figure, title, palette)


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
    needs_halves(made, fit)
    whole, members = selective_figure.curves(made)
    found = selective_figure.thresholds(made, rate, fit)[0]
    title = titled("Risk by coverage", made)
    return selective_figure.figure(whole, members, rate, found, title, palette)


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
    among("method", method, METHODS)
    needs_halves(made, fit)
    apart = None if fit is None else (fit.averaged, fit.labels)
    _, found = judge_sets(made.averaged, made.labels, rate, method, apart)
    title = titled(f"Conformal sets at {sets.level(rate)}", made)
    return conformal_figure.figure(found, made.noun, title, palette)


def compare(ours: Named, theirs: Named, *, palette: Palette = LIGHT) -> "go.Figure":
    """What only `ours` gets right up, what only `theirs` does down, class by class.

    Raises:
      ConfigError: the two are not of the same examples.
    """
    if ours.labels.shape != theirs.labels.shape or (ours.labels != theirs.labels).any():
        raise ConfigError("The two are of different examples: only the same can be compared.")
    won, lost = compare_figure.apart(ours, theirs)
    counts = compare_figure.per_class(ours.labels, won, lost, len(ours.class_names))
    title = titled("Won and lost", ours)
    if ours.source and theirs.source:
        title += f", against {theirs.source}"
    return compare_figure.figure(counts, ours.class_names, ours.noun, title, palette)


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
        needs_two(made)
    found = {e: parts_of_loss(epochs[e].probabilities, epochs[e].labels) for e in sorted(epochs)}
    last = max(epochs)
    return decomposition_figure.figure(found, last, titled("Diversity", epochs[last]), palette)


def titled(words: str, made: Named) -> str:
    """A figure's title: what it shows, and whose it is where that is known."""
    return f"{words} · {made.source}" if made.source else words


def among(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a word that is none of those there are, with a ConfigError that lists them."""
    if value not in known:
        raise ConfigError(f"{name} is {value!r:.60}: it has to be one of {', '.join(known)}.")


def needs_two(made: Named) -> None:
    """Refuse a single member, which has nobody to be held against, with a ConfigError."""
    if made.members == 1:
        raise ConfigError("With one member there is nothing to compare: this takes two or more.")


def needs_halves(made: Named, fit: Named | None) -> None:
    """Refuse so few examples that one half says nothing of the other, with a ConfigError."""
    if fit is None and len(made.labels) < LEAST:
        raise ConfigError(
            f"{len(made.labels):,} examples are too few to fit on one half and judge on the "
            f"other: it takes {LEAST}, or predictions to fit on as `fit`."
        )
