"""Selective answers: to answer only where it is sure enough, and what is wrong of that."""

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.halves import MIN_EXAMPLES_TO_HALVE
from ensemble.analysis.quality.selective import ERROR_RATE
from ensemble.analysis.quality.selective import ConfidenceThreshold as Threshold
from ensemble.figures.inspect import selective as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import selective as words

# The error rates to choose from, by their words in an address: percent.
ERROR_RATES = {word: float(word) / 100 for word in ("10", "5", "2", "1", "0.5", "0.2", "0.1")}
ERROR_RATE_CHOICE = Choice(
    name="error",
    label="Wrong answers that you accept",
    values={word: words.format_accepted_rate(rate) for word, rate in ERROR_RATES.items()},
    default=next(word for word, rate in ERROR_RATES.items() if rate == ERROR_RATE),
    help="Of the answers that are given, not of all: the others go to a person.",
    form="slider",
    width=340,
    key="selective_rate",
)


def build_selective(epoch: EvaluatedEpoch) -> View:
    """The threshold for an error rate, the curve of risk by coverage, every member's figures."""
    if has_too_few_images(epoch):
        yield explain_too_few_images(epoch)
        return
    rate = ERROR_RATES[(yield ERROR_RATE_CHOICE)]
    ensemble, members = epoch.measure(figures.compute_risk_coverage_curves)
    thresholds = epoch.measure(find_error_thresholds, rate, fitted=True)
    who = "the ensemble" if epoch.members > 1 else "the one member"
    yield Paragraph(words.describe_selective_answer(thresholds[0], rate, who, epoch.noun), "answer")
    title = f"Risk by coverage · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_risk_coverage_chart(ensemble, epoch.n),
            explanation=words.explain_risk_coverage_chart(ensemble, epoch.noun),
            draw=lambda palette: figures.plot_risk_coverage(
                ensemble, members, rate=rate, threshold=thresholds[0], title=title, palette=palette
            ),
            key="selective",
            file="selective",
            title="Risk by coverage",
            table=lambda: figures.tabulate_risk_coverage(ensemble, members),
            drawn_from=(rate,),
        )
    )
    yield Table(
        f"The threshold for {words.format_accepted_rate(rate)} wrong answers",
        words.tabulate_selective_metrics([ensemble, *members], thresholds, epoch.n),
        note=words.explain_selective_table(ensemble, thresholds[0], who, epoch.noun),
        key="selective_table",
    )


def has_too_few_images(epoch: EvaluatedEpoch) -> bool:
    return epoch.n < MIN_EXAMPLES_TO_HALVE and not epoch.fit


def explain_too_few_images(epoch: EvaluatedEpoch) -> Paragraph:
    return Paragraph(
        f"With fewer than {MIN_EXAMPLES_TO_HALVE} {pluralize_noun(epoch.noun)} "
        "there is nothing to find a threshold on.",
        "unavailable",
        icon=":material/grid_off:",
    )


def find_error_thresholds(
    predictions: EnsemblePredictions, rate: float, fit: EnsemblePredictions | None
) -> list[Threshold]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's."""
    return figures.choose_error_thresholds(predictions, rate, fit)
