from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from ensemble.analysis.example_measures import EXAMPLE_MEASURES, MemberOutputs, compute_measures
from ensemble.analysis.predictions import evaluate_predictions
from tests.analysis.cases import Case, cases
from tests.analysis.draws import distributions

CASES = cases()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"
SMALLEST = 2.0**-23


def measure(name: str, probabilities: np.ndarray) -> np.ndarray:
    """One measure of probabilities alone."""
    return EXAMPLE_MEASURES[name].compute(MemberOutputs(probabilities))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entropies_agree_with_scipy(case: Case) -> None:
    members = case[0].astype(float)
    found = compute_measures(evaluate_predictions(*case))
    total = stats.entropy(members.mean(axis=0), axis=1)
    own = stats.entropy(members, axis=2).mean(axis=0)
    # SciPy makes rows sum to 1 first; stored ones do to float32's precision.
    np.testing.assert_allclose(found["entropy"], total, atol=2e-6)
    np.testing.assert_allclose(found["aleatoric"], own, atol=2e-6)
    np.testing.assert_allclose(found["epistemic"], total - own, atol=2e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_epistemic_is_the_mean_divergence_from_the_average(case: Case) -> None:
    members = case[0].astype(float)
    averaged = members.mean(axis=0)
    apart = np.mean([stats.entropy(member, averaged, axis=1) for member in members], axis=0)
    np.testing.assert_allclose(compute_measures(evaluate_predictions(*case))["epistemic"], apart, atol=2e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pairwise_kl_agrees_with_a_double_loop_over_members(case: Case) -> None:
    members = np.maximum(case[0].astype(float), SMALLEST)
    pairs = [special.kl_div(one, other).sum(axis=1) for one in members for other in members]
    np.testing.assert_allclose(measure("pairwise_kl", case[0]), np.mean(pairs, axis=0), atol=1e-12)


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.2), (0.5, 0.5), (0.01, 0.99), (0.6, 0.601)])
def test_pairwise_kl_of_two_bernoulli_members_in_closed_form(first: float, second: float) -> None:
    found = measure("pairwise_kl", np.array([[[first, 1 - first]], [[second, 1 - second]]]))
    closed = (first - second) * (special.logit(first) - special.logit(second)) / 4
    assert found.tolist() == pytest.approx([closed], abs=1e-15)


def test_pairwise_kl_is_the_mutual_information_plus_the_reverse_one() -> None:
    probabilities = distributions(5, 60, 10).astype(float)
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    probabilities = 0.999 * probabilities + 0.0001  # so that none is clipped
    averaged = probabilities.mean(axis=0)
    reverse = np.mean([stats.entropy(averaged, member, axis=1) for member in probabilities], axis=0)
    expected = measure("epistemic", probabilities) + reverse
    np.testing.assert_allclose(measure("pairwise_kl", probabilities), expected, atol=1e-12)


def test_pairwise_kl_of_certain_members_is_finite() -> None:
    """Each ordered pair of two members that are certain of different classes: (1 − ε) ln 1/ε."""
    certain = np.eye(3, dtype=np.float32)[[[0], [1]]]
    closed = (1 - SMALLEST) * -np.log(SMALLEST) / 2
    assert measure("pairwise_kl", certain).tolist() == pytest.approx([closed])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_confidence_and_margin_agree_with_a_sort(case: Case) -> None:
    averaged = [sorted(row, reverse=True) for row in case[0].astype(float).mean(axis=0).tolist()]
    np.testing.assert_allclose(measure("confidence", case[0]), [row[0] for row in averaged], atol=1e-12)
    margins = [row[0] - [*row, 0.0][1] for row in averaged]
    np.testing.assert_allclose(measure("margin", case[0]), margins, atol=1e-12)


