"""Two ensembles against each other: by hand, and as often right as promised."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_comparison import compare_numeric_ensembles
from ensemble.analysis.numeric.point_ensemble import PointEnsemble


def test_differences_are_those_of_paired_losses() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=500)
    first = NormalMixture(targets + rng.normal(0, 0.3, (3, 500)), np.full((3, 500), 0.1))
    second = NormalMixture(targets + rng.normal(0, 0.6, (2, 500)), np.full((2, 500), 0.3))
    found = compare_numeric_ensembles(first, second, targets)
    assert [each.metric for each in found.differences] == ["squared_error", "nll", "crps"]
    for each in found.differences:
        ours = first.compute_losses(targets)[each.metric]
        theirs = second.compute_losses(targets)[each.metric]
        assert each.difference == pytest.approx(ours.mean() - theirs.mean())
        assert each.low < each.difference < each.high < 0
        assert each.p_value < 1e-6
        assert each.p_value >= ttest_rel(ours, theirs).pvalue
    assert found.ratio.high < 1
    back = compare_numeric_ensembles(second, first, targets)
    assert back.ratio.ratio == pytest.approx(1 / found.ratio.ratio)
    points = compare_numeric_ensembles(PointEnsemble(first.mean), second, targets)
    assert [each.metric for each in points.differences] == ["squared_error"]


@pytest.mark.long
def test_no_difference_is_found_more_often_than_promised() -> None:
    rng, found = np.random.default_rng(1), 0
    for _ in range(200):
        targets = rng.normal(size=150)
        one, other = (PointEnsemble(targets + rng.normal(0, 0.5, (2, 150))) for _ in range(2))
        (difference, _) = compare_numeric_ensembles(one, other, targets).differences
        found += not difference.low <= 0 <= difference.high
    assert found / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
