"""Calibration errors against slow loops, scikit-learn's curve and torchmetrics' rule."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.calibration import (
    BINS,
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    reliability_bins,
)
from tests.analysis.cases import Case, cases

CASES = cases()


def answers(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The ensemble's confidence, and where it is right."""
    averaged = average_probabilities(case[0])
    return averaged.max(axis=1), averaged.argmax(axis=1) == case[1]


def gaps(groups: list[list[tuple[float, bool]]]) -> list[tuple[int, float]]:
    """Of each group that is not empty: how many there are, and |accuracy − confidence|."""
    return [
        (len(group), abs(sum(r for _, r in group) - sum(c for c, _ in group)) / len(group)) for group in groups if group
    ]


def weighted(groups: list[list[tuple[float, bool]]]) -> float:
    found = gaps(groups)
    return sum(n * gap for n, gap in found) / sum(n for n, _ in found)


def in_bins(confidence: np.ndarray, right: np.ndarray, bins: int) -> list:
    """Guo's rule, by a loop: above the lower edge and at most the upper, 0 in the first."""
    pairs = list(zip(confidence.tolist(), right.tolist(), strict=True))
    edges = np.linspace(0, 1, bins + 1).tolist()
    return [[(c, r) for c, r in pairs if low < c <= high or (c == 0 and low == 0)] for low, high in pairwise(edges)]


def in_torchmetrics_bins(confidence: np.ndarray, right: np.ndarray, bins: int) -> list:
    """Its rule: from the lower edge to below the upper, and exactly 1 in a bin of its own."""
    groups: list = [[] for _ in range(bins + 1)]
    edges = np.linspace(0, 1, bins + 1).tolist()
    for c, r in zip(confidence.tolist(), right.tolist(), strict=True):
        groups[sum(edge <= c for edge in edges) - 1].append((c, r))
    return groups


def in_equal_bins(confidence: np.ndarray, right: np.ndarray, bins: int) -> list:
    """Filled from the lowest up: once b/B of all are in, the bin takes what is equal and ends."""
    pairs = sorted(zip(confidence.tolist(), right.tolist(), strict=True))
    groups: list = [[]]
    for place, pair in enumerate(pairs):
        if groups[-1] and groups[-1][-1][0] != pair[0]:
            boundaries = [-(-b * len(pairs) // bins) for b in range(1, bins + 1)]
            first = place - len(groups[-1])
            if any(first < boundary <= place for boundary in boundaries):
                groups.append([])
        groups[-1].append(pair)
    return groups


@pytest.mark.parametrize("bins", [1, 4, BINS])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_errors_are_what_slow_loops_find(case: Case, bins: int) -> None:
    confidence, right = answers(case)
    groups = in_bins(confidence, right, bins)
    assert expected_calibration_error(confidence, right, bins) == pytest.approx(weighted(groups), abs=1e-12)
    worst = max(gap for _, gap in gaps(groups))
    assert maximum_calibration_error(confidence, right, bins) == pytest.approx(worst, abs=1e-12)
    adaptive = weighted(in_equal_bins(confidence, right, bins))
    assert adaptive_calibration_error(confidence, right, bins) == pytest.approx(adaptive, abs=1e-12)


@pytest.mark.parametrize("name", ["random", "two classes", "one member", "a class missing"])
def test_errors_agree_with_torchmetrics_away_from_edges(name: str) -> None:
    """At an edge the two part: 1.0 is in a bin of its own there, and in the last one here."""
    confidence, right = answers(CASES[name])
    kept = ~np.isin(confidence, np.linspace(0, 1, BINS + 1))
    groups = in_torchmetrics_bins(confidence[kept], right[kept], BINS)
    found = expected_calibration_error(confidence[kept], right[kept])
    assert found == pytest.approx(weighted(groups), abs=1e-12)
    worst = max(gap for _, gap in gaps(groups))
    assert maximum_calibration_error(confidence[kept], right[kept]) == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_curve_agrees_with_scikit_learn(case: Case) -> None:
    confidence, right = answers(case)
    accuracy, sure = calibration_curve(right, np.minimum(confidence, 1), n_bins=BINS, pos_label=1)
    found = reliability_bins(confidence, right)
    filled = found.count > 0
    np.testing.assert_allclose(found.accuracy[filled], accuracy, atol=1e-12)
    np.testing.assert_allclose(found.confidence[filled], sure, atol=1e-6)
    assert np.isnan(found.accuracy[~filled]).all()
    assert np.isnan(found.gap[~filled]).all()
    assert found.count.sum() == len(confidence)


def test_an_edge_belongs_to_the_bin_below_it() -> None:
    found = reliability_bins(np.array([0, 0.25, 0.5, 0.5000001, 1]), np.ones(5, bool), bins=4)
    assert found.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert found.count.tolist() == [2, 1, 1, 1]


def test_equal_counts_where_nothing_is_equal() -> None:
    draws = np.random.default_rng(0)
    confidence = draws.permutation(np.linspace(0.1, 1, 156))
    right = draws.random(156) < confidence
    parts = np.array_split(np.argsort(confidence), 12)
    expected = sum(abs(right[part].sum() - confidence[part].sum()) for part in parts) / 156
    assert adaptive_calibration_error(confidence, right, 12) == pytest.approx(expected, abs=1e-12)


def test_equal_confidences_stay_together() -> None:
    """Six at 0.9 of eight, four bins: 0.5 and 0.6 are the first, the six one bin, not three."""
    confidence = np.array([0.9, 0.5, 0.9, 0.9, 0.6, 0.9, 0.9, 0.9])
    right = np.array([1, 1, 1, 1, 0, 0, 0, 1], bool)
    expected = (abs(1 - 1.1) + abs(4 - 5.4)) / 8
    assert adaptive_calibration_error(confidence, right, 4) == pytest.approx(expected, abs=1e-12)
    shuffled = np.random.default_rng(0).permutation(8)
    assert adaptive_calibration_error(confidence[shuffled], right[shuffled], 4) == pytest.approx(expected)


@pytest.mark.parametrize("error", [expected_calibration_error, adaptive_calibration_error, maximum_calibration_error])
def test_errors_at_their_ends(error) -> None:
    sure = np.ones(10)
    assert error(sure, np.ones(10, bool)) == 0
    assert error(sure, np.zeros(10, bool)) == 1
    assert error(np.full(10, 0.7), np.arange(10) < 7) == pytest.approx(0, abs=1e-12)
    assert error(np.array([0.3]), np.array([True])) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "error", [reliability_bins, expected_calibration_error, adaptive_calibration_error, maximum_calibration_error]
)
def test_no_example_and_other_shapes_are_refused(error) -> None:
    with pytest.raises(ValueError, match="confidences"):
        error(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(ValueError, match="confidences"):
        error(np.ones(3), np.ones(2, bool))
