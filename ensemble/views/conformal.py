"""Conformal sets: for each example the classes it may be, with an error rate that is promised."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.conformal import METHODS, ConformalThreshold
from ensemble.analysis.quality.coverage import MISS_RATE, ConformalCoverage, coverage_p_value, evaluate_ensemble_sets
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, ChoiceRow, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.views.selective import explain_too_few_images, has_too_few_images
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


_JudgedSets = Mapping[str, tuple[ConformalThreshold, ConformalCoverage]]

_METHOD_NAMES = {"aps": "Adaptive (APS)", "raps": "Regularised (RAPS)", "lac": "Smallest (LAC)"}
_BROKEN_PROMISE_LEVEL = 0.05  # of the draws in which the promise is kept, so many are called broken at most
_METHODS_HELP = (
    "Adaptive (APS): the likeliest classes until enough probability stands ahead; never empty. "
    "Regularised (RAPS): the same, with a price on each further class. Smallest (LAC): every class "
    "above one probability, the smallest sets on average; a set can be empty. All keep the promise."
)


def format_class_set(row: NDArray[np.bool_], names: Sequence[str]) -> str:
    """A set of classes, (C,): "{4, 9}", "{}", or "any of the 10"."""
    if row.all() and len(names) > 2:
        return f"any of the {len(names)}"
    return "{" + ", ".join(name for name, kept in zip(names, row, strict=True) if kept) + "}"


def format_set_level(error_rate: float) -> str:
    """What share of sets is to hold the label: "95 %" for an error rate of 0.05."""
    return formats.format_percent(1 - error_rate, figures=2)


def explain_uncalibrated_sets(threshold: ConformalThreshold, noun: str) -> str:
    """Why every set holds all classes; "" where they do not have to."""
    if threshold.has_enough_examples:
        return ""
    return (
        f"{threshold.n:,} calibration {pluralize_noun(noun)} are too few for lists that "
        f"are right {format_set_level(threshold.error_rate)} of the time: it takes "
        f"{threshold.min_examples:,}. Until then every list names all classes."
    )


def describe_conformal_sets(threshold: ConformalThreshold, coverage: ConformalCoverage, noun: str) -> str:
    if few := explain_uncalibrated_sets(threshold, noun):
        return few
    right = noun if noun == "digit" else "class"
    places = formats.count_percent_decimals(coverage.n)
    share = formats.format_percent(coverage.coverage, coverage.n)
    ends = formats.format_percent_range(*coverage.coverage_interval, places)
    mean = formats.format_significant(coverage.mean_size)
    text = f"Lists of {mean} classes on average hold the right {right} {share} of the time"
    level = format_set_level(threshold.error_rate)
    return (
        f"{text} ({ends}): less than promised ({level})."
        if coverage_p_value(threshold, coverage) < _BROKEN_PROMISE_LEVEL
        else f"{text} ({ends}; aim: {level})."
    )


def describe_calibration_images(fitted: int, judged: int, noun: str, halved: bool) -> str:
    """On which images sets were calibrated and on which judged: a sentence without its end.

    Args:
      halved: whether both are halves of the test images; else the former were held out.
    """
    if halved:
        return f"Calibrated on one half of the test {pluralize_noun(noun)} ({fitted:,}), judged on the other {judged:,}"
    return (
        f"Calibrated on the {fitted:,} validation {pluralize_noun(noun)}, judged on the {judged:,} "
        f"test {pluralize_noun(noun)}"
    )


def describe_coverage_promise(threshold: ConformalThreshold, noun: str, halved: bool = True) -> str:
    """What is promised and of which images, in full.

    Args:
      halved: whether they were calibrated on test images; else on images held out of training.
    """
    low, high = threshold.expected_coverage
    like = "these" if halved else "the validation images"
    text = (
        f"The promise: for new {pluralize_noun(noun)} like {like}, the list holds the right class "
        f"{format_set_level(threshold.error_rate)} of the time or more. That is on "
        "average over calibrations"
    )
    if threshold.has_enough_examples:
        percent_range = formats.format_percent_range(low, high, 1)
        text += f"; with {threshold.n:,} calibration {pluralize_noun(noun)} most give {percent_range}"
    return f"{text}. It is no promise for each class or each image, nor for images from elsewhere or under shift."


def summarize_conformal_sets(sets: NDArray[np.bool_], covered: int, error_rate: float, noun: str) -> str:
    """Sets (N, C) of all test images in a line."""
    sizes = sets.sum(axis=1)
    several, none = int((sizes > 1).sum()), int((sizes == 0).sum())
    text = (
        f"Lists made to hold the right answer {format_set_level(error_rate)} of the time: "
        f"{formats.format_percent(covered / len(sets), len(sets))} do; {several:,} of "
        f"{len(sets):,} name two or more"
    )
    return f"{text}, {none:,} none." if none else f"{text}."


def format_image_set(row: NDArray[np.bool_], error_rate: float, names: Sequence[str]) -> str:
    """One image's set: "{4, 9} at 95 %"."""
    return f"{format_class_set(row, names)} at {format_set_level(error_rate)}"


