"""Classical scaling: planar distances come back, others are told to be none."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from ensemble.analysis.positions.classical_scaling import measure_stress, scale_distances


def squared(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(pairwise_distances(points, metric="sqeuclidean"))


def symmetric(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found = (values + values.T) / 2
    np.fill_diagonal(found, 0.0)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_points_of_a_plane_come_back_with_their_distances(count: int) -> None:
    points = np.random.default_rng(count).normal(size=(count, 2)) * (3.0, 0.5) + 7
    found = scale_distances(symmetric(squared(points)))
    np.testing.assert_allclose(squared(found.points), squared(points), atol=1e-9)
    np.testing.assert_allclose(found.points.mean(axis=0), 0, atol=1e-12)
    assert found.stress == pytest.approx(0, abs=1e-6)
    assert found.shown_share == pytest.approx(1)
    assert found.negative_share == 0


def test_the_axes_are_those_of_the_largest_spread_and_turned_alike() -> None:
    points = np.random.default_rng(0).normal(size=(30, 5)) * (4, 2, 1, 1, 1)
    found = scale_distances(symmetric(squared(points)))
    assert np.ptp(found.points[:, 0]) > np.ptp(found.points[:, 1])
    # A mirrored, turned and moved copy has the same distances, and so the same map.
    turned = points @ np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0] - 3
    again = scale_distances(symmetric(squared(turned)))
    np.testing.assert_allclose(again.points, found.points, atol=1e-9)
    assert (np.abs(found.points).max(axis=0) == found.points.max(axis=0)).all()
    centred = points - points.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) ** 2
    assert found.shown_share == pytest.approx(spread[:2].sum() / spread.sum())


def test_stress_is_that_of_a_square_for_four_points_that_are_equally_far_apart() -> None:
    equal = 1.0 - np.eye(4)
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    # Sides 1 and diagonals √2 against 1 each, at the best scale.
    lengths = np.array([1, 1, 1, 1, 2**0.5, 2**0.5])
    scales = np.linspace(0.5, 2, 15001)
    slow = np.sqrt(((lengths - scales[:, None]) ** 2).sum(axis=1) / (lengths**2).sum()).min()
    assert measure_stress(equal, corners) == pytest.approx(slow, abs=1e-6)
    assert measure_stress(3 * equal, corners) == pytest.approx(slow, abs=1e-6)
    assert scale_distances(equal).stress > 0.15


def test_distances_of_no_space_are_told() -> None:
    # One point is nearer to three others than half of what these are apart.
    distances = np.array([[0, 1, 1, 1], [1, 0, 2.4, 2.4], [1, 2.4, 0, 2.4], [1, 2.4, 2.4, 0]])
    found = scale_distances(distances**2)
    assert found.negative_share > 0.01
    assert np.isfinite(found.points).all()
    assert found.stress > 0


def test_points_in_one_place_are_one_point() -> None:
    found = scale_distances(np.zeros((5, 5)))
    assert not found.points.any()
    assert (found.stress, found.shown_share, found.negative_share) == (0, 1, 0)


@pytest.mark.parametrize("distances", [np.zeros((2, 3)), np.eye(2), np.array([[0, 1], [2, 0.0]]), -1 + np.eye(2)])
def test_what_is_no_distance_is_refused(distances: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="Distances"):
        scale_distances(distances)
