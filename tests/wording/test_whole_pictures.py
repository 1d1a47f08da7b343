"""What Classify says of a whole picture: how surely, of how many marks, and never too surely."""

import re
from dataclasses import replace

import pytest

from ensemble.datasets.registry import DIGIT_NAMES, HIRAGANA_NAMES
from ensemble.figures import mark_probabilities as verdict_figure
from ensemble.figures import two_ensembles as two_answers_figure
from ensemble.figures.palette import LIGHT
from ensemble.figures.two_ensembles import EnsembleAnswer
from ensemble.recognition.picture_reading import PICTURE_REJECTED_SENTENCE, Digit, Reading
from ensemble.wording import marks as marks_words
from ensemble.wording import readings as readings_words
from tests.ui.marks import THRESHOLD, voting

FOUR, SEVEN, STRANGE = voting(4), voting(7), voting(2, rejected=True)


def reading(*digits: Digit, confidence: float = 0.973, refused: str = "") -> Reading:
    return Reading(digits, "", confidence, refused)


@pytest.mark.parametrize("sure", [1.0, 0.99999, 0.9996])
def test_nothing_on_the_screen_reads_more_than_over_99_9(sure: float) -> None:
    digit = voting(7, 7, sure=sure)
    whole, side = reading(digit, confidence=sure), EnsembleAnswer(digit, "run")
    chart = verdict_figure.plot_mark_probabilities(digit, DIGIT_NAMES, "Mark", LIGHT)
    texts = [
        readings_words.describe_reading_certainty(whole, DIGIT_NAMES),
        readings_words.format_reading_row(whole, [0], DIGIT_NAMES)[1],
        readings_words.describe_mark_alt_text(digit, 0, 1, DIGIT_NAMES),
        marks_words.format_mark_verdict(digit, DIGIT_NAMES),
        verdict_figure.describe_mark_chart(digit, DIGIT_NAMES),
        two_answers_figure.describe_two_ensembles_chart(side, side, DIGIT_NAMES),
        two_answers_figure.format_answer_row(side, DIGIT_NAMES)["confidence"],
        two_answers_figure.build_ensemble_bars(side, DIGIT_NAMES, range(10), "black")["hovertext"][7],
        *(trace.hovertext[7] for trace in chart.data),
        chart.layout.annotations[7].text,
    ]
    for text in texts:
        assert "over 99.9 %" in text
        assert not re.search(r"\b100(\.0+)? %", text), text


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.99, "Almost certain"),
        (0.989, "Quite sure"),
        (0.9, "Quite sure"),
        (0.899, "Fairly sure"),
        (0.6, "Fairly sure"),
        (0.599, "Hardly more than a guess"),
        (0.0, "Hardly more than a guess"),
    ],
)
def test_words_follow_the_chance(share: float, said: str) -> None:
    assert readings_words.describe_certainty(share) == said


@pytest.mark.parametrize(
    ("digits", "said"),
    [
        ([FOUR], "Quite sure: 97.3 %."),
        ([FOUR, SEVEN], "Quite sure: 97.3 % that both digits are right."),
        ([FOUR, SEVEN, FOUR], "Quite sure: 97.3 % that all 3 digits are right."),
        ([FOUR, STRANGE], "One mark is no digit, or none I know. Quite sure: 97.3 % of the other."),
        (
            [STRANGE, FOUR, SEVEN, STRANGE, FOUR],
            "2 marks are no digit, or none I know. Quite sure: 97.3 % that the other 3 are right.",
        ),
    ],
)
def test_what_the_chance_is_of_is_said(digits: list[Digit], said: str) -> None:
    assert readings_words.describe_reading_certainty(reading(*digits), DIGIT_NAMES) == said


@pytest.mark.parametrize(
    ("digits", "lines", "names", "said"),
    [
        ([FOUR, SEVEN], [0, 0], DIGIT_NAMES, "47"),
        ([FOUR, STRANGE, SEVEN], [0, 0, 0], DIGIT_NAMES, "4 ? 7"),
        ([FOUR, SEVEN, FOUR], [0, 1, 1], DIGIT_NAMES, "4 / 74"),
        ([FOUR, SEVEN, FOUR], [1, 0, 1], DIGIT_NAMES, "7 / 44"),
        ([FOUR, SEVEN], [0, 0], HIRAGANA_NAMES, f"{HIRAGANA_NAMES[4]} {HIRAGANA_NAMES[7]}"),
    ],
)
def test_lines_and_gaps_of_the_whole_number(
    digits: list[Digit], lines: list[int], names: tuple[str, ...], said: str
) -> None:
    assert readings_words.join_mark_readings(reading(*digits), lines, names) == said


