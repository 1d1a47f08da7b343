"""Committees, plans and values of a setting count examples that belong together as one draw."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ensemble.analysis.best_value import estimate_best_value
from ensemble.analysis.inference.image_groups import collapse_groups, number_groups
from ensemble.analysis.inference.paired_intervals import DifferenceMoments, compute_moments
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.subsets import members_of_mask
from ensemble.analysis.members.sufficient_size import find_sufficient_size
from ensemble.analysis.planning.committee_scores import score_committees
from ensemble.analysis.planning.plan_grid import EnsemblePlan, build_plan_grid
from ensemble.analysis.planning.plan_losses import compute_plan_losses, estimate_plan
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from tests.analysis.draws import distributions
from tests.analysis.planning.populations import learning

COPIES = 5
BOUNDS = 1.0, 0.0, 2.0  # of what an example can lose: an error, NLL (none), the Brier score


def measure_losses(averaged: NDArray[np.floating], labels: NDArray[np.int64]) -> list[np.ndarray]:
    """What each example costs: its error, NLL and Brier score."""
    rows = np.arange(len(labels))
    return [
        1.0 * (most_likely_classes(averaged) != labels),
        -np.log(averaged[rows, labels]),
        ((averaged - np.eye(averaged.shape[1])[labels]) ** 2).sum(axis=1),
    ]


@pytest.mark.parametrize(
    "groups",
    [number_groups(np.arange(300) ** 2 % 41), np.arange(300) % 150, np.arange(300) % 2, np.zeros(300, np.int64)],
)
def test_moments_of_every_committee_are_those_of_its_collapsed_losses(groups: NDArray[np.int64]) -> None:
    probabilities, labels = distributions(4, 300, 5, seed=1), np.arange(300) % 5
    judged = evaluate_committees(probabilities, labels, groups=groups)
    assert judged.groups == groups.max() + 1
    assert judged.accuracy_loss is not None
    whole = measure_losses(average_probabilities(probabilities), labels)
    for row, mask in enumerate(judged.masks[:-1]):
        own = measure_losses(average_probabilities(probabilities[list(members_of_mask(mask))]), labels)
        kinds = judged.accuracy_loss, judged.nll_loss, judged.brier_loss
        for found, theirs, of_all, bound in zip(kinds, own, whole, BOUNDS, strict=True):
            expected = compute_moments(collapse_groups(theirs - of_all, groups))
            assert_row_is(found, row, expected, bound)


def test_moments_of_more_than_64_members_are_the_same() -> None:
    probabilities, labels = distributions(70, 120, 3, seed=3), np.arange(120) % 3
    groups = np.arange(120) // 4
    judged = evaluate_committees(probabilities, labels, groups=groups)
    whole = measure_losses(average_probabilities(probabilities), labels)[2]
    for row in range(0, len(judged.masks) - 1, 97):
        chosen = list(members_of_mask(judged.masks[row]))
        own = measure_losses(average_probabilities(probabilities[chosen]), labels)[2]
        expected = compute_moments(collapse_groups(own - whole, groups))
        assert_row_is(judged.brier_loss, row, expected, BOUNDS[2])


def assert_row_is(found: DifferenceMoments, row: int, expected: DifferenceMoments, bound: float) -> None:
    """The largest distance counts as that of an unseen group, which may lose as a whole."""
    assert found.n == expected.n
    for name in ("mean", "variance", "third"):
        value = np.asarray(getattr(found, name))[row]
        assert value == pytest.approx(getattr(expected, name), rel=2e-3, abs=1e-6)
    largest = max(bound, float(np.asarray(expected.largest)))
    assert np.asarray(found.largest)[row] == pytest.approx(largest, rel=2e-3)


@pytest.mark.parametrize(("figure", "margin"), [("accuracy", 0.001), ("nll", 5e-4), ("brier", 0.002)])
def test_copies_do_not_make_a_committee_surer(figure: str, margin: float) -> None:
    probabilities, labels = distributions(4, 600, 4, seed=2), np.arange(600) % 4
    probabilities[:, np.arange(600), labels] += 1
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    often, groups = np.repeat(probabilities, COPIES, axis=1), np.arange(600).repeat(COPIES)
    once = find_sufficient_size(evaluate_committees(probabilities, labels), figure, margin)
    grouped, naive = (
        find_sufficient_size(evaluate_committees(often, labels.repeat(COPIES), groups=index), figure, margin)
        for index in (groups, None)
    )
    assert (once.groups, grouped.groups, naive.groups) == (None, 600, None)
    ours, theirs, wrong = (found.sizes[0] for found in (grouped, once, naive))
    assert ours.outcome == theirs.outcome == "undecided"
    width = theirs.bound - theirs.loss
    assert ours.bound - ours.loss == pytest.approx(width, rel=0.15)
    assert wrong.bound - wrong.loss < 0.8 * width
    assert theirs.examples
    assert ours.examples == pytest.approx(COPIES * theirs.examples, rel=0.3)


def test_groups_that_are_all_alike_prove_no_committee() -> None:
    """Members that agree on the ten patients there are may differ on the eleventh."""
    sure = np.full((3, 100, 2), 0.05)
    sure[..., 0] = 0.95
    judged = evaluate_committees(sure, np.zeros(100, int), groups=np.arange(100) // 10)
    assert find_sufficient_size(judged, "accuracy").size == 3
    assert find_sufficient_size(judged, "brier").size == 3


@pytest.mark.parametrize("figure", ["accuracy", "nll"])
def test_copies_do_not_make_a_plan_surer(figure: str) -> None:
    labels = np.random.default_rng(3).integers(4, size=200)
    epochs = learning(4, labels, 2, 0)
    once = build_plan_grid([1, 2], [score_committees(each, labels) for each in epochs])
    often = [score_committees(np.repeat(each, COPIES, axis=1), labels.repeat(COPIES)) for each in epochs]
    grids = [once, build_plan_grid([1, 2], often, np.arange(200).repeat(COPIES)), build_plan_grid([1, 2], often)]
    plan, against = EnsemblePlan(2, 1), EnsemblePlan(3, 2)
    alone, ours, naive = (compute_plan_losses(grid, [plan], against, figure)[0] for grid in grids)
    assert ours.by_examples == pytest.approx(alone.by_examples, rel=0.02)
    assert naive.by_examples < 0.3 * alone.by_examples
    estimates = [estimate_plan(grid, plan, figure) for grid in grids]
    widths = [estimate.high - estimate.low for estimate in estimates]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[2] < widths[0]


@pytest.mark.parametrize("members", [1, 3])
def test_values_that_are_equally_good_are_seldom_told_apart_on_copies(members: int) -> None:
    rng, draws = np.random.default_rng(4), 80
    groups = np.arange(100).repeat(COPIES)
    values = np.repeat([0.1, 0.2, 0.3], members)
    told = {"grouped": 0, "naive": 0}
    for _ in range(draws):
        losses = rng.gamma(2.0, size=(len(values), 100)).repeat(COPIES, axis=1)
        for name, index in (("grouped", groups), ("naive", None)):
            told[name] += bool((estimate_best_value(values, losses, index).p < 0.05).any())
    assert told["grouped"] <= draws * 0.05 + 2 * np.sqrt(draws * 0.05 * 0.95)
    if members == 1:
        assert told["naive"] > 0.2 * draws
