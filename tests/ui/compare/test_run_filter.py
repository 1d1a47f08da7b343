"""Which runs are left where the best part of them is asked for."""

import pytest

from ensemble.figures.comparison.columns import AxisColumn
from ensemble.ui.compare import run_filter

NLL = AxisColumn("nll", "NLL", (0.5, 0.2, 0.9, 0.1, 0.4, 0.7), is_metric=True)


@pytest.mark.parametrize(("top", "left"), [(100, {0, 1, 2, 3, 4, 5}), (50, {1, 3, 4}), (25, {1, 3}), (10, {3})])
def test_the_best_share_of_the_runs_is_rounded_up(top: int, left: set[int]) -> None:
    mask = run_filter._compute_best_mask([NLL], top, 6)
    assert {place for place, stays in enumerate(mask) if stays} == left


def test_the_best_tenth_of_two_runs_is_one() -> None:
    shorter = AxisColumn("nll", "NLL", (0.5, 0.2), is_metric=True)
    assert run_filter._compute_best_mask([shorter], 10, 2) == [False, True]
