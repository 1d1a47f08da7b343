"""What groups of runs differ by: against the formulas, with copies of images, and adjusted."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.analysis.inference.crossed_means import estimate_crossed_mean
from ensemble.analysis.inference.image_groups import collapse_groups
from ensemble.analysis.inference.seed_power import compute_seed_power
from ensemble.comparison.differences import adjust_differences, compute_group_difference
from ensemble.comparison.group_metrics import compute_group_metrics
from ensemble.comparison.run_measures import RunMeasures, measure_run
from ensemble.comparison.seed_groups import compare_seed_groups
from ensemble.runs import Run, list_runs
from tests.comparison.drawn import finished


def draw_runs(count: int, skill: float, momentum: float) -> list[Run]:
    return [
        finished({"seed": seed, "momentum": momentum}, epochs=1, skill=skill, draw=int(100 * momentum) + seed)
        for seed in range(count)
    ]


def copy_images(measures: RunMeasures, copies: int) -> RunMeasures:
    """The same run on a test set that has each image several times, which belong together."""
    return replace(
        measures,
        images=f"{copies} of {measures.images}",
        share=measures.share.repeat(copies),
        per_image={name: values.repeat(copies) for name, values in measures.per_image.items()},
        groups=np.arange(measures.n).repeat(copies),
    )


def test_several_runs_differ_by_the_crossed_mean_of_hits_that_are_0_or_1() -> None:
    """The variance of images counts two more, of which one only either side has right."""
    ours, theirs = (
        tuple(measure_run(run) for run in draw_runs(count, skill, momentum))
        for count, skill, momentum in ((3, 2.2, 0.5), (2, 2.0, 0.6))
    )
    found = compute_group_difference(ours, theirs)
    hits, others = (np.array([one.right for one in side], float) for side in (ours, theirs))
    n, expected = hits.shape[1], estimate_crossed_mean(hits, others, bound=1.0)
    assert (found.digits_low, found.digits_high) == pytest.approx((expected.low * n, expected.high * n))
    assert found.p == pytest.approx(expected.p)
    assert found.p > estimate_crossed_mean(hits, others).p
    assert found.digits == pytest.approx((hits.mean() - others.mean()) * n)
    back = compute_group_difference(theirs, ours)
    assert (back.digits, back.digits_low, back.digits_high, back.nll, back.nll_low, back.nll_high) == pytest.approx(
        [-one for one in (found.digits, found.digits_high, found.digits_low, found.nll, found.nll_high, found.nll_low)]
    )
    assert (back.won, back.lost) == pytest.approx((found.lost, found.won))


@pytest.mark.parametrize("runs", [1, 2])
def test_copies_of_images_leave_differences_and_figures_as_sure_as_they_are(runs: int) -> None:
    first, second = (draw_runs(runs, skill, skill / 5) for skill in (2.2, 2.0))
    sides = [[measure_run(run) for run in side] for side in (first, second)]
    once = compute_group_difference(*map(tuple, sides))
    copied = [[copy_images(one, 4) for one in side] for side in sides]
    four = compute_group_difference(*map(tuple, copied))
    alone = compute_group_difference(*(tuple(replace(one, groups=None) for one in side) for side in copied))
    for low, high, scale in (("digits_low", "digits_high", 4), ("nll_low", "nll_high", 1)):
        widths = [getattr(one, high) - getattr(one, low) for one in (once, four, alone)]
        assert widths[1] == pytest.approx(scale * widths[0], rel=0.15)
        assert runs > 1 or widths[2] < 0.7 * widths[1]
    figures, of_copies = (compute_group_metrics(list(zip(first, side, strict=True))) for side in (sides[0], copied[0]))
    for name in ("accuracy", "nll", "brier"):
        one, other = figures[name], of_copies[name]
        assert one.low is not None
        assert one.high is not None
        assert other.low is not None
        assert other.high is not None
        assert other.value == pytest.approx(one.value)
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.15), name
    if runs > 1:
        index = np.arange(sides[0][0].n).repeat(4)
        nlls = collapse_groups(np.array([one.nll for one in copied[0]]), index)
        expected = estimate_crossed_mean(nlls)
        assert (of_copies["nll"].low, of_copies["nll"].high) == pytest.approx((expected.low, expected.high))


def test_p_values_are_adjusted_for_all_of_the_table_by_holms_method() -> None:
    """The smallest of six times 6, the next times 5 and so on, and none below one that was smaller."""
    (ours,), (theirs,) = ([measure_run(run) for run in draw_runs(1, skill, skill / 5)] for skill in (2.2, 2.0))
    made = compute_group_difference((ours,), (theirs,))
    table = [
        replace(made, p=0.01, nll_p=0.5, settings_p=0.01, settings_nll_p=0.04),
        replace(made, p=0.004, nll_p=0.02, settings_p=None, settings_nll_p=None),
        replace(made, p=0.3, nll_p=0.011, settings_p=0.03, settings_nll_p=0.2),
    ]
    found = adjust_differences(table)
    assert [(one.adjusted_p, one.adjusted_nll_p) for one in found] == [
        pytest.approx(pair) for pair in ((0.05, 0.6), (0.024, 0.06), (0.6, 0.05))
    ]
    first, second, third = ((one.adjusted_settings_p, one.adjusted_settings_nll_p) for one in found)
    assert second == (None, None)
    assert first == pytest.approx((0.04, 0.09))
    assert third == pytest.approx((0.09, 0.2))


def test_the_chance_of_more_seeds_is_that_of_one_of_two_tests() -> None:
    """Accuracy and NLL are tested at once: each at half of 5 %."""
    ours, theirs = draw_runs(3, 2.1, 0.5), draw_runs(3, 2.0, 0.6)
    seeds = compare_seed_groups(ours[0], theirs[0], list_runs())
    assert seeds.difference is not None
    assert seeds.nll_variance is not None
    expected = compute_seed_power(seeds.difference.nll, seeds.nll_variance, seeds.image_variance, 4, 0.025)
    assert seeds.compute_power(4) == pytest.approx(expected)
    assert 0.001 < expected < 0.999
