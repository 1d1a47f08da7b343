"""The map of drawn members: distances, epochs, snapshots, groups."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ensemble.analysis.positions.member_groups import average_silhouette, estimate_ratio, find_member_groups
from ensemble.analysis.positions.member_map import MAX_EPOCHS, MAX_POINTS, locate_members, select_path_epochs
from tests.analysis.positions.drawn_members import change_answers

N, CLASSES = 2000, 10
LABELS = np.random.default_rng(0).integers(CLASSES, size=N)


def walks(members: int, epochs: int, own: float, away: float) -> np.ndarray:
    """(E, M, N): members far apart, each of whose epochs changes a few of its own answers."""
    starts = [change_answers(LABELS, away, seed) for seed in range(members)]
    return np.stack(
        [[change_answers(start, own, 100 * m + epoch) for m, start in enumerate(starts)] for epoch in range(epochs)]
    )


def test_distances_are_the_roots_of_disagreement_and_of_points_in_space() -> None:
    votes = walks(3, 3, 0.05, 0.3)
    found = locate_members(votes, LABELS, [1, 2, 3])
    flat = votes.reshape(9, N)
    slow = cdist(flat, flat, "hamming")
    np.testing.assert_allclose(found.disagreement.reshape(9, 9), slow)
    answers = np.eye(CLASSES)[flat].reshape(9, -1) / np.sqrt(2 * N)
    np.testing.assert_allclose(cdist(answers, answers), np.sqrt(slow), atol=1e-9)
    assert found.path.negative_share == 0
    np.testing.assert_array_equal(found.accuracy, (votes == LABELS).mean(axis=2))
    assert found.apart == pytest.approx(slow[-3:, -3:][np.triu_indices(3, 1)].mean())
    assert found.moved == pytest.approx(np.mean([slow[m, 6 + m] for m in range(3)]))
    assert found.times_apart
    assert found.times_apart.ratio == pytest.approx(found.moved / found.apart)
    assert found.times_apart.low < found.times_apart.ratio < found.times_apart.high
    # Three ends always lie in a plane, just as far apart as they are.
    ends = cdist(found.ends.points, found.ends.points)
    np.testing.assert_allclose(ends, np.sqrt(found.last), atol=1e-9)


def test_the_same_answers_give_the_same_map_and_time_leads_to_the_right() -> None:
    common = [change_answers(LABELS, share, 99) for share in (0.5, 0.2, 0.05)]
    learning = np.stack([[change_answers(now, 0.05, 9 * e + m) for m in range(4)] for e, now in enumerate(common)])
    found, again = (locate_members(learning, LABELS, [1, 2, 9]) for _ in range(2))
    np.testing.assert_array_equal(found.path.points, again.path.points)
    means = found.path_points[:, :, 0].mean(axis=1)
    assert means[0] < means[1] < means[2]


def test_snapshots_of_a_member_lie_together_where_they_were_drawn_so() -> None:
    found = locate_members(walks(3, 6, 0.02, 0.2), LABELS, range(1, 7), marked=(2, 4, 6)).snapshots
    assert found
    assert found.epochs == (2, 4, 6)
    assert found.times
    assert found.times.low > 4
    slow = walks(3, 6, 0.02, 0.2)[[1, 3, 5]]
    own = [(slow[a, m] != slow[b, m]).mean() for m in range(3) for a in range(3) for b in range(a)]
    others = [(slow[a, m] != slow[b, k]).mean() for m in range(3) for k in range(m) for a in range(3) for b in range(3)]
    assert found.own == pytest.approx(np.mean(own))
    assert found.others == pytest.approx(np.mean(others))
    # Epochs that are no more alike than members are.
    apart = np.stack([[change_answers(LABELS, 0.2, 50 * m + e) for m in range(3)] for e in range(2)])
    even = locate_members(apart, LABELS, [1, 2], marked=(1, 2)).snapshots
    assert even
    assert even.times
    assert even.times.low < 1 < even.times.high


def test_members_that_are_one_have_one_point() -> None:
    votes = np.stack([np.stack([LABELS] * 3)] * 2)
    found = locate_members(votes, LABELS, [1, 2], marked=(1, 2))
    assert (found.apart, found.moved, found.times_apart) == (0, 0, None)
    assert not found.path.points.any()
    assert found.snapshots
    assert found.snapshots.times is None


def test_epochs_are_chosen_so_that_the_map_stays_small() -> None:
    kept = range(1, 301)
    chosen = select_path_epochs(kept, 300, 4, 10_000, marked=(100, 200, 300))
    assert len(chosen) == MAX_EPOCHS
    assert {1, 100, 200, 300} <= set(chosen)
    assert max(np.diff(chosen)) < 40
    assert select_path_epochs(kept, 5, 4, 10_000) == (1, 2, 3, 4, 5)
    many = select_path_epochs(kept, 300, 64, 10_000)
    assert len(many) * 64 <= MAX_POINTS
    assert (many[0], many[-1]) == (1, 300)
    assert select_path_epochs(kept, 300, 64, 1_000_000) == (300,)
    assert select_path_epochs([7], 7, 2, 10) == (7,)
    assert len(select_path_epochs(kept, 300, 4, 10_000, marked=kept)) == MAX_EPOCHS


def test_planted_groups_are_found_and_equals_have_none() -> None:
    centres = [change_answers(LABELS, 0.2, seed) for seed in (1, 2)]
    votes = np.stack([change_answers(centres[m % 2], 0.03, 10 + m) for m in range(6)])
    found = find_member_groups(votes, LABELS)
    assert found
    assert found.members == ((0, 2, 4), (1, 3, 5))
    assert found.between > 4 * found.within
    assert find_member_groups(votes[:, :10], LABELS[:10]) is None
    assert find_member_groups(votes[:2], LABELS) is None
    assert find_member_groups(np.stack([LABELS] * 4), LABELS) is None


def test_equal_members_are_seldom_said_to_stand_in_groups() -> None:
    said = 0
    for seed in range(40):
        votes = np.stack([change_answers(LABELS[:200], 0.1, 40 * seed + m) for m in range(5)])
        said += find_member_groups(votes, LABELS[:200]) is not None
    assert said <= 2


def test_silhouettes_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import silhouette_score

    rng = np.random.default_rng(5)
    points, numbers = rng.normal(size=(12, 3)), np.array([1, 1, 2, 2, 2, 3, 3, 3, 3, 1, 2, 4])
    distances = cdist(points, points)
    expected = silhouette_score(distances, numbers, metric="precomputed")
    assert average_silhouette(distances, numbers) == pytest.approx(expected)


def test_the_interval_of_a_ratio_holds_it_as_often_as_it_promises() -> None:
    rng, held = np.random.default_rng(6), 0
    for _ in range(300):
        y = rng.random(400) < 0.2
        x = np.where(y, rng.random(400) < 0.5, rng.random(400) < 0.3)
        found = estimate_ratio(x.astype(float), y.astype(float))
        assert found
        held += found.low <= (0.2 * 0.5 + 0.8 * 0.3) / 0.2 <= found.high
    assert held >= 276  # 95 %, less three standard errors
    assert estimate_ratio(np.ones(3), np.zeros(3)) is None
