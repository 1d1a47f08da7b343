"""Measures of novelty against those of scikit-learn and slow plain reckonings."""

from itertools import groupby, pairwise

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import cdist
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA
from sklearn.manifold._locally_linear import barycenter_weights
from sklearn.neighbors import NearestNeighbors

from ensemble import datasets
from ensemble.recognition.class_subspaces import MAX_SUBSPACE_AXES, ClassSubspaces, compute_free_energy
from ensemble.recognition.digit_novelty import KnownDigits, deskew_images, reduce_digit_images
from ensemble.recognition.reconstruction import compute_nearest_distances, compute_neighbor_residuals
from ensemble.recognition.stroke_traits import VARIANCE_SLACK, compute_stroke_traits, measure_pen_widths

DRAWS = np.random.default_rng(0)


@pytest.fixture(scope="module")
def digits():
    return datasets.load_dataset("digits")


@pytest.mark.long
def test_measures_are_those_of_scikit_learn_and_scipy(digits):
    images, labels = digits.train_images[:300], digits.train_labels[:300]
    shown, C = digits.test_images[:20], 10
    said = DRAWS.integers(C, size=20)
    measures = KnownDigits.from_images(images, labels, C).compute_measures(shown, said)
    assert measures.shape == (len(KnownDigits.MEASURE_NAMES), 20)
    known, mine = reduce_digit_images(images), reduce_digit_images(shown)
    described, off_traits = compute_stroke_traits(images[::3]), compute_stroke_traits(shown)
    for n in range(20):
        own = known[labels == said[n]]
        for row, rows in ((0, own), (1, own / np.linalg.norm(own, axis=1)[:, None])):
            one = mine[n] if row == 0 else mine[n] / np.linalg.norm(mine[n])
            nearest = NearestNeighbors(n_neighbors=8).fit(rows).kneighbors(one[None])[1]
            weights = barycenter_weights(one[None].astype(float), rows.astype(float), nearest, 0.03)
            apart = np.linalg.norm(one - weights[0] @ rows[nearest[0]])
            assert measures[row, n] == pytest.approx(apart, rel=1e-3)
        of_class = described[labels[::3] == said[n]]
        gaussian = EmpiricalCovariance().fit(of_class)
        spread = gaussian.covariance_ * len(of_class) / (len(of_class) - 1) + VARIANCE_SLACK * np.eye(18)
        off = off_traits[n] - gaussian.location_
        assert measures[2, n] == pytest.approx(np.sqrt(off @ np.linalg.solve(spread, off)))


def test_a_slanted_digit_is_set_upright(digits):
    one = np.zeros((28, 28))
    one[5:23, 13:15] = 255
    for slant in (-0.5, 0.4):
        matrix = np.array([[1, 0], [slant, 1]])
        leant = ndimage.affine_transform(one, matrix, (0, -13.5 * slant), order=1)
        stands = deskew_images(leant.astype(np.uint8)[None, :, :, None])[0]
        across = (stands * np.arange(28)).sum(axis=1) / np.maximum(stands.sum(axis=1), 1e-6)
        assert np.ptp(across[8:20]) < 0.3, "every row has its middle at the same place"
    np.testing.assert_allclose(
        deskew_images(digits.test_images[:9]).sum(), digits.test_images[:9].sum() / 255, rtol=0.01
    )


def test_traits_count_parts_loops_and_crossings():
    image = np.zeros((28, 28), np.uint8)
    image[4:20, 4:16] = 255
    image[6:10, 6:14] = image[12:18, 6:14] = 0  # two loops
    image[24:26, 20:24] = 255  # a part of its own
    two = compute_stroke_traits(np.stack([image, image.T])[..., None])
    components, loops, ink, tall, wide = two[0, :5]
    assert (components, loops) == (2, 2)
    assert ink == pytest.approx((image > 0).sum() / 50)
    assert (tall * 5, wide * 5) == (18, 16)
    assert (two[0, 5], two[0, 6]) == (2, 3), "a row crosses two strokes at most, a column three"
    np.testing.assert_array_equal(two[1, [5, 6, 3, 4]], two[0, [6, 5, 4, 3]])


def slow_traits(image):
    """The first sixteen figures by counting, row by row and pixel by pixel."""
    ink = {(r, c) for r, c in np.argwhere(image > 100).tolist()}

    def strokes(lines):
        return [sum(key for key, _ in groupby(line)) for line in lines]

    def changes(counts):
        return sum(abs(after - before) for before, after in pairwise(counts))

    grid = [[(r, c) in ink for c in range(28)] for r in range(28)]
    rows, columns = strokes(grid), strokes(zip(*grid, strict=True))
    tall, wide = len({r for r, _ in ink}), len({c for _, c in ink})
    inner = {(r, c) for r, c in ink if {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} <= ink}
    edge = len(ink) - len(inner)
    return [
        ndimage.label(image > 100, np.ones((3, 3)))[1],
        ndimage.label(image <= 100)[1] - 1,
        image.sum() / 255 / 50,
        tall / 5,
        wide / 5,
        max(rows),
        max(columns),
        2 * sum(rows) / tall,
        2 * sum(columns) / wide,
        5 * sum(n >= 3 for n in rows) / tall,
        5 * sum(n >= 4 for n in columns) / wide,
        5 * sum(n >= 3 for n in columns) / wide,
        edge / 20,
        2 * len(ink) / edge,
        changes(rows),
        changes(columns),
    ]


