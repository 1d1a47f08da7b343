import numpy as np
import pytest

from ensemble.analysis.quality.halves import split_halves

LABELS = {
    "ten classes": np.random.default_rng(0).integers(10, size=501),
    "one class": np.full(7, 3),
    "each class once": np.array([4, 2, 0, 3, 1]),
    "two examples": np.array([1, 0]),
    "odd classes": np.repeat([0, 1, 5], [3, 5, 1]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_every_example_is_in_one_half_and_classes_are_halved(labels: np.ndarray) -> None:
    fitted, judged = split_halves(labels)
    assert (fitted ^ judged).all()
    assert abs(int(fitted.sum()) - int(judged.sum())) <= 1
    for label in set(labels.tolist()):
        taken = fitted[labels == label].tolist()
        assert taken == [taken[0] ^ bool(place % 2) for place in range(len(taken))]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_no_half_is_empty_and_the_halves_stay_the_same(labels: np.ndarray) -> None:
    fitted, judged = split_halves(labels)
    assert fitted.any()
    assert judged.any()
    np.testing.assert_array_equal(split_halves(labels.copy())[0], fitted)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_cannot_be_halved(n: int) -> None:
    with pytest.raises(ValueError, match="two examples"):
        split_halves(np.zeros(n, int))


def test_in_closed_form() -> None:
    """By turns over zeros, then ones, then the two: the first of all is fitted."""
    fitted, _ = split_halves(np.array([1, 0, 0, 1, 2, 0, 1]))
    assert fitted.tolist() == [False, True, False, True, True, True, False]
