import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import binomtest, gmean, mode
from sklearn.metrics import accuracy_score, log_loss

from ensemble.analysis.members.combining import (
    OTHER_RULES,
    compare_combining_rules,
    geometric_mean_probabilities,
    majority_vote,
)
from ensemble.analysis.members.member_weights import NLL_TOLERANCE, fit_member_weights
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities, count_votes, most_likely_classes
from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY
from ensemble.analysis.quality.quality import measure_quality
from tests.analysis.draws import distributions


def drawn_labels(probabilities: np.ndarray, seed: int = 0) -> np.ndarray:
    """Labels drawn from the members' own average: calibrated, and some of them unlikely."""
    draws = np.random.default_rng(seed)
    averaged = average_probabilities(probabilities)
    return (averaged.cumsum(axis=1) > draws.random((len(averaged), 1))).argmax(axis=1)


def mixture_nll(weight: np.ndarray, probabilities: np.ndarray, labels: np.ndarray) -> float:
    at = np.maximum(probabilities[:, np.arange(len(labels)), labels].astype(float), MIN_PROBABILITY)
    return float(-np.log(weight @ at).mean())


def test_geometric_mean_agrees_with_scipy() -> None:
    probabilities = distributions(5, 80, 10).astype(float)
    means = gmean(probabilities, axis=0)
    wanted = means / means.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(geometric_mean_probabilities(probabilities), wanted, rtol=1e-12)


def test_geometric_mean_is_the_softmax_of_the_mean_logits() -> None:
    logits = np.random.default_rng(0).normal(size=(4, 30, 6)) * 3
    wanted = softmax(log_softmax(logits, axis=-1).mean(axis=0), axis=-1)
    np.testing.assert_allclose(geometric_mean_probabilities(softmax(logits, axis=-1)), wanted, rtol=1e-12)


def test_geometric_mean_of_members_certain_of_different_classes_is_level() -> None:
    sure = np.eye(3, dtype=np.float32)[[0, 2]][:, None, :]
    np.testing.assert_allclose(geometric_mean_probabilities(sure), [[0.5, 0, 0.5]], atol=1e-15)


def test_majority_agrees_with_a_loop() -> None:
    probabilities = distributions(6, 400, 4)
    averaged, tallies = (average_probabilities(probabilities), count_votes(most_likely_classes(probabilities), 4))
    said, shares = majority_vote(tallies, averaged)
    tied = 0
    for n in range(400):
        most = max(tallies[n])
        leading = [c for c in range(4) if tallies[n, c] == most]
        tied += len(leading) > 1
        assert said[n] == max(leading, key=lambda c: averaged[n, c])
        assert shares[n].tolist() == [votes / 6 for votes in tallies[n]]
    assert tied > 10


def test_majority_without_ties_agrees_with_scipy() -> None:
    probabilities = distributions(5, 300, 4)
    voted = most_likely_classes(probabilities)
    tallies = count_votes(voted, 4)
    ranked = np.sort(tallies, axis=1)
    clear = ranked[:, -1] > ranked[:, -2]
    said, shares = majority_vote(tallies, average_probabilities(probabilities))
    wanted = mode(voted, axis=0)
    np.testing.assert_array_equal(said[clear], wanted.mode[clear])
    np.testing.assert_array_equal(shares.max(axis=1), wanted.count / 5)


def test_majority_that_is_level_in_everything_says_the_lower_class() -> None:
    said, shares = majority_vote(np.array([[0, 1, 1]]), np.array([[0.2, 0.4, 0.4]]))
    assert said.tolist() == [1]
    assert shares.tolist() == [[0, 0.5, 0.5]]