def test_every_trait_is_what_counting_finds(digits):
    rungs = np.zeros((28, 28, 1), np.uint8)  # a digit's column hardly ever crosses four strokes
    rungs[3:24:5, 4:13] = rungs[3:14:5, 13:20] = 255
    images = np.concatenate([digits.test_images[:40], rungs[None]])
    slow = np.array([slow_traits(image[..., 0]) for image in images])
    assert slow[-1, 10] == pytest.approx(5 * 9 / 16)
    np.testing.assert_allclose(compute_stroke_traits(images)[:, :16], slow, rtol=1e-12)


def test_a_pen_has_one_width_and_a_shape_that_is_filled_has_not():
    sheet = np.zeros((3, 28, 28, 1), np.uint8)
    sheet[0, 4:24, 12:15] = 255  # a stroke
    sheet[1, 4:24, 13] = sheet[1, 10:19, 9:18] = 255  # a tree: its top is no stroke
    (even, widest), (uneven, wider), none = measure_pen_widths(sheet)
    assert even < 0.1 < 0.3 < uneven
    assert widest == pytest.approx(1, abs=0.1)
    assert wider > 1.5
    assert none.tolist() == [0, 0]


def test_without_images_there_are_no_measures(digits):
    known = KnownDigits.from_images(digits.train_images[:60], digits.train_labels[:60], 10)
    assert known.compute_measures(np.zeros((0, 28, 28, 1), np.uint8), np.zeros(0, int)).shape == (3, 0)
    blank = known.compute_measures(np.zeros((1, 28, 28, 1), np.uint8), np.zeros(1, int))
    assert np.isfinite(blank).all()


@pytest.mark.parametrize("count", [200, 40])
def test_features_are_as_far_as_from_scikit_learn_s_principal_components(count):
    labels, F = np.arange(3 * count) % 3, 64
    mixing = DRAWS.normal(size=(12, F))
    features = DRAWS.normal(size=(2, len(labels), 12)) @ mixing + DRAWS.normal(size=F)
    features += 0.05 * DRAWS.normal(size=features.shape) + 3 * (labels == 1)[:, None]
    found = ClassSubspaces.from_features(features.astype(np.float32), labels, 3)
    new = DRAWS.normal(size=(2, 9, F)).astype(np.float32)
    said, expected = np.arange(9) % 3, np.zeros(9)
    for own, others in zip(features, new, strict=True):
        own = own / np.linalg.norm(own, axis=1)[:, None]
        for n, c in enumerate(said):
            of_class = own[labels == c]
            plane = PCA(min(MAX_SUBSPACE_AXES, len(of_class) - 1)).fit(of_class)
            one = others[[n]] / np.linalg.norm(others[n])
            left = one - plane.inverse_transform(plane.transform(one))
            expected[n] += np.linalg.norm(left) / 2
    np.testing.assert_allclose(found.compute_distances(new, said), expected, rtol=2e-3)


def test_energy_is_low_where_a_class_is_felt():
    logits = np.array([[[9.0, 0, 0], [0, 0, 0]], [[9.0, 0, 0], [0, 0, 0]]])
    sure, unsure = compute_free_energy(logits)
    assert sure == pytest.approx(-np.log(np.exp(9) + 2))
    assert unsure == pytest.approx(-np.log(3))


def test_a_class_without_any_images_is_far_from_all():
    apart = compute_neighbor_residuals(np.ones((1, 9), np.float32), np.zeros((0, 9), np.float32))
    assert apart >= np.linalg.norm(2 * np.ones(9)), "farther than any two rows of numbers from -1 to 1"
    labels = np.zeros(9, int)
    found = ClassSubspaces.from_features(DRAWS.normal(size=(1, 9, 5)).astype(np.float32), labels, 2)
    assert np.isfinite(found.compute_distances(np.ones((1, 2, 5), np.float32), np.array([0, 1]))).all()


def test_nearest_distances_of_many_rows_agree_with_scipy():
    rows, known = DRAWS.normal(size=(600, 5)).astype(np.float32), DRAWS.normal(size=(30, 5)).astype(np.float32)
    expected = cdist(rows, known).min(axis=1)
    np.testing.assert_allclose(compute_nearest_distances(rows, known), expected, atol=1e-3)
