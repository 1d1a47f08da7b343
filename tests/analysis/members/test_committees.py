"""Committees against brute force: `averaging.average` of each subset, judged by scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from ensemble.analysis.members.committees import (
    CommitteeEvaluation,
    best_committees_by_size,
    committee_curve,
    evaluate_committees,
    member_contributions,
)
from ensemble.analysis.members.subsets import members_of_mask
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes, prediction_confidence
from ensemble.analysis.quality.calibration import expected_calibration_error
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY
from tests.analysis.draws import distributions


def labels_for(probabilities: np.ndarray, seed: int = 0) -> np.ndarray:
    """Labels as often right as a real test set's: what the mean says, a fifth of them drawn."""
    N, C = probabilities.shape[1:]
    draws = np.random.default_rng(seed)
    return np.where(
        draws.random(N) < 0.2, draws.integers(0, C, N), most_likely_classes(average_probabilities(probabilities))
    )


def assert_is_brute_force(
    judged: CommitteeEvaluation, probabilities: np.ndarray, labels: np.ndarray, every: int = 1
) -> None:
    C = probabilities.shape[2]
    whole = most_likely_classes(average_probabilities(probabilities)) == labels
    for row in range(0, len(judged.masks), every):
        mask = judged.masks[row]
        said = average_probabilities(probabilities[list(members_of_mask(mask))])
        right = most_likely_classes(said) == labels
        assert judged.size[row] == len(members_of_mask(mask))
        assert judged.accuracy[row] == accuracy_score(labels, said.argmax(axis=1))
        assert judged.won[row] == (right & ~whole).sum()
        assert judged.lost[row] == (whole & ~right).sum()
        floored = np.maximum(said, MIN_PROBABILITY)  # scikit-learn's own floor is at 2.2e-16
        nll = -np.log(floored[np.arange(len(labels)), labels]).mean()
        assert judged.nll[row] == pytest.approx(nll, rel=1e-12, abs=1e-15)
        brier = ((said - np.eye(C)[labels]) ** 2).sum(axis=1).mean()
        assert judged.brier[row] == pytest.approx(brier, rel=1e-9, abs=1e-14)
        if C > 2 and said.min() > 1e-15:  # Theirs refuse rows that float32 has rounded.
            proper = said / said.sum(axis=1, keepdims=True)
            theirs = log_loss(labels, proper, labels=range(C))
            assert judged.nll[row] == pytest.approx(theirs, rel=1e-5)
            theirs = brier_score_loss(labels, proper, labels=range(C), scale_by_half=False)
            assert judged.brier[row] == pytest.approx(theirs, rel=1e-5)
        at_label = floored[np.arange(len(labels)), labels]
        theirs = np.maximum(average_probabilities(probabilities), MIN_PROBABILITY)[np.arange(len(labels)), labels]
        found, apart = judged.nll_loss, np.log(theirs) - np.log(at_label)
        assert found.mean[row] == pytest.approx(apart.mean(), rel=1e-6, abs=1e-12)
        apart -= apart.mean()
        assert found.variance[row] == pytest.approx((apart**2).mean(), rel=1e-9, abs=1e-24)
        assert found.third[row] == pytest.approx((apart**3).mean(), rel=1e-6, abs=1e-12)
        assert found.largest[row] == pytest.approx(np.abs(apart).max(), rel=1e-9, abs=1e-12)
        target = np.eye(C)[labels]
        squares = [((p - target) ** 2).sum(axis=1) for p in (said, average_probabilities(probabilities))]
        spread = (squares[0] - squares[1]).var()
        assert judged.brier_loss.variance[row] == pytest.approx(spread, rel=1e-4, abs=1e-9)
        assert judged.ece[row] == pytest.approx(
            expected_calibration_error(prediction_confidence(said), right), rel=1e-11, abs=1e-14
        )


@pytest.mark.parametrize(("members", "examples", "classes"), [(6, 300, 10), (5, 40, 3), (3, 7, 2)])
def test_every_committee_is_what_brute_force_finds(members: int, examples: int, classes: int) -> None:
    probabilities = distributions(members, examples, classes, seed=members)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels)
    assert judged.exact
    assert sorted(judged.masks.tolist()) == list(range(1, 2**members))
    assert_is_brute_force(judged, probabilities, labels)


def test_the_ece_of_committees_that_are_all_sure_is_no_whole_number() -> None:
    """All confidences in the last bin: what is counted in the others is counted of nothing."""
    draws = np.random.default_rng(4)
    sure = np.where(draws.random((3, 200, 1)) < 0.5, 0.95, 0.99)
    probabilities = np.concatenate([sure, 1 - sure], axis=-1)
    labels = (draws.random(200) < 0.04).astype(int)
    judged = evaluate_committees(probabilities, labels)
    assert 0 < judged.ece[-1] < 0.05
    assert_is_brute_force(judged, probabilities, labels)


def test_blocks_of_examples_add_up_to_the_whole() -> None:
    probabilities = distributions(4, 130, 5)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels)
    assert judged.block.sum() == 130
    assert set(judged.block) == {6, 7}
    for name, each in judged.by_block.items():
        assert each.shape == (4, 20)
        np.testing.assert_allclose(each @ judged.block / 130, committee_curve(judged, name).mean)


@pytest.mark.parametrize("seed", range(4))
def test_ties_go_to_the_lower_class_and_certainty_is_allowed(seed: int) -> None:
    """Members that are certain, or undecided between two: ties wherever two of them differ."""
    draws = np.random.default_rng(seed)
    choice = draws.integers(0, 4, (4, 200, 2))
    probabilities = (np.eye(4)[choice].sum(axis=2) / 2).astype(np.float32)
    labels = draws.integers(0, 4, 200)
    judged = evaluate_committees(probabilities, labels)
    assert_is_brute_force(judged, probabilities, labels)


