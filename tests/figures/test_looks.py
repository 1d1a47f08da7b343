"""Every figure is drawn in the colours of the page it is drawn for, and in no other's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ensemble.analysis.example_measures import compute_measures as measures_of
from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.analysis.quality import selective as choices
from ensemble.analysis.quality.calibration import reliability_bins
from ensemble.analysis.quality.coverage import evaluate_conformal_sets
from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import mark_probabilities, ood_scores, probability_bars, regression_charts, two_ensembles
from ensemble.figures.palette import DARK, LIGHT, Palette
from ensemble.figures.two_ensembles import EnsembleAnswer
from ensemble.regression import RegressionTraces
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.views import calibration, conformal, confusion, image_corruption, selective, shift, uncertainty
from ensemble.views import how_many_members as committee
from ensemble.views import run_comparison as wins_by_class
from ensemble.views import shift as entropy_histograms
from ensemble.views.members import agreement as pairwise_heatmap
from ensemble.views.members import combining
from ensemble.views.members import diversity as decomposition
from ensemble.views.members.agreement import MEASURES, compute_pairwise_matrix
from tests.figures.test_doubts import PARTS, matrix_of, scores
from tests.figures.test_inspect import compared, predictions
from tests.figures.test_measured import asked, curve, trace
from tests.ui.marks import THRESHOLD, voting

MADE = predictions(4, lean=1.0)
SURE, RIGHT = MADE.confidence, MADE.right
JUDGED = committees.evaluate_committees(MADE.probabilities, MADE.labels)
RISK = choices.risk_coverage(SURE, RIGHT)
SOLVED = RegressionTraces(trace([0.05] * 9), trace([0.03] * 9, 2), (trace([0.05]), trace([0.03], 2)))
SIDES = EnsembleAnswer(voting(4, 4, 9), "one"), EnsembleAnswer(voting(9, 9, rejected=True), "two")
FIGURES: dict[str, Callable[[Palette], Any]] = {
    "bars": lambda p: probability_bars.plot_probability_bars(MADE, 0, DIGIT_NAMES, "title", p),
    "calibration": lambda p: calibration.plot_reliability_diagram(
        reliability_bins(SURE, RIGHT), [reliability_bins(SURE, RIGHT)] * 4, "digit", "title", p
    ),
    "combining": lambda p: combining.plot_combinations(*compared(MADE), "nll", "title", p),
    "committee": lambda p: committee.plot_committee_curve(JUDGED, "accuracy", find_sufficient_size(JUDGED), "title", p),
    "compare": lambda p: wins_by_class.plot_wins_by_class(
        (np.arange(10), np.arange(10)), DIGIT_NAMES, "digit", "title", p
    ),
    "confusion": lambda p: confusion.plot_confusion_matrix(matrix_of(MADE), (4, 9), DIGIT_NAMES, "digit", "title", p),
    "conformal": lambda p: conformal.plot_set_sizes(
        evaluate_conformal_sets(MADE.averaged, MADE.labels, 0.1)[1], "digit", "title", p
    ),
    "decomposition": lambda p: decomposition.plot_loss_decomposition(PARTS, 2, "title", p),
    "entropies": lambda p: entropy_histograms.plot_entropy_histograms(
        scores(MADE), scores(MADE), ("Digits", "Noise"), "title", p
    ),
    "pairs": lambda p: pairwise_heatmap.plot_pairwise_heatmap(
        MEASURES["kl"], compute_pairwise_matrix(MADE, "kl"), 400, "digit", "title", p
    ),
    "uncertainty": lambda p: uncertainty.plot_uncertainty_scatter(
        MADE, measures_of(MADE), np.arange(400), DIGIT_NAMES, "digit", "title", p
    ),
    "one image": lambda p: image_corruption.plot_image_corruption(
        asked(3), CORRUPTION_KINDS["rotation"], 1, DIGIT_NAMES, "title", p
    ),
    "rejection": lambda p: ood_scores.plot_ood_scores(THRESHOLD, 3.3, "MNIST", "title", p),
    "selective": lambda p: selective.plot_risk_coverage(
        RISK, [RISK], 0.05, choices.fit_confidence_threshold(SURE, RIGHT, MADE.labels, 0.05), "title", p
    ),
    "shift": lambda p: shift.plot_corruption_metrics(curve("blur"), CORRUPTION_KINDS["blur"], 60, "title", p),
    "errors": lambda p: regression_charts.plot_regression_errors(SOLVED, 40, "title", p),
    "step times": lambda p: regression_charts.plot_step_times(SOLVED, 40, "title", p),
    "scaling": lambda p: regression_charts.plot_device_scaling(SOLVED, 2, "title", p),
    "two answers": lambda p: two_ensembles.plot_two_ensembles(*SIDES, DIGIT_NAMES, "title", p),
    "verdict": lambda p: mark_probabilities.plot_mark_probabilities(SIDES[0].digit, DIGIT_NAMES, "title", p),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_the_pages_ground_and_ink_and_nothing_of_the_other_page(name: str, palette: Palette) -> None:
    chart = FIGURES[name](palette)
    page = chart.layout.template.layout
    assert (page.paper_bgcolor, page.plot_bgcolor) == (palette.ground, palette.ground)
    assert page.font.color == palette.ink
    assert not chart.layout.template.data.to_plotly_json(), "no colours of another template"
    drawn = chart.to_json()
    other = LIGHT if palette is DARK else DARK
    colors = {color for color in vars(other).values() if color.startswith("#")}
    if name == "confusion":
        colors.discard("#FFFFFF")  # what is written on a dark cell is white in either
    assert [color for color in colors if color in drawn] == []


@pytest.mark.parametrize("name", FIGURES)
def test_light_or_dark_the_figures_are_the_same(name: str) -> None:
    light, dark = (FIGURES[name](palette).data for palette in (LIGHT, DARK))
    for one, other in zip(light, dark, strict=True):
        for values in ("x", "y", "z", "hovertext", "name"):
            np.testing.assert_array_equal(getattr(one, values, None), getattr(other, values, None))