def explain_unsure_set(row: NDArray[np.bool_], probabilities: NDArray[Any]) -> str:
    """Why one image's list names one class that is not likely; "" where it does not.

    Args:
      row: (C,), whether each class is in the list.
      probabilities: (C,), averaged over the members.
    """
    if row.sum() != 1 or (share := float(probabilities[row][0])) >= _UNSURE_SHARE:
        return ""
    return (
        "Lists keep their promise on average over images; of this one alone the probability, "
        f"{formats.format_probability(share)}, says more."
    )


def explain_lost_promise(noun: str, set_on: str = "test") -> str:
    """That a person's own pictures have no promise.

    Args:
      set_on: the images that the sets were calibrated on: "validation" or "test".
    """
    whose = "the validation images" if set_on == "validation" else "the test set's"
    return (
        f"Lists hold on average, for {pluralize_noun(noun)} like {whose}. Yours were written and "
        "photographed differently, so here they are only a hint and may miss more often."
    )


_UNSURE_SHARE = 0.6  # a single class of a list that is less likely reads as a contradiction
MAX_LISTED_CLASSES = 30  # classes in a table of many


def explain_set_sizes_chart(coverage: ConformalCoverage, noun: str) -> str:
    n = coverage.n
    text = (
        f"{formats.format_percent(coverage.singleton_count / n, n)} "
        f"of the {pluralize_noun(noun)} get a list of one class"
    )
    several = n - coverage.singleton_count - coverage.empty_count
    text += f", {formats.format_percent(several / n, n)} two or more"
    if coverage.empty_count:
        text += f", {formats.format_percent(coverage.empty_count / n, n)} none: no class is likely enough"
    return f"{text}. Orange: lists without the right class."


def _tabulate_set_methods(each: _JudgedSets) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "sets": _METHOD_NAMES[name],
                "hold it": _format_coverage(coverage.covered, coverage.n),
                "mean size": formats.format_significant(coverage.mean_size),
                "one class": f"{coverage.singleton_count:,}",
                "none": f"{coverage.empty_count:,}",
                "largest": f"{coverage.sizes.nonzero()[0].max():,}",
                "threshold": formats.format_significant(threshold.threshold)
                if threshold.has_enough_examples
                else "none",
            }
            for name, (threshold, coverage) in each.items()
        ]
    )


def select_least_covered_classes(coverage: ConformalCoverage, most: int = MAX_LISTED_CLASSES) -> list[int]:
    """The classes to list: all, or of many those whose sets hold the label least often."""
    classes = np.arange(len(coverage.class_n))
    if len(classes) <= most:
        return [int(index) for index in classes]
    class_numbers = classes[coverage.class_n > 0]
    share = coverage.class_covered[class_numbers] / coverage.class_n[class_numbers]
    return [int(index) for index in class_numbers[np.lexsort((-coverage.class_n[class_numbers], share))[:most]]]


def tabulate_sets_by_class(coverage: ConformalCoverage, names: Sequence[str], listed: Sequence[int]) -> pd.DataFrame:
    """A row for each class: the promise is for all together, and some classes may get less."""
    rows = (
        (names[c], int(coverage.class_n[c]), int(coverage.class_covered[c]), coverage.class_size[c]) for c in listed
    )
    return pd.DataFrame(
        [
            {
                "class": name,
                "images": f"{n:,}",
                "hold it": _format_coverage(covered, n),
                "mean size": formats.format_significant(float(size)) if n else "–",
            }
            for name, n, covered, size in rows
        ]
    )


def _format_coverage(covered: int, n: int) -> str:
    """A share of sets with the ends of its 95 % interval: "96.4 % (93.3 to 98.1 %)"."""
    if not n:
        return "–"
    ends = formats.format_percent_range(*wilson_interval(covered, n), places=formats.count_percent_decimals(n))
    return f"{formats.format_percent(covered / n, n)} ({ends})"


_MAX_LISTED_SIZES = 12  # sizes in the picture's words


