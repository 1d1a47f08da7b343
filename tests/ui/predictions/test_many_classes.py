"""Tables of many classes: those that matter, and all of them where they are few rows."""

import numpy as np
import pytest

from benchmarks.screens import sizes
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.views import conformal as words
from ensemble.views.conformal import calibrate_set_methods
from ensemble.views.examples import example_table

C, N = 1_000, 2_100
NAMES = [f"class {c}" for c in range(C)]


@pytest.fixture(scope="module")
def made() -> EnsemblePredictions:
    return evaluate_predictions(*sizes.drawn(2, N, C))


def test_the_worst_covered_classes_are_listed_and_absent_ones_are_not(made: EnsemblePredictions) -> None:
    _, found = calibrate_set_methods(made, 0.2, None)["lac"]
    listed = words.select_least_covered_classes(found)
    share = found.class_covered / np.maximum(found.class_n, 1)
    seen = np.flatnonzero(found.class_n)
    rest = np.setdiff1d(seen, listed)
    assert len(listed) == words.MAX_LISTED_CLASSES
    assert found.class_n[listed].min() > 0
    assert share[listed].max() <= share[rest].min()
    frame = words.tabulate_sets_by_class(found, NAMES, [int(seen[0]), int(np.argmin(found.class_n))])
    assert len(frame) == 2


def test_a_table_of_many_probabilities_has_the_likeliest_five(made: EnsemblePredictions) -> None:
    numbers = np.arange(N)[::-1]
    frame = example_table.tabulate_examples(made, numbers, NAMES)
    assert frame.shape == (N, 4 + len(EXAMPLE_MEASURES) + 2 + 10)
    order = np.argsort(-made.averaged[numbers], axis=1, kind="stable")
    assert frame["likeliest_2"].tolist() == [NAMES[c] for c in order[:, 1]]
    assert (frame["p_1"] == made.confidence[numbers]).all()
    assert example_table.tabulate_examples(made, numbers[:10], NAMES).shape == (10, 4 + len(EXAMPLE_MEASURES) + 2 + C)