def test_averages_that_are_level_only_when_divided() -> None:
    """Sums may differ in their last bit and averages not: the verdict is the average's."""
    draws = np.random.default_rng(3)
    pair = 0.3 + draws.integers(-3, 4, (5, 4000, 2)) * 2.0**-54
    probabilities = np.concatenate([pair, np.full((5, 4000, 2), 0.2)], axis=-1)
    sums = probabilities[0] + probabilities[1] + probabilities[2]
    level_when_divided = sums[:, 0] / 3 == sums[:, 1] / 3
    assert (level_when_divided & (sums[:, 0] != sums[:, 1])).any()
    labels = draws.integers(0, 2, 4000)
    assert_is_brute_force(evaluate_committees(probabilities, labels), probabilities, labels)


def test_bins_close_above_also_where_a_confidence_is_an_edge() -> None:
    """Of multiples of a thirtieth every other one is an edge of the fifteen bins."""
    draws = np.random.default_rng(5)
    probabilities = draws.multinomial(30, [0.5, 0.3, 0.2], size=(4, 600)) / 30
    assert np.isin(probabilities.max(axis=-1), np.linspace(0, 1, 16)).sum() > 600
    labels = draws.integers(0, 3, 600)
    assert_is_brute_force(evaluate_committees(probabilities, labels), probabilities, labels)


def test_members_that_all_say_the_same() -> None:
    probabilities = np.repeat(distributions(1, 100, 10), 4, axis=0)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels)
    assert_is_brute_force(judged, probabilities, labels)
    assert set(judged.accuracy) == {judged.accuracy[0]}
    assert not judged.won.any()
    assert not judged.lost.any()
    assert not judged.nll_loss.mean.any()
    assert not member_contributions(judged).accuracy.any()


def test_one_member() -> None:
    probabilities = distributions(1, 50, 10)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels)
    assert judged.masks.tolist() == [1]
    assert_is_brute_force(judged, probabilities, labels)
    assert member_contributions(judged).nll.tolist() == [0]
    assert committee_curve(judged, "nll").mean.tolist() == judged.nll.tolist()
    assert best_committees_by_size(probabilities, labels) == [(0,)]


@pytest.mark.parametrize("classes", [1, 2])
def test_few_classes_and_one_that_is_missing(classes: int) -> None:
    probabilities = distributions(3, 20, classes)
    labels = np.zeros(20, int)
    assert_is_brute_force(evaluate_committees(probabilities, labels), probabilities, labels)


def test_one_example() -> None:
    probabilities = distributions(4, 1, 10)
    labels = np.array([3])
    assert_is_brute_force(evaluate_committees(probabilities, labels), probabilities, labels)


def test_above_twelve_it_draws_and_says_so() -> None:
    probabilities = distributions(13, 60, 5)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels, seed=1)
    assert not judged.exact
    assert_is_brute_force(judged, probabilities, labels, every=41)
    again = evaluate_committees(probabilities, labels, seed=1, threads=3)
    for name in ("masks", "accuracy", "nll", "brier", "ece", "won", "lost"):
        np.testing.assert_array_equal(getattr(judged, name), getattr(again, name))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_figure(threads: int) -> None:
    probabilities = distributions(8, 200, 10)
    labels = labels_for(probabilities)
    one, many = (
        evaluate_committees(probabilities, labels),
        evaluate_committees(probabilities, labels, threads=threads),
    )
    np.testing.assert_array_equal(one.nll, many.nll)
    np.testing.assert_array_equal(one.ece, many.ece)
    np.testing.assert_array_equal(one.accuracy, many.accuracy)


@pytest.mark.parametrize("figure", ["accuracy", "nll", "brier", "ece"])
def test_curve_is_the_mean_and_the_range_of_each_size(figure: str) -> None:
    probabilities = distributions(5, 100, 10)
    labels = labels_for(probabilities)
    judged = evaluate_committees(probabilities, labels)
    found = committee_curve(judged, figure)
    assert found.size.tolist() == [1, 2, 3, 4, 5]
    assert found.count.tolist() == [5, 10, 10, 5, 1]
    for row, size in enumerate(found.size):
        values = getattr(judged, figure)[judged.size == size]
        assert found.mean[row] == pytest.approx(values.mean(), rel=1e-12)
        assert (found.low[row], found.high[row]) == (values.min(), values.max())


def test_no_such_figure() -> None:
    judged = evaluate_committees(distributions(2, 10, 3), np.zeros(10, int))
    with pytest.raises(ValueError, match="none of accuracy, nll"):
        committee_curve(judged, "loss")


def test_best_of_size_has_the_least_loss_of_its_size() -> None:
    probabilities = distributions(6, 200, 10)
    labels = labels_for(probabilities)

    def loss(subset: tuple[int, ...]) -> float:
        said = average_probabilities(probabilities[list(subset)])
        return float(-np.log(said[np.arange(200), labels]).mean())

    assert best_committees_by_size(probabilities, labels) == [
        min(combinations(range(6), size), key=loss) for size in range(1, 7)
    ]


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not \(M, N, C\)"):
        evaluate_committees(np.zeros((3, 4)), np.zeros(4, int))
    with pytest.raises(ValueError, match="20 predictions for 19"):
        evaluate_committees(distributions(2, 20, 3), np.zeros(19, int))
    with pytest.raises(ValueError, match="1 to 4096"):
        evaluate_committees(distributions(4097, 2, 3), np.zeros(2, int))
