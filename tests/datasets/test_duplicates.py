"""Copies among images are found, exact ones and those that were saved again; others are not."""

import io

import numpy as np
from PIL import Image
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ensemble import datasets
from ensemble.datasets.duplicates import MAX_NEIGHBORS, NeighborIndex, find_duplicate_images, number_components


def photographs(n: int, seed: int = 0) -> np.ndarray:
    """Smooth pictures with a little colour, uint8 (n, 32, 32, 3)."""
    rng = np.random.default_rng(seed)
    grey, tint = rng.integers(20, 236, (n, 6, 6, 1)), rng.integers(-12, 13, (n, 6, 6, 3))
    size, kind = (32, 32), Image.Resampling.BICUBIC
    coarse = np.clip(grey + tint, 0, 255).astype(np.uint8)
    return np.stack([np.asarray(Image.fromarray(each).resize(size, kind)) for each in coarse])


def save_again(image: np.ndarray, quality: int) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def test_exact_copies_and_pictures_that_were_saved_again_are_one() -> None:
    images = photographs(60)
    again = np.stack([save_again(images[0], 90), images[7], images[7]])
    found = find_duplicate_images(np.concatenate([images, again]))
    assert found.copies == 3
    assert found.groups[0] == found.groups[60]
    assert found.groups[7] == found.groups[61] == found.groups[62]
    assert not found.in_training.any()


def test_a_test_image_that_was_trained_on_is_found() -> None:
    test, train = photographs(40, seed=1), photographs(80, seed=2)
    train[33] = save_again(test[5], 92)
    found = find_duplicate_images(test, train)
    assert np.flatnonzero(found.in_training).tolist() == [5]
    assert found.copies == 0


def test_images_of_one_value_are_copies_only_where_they_are_equal() -> None:
    flat = np.stack([np.full((8, 8, 1), value, np.uint8) for value in (0, 1, 1, 200)])
    groups = find_duplicate_images(flat).groups.tolist()
    assert groups[1] == groups[2]
    assert len(set(groups)) == 3


def test_the_embedded_digits_hold_no_copies() -> None:
    digits = datasets.load_dataset("digits")
    found = find_duplicate_images(digits.test_images, digits.train_images)
    assert found.copies == 0
    assert not found.in_training.any()


def test_a_thousand_pictures_that_are_nearly_one_are_no_million_pairs() -> None:
    rng = np.random.default_rng(5)
    image = rng.integers(0, 256, (12, 12, 1))
    many = np.clip(image + rng.integers(-2, 3, (3000, 12, 12, 1)), 0, 255).astype(np.uint8)
    many[:1000] = many[0]
    assert find_duplicate_images(many, many[:50]).in_training.all()


def test_neighbours_are_those_that_scipy_finds() -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(120, 60, (500, 64)).astype(np.float32)
    others = np.concatenate([points[:300] + rng.normal(0, 6, (300, 64)), points + 200])
    found = NeighborIndex(points).find_neighbors(others.astype(np.float32), 50.0)
    tree = cKDTree(points)
    near = tree.query(others, k=MAX_NEIGHBORS, distance_upper_bound=50.0)[1]
    pairs = {(row, point) for row in range(len(near)) for point in near[row] if point < tree.n}
    assert set(zip(*(each.tolist() for each in found), strict=True)) == pairs
    assert 100 < len(pairs) < 300
    assert (np.diff(found[0]) >= 0).all()


def test_of_more_neighbours_than_are_compared_the_nearest_are() -> None:
    points = np.arange(40, dtype=np.float32)[:, None]
    row, point = NeighborIndex(points).find_neighbors(points[20:21] + np.float32(0.25), 15.0)
    assert row.tolist() == [0] * MAX_NEIGHBORS
    assert sorted(point.tolist()) == list(range(17, 25))


def test_what_is_linked_by_others_has_one_number() -> None:
    rng = np.random.default_rng(4)
    for links in (0, 50, 200, 400):
        first, second = rng.integers(0, 300, (2, links))
        graph = coo_matrix((np.ones(links, np.int8), (first, second)), shape=(300, 300))
        expected = connected_components(graph, directed=False)[1]
        assert (number_components(300, first, second) == expected).all()
