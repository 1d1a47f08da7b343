"""The jackknife over members: against its definition, and against ensembles drawn anew."""

import numpy as np
import pytest

from ensemble.analysis.members.member_variance import estimate_member_variances
from tests.analysis.draws import distributions


def accuracy_and_nll(probabilities: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    mean = probabilities.astype(float).mean(axis=0)
    own = mean[np.arange(len(labels)), labels]
    return float((mean.argmax(axis=1) == labels).mean()), float(-np.log(own).mean())


def test_it_is_the_variance_of_what_is_left_without_each_member() -> None:
    probabilities, labels = distributions(4, 50, 3), np.arange(50) % 3
    left_out = np.array([accuracy_and_nll(np.delete(probabilities, m, axis=0), labels) for m in range(4)])
    expected = 3 / 4 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    found = estimate_member_variances(probabilities, labels)
    assert [found[name].variance for name in ("accuracy", "nll")] == pytest.approx(expected)
    assert {one.freedom for one in found.values()} == {3}


def test_one_member_tells_nothing_and_equal_members_do_not_vary() -> None:
    probabilities, labels = distributions(1, 20, 3), np.arange(20) % 3
    assert estimate_member_variances(probabilities, labels) == {}
    equal = estimate_member_variances(np.repeat(probabilities, 3, axis=0), labels)
    assert equal["nll"].variance == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("members", [3, 6])
def test_on_average_it_is_what_ensembles_of_other_members_differ_by(members: int) -> None:
    draw = np.random.default_rng(0)
    labels = draw.integers(3, size=300)
    image = draw.normal(size=(300, 3))
    image[np.arange(300), labels] += 1

    def trained() -> np.ndarray:
        """Members, each of which has an ability and tastes of its own."""
        ability = draw.normal(1, 0.3, (members, 1, 1))
        logits = ability * image + draw.normal(size=(members, 300, 3))
        powers = np.exp(logits)
        return powers / powers.sum(axis=-1, keepdims=True)

    ensembles = [trained() for _ in range(400)]
    truth = np.var([accuracy_and_nll(each, labels) for each in ensembles], axis=0, ddof=1)
    told = np.mean(
        [
            [found[name].variance for name in ("accuracy", "nll")]
            for found in (estimate_member_variances(each, labels) for each in ensembles[:150])
        ],
        axis=0,
    )
    # Efron and Stein: never less on average. A verdict that hangs on one member jumps, so that of
    # the accuracy it is up to twice as much.
    assert (told / truth > 0.9).all()
    assert (told / truth < [2.5, 1.6]).all()
