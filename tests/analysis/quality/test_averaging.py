import numpy as np
import pytest

from ensemble.analysis.quality.averaging import (
    average_probabilities,
    count_votes,
    most_likely_classes,
    prediction_confidence,
)
from tests.analysis.draws import distributions


def test_averages_probabilities_and_not_logits() -> None:
    """Softmax of the mean logits would say class 1 here; the mixture says class 0."""
    members = np.array([[[0.900, 0.099, 0.001]], [[0.001, 0.500, 0.499]]])
    averaged = average_probabilities(members)
    np.testing.assert_allclose(averaged, [[0.4505, 0.2995, 0.2500]], rtol=1e-15)
    logits = np.log(members).mean(axis=0)
    assert averaged.argmax() == 0
    assert logits.argmax() == 1


@pytest.mark.parametrize("members", [1, 2, 10])
def test_agrees_with_a_loop(members: int) -> None:
    probabilities = distributions(members, 40, 10)
    for n in range(40):
        rows = [[float(p) for p in probabilities[m, n]] for m in range(members)]
        mean = [sum(row[c] for row in rows) / members for c in range(10)]
        np.testing.assert_allclose(average_probabilities(probabilities)[n], mean, rtol=1e-12)
        assert prediction_confidence(average_probabilities(probabilities))[n] == pytest.approx(max(mean))
        assert [row.index(max(row)) for row in rows] == most_likely_classes(probabilities)[:, n].tolist()


def test_does_not_depend_on_the_order_of_the_members() -> None:
    probabilities = distributions(8, 500, 10)
    np.testing.assert_allclose(
        average_probabilities(probabilities), average_probabilities(probabilities[::-1]), rtol=1e-15
    )


def test_stays_a_distribution() -> None:
    np.testing.assert_allclose(average_probabilities(distributions(5, 100, 10)).sum(axis=1), 1, rtol=1e-6)


def test_tally_counts_every_vote_once() -> None:
    voted = np.array([[7, 0, 3], [7, 1, 3], [1, 2, 3]])
    counted = count_votes(voted, 10)
    assert counted.sum(axis=1).tolist() == [3, 3, 3]
    assert (counted[0, 7], counted[0, 1], counted[1, 2], counted[2, 3]) == (2, 1, 1, 3)
