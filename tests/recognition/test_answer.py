"""What is said of a picture's marks, from made-up probabilities and measures."""

import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES, HIRAGANA_NAMES
from ensemble.recognition.answer import Reading, make_reading
from ensemble.recognition.novelty import NAMES
from ensemble.recognition.rejection import Rejection

HELD_OUT = np.random.default_rng(0).normal(size=(4, 500))
REJECTION = Rejection.of(HELD_OUT)
USUAL, STRANGE = [0.0] * 4, [9.0] * 4


def read(
    labels: list[int], measures: list[list[float]], names: tuple[str, ...] = DIGIT_NAMES
) -> Reading:
    """Two members, one sure and one less so, on marks with these measures."""
    sure = np.eye(10, dtype=np.float32)[labels]
    return make_reading(
        np.stack([sure, 0.6 * sure + 0.04]), np.array(measures).T, REJECTION, 0.05,
        np.ones(len(labels)), names,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "why"),
    [("decision", "The members cannot decide"), ("picture", "It looks most like “3”, but unlike"),
     ("form", "Its form comes nearest to “3”"), ("strokes", "Its strokes, loops or gaps are not")],
)  # fmt: skip
def test_a_mark_is_rejected_for_what_is_strangest_about_it(measure: str, why: str) -> None:
    strange = [6.0 if name == measure else 0.5 for name in NAMES]
    (digit,) = read([3], [strange]).digits
    assert digit.rejected
    assert digit.why.startswith(why)
    assert read([3], [USUAL]).digits[0].why == ""


def test_what_is_rejected_is_no_part_of_the_number_s_confidence() -> None:
    made = read([4, 2, 7], [USUAL, STRANGE, USUAL])
    assert made.text == "4?7"
    assert made.confidence == pytest.approx(0.82**2)
    assert [digit.score > digit.threshold for digit in made.digits] == [False, True, False]


def test_long_names_stand_apart() -> None:
    made = read([4, 2, 7], [USUAL, STRANGE, USUAL], HIRAGANA_NAMES)
    assert made.text == f"{HIRAGANA_NAMES[4]} ? {HIRAGANA_NAMES[7]}"
