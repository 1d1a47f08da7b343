"""Charts of hundreds of members: a band and the extremes, not a line for each."""

import numpy as np

from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.figures import chart_style

M = 200


def test_many_lines_become_a_band_and_the_two_with_the_lowest_and_highest_mean() -> None:
    levels = np.random.default_rng(0).permutation(M) / M
    xs = [np.arange(5.0)] * M
    hovers = [[f"Member {m + 1}"] * 5 for m in range(M)]
    low, high, lowest, highest = chart_style.build_member_lines(xs, [level + np.zeros(5) for level in levels], hovers)
    np.testing.assert_allclose(low["y"], np.quantile(levels, 0.05))
    np.testing.assert_allclose(high["y"], np.quantile(levels, 0.95))
    assert (lowest["y"][0], highest["y"][0]) == (levels.min(), levels.max())
    assert lowest["hovertext"][0] == f"Member {levels.argmin() + 1}"
    assert chart_style.describe_member_lines(M).startswith(
        " Of the 200 members the picture shows the range from the 5 %"
    )
    assert len(chart_style.build_member_lines(xs[:MAX_SHOWN_MEMBERS], xs[:MAX_SHOWN_MEMBERS], hovers[:64])) == 64
    assert chart_style.describe_member_lines(MAX_SHOWN_MEMBERS) == ""


def test_lines_that_end_early_and_gaps_leave_the_band_to_the_others() -> None:
    xs = [np.arange(3.0) if m % 2 else np.arange(5.0) for m in range(M)]
    ys = [np.where(np.arange(len(x)) == 1, np.nan, 1.0 if m % 2 else 2.0) for m, x in enumerate(xs)]
    low, high, *_ = chart_style.build_member_lines(xs, ys, [[""] * len(x) for x in xs])
    np.testing.assert_array_equal(low["y"], [1, 1, 1, 2, 2])
    np.testing.assert_array_equal(high["y"], [2, 2, 2, 2, 2])


def test_many_points_are_one_trace() -> None:
    (trace,) = chart_style.build_member_lines([[1]] * M, [[m] for m in range(M)], [[f"Member {m}"] for m in range(M)])
    assert trace["y"] == list(range(M))
    assert trace["hovertext"][7] == "Member 7"
