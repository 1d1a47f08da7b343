"""Conformal sets: for each example the classes it may be, with an error rate that is promised."""

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.conformal import METHODS, Calibrated
from ensemble.analysis.quality.coverage import MISS_RATE, Achieved, judge_sets
from ensemble.figures.inspect import conformal as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Row, Table, View
from ensemble.views.selective import explain_too_small, is_too_small
from ensemble.wording import formats
from ensemble.wording.verdicts import sets as words

# The shares of sets that may miss the label, by their words in an address: percent.
MISS_RATES = {word: float(word) / 100 for word in ("20", "10", "5", "2", "1", "0.5", "0.1")}
DEFAULT_MISS = next(word for word, rate in MISS_RATES.items() if rate == MISS_RATE)
# Without what stands in brackets all three fit a phone.
METHOD = Choice(
    "sets",
    "Kind of sets",
    {one: words.METHODS[one].partition(" ")[0] for one in METHODS},
    METHODS[0],
    words.HELP,
)


def offer_miss_rates(noun: str, key: str = "inspect_sets") -> Choice:
    """How many of the sets may miss what the example is."""
    return Choice(
        "miss",
        f"Sets that may miss the {noun}",
        {word: formats.percent(rate, figures=2) for word, rate in MISS_RATES.items()},
        DEFAULT_MISS,
        f"The fewer may miss the {noun}, the larger the sets have to be.",
        "slider",
        width=300,
        key=f"{key}_miss",
    )


def build_conformal(epoch: EvaluatedEpoch) -> View:
    """What the sets come to, their sizes, and the figures of every kind and class."""
    if is_too_small(epoch):
        yield explain_too_small(epoch)
        return
    word, method = yield Row((offer_miss_rates(epoch.noun), METHOD))
    rate = MISS_RATES[word]
    by_method = epoch.measure(calibrate_sets, rate, fitted=True)
    calibrated, achieved = by_method[method]
    yield Paragraph(words.verdict(calibrated, achieved, epoch.noun), "answer")
    yield Figures(METHOD, lambda one: plot_sizes(epoch, rate, one, by_method[one][1]))
    yield Paragraph(words.HELP, "help")
    yield Table(
        "The three kinds of sets",
        words.by_method(by_method),
        note=words.promise(calibrated, epoch.noun, epoch.fit is None),
        key="inspect_sets_table",
    )
    listed = words.worst(achieved)
    some = len(listed) < len(epoch.class_names)
    counted = words.calibrated_on(calibrated.n, achieved.n, epoch.noun, epoch.fit is None)
    yield Table(
        f"The {len(listed)} classes whose sets hold them least often" if some else "Sets by class",
        words.by_class(achieved, epoch.class_names, listed),
        True,
        f"{counted}; in brackets the 95 % interval.",
        "inspect_sets_classes",
        narrow=True,
        from_outside=True,
    )


def plot_sizes(epoch: EvaluatedEpoch, rate: float, method: str, achieved: Achieved) -> Figure:
    """How large the sets of one kind are, and how many of each size hold what the example is."""
    title = f"Conformal sets at {words.level(rate)} · {epoch.source}"
    return Figure(
        label=METHOD.values[method],
        alt=figures.alt(achieved, epoch.noun),
        sees=words.sees(achieved, epoch.noun),
        draw=lambda palette: figures.figure(achieved, epoch.noun, title, palette),
        key="inspect_sets",
        file="sets",
        title="Sizes of the sets",
        table=lambda: figures.table(achieved),
        drawn_from=(rate, method),
    )


def calibrate_sets(
    predictions: Predictions, rate: float, fit: Predictions | None
) -> dict[str, tuple[Calibrated, Achieved]]:
    """Each kind of sets, calibrated and judged on other examples."""
    apart = (fit.averaged, fit.labels) if fit else None
    return {
        method: judge_sets(predictions.averaged, predictions.labels, rate, method, apart)
        for method in METHODS
    }
