"""Selective answers: to answer only where it is sure enough, and what is wrong of that."""

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.halves import LEAST
from ensemble.analysis.quality.selective import ERROR_RATE
from ensemble.analysis.quality.selective import Choice as Threshold
from ensemble.figures.inspect import selective as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, Table, View
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import selective as words

# The error rates to choose from, by their words in an address: percent.
RATES = {word: float(word) / 100 for word in ("10", "5", "2", "1", "0.5", "0.2", "0.1")}
RATE = Choice(
    "error",
    "Wrong answers that you accept",
    {word: words.accepted(rate) for word, rate in RATES.items()},
    next(word for word, rate in RATES.items() if rate == ERROR_RATE),
    "Of the answers that are given, not of all: the others go to a person.",
    "slider",
    width=340,
    key="selective_rate",
)


def build_selective(epoch: EvaluatedEpoch) -> View:
    """The threshold for an error rate, the curve of risk by coverage, every member's figures."""
    if is_too_small(epoch):
        yield explain_too_small(epoch)
        return
    rate = RATES[(yield RATE)]
    ensemble, members = epoch.measure(figures.curves)
    thresholds = epoch.measure(find_thresholds, rate, fitted=True)
    who = "the ensemble" if epoch.members > 1 else "the one member"
    yield Paragraph(words.answer(thresholds[0], rate, who, epoch.noun), "answer")
    title = f"Risk by coverage · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.alt(ensemble, epoch.n),
            sees=words.sees(ensemble, epoch.noun),
            draw=lambda palette: figures.figure(
                ensemble, members, rate, thresholds[0], title, palette
            ),
            key="selective",
            file="selective",
            title="Risk by coverage",
            table=lambda: figures.table(ensemble, members),
            drawn_from=(rate,),
        )
    )
    yield Table(
        f"The threshold for {words.accepted(rate)} wrong answers",
        words.figures([ensemble, *members], thresholds, epoch.n),
        note=words.notes(ensemble, thresholds[0], who, epoch.noun),
        key="selective_table",
    )


def is_too_small(epoch: EvaluatedEpoch) -> bool:
    """Whether there are too few images to find on some what is judged on others."""
    return epoch.n < LEAST and not epoch.fit


def explain_too_small(epoch: EvaluatedEpoch) -> Paragraph:
    """Why there are no thresholds and no sets."""
    return Paragraph(
        f"With fewer than {LEAST} {plural(epoch.noun)} there is nothing to find a threshold on.",
        "unavailable",
        icon=":material/grid_off:",
    )


def find_thresholds(
    predictions: Predictions, rate: float, fit: Predictions | None
) -> list[Threshold]:
    """The threshold for an error rate and what comes of it: the ensemble's, then each member's."""
    return figures.thresholds(predictions, rate, fit)
