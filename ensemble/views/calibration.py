"""Calibration: whether the ensemble is right as often as it says, and what a temperature saves."""

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality import temperature
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.analysis.quality.calibration_test import CalibrationTest, calibration_test
from ensemble.analysis.quality.temperature import Temperatures
from ensemble.figures.inspect import calibration as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Columns, Figure, Figures, Paragraph, Table, View
from ensemble.wording.verdicts import calibration as words


def build_calibration(epoch: EvaluatedEpoch) -> View:
    """The verdict, the reliability diagram, and what a temperature would improve."""
    test = epoch.measure(judge_calibration)
    yield Paragraph(words.verdict(test, epoch.noun), "answer")
    yield Paragraph(words.evidence(test, epoch.noun), "evidence")
    yield Paragraph(words.error(epoch.measure(ensemble_error)), "evidence")
    yield Columns(
        (5, 4), (lambda: build_reliability_diagram(epoch), lambda: build_temperature(epoch))
    )


def build_reliability_diagram(epoch: EvaluatedEpoch) -> View:
    """Accuracy over confidence, of the ensemble and of each member."""
    ensemble, members = epoch.measure(figures.diagrams)
    title = f"Reliability · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.alt(ensemble, epoch.noun),
            sees=figures.sees(epoch.noun),
            draw=lambda palette: figures.figure(ensemble, members, epoch.noun, title, palette),
            key="calibration",
            file="calibration",
            title="Confidence against accuracy",
            table=lambda: figures.table(ensemble, members),
            drawn_from=(),
        )
    )


def build_temperature(epoch: EvaluatedEpoch) -> View:
    """What a temperature is worth, or why that is not known."""
    # Two halves take twice as many examples.
    least = temperature.LEAST if epoch.fit else 2 * temperature.LEAST
    if epoch.n < least:
        yield Paragraph(words.too_few(least, epoch.noun), "note")
        return
    scaled = epoch.measure(fit_temperatures, fitted=True)
    yield Paragraph(words.temperature(scaled, epoch.noun), "finding")
    yield Paragraph(words.temperature_evidence(scaled, epoch.noun), "evidence")
    columns = words.TEMPERED if epoch.members > 1 else words.ALONE
    yield Table(
        "What a temperature saves",
        words.in_words(scaled, columns),
        note=words.notes(epoch.noun),
        key="calibration_table",
    )


def judge_calibration(predictions: Predictions) -> CalibrationTest:
    """Whether confidence and accuracy of the ensemble differ by more than chance."""
    return calibration_test(predictions.confidence, predictions.right)


def fit_temperatures(predictions: Predictions, fit: Predictions | None) -> Temperatures:
    """The ensemble with and without a temperature, fitted on `fit`, else on one half."""
    held = (fit.probabilities, fit.labels) if fit else None
    return temperature.compare(predictions.probabilities, predictions.labels, held)
