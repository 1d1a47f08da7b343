"""Every figure is drawn in the colours of the page it is drawn for, and in no other's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.enough import enough
from ensemble.analysis.members.uncertainty import uncertainty as measures_of
from ensemble.analysis.quality import selective as choices
from ensemble.analysis.quality.calibration import reliability
from ensemble.analysis.quality.coverage import judge_sets
from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import bars, rejection, solves, speeds, two_answers, verdict
from ensemble.figures.inspect import (
    calibration,
    combining,
    committee,
    compare,
    conformal,
    confusion,
    decomposition,
    entropies,
    one_image,
    pairs,
    selective,
    shift,
    uncertainty,
)
from ensemble.figures.palette import DARK, LIGHT, Palette
from ensemble.figures.two_answers import Side
from ensemble.regression import Traces
from ensemble.shift.corruptions import KINDS
from ensemble.wording.verdicts.pairs import MEASURES, matrix
from tests.figures.test_doubts import PARTS, matrix_of, scores
from tests.figures.test_inspect import compared, predictions
from tests.figures.test_measured import asked, curve, trace
from tests.race.test_race import RACE
from tests.ui.marks import THRESHOLD, voting

MADE = predictions(4, lean=1.0)
SURE, RIGHT = MADE.confidence, MADE.right
JUDGED = committees.committee(MADE.probabilities, MADE.labels)
RISK = choices.risk_coverage(SURE, RIGHT)
SOLVED = Traces(trace([0.05] * 9), trace([0.03] * 9, 2), (trace([0.05]), trace([0.03], 2)))
SIDES = Side(voting(4, 4, 9), "one"), Side(voting(9, 9, rejected=True), "two")
FIGURES: dict[str, Callable[[Palette], Any]] = {
    "bars": lambda p: bars.figure(MADE, 0, DIGIT_NAMES, "title", p),
    "calibration": lambda p: calibration.figure(
        reliability(SURE, RIGHT), [reliability(SURE, RIGHT)] * 4, "digit", "title", p
    ),
    "combining": lambda p: combining.figure(*compared(MADE), "nll", "title", p),
    "committee": lambda p: committee.figure(JUDGED, "accuracy", enough(JUDGED), "title", p),
    "compare": lambda p: compare.figure(
        (np.arange(10), np.arange(10)), DIGIT_NAMES, "digit", "title", p
    ),
    "confusion": lambda p: confusion.figure(
        matrix_of(MADE), (4, 9), DIGIT_NAMES, "digit", "title", p
    ),
    "conformal": lambda p: conformal.figure(
        judge_sets(MADE.averaged, MADE.labels, 0.1)[1], "digit", "title", p
    ),
    "decomposition": lambda p: decomposition.figure(PARTS, 2, "title", p),
    "entropies": lambda p: entropies.figure(
        scores(MADE), scores(MADE), ("Digits", "Noise"), "title", p
    ),
    "pairs": lambda p: pairs.figure(MEASURES["kl"], matrix(MADE, "kl"), 400, "digit", "title", p),
    "uncertainty": lambda p: uncertainty.figure(
        MADE, measures_of(MADE), np.arange(400), DIGIT_NAMES, "digit", "title", p
    ),
    "one image": lambda p: one_image.figure(
        asked(3), KINDS["rotation"], 1, DIGIT_NAMES, "title", p
    ),
    "rejection": lambda p: rejection.figure(THRESHOLD, 3.3, "MNIST", "title", p),
    "selective": lambda p: selective.figure(
        RISK, [RISK], 0.05, choices.choose(SURE, RIGHT, MADE.labels, 0.05), "title", p
    ),
    "shift": lambda p: shift.figure(curve("blur"), KINDS["blur"], 60, "title", p),
    "errors": lambda p: solves.errors(SOLVED, 40, "title", p),
    "step times": lambda p: solves.step_times(SOLVED, 40, "title", p),
    "scaling": lambda p: solves.scaling(SOLVED, 2, "title", p),
    "speeds": lambda p: speeds.speeds(RACE, "title", p),
    "two answers": lambda p: two_answers.figure(*SIDES, DIGIT_NAMES, "title", p),
    "verdict": lambda p: verdict.figure(SIDES[0].digit, DIGIT_NAMES, "title", p),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_the_pages_ground_and_ink_and_nothing_of_the_other_page(
    name: str, palette: Palette
) -> None:
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
