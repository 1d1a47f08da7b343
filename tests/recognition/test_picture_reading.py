"""What is said of a picture's marks, from made-up probabilities and measures."""

import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES, HIRAGANA_NAMES
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.picture_reading import LOOPS_SIGN, PAPER_SIGN, MarkPlacement, Reading, build_reading
from ensemble.recognition.rejection import MAX_TAIL_EXCESS, Rejection
from ensemble.recognition.rejection_threshold import PEN_MEASURE_NAMES

K = len(PEN_MEASURE_NAMES)
HELD_OUT = np.random.default_rng(0).normal(size=(K, 500))
REJECTION = Rejection.from_measures(HELD_OUT)
USUAL, STRANGE = [0.0] * K, [9.0] * K


def read(
    labels: list[int],
    measures: list[list[float]],
    names: tuple[str, ...] = DIGIT_NAMES,
    places: MarkPlacement | None = None,
) -> Reading:
    """Two members, one sure and one less so, on marks with these measures."""
    sure = np.eye(10, dtype=np.float32)[labels]
    return build_reading(
        np.stack([sure, 0.6 * sure + 0.04]),
        np.array(measures).T,
        REJECTION,
        0.05,
        places or MarkPlacement.uniform(len(labels)),
        names,
        PEN_MEASURE_NAMES,
    )


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("energy", "The members cannot decide"),
        ("features", "It comes nearest to “3”, but the"),
        ("picture", "It looks most like “3”, but unlike"),
        ("form", "Its form comes nearest to “3”"),
        ("strokes", "Its strokes, loops or gaps are not"),
    ],
)
def test_a_mark_is_rejected_for_what_is_strangest_about_it(measure: str, why: str) -> None:
    strange = [6.0 if name == measure else 0.5 for name in PEN_MEASURE_NAMES]
    (digit,) = read([3], [strange]).digits
    assert digit.rejected
    assert digit.rejection_reason.startswith(why)
    assert read([3], [USUAL]).digits[0].rejection_reason == ""


def test_what_is_rejected_is_no_part_of_the_number_s_confidence() -> None:
    made = read([4, 2, 7], [USUAL, STRANGE, USUAL])
    assert made.text == "4?7"
    assert made.confidence == pytest.approx(0.82**2)
    assert [digit.score > digit.threshold for digit in made.digits] == [False, True, False]


def test_long_names_stand_apart() -> None:
    made = read([4, 2, 7], [USUAL, STRANGE, USUAL], HIRAGANA_NAMES)
    assert made.text == f"{HIRAGANA_NAMES[4]} ? {HIRAGANA_NAMES[7]}"


def placed(boxes: list[list[int]], pieces: list[int], ground: list[float]) -> MarkPlacement:
    loops = np.zeros(len(boxes), int)
    return MarkPlacement(np.array(boxes), np.array(pieces), np.array(ground), loops)


def test_each_sign_has_a_figure_and_they_make_the_score() -> None:
    (digit,) = read([3], [[0.5, 1.5, -0.5, 2.0, 0.0]]).digits
    assert list(digit.signs) == [*PEN_MEASURE_NAMES, PAPER_SIGN, LOOPS_SIGN]
    assert sum(digit.signs.values()) == pytest.approx(digit.score)
    shares = [(np.sum(own >= value) + 1) / 501 for own, value in zip(HELD_OUT, [0.5, 1.5, -0.5, 2.0, 0.0], strict=True)]
    usual = [name for name in PEN_MEASURE_NAMES if digit.signs[name] < 2]  # beyond, rarity is extrapolated
    assert {"energy", "picture", "strokes"} <= set(usual)
    for name in usual:
        assert digit.signs[name] == pytest.approx(-np.log(shares[PEN_MEASURE_NAMES.index(name)]))


def test_a_part_cut_from_what_is_no_digit_is_none_either() -> None:
    beside = [[0, 0, 9, 9], [9, 0, 18, 9], [30, 0, 39, 9]]
    made = read([1, 4, 7], [USUAL, STRANGE, USUAL], places=placed(beside, [2, 2, -1], [0, 0, 0]))
    assert made.text == "??7"
    one, other, alone = made.digits
    assert one.rejection_reason == "It hangs together with what is nothing that the members learnt."
    assert other.rejection_reason != one.rejection_reason
    assert one.score == other.score > one.threshold > alone.score
    assert one.signs == other.signs


def test_what_has_a_rejected_mark_in_it_is_no_digit_around_one() -> None:
    boxes = [[0, 0, 100, 100], [30, 60, 70, 80]]
    face = read([0, 1], [USUAL, STRANGE], places=placed(boxes, [-1, -1], [0, 0]))
    assert face.picture_rejection
    assert not read([0, 1], [USUAL, USUAL], places=placed(boxes, [-1, -1], [0, 0])).picture_rejection


@pytest.mark.parametrize(("ground", "rejected"), [(0.0, False), (0.14, False), (0.9, True)])
def test_a_mark_beside_which_is_no_paper_is_rejected(ground: float, *, rejected: bool) -> None:
    (digit,) = read([1], [USUAL], places=placed([[0, 0, 9, 30]], [-1], [ground])).digits
    assert digit.rejected is rejected
    assert (digit.signs[PAPER_SIGN] > 0) is rejected
    assert digit.signs[PAPER_SIGN] <= MAX_TAIL_EXCESS
    assert digit.rejection_reason.startswith("It is on no paper") is rejected


@pytest.mark.parametrize(("loops", "rejected"), [(0, False), (2, False), (4, True), (9, True)])
def test_no_digit_has_more_loops_than_an_eight(loops: int, *, rejected: bool) -> None:
    places = MarkPlacement.uniform(1)
    places.loops[0] = loops
    (digit,) = read([8], [USUAL], places=places).digits
    assert digit.rejected is rejected
    assert digit.rejection_reason == ("It has more loops than any digit has." if rejected else "")


def test_every_sign_has_words() -> None:
    for name in (*PEN_MEASURE_NAMES, *KnownImages.MEASURE_NAMES):
        names = ("a", name)
        measures = np.array([[0.0], [9.0]])
        made = build_reading(
            np.full((2, 1, 10), 0.1, np.float32),
            measures,
            Rejection.from_measures(HELD_OUT[:2]),
            0.05,
            MarkPlacement.uniform(1),
            DIGIT_NAMES,
            names,
        )
        assert made.digits[0].rejection_reason.endswith(".")
