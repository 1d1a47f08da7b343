"""Calibration: whether the ensemble is right as often as it says, and what a temperature saves."""

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality import temperature_scaling
from ensemble.analysis.quality.brier_parts import decompose_ensemble_brier
from ensemble.analysis.quality.calibration_noise import estimate_ensemble_calibration_error
from ensemble.analysis.quality.calibration_test import CalibrationTest, calibration_test
from ensemble.analysis.quality.temperature_scaling import TemperatureComparison
from ensemble.figures.inspect import calibration as figures
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Columns, Figure, Figures, Paragraph, Table, View
from ensemble.wording.verdicts import calibration as words


def build_calibration(epoch: EvaluatedEpoch) -> View:
    test = epoch.measure(_judge_calibration)
    yield Paragraph(words.describe_calibration(test, epoch.noun), "answer")
    yield Paragraph(words.describe_calibration_evidence(test, epoch.noun), "evidence")
    yield Paragraph(words.describe_calibration_error(epoch.measure(estimate_ensemble_calibration_error)), "evidence")
    yield Columns((5, 4), (lambda: _reliability_diagram_view(epoch), lambda: _temperature_view(epoch)))
    if epoch.n > 1:
        yield from _brier_parts_view(epoch)


def _brier_parts_view(epoch: EvaluatedEpoch) -> View:
    ensemble, members = epoch.measure(decompose_ensemble_brier)
    if members:
        yield Paragraph(words.describe_brier_gain(ensemble, members), "finding")
    yield Table(
        "Brier score in parts",
        words.tabulate_brier_parts(ensemble, members),
        note=words.explain_brier_parts(epoch.noun),
        key="brier_parts_table",
        narrow=True,
    )


def _reliability_diagram_view(epoch: EvaluatedEpoch) -> View:
    ensemble, members = epoch.measure(figures.compute_reliability_diagrams)
    title = f"Reliability · {epoch.source}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_reliability_chart(ensemble, epoch.noun),
            explanation=figures.explain_reliability_chart(epoch.noun),
            draw=lambda palette: figures.plot_reliability_diagram(ensemble, members, epoch.noun, title, palette),
            key="calibration",
            file="calibration",
            title="Confidence against accuracy",
            table=lambda: figures.tabulate_reliability(ensemble, members),
            drawn_from=(),
        )
    )


def _temperature_view(epoch: EvaluatedEpoch) -> View:
    # Two halves take twice as many examples.
    least = temperature_scaling.MIN_JUDGED_EXAMPLES if epoch.fit else 2 * temperature_scaling.MIN_JUDGED_EXAMPLES
    if epoch.n < least:
        yield Paragraph(words.explain_missing_temperature(least, epoch.noun), "note")
        return
    scaled = epoch.measure(_fit_temperatures, fitted=True)
    yield Paragraph(words.describe_temperature_gain(scaled, epoch.noun), "finding")
    yield Paragraph(words.describe_temperature_evidence(scaled, epoch.noun), "evidence")
    columns = words.TEMPERATURE_COLUMNS if epoch.members > 1 else words.SINGLE_MEMBER_COLUMNS
    yield Table(
        "What a temperature saves",
        words.tabulate_temperatures(scaled, columns),
        note=words.explain_temperature_table(epoch.noun),
        key="calibration_table",
    )


def _judge_calibration(predictions: EnsemblePredictions) -> CalibrationTest:
    return calibration_test(predictions.confidence, predictions.right, groups=predictions.groups)


def _fit_temperatures(predictions: EnsemblePredictions, fit: EnsemblePredictions | None) -> TemperatureComparison:
    """The ensemble with and without a temperature, fitted on `fit`, else on one half."""
    held = (fit.probabilities, fit.labels) if fit else None
    return temperature_scaling.compare_fitted_temperatures(
        predictions.probabilities, predictions.labels, held, predictions.groups
    )
