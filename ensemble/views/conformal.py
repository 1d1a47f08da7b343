"""Conformal sets: for each example the classes it may be, with an error rate that is promised."""

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.conformal import METHODS, ConformalThreshold
from ensemble.analysis.quality.coverage import MISS_RATE, ConformalCoverage, evaluate_ensemble_sets
from ensemble.figures.inspect import conformal as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, ChoiceRow, Figure, Figures, Paragraph, Table, View
from ensemble.views.selective import explain_too_few_images, has_too_few_images
from ensemble.wording import formats
from ensemble.wording.verdicts import conformal_sets as words

# The shares of sets that may miss the label, by their words in an address: percent.
MISS_RATES = {word: float(word) / 100 for word in ("20", "10", "5", "2", "1", "0.5", "0.1")}
DEFAULT_MISS = next(word for word, rate in MISS_RATES.items() if rate == MISS_RATE)
# Without what stands in brackets all three fit a phone.
METHOD_CHOICE = Choice(
    "sets",
    "Kind of list",
    {method: words.METHOD_NAMES[method].partition(" ")[0] for method in METHODS},
    METHODS[0],
    words.METHODS_HELP,
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
    yield Paragraph(words.describe_conformal_sets(calibrated, achieved, epoch.noun), "answer")
    yield Figures(METHOD_CHOICE, lambda kind: _build_set_sizes_figure(epoch, rate, kind, by_method[kind][1]))
    yield Paragraph(words.METHODS_HELP, "help")
    yield Table(
        "The three kinds of lists",
        words.tabulate_set_methods(by_method),
        note=words.describe_coverage_promise(calibrated, epoch.noun, epoch.fit is None),
        key="inspect_sets_table",
    )
    listed = words.select_least_covered_classes(achieved)
    some = len(listed) < len(epoch.class_names)
    counted = words.describe_calibration_images(calibrated.n, achieved.n, epoch.noun, epoch.fit is None)
    yield Table(
        f"The {len(listed)} classes whose lists hold them least often" if some else "Lists by class",
        words.tabulate_sets_by_class(achieved, epoch.class_names, listed),
        True,
        f"{counted}; in brackets the 95 % interval.",
        "inspect_sets_classes",
        narrow=True,
        from_outside=True,
    )


def _build_set_sizes_figure(epoch: EvaluatedEpoch, rate: float, method: str, achieved: ConformalCoverage) -> Figure:
    title = f"Conformal sets at {words.format_set_level(rate)} · {epoch.source}"
    return Figure(
        label=METHOD_CHOICE.values[method],
        alt=figures.describe_set_sizes_chart(achieved, epoch.noun),
        explanation=words.explain_set_sizes_chart(achieved, epoch.noun),
        draw=lambda palette: figures.plot_set_sizes(achieved, epoch.noun, title, palette),
        key="inspect_sets",
        file="sets",
        title="Sizes of the lists",
        table=lambda: figures.tabulate_set_sizes(achieved),
        drawn_from=(rate, method),
    )


def calibrate_set_methods(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None
) -> dict[str, tuple[ConformalThreshold, ConformalCoverage]]:
    return {method: evaluate_ensemble_sets(predictions, rate, method, fit) for method in METHODS}
