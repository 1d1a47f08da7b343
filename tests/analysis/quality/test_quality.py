import numpy as np
import pytest
from sklearn import metrics

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.calibration import (
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from ensemble.analysis.quality.metrics import METRICS_BY_NAME
from ensemble.analysis.quality.quality import mean_quality, measure_qualities, measure_quality
from tests.analysis.cases import Case, cases, labelled

CASES = cases()
FIGURES = ["low", "high", *METRICS_BY_NAME]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_figure_agrees_with_its_reference(case: Case) -> None:
    probabilities, labels = case
    rows = probabilities[0].astype(float)
    found = measure_quality(rows, labels)
    right = rows.argmax(axis=1) == labels
    floored = np.maximum(rows[np.arange(len(labels)), labels], np.finfo(np.float32).tiny)
    onehot = np.eye(rows.shape[1])[labels]
    assert found.n == len(labels)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, rows.argmax(axis=1)))
    assert (found.low, found.high) == wilson_interval(int(right.sum()), len(labels))
    assert found.nll == pytest.approx(-np.log(floored).mean(), abs=1e-12)
    assert found.brier == pytest.approx(((rows - onehot) ** 2).sum(axis=1).mean(), abs=1e-12)
    assert found.ece == expected_calibration_error(rows.max(axis=1), right)
    assert found.adaptive_ece == adaptive_calibration_error(rows.max(axis=1), right)
    assert found.mce == maximum_calibration_error(rows.max(axis=1), right)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_figures_keep_to_their_ranges(case: Case) -> None:
    found = measure_qualities(evaluate_predictions(*case))
    for one in (found.ensemble, *found.members, found.mean):
        assert 0 <= one.low <= one.accuracy + 1e-12
        assert one.accuracy <= one.high + 1e-12
        assert one.high <= 1
        assert one.nll >= 0
        assert 0 <= one.brier <= 2
        assert 0 <= one.ece <= one.mce + 1e-12
        assert one.mce <= 1
        assert 0 <= one.adaptive_ece <= 1


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_ensemble_is_at_least_as_good_as_its_members_mean(case: Case) -> None:
    """In NLL and in Brier's score that is Jensen's inequality."""
    found = measure_qualities(evaluate_predictions(*case))
    assert found.ensemble.nll <= found.mean.nll + 1e-9
    assert found.ensemble.brier <= found.mean.brier + 1e-9


def test_the_mean_is_of_each_figure() -> None:
    found = measure_qualities(evaluate_predictions(*labelled(3, 90, 10)))
    for name in FIGURES:
        if name not in ("n", "low", "high"):
            mean = sum(member[name] for member in found.members) / 3
            assert found.mean[name] == pytest.approx(mean, abs=1e-12)
    expected = wilson_interval(found.mean.accuracy * 90, 90)
    assert (found.mean.low, found.mean.high) == pytest.approx(expected)


def test_one_member_is_its_ensemble_and_its_mean() -> None:
    found = measure_qualities(evaluate_predictions(*CASES["one member"]))
    for name in METRICS_BY_NAME:
        one = found.members[0][name]
        assert found.ensemble[name] == pytest.approx(one, abs=1e-12)
        assert found.mean[name] == pytest.approx(one, abs=1e-12)


def test_all_right_and_sure_is_perfect() -> None:
    labels = np.array([0, 1, 2, 1])
    perfect = measure_quality(np.eye(3)[labels], labels)
    assert (perfect.accuracy, perfect.high) == (1, 1)
    assert (perfect.nll, perfect.brier, perfect.ece, perfect.mce) == (0, 0, 0, 0)
    assert mean_quality([perfect] * 49) == perfect


def test_nothing_to_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="not a proportion"):
        measure_quality(np.zeros((0, 3)), np.zeros(0, int))
    with pytest.raises(ValueError, match="at least one"):
        mean_quality([])
    probabilities, labels = labelled(1, 30, 3)
    parts = [measure_quality(probabilities[0][:n], labels[:n]) for n in (20, 30)]
    with pytest.raises(ValueError, match="same examples"):
        mean_quality(parts)
