"""Which images are chosen: by closed forms, by scikit-activeml's own choices, by planted truth."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import entropy as scipy_entropy

from ensemble.analysis.acquisition import image_choice
from ensemble.analysis.acquisition.image_choice import STRATEGIES
from ensemble.analysis.acquisition.uniform_draws import draw_uniform_numbers, shuffle_numbers
from ensemble.analysis.example_measures import EXAMPLE_MEASURES, MemberOutputs, compute_measures
from tests.analysis.draws import distributions

NOT_INSTALLED = "scikit-activeml is not installed: pip install -r requirements-dev.txt"


def test_scores_are_scipys_entropies() -> None:
    each = distributions(4, 200, 5, seed=3).astype(np.float64)
    each /= each.sum(axis=-1, keepdims=True)  # as SciPy does
    averaged = each.mean(axis=0)
    scores = compute_measures(MemberOutputs(each), ("entropy", "epistemic"))
    np.testing.assert_allclose(scores["entropy"], scipy_entropy(averaged, axis=1))
    divergences = [scipy_entropy(member, averaged, axis=1) for member in each]
    np.testing.assert_allclose(scores["epistemic"], np.mean(divergences, axis=0), atol=1e-12)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_choice_has_no_image_twice_and_is_the_same_for_the_same_seed(name: str) -> None:
    each, choose = distributions(3, 60, 4), STRATEGIES[name].choose
    chosen = choose(each, 20, 7)
    assert len(set(chosen.tolist())) == 20
    np.testing.assert_array_equal(choose(each, 20, 7), chosen)
    np.testing.assert_array_equal(choose(each, 5, 7)[:1], chosen[:1])
    assert sorted(choose(each, 100, 7).tolist()) == list(range(60)), "no more than there are"
    drawn = {tuple(choose(each, 20, seed).tolist()) for seed in range(5)}
    assert len(drawn) == (1 if name in EXAMPLE_MEASURES else 5)


@pytest.mark.parametrize("name", STRATEGIES)
def test_members_that_all_agree_leave_a_choice_all_the_same(name: str) -> None:
    each = np.broadcast_to(distributions(1, 30, 4), (3, 30, 4))
    assert len(set(STRATEGIES[name].choose(each, 10, 0).tolist())) == 10


def test_draws_are_those_of_every_platform() -> None:
    np.testing.assert_array_equal(shuffle_numbers(6, 1), [1, 2, 3, 5, 0, 4])
    drawn = draw_uniform_numbers(20_000, 2)
    assert drawn.min() > 0
    assert drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.01


def test_power_draws_each_image_in_proportion_to_its_epistemic_uncertainty() -> None:
    each = distributions(5, 6, 3, seed=1)
    scores = MemberOutputs(each).epistemic
    first = [int(image_choice.choose_by_power(each, 1, seed)[0]) for seed in range(4000)]
    shares = np.bincount(first, minlength=6) / len(first)
    np.testing.assert_allclose(shares, scores / scores.sum(), atol=0.03)


def test_where_members_differ_in_two_ways_diversity_takes_one_of_each_first() -> None:
    """Two kinds of doubt, the one everywhere a little stronger: the strongest are all of it."""
    each = np.full((2, 100, 3), 1 / 3)
    each[0, :50], each[1, :50] = [0.9, 0.05, 0.05], [0.05, 0.9, 0.05]
    each[0, 50:], each[1, 50:] = [0.05, 0.15, 0.8], [0.15, 0.7, 0.15]
    assert (STRATEGIES["epistemic"].choose(each, 20, 0) < 50).all()
    for seed in range(10):
        first, second = image_choice.choose_diverse(each, 2, seed)
        assert first < 50 <= second


def build_unknown_class(members: int = 5) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """A pool one class of which the members have never seen: they guess, each another."""
    draws = np.random.default_rng(0)
    labels = draws.integers(0, 5, 400)
    each = distributions(members, 400, 4, seed=5) * 0.2
    unknown = labels == 4
    each[:, np.flatnonzero(~unknown), labels[~unknown]] += 2
    guesses = draws.integers(0, 4, (members, int(unknown.sum())))
    for member in range(members):
        each[member, np.flatnonzero(unknown), guesses[member]] += 2
    return each / each.sum(axis=-1, keepdims=True), unknown


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name not in ("random", "aleatoric")])
def test_a_class_that_was_never_labelled_is_found(name: str) -> None:
    each, unknown = build_unknown_class()
    chosen = STRATEGIES[name].choose(each, 40, 0)
    drawn = STRATEGIES["random"].choose(each, 40, 0)
    assert unknown[chosen].mean() > 0.9 if name != "power" else unknown[chosen].mean() > 0.7
    assert unknown[drawn].mean() < 0.4


@pytest.mark.parametrize(("members", "classes"), [(2, 3), (5, 10), (9, 4)])
def test_epistemic_uncertainty_is_chosen_as_scikit_activeml_chooses_by_bald_and_by_committee(
    members: int, classes: int
) -> None:
    pool = pytest.importorskip("skactiveml.pool", reason=NOT_INSTALLED)
    each = distributions(members, 300, classes, seed=members).astype(np.float64)
    own = STRATEGIES["epistemic"].choose(each, 40, 0)
    scores = pool.average_kl_divergence(each.copy())
    np.testing.assert_array_equal(own, np.argsort(-scores, kind="stable")[:40])
    X, y = np.arange(300.0)[:, None], np.full(300, np.nan)
    asked = {"X": X, "y": y, "ensemble": build_fixed_committee(each), "fit_ensemble": False}
    for query in (pool.GreedyBALD(random_state=0), pool.QueryByCommittee(method="KL_divergence", random_state=0)):
        np.testing.assert_array_equal(query.query(**asked, batch_size=40), own)


@pytest.mark.parametrize("classes", [3, 10])
def test_entropy_is_chosen_as_scikit_activeml_chooses_by_uncertainty(classes: int) -> None:
    pool = pytest.importorskip("skactiveml.pool", reason=NOT_INSTALLED)
    each = distributions(4, 300, classes, seed=classes).astype(np.float64)
    (averaged,) = build_fixed_committee(each.mean(axis=0, keepdims=True))
    query = pool.UncertaintySampling(method="entropy", random_state=0)
    X, y = np.arange(300.0)[:, None], np.full(300, np.nan)
    theirs = query.query(X=X, y=y, clf=averaged, fit_clf=False, batch_size=40)
    np.testing.assert_array_equal(STRATEGIES["entropy"].choose(each, 40, 0), theirs)


@pytest.mark.parametrize("seed", range(4))
def test_diversity_is_chosen_as_scikit_activeml_seeds_k_means(seed: int) -> None:
    """BADGE on the same vectors: with two classes of 0.5 its gradient is the vectors themselves."""
    pool = pytest.importorskip("skactiveml.pool", reason=NOT_INSTALLED)
    each = distributions(4, 200, 5, seed=seed).astype(np.float64)
    vectors = (each - each.mean(axis=0)).transpose(1, 0, 2).reshape(200, -1)
    (even,) = build_fixed_committee(np.full((1, 200, 2), 0.5))
    query = pool.Badge(random_state=seed)
    theirs = query.query(X=vectors, y=np.full(200, np.nan), clf=even, fit_clf=False, batch_size=30)
    # What they draw with: a seed that is multiplied by how many images have no label, and one.
    drawn = int(np.random.RandomState(seed).randint(1, 2**31)) * 201 % 2**31
    draws = np.random.RandomState(drawn).random_sample(29)
    np.testing.assert_array_equal(image_choice.seed_k_means(each, draws, 30), theirs)


def build_fixed_committee(probabilities: NDArray[np.float64]) -> list[Any]:
    """Classifiers of scikit-activeml's that say what they are told to, image by image."""
    from skactiveml.base import SkactivemlClassifier

    class FixedClassifier(SkactivemlClassifier):  # type: ignore[misc]
        def __init__(self, told: Any = None, missing_label: float = np.nan) -> None:
            super().__init__(classes=range(told.shape[1]), missing_label=missing_label)
            self.told = told

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.classes_ = np.arange(self.told.shape[1])
            return self

        def predict_proba(self, X: Any) -> Any:
            assert len(X) == len(self.told)
            return self.told

    return [FixedClassifier(told).fit(None, None) for told in probabilities]
