"""OOD scores and the threshold on them, against slow plain reckonings."""

from itertools import groupby, pairwise

import numpy as np
import pytest
from scipy import ndimage, stats
from sklearn.covariance import EmpiricalCovariance
from sklearn.neighbors import NearestNeighbors

from ensemble import datasets
from ensemble.recognition.novelty import NAMES, SLACK, Known, pictures, traits, upright
from ensemble.recognition.rejection import Rarity, Rejection, whole_picture

DRAWS = np.random.default_rng(0)


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


def test_rarity_counts_within_and_goes_on_growing_beyond():
    held_out = DRAWS.normal(size=400)
    rarity = Rarity.of(held_out)
    for value in (-9.0, -1.0, 0.0, 1.0):
        assert rarity(np.array([value]))[0] == pytest.approx(
            -np.log(((held_out >= value).sum() + 1) / 401)
        )
    rising = rarity(np.linspace(-3, 30, 200))
    assert (np.diff(rising) >= -1e-9).all()
    assert rising[-1] <= 20 - np.log(0.1) + 1e-9, "one measure off the scale does not decide alone"
    of_exponential = Rarity.of(DRAWS.exponential(size=200_000))(np.array([5.0, 8.0]))
    np.testing.assert_allclose(of_exponential, stats.expon.logsf([5.0, 8.0]) * -1, rtol=0.03)


@pytest.mark.parametrize("refuse", [0.01, 0.05, 0.3])
def test_the_threshold_turns_away_the_share_asked_for(refuse):
    fitted, judged = DRAWS.normal(size=(2, 4, 3000))
    rejection = Rejection.of(fitted)
    own = rejection.held_out
    np.testing.assert_allclose(own, np.sort(rejection.scores(fitted)), rtol=0.2, atol=0.05)
    threshold = rejection.threshold(refuse)
    share = (own > threshold).mean()
    assert refuse - 1.5 / 3000 <= share <= refuse  # a new one is the 3001st
    others = rejection.scores(judged)
    assert (others > threshold).mean() == pytest.approx(refuse, abs=0.02)
    np.testing.assert_allclose(others, rejection.contributions(judged).sum(axis=0))
    shares = rejection.quantiles(others)
    assert shares[7] == (own < others[7]).mean()
    of_their_own = rejection.quantiles(rejection.held_out)
    np.testing.assert_array_equal(of_their_own, np.arange(3000) / 3000)  # nobody outdoes himself


@pytest.mark.parametrize(
    ("n", "refuse", "rank"),
    [(99, 0.01, 99), (98, 0.01, None), (100, 0.01, 100), (199, 0.01, 198), (9, 0.5, 5),
     (250, 0.03, 244), (19, 0.05, 19), (18, 0.05, None), (1, 0.5, 1), (99, 0.41, 59)],
)  # fmt: skip
def test_the_threshold_is_the_score_of_the_finite_sample_rank(n, refuse, rank):
    scores = DRAWS.permutation(n).astype(float)
    threshold = Rejection((), np.sort(scores)).threshold(refuse)
    assert threshold == (np.inf if rank is None else rank - 1)


def test_a_new_digit_is_rejected_no_more_often_than_asked_for():
    scores = DRAWS.normal(size=(20_000, 41))  # 40 held out, and a new one
    above = [one[40] > Rejection((), np.sort(one[:40])).threshold(0.05) for one in scores]
    share = stats.binomtest(sum(above), 20_000).proportion_ci(0.999, method="wilson")
    assert share.low <= 0.05, "two of the 40 would be as many as 3 of 41 new ones: 7.3 %"


def test_held_out_digits_do_not_judge_themselves():
    """Each is scored without itself, as a new one is: else 1.8 % of new ones exceed that of 1 %."""
    above = []
    for _ in range(400):
        fitted, new = np.split(DRAWS.normal(size=(4, 400)), [110], axis=1)
        rejection = Rejection.of(fitted)
        above.append((rejection.scores(new) > rejection.threshold(0.01)).mean())
    assert np.mean(above) <= 0.01 + 2 * stats.sem(above)
    fitted = DRAWS.normal(size=40)
    slow = [Rarity.of(np.delete(fitted, i))(fitted[[i]])[0] for i in range(40)]
    found = Rejection.of(fitted[None]).held_out
    np.testing.assert_allclose(found[:36], np.sort(slow)[:36])  # below the tail all is counted
    assert np.isfinite(Rejection.of(np.ones((2, 1))).held_out).all()