def plot_set_sizes(coverage: ConformalCoverage, noun: str, title: str, palette: Palette) -> "go.Figure":
    """A bar for each size: the sets that hold the label below, those that miss it on top."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    sizes = np.arange(len(coverage.sizes))
    missed = coverage.sizes - coverage.sizes_covered
    chart = go.Figure()
    for name, counts, color in (
        (f"✓ holds the {noun}", coverage.sizes_covered, RIGHT_COLOR),
        (f"✗ misses the {noun}", missed, WRONG_COLOR),
    ):
        chart.add_bar(
            x=sizes,
            y=counts,
            name=name,
            marker={"color": color},
            hoverinfo="text",
            hovertext=[
                f"{name}: {formats.format_count(int(n), 'set')} of {_format_set_size(k)}" for k, n in enumerate(counts)
            ],
        )
    chart.update_layout(chart_style.build_chart_layout(title, 360, palette, barmode="stack", bargap=0.15))
    last = int(np.flatnonzero(coverage.sizes).max(initial=1))
    first = 0 if coverage.empty_count else 1
    chart.update_xaxes(
        title="classes in the set", dtick=1 if last <= 30 else None, range=[first - 0.6, last + 0.6], fixedrange=True
    )
    chart.update_yaxes(title=f"{pluralize_noun(noun)}", fixedrange=True, automargin=True, tickformat=",d")
    return chart


def _format_set_size(size: int) -> str:
    return "no class" if not size else "1 class" if size == 1 else f"{size} classes"


def describe_set_sizes_chart(coverage: ConformalCoverage, noun: str) -> str:
    counted = [(size, count) for size, count in enumerate(coverage.sizes.tolist()) if count]
    listing = ", ".join(f"{count:,} of {_format_set_size(size)}" for size, count in counted[:_MAX_LISTED_SIZES])
    if rest := sum(count for _, count in counted[_MAX_LISTED_SIZES:]):
        listing += f", {rest:,} of more"
    return (
        f"Sizes of {coverage.n:,} sets: {listing}; "
        f"{formats.format_percent(coverage.coverage, coverage.n)} hold the {noun}"
    )


def tabulate_set_sizes(coverage: ConformalCoverage) -> pd.DataFrame:
    """A row for each size: how many sets have it, and how many of these hold the label."""
    return pd.DataFrame(
        {"classes": np.arange(len(coverage.sizes)), "sets": coverage.sizes, "hold_the_label": coverage.sizes_covered}
    )


# The shares of sets that may miss the label, by their words in an address: percent.
MISS_RATES = {word: float(word) / 100 for word in ("20", "10", "5", "2", "1", "0.5", "0.1")}
DEFAULT_MISS = next(word for word, rate in MISS_RATES.items() if rate == MISS_RATE)
# Without what stands in brackets all three fit a phone.
METHOD_CHOICE = Choice(
    "sets",
    "Kind of list",
    {method: _METHOD_NAMES[method].partition(" ")[0] for method in METHODS},
    METHODS[0],
    _METHODS_HELP,
)


def offer_miss_rates(noun: str, key: str = "inspect_sets") -> Choice:
    return Choice(
        name="miss",
        label=f"Lists that may miss the {noun}",
        values={word: formats.format_percent(rate, figures=2) for word, rate in MISS_RATES.items()},
        default=DEFAULT_MISS,
        help=f"The fewer may miss the {noun}, the larger the sets have to be.",
        form="slider",
        width=300,
        key=f"{key}_miss",
    )


def build_conformal(epoch: EvaluatedEpoch) -> View:
    if has_too_few_images(epoch):
        yield explain_too_few_images(epoch)
        return
    word, method = yield ChoiceRow((offer_miss_rates(epoch.noun), METHOD_CHOICE))
    rate = MISS_RATES[word]
    by_method = epoch.measure(calibrate_set_methods, rate, fitted=True)
    calibrated, achieved = by_method[method]
    yield Paragraph(describe_conformal_sets(calibrated, achieved, epoch.noun), "answer")
    yield Figures(METHOD_CHOICE, lambda kind: _build_set_sizes_figure(epoch, rate, kind, by_method[kind][1]))
    yield Paragraph(_METHODS_HELP, "help")
    yield Table(
        "The three kinds of lists",
        _tabulate_set_methods(by_method),
        note=describe_coverage_promise(calibrated, epoch.noun, epoch.fit is None),
        key="inspect_sets_table",
    )
    listed = select_least_covered_classes(achieved)
    some = len(listed) < len(epoch.class_names)
    counted = describe_calibration_images(calibrated.n, achieved.n, epoch.noun, epoch.fit is None)
    yield Table(
        f"The {len(listed)} classes whose lists hold them least often" if some else "Lists by class",
        tabulate_sets_by_class(achieved, epoch.class_names, listed),
        True,
        f"{counted}; in brackets the 95 % interval.",
        "inspect_sets_classes",
        narrow=True,
        from_outside=True,
    )


def _build_set_sizes_figure(epoch: EvaluatedEpoch, rate: float, method: str, achieved: ConformalCoverage) -> Figure:
    title = f"Conformal sets at {format_set_level(rate)} · {epoch.source}"
    return Figure(
        label=METHOD_CHOICE.values[method],
        alt=describe_set_sizes_chart(achieved, epoch.noun),
        explanation=explain_set_sizes_chart(achieved, epoch.noun),
        draw=lambda palette: plot_set_sizes(achieved, epoch.noun, title, palette),
        key="inspect_sets",
        file="sets",
        title="Sizes of the lists",
        table=lambda: tabulate_set_sizes(achieved),
        drawn_from=(rate, method),
    )


def calibrate_set_methods(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None
) -> dict[str, tuple[ConformalThreshold, ConformalCoverage]]:
    return {method: evaluate_ensemble_sets(predictions, rate, method, fit) for method in METHODS}


VIEW = RegisteredView(
    "conformal",
    "Answering with a set",
    "Conformal prediction sets with a chosen error rate",
    build_conformal,
    place=130,
    within="selective",
    part_label="Answer with a set",
    applies=lambda epoch: not has_too_few_images(epoch),
)
