import numpy as np
import pytest

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import CombinationComparison
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality import selective
from ensemble.analysis.quality.calibration import reliability_bins
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.quality import Quality, measure_quality
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.views import calibration as calibration_figure
from ensemble.views import run_comparison as compare_figure
from ensemble.views import selective as selective_figure
from ensemble.views.members import combining as combining_figure
from tests.analysis.draws import distributions

NAMES = tuple("0123456789")


def predictions(M: int, N: int = 400, seed: int = 0, lean: float = 3.0) -> EnsemblePredictions:
    """Members that lean towards the label; with lean 0 as often wrong as chance has it."""
    labels = np.random.default_rng(0).integers(10, size=N)
    drawn = distributions(M, N, 10, seed)
    drawn[:, np.arange(N), labels] *= np.exp(lean)
    return evaluate_predictions(drawn / drawn.sum(axis=-1, keepdims=True), labels)


def compared(made: EnsemblePredictions) -> tuple[CombinationComparison, list[Quality]]:
    """The ways of combining, and each member on the half that they are judged on."""
    found = combining.compare_combining_rules(made)
    half = found.judged
    return found, [measure_quality(member[half], made.labels[half]) for member in made.probabilities]


def traces(chart, name: str) -> list:
    return [trace for trace in chart.data if trace.name == name]


def test_the_reliability_diagram_draws_what_a_loop_counts(palette: Palette) -> None:
    made = predictions(3)
    members = [
        reliability_bins(p.max(axis=-1), votes == made.labels)
        for p, votes in zip(made.probabilities, made.votes, strict=True)
    ]
    whole = reliability_bins(made.confidence, made.right)
    chart = calibration_figure.plot_reliability_diagram(whole, members, "digit", "title", palette)
    (bold,) = traces(chart, "ensemble")
    counts = next(trace for trace in chart.data if trace.type == "bar")
    seen = []
    for b in range(15):
        inside = (made.confidence > b / 15) & (made.confidence <= (b + 1) / 15)
        assert counts.y[b] == inside.sum()
        if inside.any():
            seen.append((made.confidence[inside].mean(), made.right[inside].mean(), inside.sum()))
    np.testing.assert_allclose(bold.x, [x for x, _, _ in seen])
    np.testing.assert_allclose(bold.y, [y for _, y, _ in seen])
    low, high = np.transpose([wilson_interval(round(y * n), int(n)) for _, y, n in seen])
    np.testing.assert_allclose(bold.y + bold.error_y.array, high)
    np.testing.assert_allclose(bold.y - bold.error_y.arrayminus, low)
    thin = [trace for trace in chart.data if (trace.legendgroup or "").startswith("member")]
    assert [len(trace.x) for trace in thin] == [(one.count > 0).sum() for one in members]


def test_ways_of_combining_are_drawn_as_they_do_on_the_judged_half(palette: Palette) -> None:
    made = predictions(5, lean=1.0)
    combined, members = compared(made)
    chart = combining_figure.plot_combinations(combined, members, "accuracy", "title", palette)
    half = split_halves(made.labels)[1]
    labels = made.labels[half]
    geometric = np.log(made.probabilities[:, half].astype(float)).sum(axis=0).argmax(axis=-1)
    weighted = np.tensordot(combined.weights, made.probabilities[:, half].astype(float), 1)
    expected = {
        "arithmetic mean": made.said[half],
        "geometric mean": geometric,
        "fitted weights": weighted.argmax(axis=-1),
    }
    for name, said in expected.items():
        (dot,) = traces(chart, name)
        assert dot.x[0] == pytest.approx(100 * (said == labels).mean())
        low, high = wilson_interval(int((said == labels).sum()), len(labels))
        assert dot.x[0] + dot.error_x.array[0] == pytest.approx(100 * high)
        assert dot.x[0] - dot.error_x.arrayminus[0] == pytest.approx(100 * low)
    singles = [trace.x[0] for trace in chart.data if (trace.legendgroup or "")[:6] == "member"]
    np.testing.assert_allclose(singles, 100 * (made.votes[:, half] == labels).mean(axis=1))
    bars = next(trace for trace in chart.data if trace.type == "bar")
    np.testing.assert_allclose(bars.y, combined.weights)
    assert sum(bars.y) == pytest.approx(1)


def test_a_rule_far_beyond_the_others_is_an_arrow_at_the_edge_with_its_figure(palette: Palette) -> None:
    combined, members = compared(predictions(5, lean=1.0))
    chart = combining_figure.plot_combinations(combined, members, "nll", "title", palette)
    (vote,) = traces(chart, "majority vote")
    others = [traces(chart, name)[0].x[0] for name in ("arithmetic mean", "geometric mean")]
    assert combined.majority.quality.nll > 2 * max(others)
    assert vote.marker.symbol == "triangle-right"
    assert max(others) <= vote.x[0] <= chart.layout.xaxis.range[1]
    assert vote.text[0] == f"{combined.majority.quality.nll:.3g}"