@pytest.mark.parametrize(("name", "theirs"), [("confidence", "least_confident"), ("margin", "margin_sampling")])
def test_uncertainty_sampling_agrees_with_scikit_activeml(name: str, theirs: str) -> None:
    pool = pytest.importorskip("skactiveml.pool", reason="scikit-activeml is not installed")
    probabilities = distributions(4, 200, 6).astype(float)
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    scores = pool.uncertainty_scores(probabilities.mean(axis=0), method=theirs)
    np.testing.assert_allclose(1 - measure(name, probabilities), scores, atol=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_parts_add_up_to_the_entropy_and_stay_in_their_ranges(case: Case) -> None:
    made = evaluate_predictions(*case)
    found = compute_measures(made)
    np.testing.assert_allclose(found["aleatoric"] + found["epistemic"], found["entropy"], atol=1e-12)
    assert (found["epistemic"] >= 0).all()
    classes = made.averaged.shape[1]
    assert (found["epistemic"] <= np.log(min(made.members, classes)) + 1e-6).all()
    assert (found["entropy"] <= np.log(classes) + 1e-6).all()
    assert (found["pairwise_kl"] >= 0).all()
    assert (found["pairwise_kl"] < 16).all()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_votes_agree_with_a_count(case: Case) -> None:
    made = evaluate_predictions(*case)
    found = compute_measures(made)
    for n, column in enumerate(made.votes.T.tolist()):
        counts = [count for _, count in Counter(column).most_common(2)] + [0]
        assert found["variation_ratio"][n] == pytest.approx(1 - counts[0] / made.members)
        assert found["vote_margin"][n] == pytest.approx((counts[0] - counts[1]) / made.members)
        pairs = [one != other for one, other in combinations(column, 2)]
        assert found["disagreement"][n] == pytest.approx(np.mean(pairs) if pairs else 0)


def test_four_certain_members_differ_in_everything_and_four_uniform_ones_in_nothing() -> None:
    certain, uniform = np.eye(4), np.full((4, 4), 0.25)
    found = compute_measures(MemberOutputs(np.stack([certain, uniform], axis=1)))
    assert found["entropy"].tolist() == pytest.approx([np.log(4)] * 2)
    assert found["aleatoric"].tolist() == pytest.approx([0, np.log(4)])
    assert found["epistemic"].tolist() == pytest.approx([np.log(4), 0])
    assert found["variation_ratio"].tolist() == [0.75, 0]
    assert found["vote_margin"].tolist() == [0, 1]
    assert found["margin"].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["one member", "unanimous"])
def test_one_opinion_has_nothing_to_differ_in(name: str) -> None:
    found = compute_measures(evaluate_predictions(*CASES[name]))
    for each in EXAMPLE_MEASURES.values():
        if each.needs_members:
            np.testing.assert_allclose(found[each.name], float(not each.high_is_unsure), atol=1e-12, err_msg=each.name)


def test_rounding_makes_no_measure_negative() -> None:
    alone = distributions(1, 2_000, 10)
    found = compute_measures(MemberOutputs(np.repeat(alone, 7, axis=0)))
    assert (found["entropy"] < found["aleatoric"]).any()
    assert (found["epistemic"] >= 0).all()
    assert (found["pairwise_kl"] >= 0).all()


def test_one_class_leaves_no_uncertainty() -> None:
    found = compute_measures(MemberOutputs(np.ones((3, 2, 1), np.float32)))
    for each in EXAMPLE_MEASURES.values():
        assert found[each.name].tolist() == [float(not each.high_is_unsure)] * 2


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_predictions_and_plain_probabilities_give_bit_identical_doubles(case: Case) -> None:
    made, alone = compute_measures(evaluate_predictions(*case)), compute_measures(MemberOutputs(case[0]))
    for name in EXAMPLE_MEASURES:
        assert made[name].dtype == np.float64
        np.testing.assert_array_equal(made[name], alone[name])


@pytest.mark.parametrize("name", EXAMPLE_MEASURES)
def test_a_measure_has_one_number_per_example_and_keeps_it_in_blocks(name: str) -> None:
    """More numbers than a block holds: each example has what it has alone."""
    probabilities = distributions(3, 900, 100)
    found = measure(name, probabilities)
    assert found.shape == (900,)
    places = [0, 655, 656, 899]
    np.testing.assert_array_equal(found[places], measure(name, probabilities[:, places]))


def test_a_measure_scores_the_less_sure_of_two_examples_higher() -> None:
    sure, unsure = [[0.9, 0.1], [0.95, 0.05], [0.9, 0.1]], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]
    outputs = MemberOutputs(np.stack([sure, unsure], axis=1))
    for each in EXAMPLE_MEASURES.values():
        first, second = each.score_uncertainty(outputs)
        assert first < second, each.name


def test_the_page_on_measures_lists_the_registry(pytestconfig: pytest.Config) -> None:
    rows = [
        f"| `{each.name}` | {each.term} | {each.unit} | {each.gloss} | {'high' if each.high_is_unsure else 'low'} |"
        for each in EXAMPLE_MEASURES.values()
    ]
    head, rule, _ = PAGE.read_text("utf-8").partition("| --- | --- | --- | --- | --- |\n")
    current = "".join([head, rule, *(f"{row}\n" for row in rows)])
    if pytestconfig.getoption("--update-snapshots"):
        PAGE.write_text(current, "utf-8")
    assert current == PAGE.read_text("utf-8")
