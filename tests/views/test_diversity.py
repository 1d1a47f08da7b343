"""The view Diversity: three exact decompositions of the ensemble's loss."""

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import gmean

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.views.members.diversity import decompose_losses
from tests.pages.ensembles import trained
from tests.views.summaries import find_table, summarize

M, N, C = 4, 60, 5
DRAWS = np.random.default_rng(3)
PROBABILITIES = DRAWS.dirichlet(np.full(C, 0.7), (M, N))
LABELS = DRAWS.integers(C, size=N)
PREDICTIONS = evaluate_predictions(PROBABILITIES, LABELS)


def test_each_loss_is_the_average_member_minus_diversity() -> None:
    squared, geometric, averaged = decompose_losses(PREDICTIONS)
    target = np.eye(C)[LABELS]
    mean = PROBABILITIES.mean(axis=0)
    assert squared.ensemble == pytest.approx(((mean - target) ** 2).sum(axis=1).mean())
    assert squared.average_member == pytest.approx(((PROBABILITIES - target) ** 2).sum(axis=2).mean())
    unnormalized = gmean(PROBABILITIES, axis=0)
    normalized = unnormalized / unnormalized.sum(axis=1, keepdims=True)
    rows = np.arange(N)
    assert geometric.ensemble == pytest.approx(-np.log(normalized[rows, LABELS]).mean())
    assert averaged.ensemble == pytest.approx(-np.log(mean[rows, LABELS]).mean())
    for each in (geometric, averaged):
        assert each.average_member == pytest.approx(-np.log(PROBABILITIES[:, rows, LABELS]).mean())
        assert each.ensemble == pytest.approx(each.average_member - each.diversity)


def test_two_diversities_are_measured_without_labels() -> None:
    squared, geometric, averaged = decompose_losses(PREDICTIONS)
    mean = PROBABILITIES.mean(axis=0)
    assert squared.diversity == pytest.approx(((PROBABILITIES - mean) ** 2).sum(axis=2).mean())
    unnormalized = gmean(PROBABILITIES, axis=0)
    normalized = unnormalized / unnormalized.sum(axis=1, keepdims=True)
    assert geometric.diversity == pytest.approx(rel_entr(normalized, PROBABILITIES).sum(axis=2).mean())
    others = decompose_losses(evaluate_predictions(PROBABILITIES, (LABELS + 1) % C))
    assert [each.diversity for each in others[:2]] == pytest.approx([squared.diversity, geometric.diversity])
    assert others[2].diversity != pytest.approx(averaged.diversity, rel=1e-3)
    assert [each.depends_on_labels for each in others] == [False, False, True]


def test_members_that_agree_have_no_diversity() -> None:
    copies = evaluate_predictions(np.repeat(PROBABILITIES[:1], M, axis=0), LABELS)
    assert [each.diversity for each in decompose_losses(copies)] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_probability_of_zero_leaves_the_parts_finite() -> None:
    certain = np.stack([np.eye(2)[[0, 1]], np.eye(2)[[1, 1]]])
    parts = decompose_losses(evaluate_predictions(certain, np.array([0, 1])))
    assert all(np.isfinite([each.average_member, each.diversity, each.ensemble]).all() for each in parts)


def test_the_table_adds_up_as_printed() -> None:
    frame = find_table(summarize(trained(members=3), "diversity"), "diversity depends on labels")
    for _, row in frame.iterrows():
        average, diversity, whole = (float(row[name]) for name in ("average member", "diversity", "ensemble"))
        assert average - diversity == pytest.approx(whole, abs=0.006)