def test_a_picture_in_a_list_is_read_or_says_why_not() -> None:
    def row(*digits: Digit, **changes: str) -> tuple[str, str, str]:
        return readings_words.format_reading_row(replace(reading(*digits), **changes), [0] * len(digits), DIGIT_NAMES)

    assert row() == ("–", "", "I see no digit here.")
    assert row(FOUR, STRANGE) == ("4 ?", "97.3 %", "")
    assert row(STRANGE) == ("?", "", "Not a digit, or not one I know. It is too faint.")
    assert row(STRANGE, STRANGE) == ("?", "", "None of the 2 marks is a digit I know.")
    assert row(FOUR, STRANGE, picture_rejection=PICTURE_REJECTED_SENTENCE) == ("?", "", PICTURE_REJECTED_SENTENCE)


def test_characters_are_called_so_in_every_verdict() -> None:
    two = reading(FOUR, STRANGE, SEVEN)
    texts = [
        readings_words.describe_empty_picture(HIRAGANA_NAMES),
        readings_words.explain_reading_rejection(reading(STRANGE), HIRAGANA_NAMES),
        readings_words.explain_reading_rejection(reading(STRANGE, STRANGE), HIRAGANA_NAMES),
        readings_words.describe_reading_certainty(two, HIRAGANA_NAMES),
        readings_words.describe_reading_certainty(reading(FOUR, SEVEN), HIRAGANA_NAMES),
        readings_words.format_reading_row(reading(), [], HIRAGANA_NAMES)[2],
        readings_words.describe_mark_alt_text(STRANGE, 0, 1, HIRAGANA_NAMES),
        marks_words.format_mark_verdict(STRANGE, HIRAGANA_NAMES),
        marks_words.describe_ood_score(FOUR, 0.05, HIRAGANA_NAMES),
        verdict_figure.describe_mark_chart(STRANGE, HIRAGANA_NAMES),
    ]
    for text in texts:
        assert "character" in text
        assert "digit" not in text


def test_a_mark_for_whoever_cannot_see_it() -> None:
    assert readings_words.describe_mark_alt_text(SEVEN, 0, 1, DIGIT_NAMES) == "7, 91.0 %"
    assert readings_words.describe_mark_alt_text(SEVEN, 1, 3, DIGIT_NAMES) == "7, 91.0 % · mark 2 of 3"
    strange = readings_words.describe_mark_alt_text(STRANGE, 2, 3, DIGIT_NAMES)
    assert strange == "Not a digit, or not one I know · mark 3 of 3"


def test_time_left_is_said_from_a_second_on() -> None:
    assert readings_words.format_remaining_time(0.9) == ""
    assert readings_words.format_remaining_time(1.0) == " · about 1 s left"


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.84, 0.82), "about 8 times in 10"),
        ((0.9, 1.0), "nearly always"),
        ((0.0, 0.02), "hardly ever"),
        ((0.9, 0.96), "about 9 times in 10"),
        ((0.45, 0.46), "about 5 times in 10"),
    ],
)
def test_how_often_what_is_no_digit_is_turned_away_is_said(shares: tuple[float, float], said: str) -> None:
    kinds = tuple(replace(one, n=50, share=share) for one, share in zip(THRESHOLD.non_digits, shares, strict=True))
    threshold = replace(THRESHOLD, non_digits=kinds)
    told = readings_words.describe_rejection_rate(threshold, DIGIT_NAMES)
    assert told == f"Shapes that are no digit are rejected {said}: look at the picture."
    counted = readings_words.describe_rejection_sample(threshold, DIGIT_NAMES)
    least = THRESHOLD.non_digits[shares.index(min(shares))].title
    assert "100 shapes of 2 kinds" in counted
    assert f"Least often: {least}, {100 * min(shares):.1f} %" in counted


def test_without_shapes_to_show_they_are_said_to_pass() -> None:
    none = replace(THRESHOLD, non_digits=())
    said = readings_words.describe_rejection_rate(none, HIRAGANA_NAMES)
    assert said == "Shapes that are no character can pass for one: look at the picture."


@pytest.mark.parametrize(
    ("quantiles", "said"),
    [
        ((0.4,), "Quite sure: 97.3 %."),
        ((0.9,), "Quite sure: 97.3 %."),
        ((0.97,), "Quite sure: 97.3 %, though only 3 % of real digits look as strange."),
        ((1.0,), "Quite sure: 97.3 %, though no real digit looks as strange."),
        ((0.4, 0.95), "that both digits are right, though one looks unlike most real digits."),
        ((0.96, 0.95), "that both digits are right, though 2 of them look unlike most real digits."),
    ],
)
def test_nobody_is_told_sure_of_a_strange_mark_without_that(quantiles: tuple[float, ...], said: str) -> None:
    read = reading(*(voting(7, 7, quantile=quantile) for quantile in quantiles))
    told = readings_words.describe_reading_certainty(read, DIGIT_NAMES)
    assert told.endswith(said)
