from dataclasses import replace

import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES, HIRAGANA_NAMES
from ensemble.recognition.image_novelty import KnownImages
from ensemble.recognition.picture_reading import LOOPS_SIGN, PAPER_SIGN, Digit
from ensemble.recognition.rejection_threshold import PEN_MEASURE_NAMES
from ensemble.wording import marks as marks_words
from tests.ui.marks import THRESHOLD, voting


@pytest.mark.parametrize(
    ("digit", "names", "said"),
    [
        (voting(7, 7, 7, 7, 7), DIGIT_NAMES, "All 5 members say 7."),
        (voting(7, 7), DIGIT_NAMES, "Both members say 7."),
        (voting(7), DIGIT_NAMES, "With one member there is no disagreement."),
        (voting(4, 9, 4, 9, 4), DIGIT_NAMES, "They split: 3 say 4, 2 say 9."),
        (voting(9, 4), DIGIT_NAMES, "They split: 1 says 4, 1 says 9."),
        (voting(*[2] * 60, 4, 3, 3, 3), HIRAGANA_NAMES, "They split: 60 say su, 3 say tsu, 1 says na."),
        (
            voting(*[1] * 40, *[2] * 10, *[3] * 8, 4, 4, 4, 5, 6, 7),
            DIGIT_NAMES,
            "They split: 40 say 1, 10 say 2, 8 say 3, 6 something else.",
        ),
    ],
)
def test_agreement_is_said_in_every_case(digit: Digit, names: tuple[str, ...], said: str) -> None:
    assert marks_words.describe_mark_agreement(digit, names) == said


def test_members_that_vote_alike_but_not_as_surely_are_said_to() -> None:
    digit = voting(4, 4, 4)
    digit.members[1, 4], digit.members[1, 9] = 0.52, 0.4
    said = marks_words.describe_mark_agreement(digit, DIGIT_NAMES)
    assert said == "All 3 members say 4, but not as surely: 52.0 % to 91.0 %."


@pytest.mark.parametrize(
    ("epistemic", "members", "said"),
    [
        (0.0213, 5, "Disagreement: 0.021 nats"),
        (0.0, 5, "Disagreement: under 0.001 nats"),
        (1.4, 64, "Disagreement: 1.4 nats"),
        (0.0, 1, ""),
    ],
)
def test_disagreement_is_a_figure_where_there_can_be_any(epistemic: float, members: int, said: str) -> None:
    digit = voting(*[4] * members, epistemic=epistemic)
    assert marks_words.format_mark_disagreement(digit) == said


@pytest.mark.parametrize(("members", "most"), [(2, "0.693"), (5, "1.61"), (64, "2.30")])
def test_the_most_disagreement_there_can_be_is_reached(members: int, most: str) -> None:
    # Each member sure of another class, as far as there are classes for all.
    apart = np.eye(10)[np.arange(members) % 10]
    mean = apart.mean(axis=0)
    worst = -sum(p * np.log(p) for p in mean if p)
    told = marks_words.explain_epistemic(voting(*range(members % 10), *[0] * (members // 10 * 10)), DIGIT_NAMES)
    assert f"; {most} is the maximum" in told
    assert float(most) == pytest.approx(worst, abs=0.02)


def test_every_sign_s_share_of_the_score_is_told_the_largest_first() -> None:
    digit = replace(voting(3), signs={"energy": 0.512, "strokes": 12.34, "paper": 0.0})
    assert marks_words.describe_score_signs(digit) == (
        "The score is the sum of its strokes 12, the members' energy 0.51."
    )
    assert marks_words.describe_score_signs(voting(3)) == ""
    assert {*PEN_MEASURE_NAMES, *KnownImages.MEASURE_NAMES, PAPER_SIGN, LOOPS_SIGN} == set(marks_words.SIGN_NAMES)


def test_a_rejected_mark_has_no_verdict_but_what_it_would_have_been() -> None:
    digit = voting(3, 3, 3, 3, 8, rejected=True)
    assert marks_words.format_mark_verdict(digit, DIGIT_NAMES) == "Not a digit, or not one I know"
    assert marks_words.format_mark_verdict(digit, HIRAGANA_NAMES) == "Not a character, or not one I know"
    assert marks_words.format_mark_class(digit, DIGIT_NAMES) == "3 with 73.0 %"  # (4 × 0.91 + 0.01) / 5
    assert marks_words.format_mark_verdict(voting(3, 3, 3, 3, 8), DIGIT_NAMES) == "3 with 73.0 %"
    assert marks_words.format_threshold_distance(digit) == "Score 3.30, threshold 2.00: 1.3 above"
    assert marks_words.format_threshold_distance(voting(3)) == "Score 0.700, threshold 2.00: 1.3 below"


@pytest.mark.parametrize(
    ("rejected", "quantile", "said"),
    [
        (False, 0.4, "60 % of real digits look at least as strange; the strangest 5 % are"),
        (False, 0.0, "100 % of real digits look at least as strange"),
        (True, 0.9975, "Only 0.25 % of real digits look at least as strange"),
        (True, 1.0, "None of the real digits held out looks as strange as this; the strangest 5 %"),
    ],
)
def test_the_ood_score_is_counted_in_real_digits(rejected: bool, quantile: float, said: str) -> None:
    digit = voting(3, rejected=rejected, quantile=quantile)
    told = marks_words.describe_ood_score(digit, 0.05, DIGIT_NAMES)
    assert told.startswith(said)


def test_how_the_threshold_was_set_is_said_in_figures() -> None:
    said = marks_words.describe_threshold_basis(THRESHOLD, "MNIST")
    assert said.startswith("Set on 5 test images of MNIST, one in four as it is")
    assert "scores more than the threshold with a chance of 20 % at most" in said
    assert "Judged on 200 other test images" in said


def test_without_a_threshold_nothing_is_said_to_be_rejected() -> None:
    digit = replace(voting(3, quantile=1.0), threshold=np.inf)
    assert marks_words.format_threshold_distance(digit) == "Score 0.700, no threshold"
    told = marks_words.describe_ood_score(digit, 0.01, DIGIT_NAMES)
    assert told.endswith("; too few were held out to reject the strangest 1 %.")
    none = replace(THRESHOLD, refuse=0.01, value=np.inf)
    said = marks_words.describe_threshold_basis(none, "MNIST")
    assert "1 % needs 99 of them at least, so nothing is rejected." in said
