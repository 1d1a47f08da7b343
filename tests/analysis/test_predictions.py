import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.predictions import (
    EXAMPLE_ORDERS,
    EnsemblePredictions,
    evaluate_predictions,
    filter_examples,
    sort_examples,
)
from tests.analysis.draws import distributions


@pytest.fixture
def made() -> EnsemblePredictions:
    labels = np.random.default_rng(1).integers(0, 10, 300)
    return evaluate_predictions(distributions(5, 300, 10), labels)


def test_filters_are_those_of_a_loop(made: EnsemblePredictions) -> None:
    for n in range(300):
        voted = [int(made.probabilities[m, n].argmax()) for m in range(5)]
        wrong = int(made.averaged[n].argmax()) != made.labels[n]
        assert (n in filter_examples(made, "wrong")) == wrong
        assert (n in filter_examples(made, "split")) == (len(set(voted)) > 1)
        assert (n in filter_examples(made, "wrong", 3)) == (wrong and made.labels[n] == 3)
    assert filter_examples(made).tolist() == list(range(300))


def test_classes_part_what_is_shown(made: EnsemblePredictions) -> None:
    for show in ("all", "wrong", "split"):
        parts = np.concatenate([filter_examples(made, show, label) for label in range(10)])
        assert sorted(parts) == filter_examples(made, show).tolist()


def read_negative(name: str, made: EnsemblePredictions, n: int) -> float:
    """Minus the uncertainty of an example by a measure."""
    return -float(EXAMPLE_MEASURES[name].score_uncertainty(made)[n])


@pytest.mark.parametrize("order", EXAMPLE_ORDERS)
def test_orders_are_those_of_a_sort_by_key(made: EnsemblePredictions, order: str) -> None:
    sizes = np.arange(300) * 7 % 5
    keys: dict[str, Callable[[int], Any]] = {
        "unsure": lambda n: made.confidence[n],
        "sure": lambda n: -made.confidence[n],
        "split": lambda n: (-made.disagreement[n], -made.epistemic[n]),
        "united": lambda n: (made.disagreement[n], made.epistemic[n]),
        "number": lambda n: n,
        "sets": lambda n: (-sizes[n], made.confidence[n]),
        **{name: partial(read_negative, name, made) for name in EXAMPLE_MEASURES},
    }
    numbers = filter_examples(made, "split")
    found = sort_examples(made, numbers, order, sizes)
    assert found.tolist() == sorted(numbers.tolist(), key=keys[order])


def test_examples_that_are_equal_keep_their_order() -> None:
    same = np.tile(np.array([0.6, 0.4]), (3, 8, 1))
    made = evaluate_predictions(same, np.zeros(8, int))
    for order in EXAMPLE_ORDERS:
        assert sort_examples(made, filter_examples(made), order, np.ones(8, int)).tolist() == list(range(8))
    with pytest.raises(ValueError, match="needs their sizes"):
        sort_examples(made, filter_examples(made), "sets")


def test_most_divided_votes_come_first() -> None:
    a, b, c = np.eye(3)
    members = np.array([[a, a, a], [a, b, b], [a, a, c]])  # agree; two to one; all apart
    made = evaluate_predictions(members, np.array([0, 0, 0]))
    assert sort_examples(made, filter_examples(made), "split").tolist() == [2, 1, 0]
    assert made.split.tolist() == [False, True, True]


def test_one_member_is_never_split() -> None:
    alone = evaluate_predictions(distributions(1, 50, 10), np.zeros(50, int))
    assert filter_examples(alone, "split").size == 0
    np.testing.assert_array_equal(alone.said, alone.votes[0])


def test_what_it_returns_cannot_be_changed(made: EnsemblePredictions) -> None:
    with pytest.raises(ValueError, match="read-only"):
        made.averaged[0, 0] = 1.0


@pytest.mark.parametrize(
    ("probabilities", "labels", "says"),
    [
        (np.zeros((5, 10)), np.zeros(5, int), "not"),
        (np.zeros((0, 5, 10)), np.zeros(5, int), "not"),
        (np.full((2, 5, 10), 0.1), np.zeros(4, int), "5 predictions for 4"),
        (np.full((2, 5, 10), np.nan), np.zeros(5, int), "finite"),
        (np.full((2, 5, 10), 0.1), np.full(5, 10), "outside"),
        (np.full((2, 5, 10), 0.1), np.full(5, -1), "outside"),
    ],
)
def test_refuses_what_does_not_fit(probabilities: np.ndarray, labels: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        evaluate_predictions(probabilities, labels)


def test_refuses_unknown_words(made: EnsemblePredictions) -> None:
    with pytest.raises(ValueError, match="'x' is none of all, wrong"):
        filter_examples(made, "x")
    with pytest.raises(ValueError, match="'x' is none of unsure, sure"):
        sort_examples(made, filter_examples(made), "x")


def test_ten_members_on_ten_thousand_digits_take_no_time() -> None:
    probabilities = distributions(10, 10_000, 10)
    labels = np.zeros(10_000, int)
    taken = []
    for _ in range(5):  # the quickest: others may be at work on this machine
        start = time.perf_counter()
        made = evaluate_predictions(probabilities, labels)
        sort_examples(made, filter_examples(made, "all"), "split")
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.3