@pytest.mark.parametrize("refuse", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_cannot_be_rejected_is_said(refuse):
    with pytest.raises(ValueError, match="in \\(0, 1\\)"):
        Rejection.of(np.zeros((1, 9)) + np.arange(9)).threshold(refuse)


def test_measures_are_those_of_scikit_learn_and_scipy(digits):
    images, labels = digits.train_images[:300], digits.train_labels[:300]
    shown, C = digits.test_images[:20], 10
    p = DRAWS.dirichlet(np.ones(C), (3, 20))
    measures = Known.of(images, labels, C).measures(shown, p)
    assert measures.shape == (len(NAMES), 20)
    said = p.mean(axis=0).argmax(axis=-1)
    np.testing.assert_allclose(measures[0], stats.entropy(p.mean(axis=0), axis=-1))
    known, mine = pictures(images), pictures(shown)
    for n in range(20):
        own = known[labels == said[n]]
        nearest = NearestNeighbors(n_neighbors=1).fit(own)
        assert measures[1, n] == pytest.approx(nearest.kneighbors(mine[[n]])[0][0, 0], rel=1e-3)
        cosine = NearestNeighbors(n_neighbors=1, metric="cosine").fit(own)
        apart = np.sqrt(2 * cosine.kneighbors(mine[[n]])[0][0, 0])
        assert measures[2, n] == pytest.approx(apart, rel=1e-3)
        of_class = traits(images[::3])[labels[::3] == said[n]]
        gaussian = EmpiricalCovariance().fit(of_class)
        spread = gaussian.covariance_ * len(of_class) / (len(of_class) - 1) + SLACK * np.eye(16)
        off = traits(shown[[n]])[0] - gaussian.location_
        assert measures[3, n] == pytest.approx(np.sqrt(off @ np.linalg.solve(spread, off)))


def test_a_slanted_digit_is_set_upright(digits):
    one = np.zeros((28, 28))
    one[5:23, 13:15] = 255
    for slant in (-0.5, 0.4):
        matrix = np.array([[1, 0], [slant, 1]])
        leant = ndimage.affine_transform(one, matrix, (0, -13.5 * slant), order=1)
        stands = upright(leant.astype(np.uint8)[None, :, :, None])[0]
        across = (stands * np.arange(28)).sum(axis=1) / np.maximum(stands.sum(axis=1), 1e-6)
        assert np.ptp(across[8:20]) < 0.3, "every row has its middle at the same place"
    np.testing.assert_allclose(
        upright(digits.test_images[:9]).sum(), digits.test_images[:9].sum() / 255, rtol=0.01
    )


def test_traits_count_parts_loops_and_crossings():
    image = np.zeros((28, 28), np.uint8)
    image[4:20, 4:16] = 255
    image[6:10, 6:14] = image[12:18, 6:14] = 0  # two loops
    image[24:26, 20:24] = 255  # a part of its own
    two = traits(np.stack([image, image.T])[..., None])
    components, loops, ink, tall, wide = two[0, :5]
    assert (components, loops) == (2, 2)
    assert ink == pytest.approx((image > 0).sum() / 50)
    assert (tall * 5, wide * 5) == (18, 16)
    assert (two[0, 5], two[0, 6]) == (2, 3), "a row crosses two strokes at most, a column three"
    np.testing.assert_array_equal(two[1, [5, 6, 3, 4]], two[0, [6, 5, 4, 3]])


def slow_traits(image):
    """The sixteen figures by counting, row by row and pixel by pixel."""
    ink = {(r, c) for r, c in np.argwhere(image > 100).tolist()}

    def strokes(lines):
        return [sum(key for key, _ in groupby(line)) for line in lines]

    def changes(counts):
        return sum(abs(after - before) for before, after in pairwise(counts))

    grid = [[(r, c) in ink for c in range(28)] for r in range(28)]
    rows, columns = strokes(grid), strokes(zip(*grid, strict=True))
    tall, wide = len({r for r, _ in ink}), len({c for _, c in ink})
    inner = {(r, c) for r, c in ink
             if {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} <= ink}  # fmt: skip
    edge = len(ink) - len(inner)
    return [
        ndimage.label(image > 100, np.ones((3, 3)))[1], ndimage.label(image <= 100)[1] - 1,
        image.sum() / 255 / 50, tall / 5, wide / 5, max(rows), max(columns),
        2 * sum(rows) / tall, 2 * sum(columns) / wide,
        5 * sum(n >= 3 for n in rows) / tall, 5 * sum(n >= 4 for n in columns) / wide,
        5 * sum(n >= 3 for n in columns) / wide, edge / 20, 2 * len(ink) / edge,
        changes(rows), changes(columns),
    ]  # fmt: skip


def test_every_trait_is_what_counting_finds(digits):
    rungs = np.zeros((28, 28, 1), np.uint8)  # a digit's column hardly ever crosses four strokes
    rungs[3:24:5, 4:13] = rungs[3:14:5, 13:20] = 255
    images = np.concatenate([digits.test_images[:40], rungs[None]])
    slow = np.array([slow_traits(image[..., 0]) for image in images])
    assert slow[-1, 10] == pytest.approx(5 * 9 / 16)
    np.testing.assert_allclose(traits(images), slow, rtol=1e-12)


def test_without_images_there_are_no_scores(digits):
    known = Known.of(digits.train_images[:60], digits.train_labels[:60], 10)
    assert known.measures(np.zeros((0, 28, 28, 1), np.uint8), np.zeros((2, 0, 10))).shape == (4, 0)
    blank = known.measures(np.zeros((1, 28, 28, 1), np.uint8), np.full((2, 1, 10), 0.1))
    assert np.isfinite(blank).all()


@pytest.mark.parametrize(
    ("rejected", "sizes", "refused"),
    [
        ("x", [9], False),  # one mark: what is said of it says all
        ("ooxo", [9, 9, 9, 9], False),
        ("oxx", [90, 8, 5], False),  # a digit and two specks of dirt
        ("oxx", [90, 80, 95], True),
        ("xxo", [300, 280, 20], True),  # a horse, a part of which looks like a one
        ("xooo", [300, 60, 60, 60], False),  # digits in a frame
        ("xxxxooooooxxxxx", [9] * 15, True),  # a line of text: an o is a 0, an l is a 1
        ("xxooooooooo", [9] * 11, False),
        ("xx", [9, 9], True),
        ("oxx", [100, 44, 44], False),  # what is under 0.45 of a digit's size is dirt
        ("oxx", [100, 46, 46], True),
        ("xxoooo", [100, 100, 14, 14, 14, 14], True),  # under 0.15 it is a chance likeness
        ("xxooooo", [100, 100, 16, 16, 16, 16, 16], False),
        ("xxxooooooo", [9] * 10, True),  # three in ten
        ("xxooooo", [9] * 7, False),
    ],
)
def test_a_picture_is_rejected_as_a_whole(rejected, sizes, refused):
    flags = np.array([one == "x" for one in rejected])
    assert whole_picture(flags, np.array(sizes, float)) is refused