def test_risk_by_coverage_is_what_sorting_and_counting_gives(palette: Palette) -> None:
    made = predictions(3, lean=8.0)
    curve = selective.risk_coverage(made.confidence, made.right)
    choice = selective.fit_confidence_threshold(made.confidence, made.right, made.labels, 0.05)
    chart = selective_figure.plot_risk_coverage(curve, [curve], 0.05, choice, "title", palette)
    (bold,) = traces(chart, "ensemble")
    surest = sorted(zip(-made.confidence, ~made.right, strict=True))
    wrong = np.cumsum([one for _, one in surest])
    np.testing.assert_allclose(bold.x, 100 * np.arange(1, 401) / 400)
    np.testing.assert_allclose(bold.y, 100 * wrong / np.arange(1, 401))
    (mark,) = traces(chart, "with the threshold, other half")
    half = split_halves(made.labels)[1]
    kept = half & (made.confidence >= choice.threshold)
    assert 10 < kept.sum() < half.sum()
    assert mark.x[0] == pytest.approx(100 * kept.sum() / half.sum())
    assert mark.y[0] == pytest.approx(100 * (kept & ~made.right).sum() / kept.sum())


def test_where_no_threshold_keeps_so_few_errors_none_is_marked(palette: Palette) -> None:
    made = predictions(3, lean=8.0)
    both_surest_wrong = np.isin(np.arange(400), np.argsort(-made.confidence)[:200])
    choice = selective.fit_confidence_threshold(made.confidence, ~both_surest_wrong, made.labels, 0.001)
    assert not choice.is_reached
    figure = selective_figure.plot_risk_coverage(
        selective.risk_coverage(made.confidence, ~both_surest_wrong), [], 0.001, choice, "title", palette
    )
    assert not traces(figure, "with the threshold, other half")


def test_the_axis_of_coverage_begins_where_the_curves_are_still_on_the_ground(palette: Palette) -> None:
    right = np.ones(1000, bool)
    right[950:] = False
    sure = np.linspace(1, 0.5, 1000)
    curve = selective.risk_coverage(sure, right)
    choice = selective.fit_confidence_threshold(sure, right, np.zeros(1000, int), 0.01)
    chart = selective_figure.plot_risk_coverage(curve, [], 0.01, choice, "title", palette)
    assert chart.layout.xaxis.range[0] == pytest.approx(80)
    never = selective.risk_coverage(sure, np.ones(1000, bool))
    assert selective_figure.find_axis_start([never], 0.0) == 0.8
    assert selective_figure.find_axis_start([selective.risk_coverage(sure, ~right)], 1.0) == 0


def test_what_was_won_and_lost_is_counted_by_class(palette: Palette) -> None:
    ours, theirs = predictions(3, lean=1.0), predictions(3, seed=1, lean=1.0)
    won, lost = compare_figure.find_won_and_lost(ours, theirs)
    counts = compare_figure.count_wins_by_class(ours.labels, won, lost, 10)
    chart = compare_figure.plot_wins_by_class(counts, NAMES, "digit", "title", palette)
    up, down = [0] * 10, [0] * 10
    for n, label in enumerate(ours.labels):
        up[label] += ours.right[n] and not theirs.right[n]
        down[label] -= theirs.right[n] and not ours.right[n]
    assert sum(up) > 0 > sum(down)
    assert list(traces(chart, "won")[0].y) == up
    assert list(traces(chart, "lost")[0].y) == down
    assert np.all(np.diff(ours.confidence[won]) <= 0)
    table = compare_figure.tabulate_won_and_lost(ours, theirs, NAMES)
    assert table["outcome"].value_counts().to_dict() == {"won": sum(up), "lost": -sum(down)}
    for row in table.itertuples():
        assert (row.label == row.says) == (row.outcome == "won")
        assert (row.label == row.other_says) == (row.outcome == "lost")


@pytest.mark.parametrize(("low", "high"), [(0, 0), (-1.2, 0), (-3, 12), (-40, 220), (0, 9.6)])
def test_ticks_of_a_count_are_whole_and_hold_zero(low: float, high: float) -> None:
    ticks = compare_figure.compute_whole_ticks(low, high)
    assert 0 in ticks
    assert 1 <= len(ticks) <= 7
    assert low <= min(ticks) <= max(ticks) <= high


def test_few_members_are_named_one_by_one_and_many_at_once() -> None:
    few = chart_style.build_member_lines([[0]] * 3, [[0]] * 3, [[""]] * 3)
    assert [line["name"] for line in few] == ["member 1", "2", "3"]
    assert len({line["line"]["color"] for line in few}) == 3
    many = chart_style.build_member_lines([[0]] * 12, [[0]] * 12, [[""]] * 12)
    assert [line["showlegend"] for line in many] == [True] + [False] * 11
    assert many[0]["name"] == "12 members"


def test_a_long_curve_is_thinned_with_both_ends_kept() -> None:
    kept = chart_style.select_drawn_points(10_000)
    assert (kept[0], kept[-1], len(kept)) == (0, 9_999, chart_style.MAX_LINE_POINTS)
    assert chart_style.select_drawn_points(5).tolist() == [0, 1, 2, 3, 4]
