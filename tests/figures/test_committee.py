"""The committees over their size: what is drawn is what loops over them find."""

from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.extrapolation import extrapolate_committee_curve
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.figures.palette import Palette
from ensemble.views import how_many_members as committee_figure
from tests.figures.test_inspect import predictions, traces


@pytest.mark.parametrize("name", ["accuracy", "nll"])
def test_the_committee_curve_draws_the_mean_and_the_ends_of_all_subsets(name: str, palette: Palette) -> None:
    made = predictions(4, lean=1.0)
    judged = committees.evaluate_committees(made.probabilities, made.labels)
    verdict = find_sufficient_size(judged, name, margin=0.5)
    chart = committee_figure.plot_committee_curve(judged, name, verdict, "title", palette)
    scale = 100 if name == "accuracy" else 1

    def value(subset: tuple[int, ...]) -> float:
        p = made.probabilities[list(subset)].astype(float).mean(axis=0)
        if name == "accuracy":
            return 100 * float((p.argmax(axis=-1) == made.labels).mean())
        return float(-np.log(p[np.arange(len(p)), made.labels]).mean())

    each = [[value(subset) for subset in combinations(range(4), k)] for k in range(1, 5)]
    (mean,) = traces(chart, "mean of the committees")
    low, high = traces(chart, "lowest")[0], traces(chart, "best to worst")[0]
    np.testing.assert_allclose(mean.y, [np.mean(one) for one in each])
    np.testing.assert_allclose(low.y, [min(one) for one in each])
    np.testing.assert_allclose(high.y, [max(one) for one in each])
    dots = [trace.y[0] for trace in chart.data if (trace.legendgroup or "").startswith("member")]
    np.testing.assert_allclose(dots, each[0])
    (mark,) = traces(chart, "enough")
    found = getattr(judged, name)[judged.size == verdict.size]
    assert (mark.x[0], mark.y[0]) == (verdict.size, pytest.approx(scale * found.mean())) != (4, 0)
    (accepted,) = (shape for shape in chart.layout.shapes if shape.name == "margin")
    far = mean.y[-1] + (-50 if name == "accuracy" else 0.5)
    assert sorted([accepted.y0, accepted.y1]) == pytest.approx(sorted([mean.y[-1], far]))
    assert len(traces(chart, "expected, not measured")) == (name == "nll")


@pytest.mark.parametrize(("at", "anchor"), [(1, "left"), (5, "left"), (9, "right")])
def test_what_is_enough_is_said_on_the_side_that_has_room_on_a_phone(at: int, anchor: str, palette: Palette) -> None:
    chart = go.Figure()
    committee_figure.add_enough_marker(chart, at, 99.0, "accuracy", palette, 10)
    (said,) = chart.layout.annotations
    assert (said.text, said.xanchor) == (f"<b>{at} {'is' if at == 1 else 'are'} enough</b>", anchor)
    assert said.xshift == (10 if anchor == "left" else -10)


def test_nothing_is_ringed_where_nothing_is_enough_or_there_is_no_margin(palette: Palette) -> None:
    made = predictions(4, lean=1.0)
    judged = committees.evaluate_committees(made.probabilities, made.labels)
    for name, verdict in (("accuracy", find_sufficient_size(judged, margin=1e-6)), ("ece", None)):
        chart = committee_figure.plot_committee_curve(judged, name, verdict, "title", palette)
        assert not traces(chart, "enough")
        assert not any("enough" in note.text for note in chart.layout.annotations)


def test_what_is_expected_of_more_members_is_dashed_with_its_band_and_told_apart_in_the_table(palette: Palette) -> None:
    made = predictions(4, lean=1.0)
    judged = committees.evaluate_committees(made.probabilities, made.labels)
    chart = committee_figure.plot_committee_curve(
        judged, "brier", find_sufficient_size(judged, "brier"), "title", palette
    )
    law = extrapolate_committee_curve(judged, "brier")
    assert law
    (dashed,) = traces(chart, "expected, not measured")
    measured = committees.committee_curve(judged, "brier").mean
    assert dashed.line.dash == "dash"
    assert list(dashed.x) == [4, 5, 6, 7, 8]
    np.testing.assert_allclose(dashed.y, [measured[-1], *law.mean])
    np.testing.assert_allclose(traces(chart, "expected, low")[0].y, law.low)
    np.testing.assert_allclose(traces(chart, "expected, high")[0].y, law.high)
    best = [(1,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    rows = committee_figure.tabulate_committee_sizes(judged, best)
    assert rows["best_by_nll"].tolist()[3] == "1 2 3 4"
    assert rows["what"].tolist() == ["measured"] * 4 + ["expected, not measured"] * 4
    np.testing.assert_allclose(rows["brier_mean"], [*measured, *law.mean])
    assert rows["accuracy_mean"].isna().tolist() == [False] * 4 + [True] * 4