@pytest.mark.parametrize(("members", "seed"), [(2, 0), (3, 1), (5, 2), (10, 3)])
def test_weights_have_the_loss_that_scipy_finds(members: int, seed: int) -> None:
    probabilities = distributions(members, 400, 10, seed=seed)
    labels = drawn_labels(probabilities[: 1 + members // 2])
    found = fit_member_weights(probabilities, labels)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    theirs = minimize(
        mixture_nll,
        np.full(members, 1 / members),
        (probabilities, labels),
        method="SLSQP",
        bounds=[(0, 1)] * members,
        options={"ftol": 1e-14, "maxiter": 1000},
        constraints={"type": "eq", "fun": lambda weight: weight.sum() - 1},
    )
    ours = mixture_nll(found, probabilities, labels)
    assert ours <= theirs.fun + NLL_TOLERANCE
    np.testing.assert_allclose(found, theirs.x, atol=0.01)


def test_weights_are_no_worse_than_any_on_a_grid() -> None:
    probabilities = distributions(2, 300, 10, seed=4)
    labels = drawn_labels(probabilities[:1])
    ours = mixture_nll(fit_member_weights(probabilities, labels), probabilities, labels)
    grid = [np.array([share, 1 - share]) for share in np.linspace(0, 1, 1001)]
    least = min(mixture_nll(weight, probabilities, labels) for weight in grid)
    assert ours <= least + NLL_TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_weights_meet_the_condition_of_an_optimum_where_members_are_certain(seed: int) -> None:
    """On the simplex no weight may be worth raising: Σ_n p_mn / Σ_k w_k p_kn ≤ N for each m."""
    draws = np.random.default_rng(seed)
    labels = draws.integers(0, 9, 200)  # There is no 9 among them.
    says = np.where(draws.random((6, 200)) < 0.8, labels, draws.integers(0, 10, (6, 200)))
    probabilities = np.eye(10, dtype=np.float32)[says]
    found = fit_member_weights(probabilities, labels)
    at = np.maximum(probabilities[:, np.arange(200), labels].astype(float), MIN_PROBABILITY)
    assert (at / (found @ at)).mean(axis=1).max() <= 1 + 2 * NLL_TOLERANCE
    assert found.sum() == pytest.approx(1)


def test_weight_goes_to_the_member_that_knows() -> None:
    labels = np.arange(10).repeat(10)
    knows = np.eye(10)[labels] * 0.9 + 0.01
    wrong = np.eye(10)[(labels + 1) % 10] * 0.9 + 0.01
    found = fit_member_weights(np.stack([wrong, knows]), labels)
    assert found.tolist() == pytest.approx([0, 1], abs=1e-5)


def test_members_that_say_the_same_weigh_the_same() -> None:
    same = np.repeat(distributions(1, 50, 10), 4, axis=0)
    assert fit_member_weights(same, drawn_labels(same)).tolist() == [0.25] * 4
    assert fit_member_weights(same[:1], drawn_labels(same)).tolist() == [1.0]


def test_weights_where_members_are_certain_and_wrong() -> None:
    """Each of two is certain, the first is right in three of four: then so is its weight."""
    labels = np.zeros(40, int)
    sides = np.arange(40) % 4 == 0
    first = np.eye(2)[sides.astype(int)]
    second = np.eye(2)[(~sides).astype(int)]
    found = fit_member_weights(np.stack([first, second]), labels)
    np.testing.assert_allclose(found, [0.75, 0.25], atol=1e-3)


def test_compare_judges_all_on_the_half_that_nothing_was_fitted_on() -> None:
    probabilities = distributions(5, 500, 10)
    labels = drawn_labels(probabilities)
    made = evaluate_predictions(probabilities, labels)
    found = compare_combining_rules(made)
    fitted, judged = split_halves(labels)
    np.testing.assert_array_equal(found.judged, judged)
    np.testing.assert_array_equal(found.weights, fit_member_weights(probabilities[:, fitted], labels[fitted]))
    assert found.arithmetic.quality == measure_quality(made.averaged[judged], labels[judged])
    assert not len(found.arithmetic.changed_examples)
    mixed = np.einsum("m,mnc->nc", found.weights, probabilities.astype(float))
    for ours, said in (
        (found.weighted, mixed.argmax(axis=1)),
        (found.geometric, np.log(probabilities.astype(float)).mean(axis=0).argmax(axis=1)),
        (found.majority, majority_vote(made.tallies, made.averaged)[0]),
    ):
        np.testing.assert_array_equal(ours.said, said)
        assert ours.changed_examples.tolist() == np.flatnonzero(said != made.said).tolist()
        assert ours.quality.accuracy == accuracy_score(labels[judged], said[judged])
        assert ours.quality.n == judged.sum()
    rows = mixed[judged] / mixed[judged].sum(axis=1, keepdims=True)
    wanted = log_loss(labels[judged], rows, labels=range(10))
    assert found.weighted.quality.nll == pytest.approx(wanted, rel=1e-6)
    assert len(found.geometric.changed_examples)
    assert len(found.majority.changed_examples)


def test_each_way_is_paired_with_the_mean_and_p_is_for_all_five_tests_at_once() -> None:
    probabilities = distributions(5, 500, 10)
    labels = drawn_labels(probabilities)
    made = evaluate_predictions(probabilities, labels)
    found = compare_combining_rules(made)
    raw = []
    for name in OTHER_RULES:
        way = getattr(found, name)
        ours, mean = ((said == labels)[found.judged] for said in (way.said, made.said))
        won, lost = int((ours & ~mean).sum()), int((mean & ~ours).sum())
        assert (way.gain.won, way.gain.lost) == (won, lost)
        raw.append(binomtest(won, won + lost).pvalue if won + lost else 1.0)
    at = np.maximum(made.averaged[np.arange(500), labels], MIN_PROBABILITY)
    logs = np.maximum(geometric_mean_probabilities(probabilities)[np.arange(500), labels], MIN_PROBABILITY)
    saved = (np.log(logs) - np.log(at))[found.judged].mean()
    assert found.geometric.gain.nll == pytest.approx(saved, rel=1e-9)
    raw += [found.geometric.gain.nll_p, found.weighted.gain.nll_p]
    # Holm, the slow way: how many tests are left when it is this one's turn.
    order = sorted(range(5), key=lambda k: raw[k])
    wanted = [min(1.0, max(raw[j] * (5 - order.index(j)) for j in order[: order.index(k) + 1])) for k in range(5)]
    told = found.adjusted_p_values
    assert [told[name][0] for name in OTHER_RULES] == pytest.approx(wanted[:3])
    assert [told["geometric"][1], told["weighted"][1]] == pytest.approx(wanted[3:])
    assert np.isnan(told["majority"][1])
    assert found.arithmetic.gain.digits == found.arithmetic.gain.nll == 0


def test_weights_may_be_fitted_on_examples_of_their_own_and_all_others_are_judged() -> None:
    fit, test = (distributions(3, N, 10, seed=N) for N in (200, 300))
    labels = drawn_labels(test)
    apart = evaluate_predictions(fit, drawn_labels(fit[:1]))
    found = compare_combining_rules(evaluate_predictions(test, labels), apart)
    np.testing.assert_array_equal(found.weights, fit_member_weights(fit, apart.labels))
    assert (found.fitted, found.judged.all(), found.uses_held_out_half) == (200, True, False)
    assert found.arithmetic.quality == measure_quality(average_probabilities(test), labels)
    assert compare_combining_rules(evaluate_predictions(test, labels)).uses_held_out_half
    with pytest.raises(ValueError, match="zip"):
        compare_combining_rules(evaluate_predictions(test, labels), evaluate_predictions(fit[:2], apart.labels))


def test_a_tied_vote_counts_as_right_where_the_average_decides_it_rightly() -> None:
    """Two against two: the shares alone would say the lower class."""
    lower, upper = [0.55, 0.45, 0.0], [0.05, 0.95, 0.0]
    made = evaluate_predictions(np.array([[lower] * 4, [upper] * 4, [lower] * 4, [upper] * 4]), np.full(4, 1))
    found = compare_combining_rules(made).majority
    assert found.quality.accuracy == 1
    assert found.quality.low < 1 == found.quality.high
    assert found.quality.ece == pytest.approx(0.5)
    assert found.quality.brier == pytest.approx(0.5)


def test_one_member_combines_to_itself() -> None:
    made = evaluate_predictions(distributions(1, 60, 10), np.arange(60) % 10)
    found = compare_combining_rules(made)
    assert found.weights.tolist() == [1.0]
    for one in (found.geometric, found.majority, found.weighted):
        assert not len(one.changed_examples)
    assert found.geometric.quality.nll == pytest.approx(found.arithmetic.quality.nll, rel=1e-6)


def test_too_few_examples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two"):
        compare_combining_rules(evaluate_predictions(distributions(2, 1, 3), np.zeros(1, int)))
    with pytest.raises(ValueError, match="at least one"):
        fit_member_weights(np.zeros((2, 0, 3)), np.zeros(0, int))


@pytest.mark.parametrize("seed", range(4))
def test_members_that_are_the_same_show_no_way_better_or_worse(seed: int) -> None:
    one = distributions(1, 500, 10, seed).astype(np.float32)
    same = np.repeat(one, 2 + seed, axis=0)
    combined = compare_combining_rules(evaluate_predictions(same, drawn_labels(same, seed)))
    for p, nll_p in combined.adjusted_p_values.values():
        assert p == 1
        assert nll_p == 1 or np.isnan(nll_p)
