import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES, HIRAGANA_NAMES
from ensemble.figures.two_answers import Side
from ensemble.recognition.answer import Digit
from ensemble.ui.classify.details import compare, saliency
from ensemble.wording import marks as marks_words
from tests.ui.marks import covered, voting


@pytest.mark.parametrize(
    ("digit", "names", "said"),
    [
        (voting(7, 7, 7, 7, 7), DIGIT_NAMES, "All 5 members say 7."),
        (voting(7, 7), DIGIT_NAMES, "Both members say 7."),
        (voting(7), DIGIT_NAMES, "There is one member, and so nobody to disagree."),
        (voting(4, 9, 4, 9, 4), DIGIT_NAMES, "They split: 3 say 4, 2 say 9."),
        (voting(9, 4), DIGIT_NAMES, "They split: 1 says 4, 1 says 9."),
        (voting(*[2] * 60, 4, 3, 3, 3), HIRAGANA_NAMES, "They split: 60 say su, 3 say tsu, "
         "1 says na."),
        (voting(*[1] * 40, *[2] * 10, *[3] * 8, 4, 4, 4, 5, 6, 7), DIGIT_NAMES,
         "They split: 40 say 1, 10 say 2, 8 say 3, 6 something else."),
    ],
)  # fmt: skip
def test_agreement_is_said_in_every_case(digit: Digit, names: tuple[str, ...], said: str) -> None:
    assert marks_words.agreement(digit, names) == said


def test_members_that_vote_alike_but_not_as_surely_are_said_to() -> None:
    digit = voting(4, 4, 4)
    digit.members[1, 4], digit.members[1, 9] = 0.52, 0.4
    said = marks_words.agreement(digit, DIGIT_NAMES)
    assert said == "All 3 members say 4, but not as surely: 52 % to 91 %."


@pytest.mark.parametrize(
    ("information", "members", "said"),
    [(0.0213, 5, "Disagreement: 0.021 nats"), (0.0, 5, "Disagreement: under 0.001 nats"),
     (1.4, 64, "Disagreement: 1.4 nats"), (0.0, 1, "")],
)  # fmt: skip
def test_disagreement_is_a_figure_where_there_can_be_any(
    information: float, members: int, said: str
) -> None:
    digit = voting(*[4] * members, information=information)
    assert marks_words.disagreement(digit) == said


@pytest.mark.parametrize(("members", "most"), [(2, "0.693"), (5, "1.61"), (64, "2.30")])
def test_the_most_disagreement_there_can_be_is_reached(members: int, most: str) -> None:
    # Each member sure of another class, as far as there are classes for all.
    apart = np.eye(10)[np.arange(members) % 10]
    mean = apart.mean(axis=0)
    worst = -sum(p * np.log(p) for p in mean if p)
    told = marks_words.information(voting(*range(members % 10), *[0] * (members // 10 * 10)),
                                     DIGIT_NAMES)  # fmt: skip
    assert f"; {most} is the most" in told
    assert float(most) == pytest.approx(worst, abs=0.02)


def test_a_rejected_mark_has_no_verdict_but_what_it_would_have_been() -> None:
    digit = voting(3, 3, 3, 3, 8, rejected=True)
    assert marks_words.verdict(digit, DIGIT_NAMES) == "Not a digit, or not one I know"
    assert marks_words.verdict(digit, HIRAGANA_NAMES) == "Not a character, or not one I know"
    assert marks_words.said(digit, DIGIT_NAMES) == "3 with 73 %"  # (4 × 0.91 + 0.01) / 5
    assert marks_words.verdict(voting(3, 3, 3, 3, 8), DIGIT_NAMES) == "3 with 73 %"
    assert marks_words.scores(digit) == "Score 3.30, threshold 2.00: 1.3 above"
    assert marks_words.scores(voting(3)) == "Score 0.700, threshold 2.00: 1.3 below"


@pytest.mark.parametrize(
    ("rejected", "stranger_than", "said"),
    [
        (False, 0.4, "60 % of real digits look at least as strange; the strangest 5 % are"),
        (False, 0.0, "100 % of real digits look at least as strange"),
        (True, 0.9975, "Only 0.25 % of real digits look at least as strange"),
        (True, 1.0, "None of the real digits held out looks as strange as this; the strangest 5 %"),
    ],
)
def test_strangeness_is_counted_in_real_digits(
    rejected: bool, stranger_than: float, said: str
) -> None:
    digit = voting(3, rejected=rejected, stranger_than=stranger_than)
    told = marks_words.strangeness(digit, 0.05, DIGIT_NAMES)
    assert told.replace("\N{NO-BREAK SPACE}", " ").startswith(said)


@pytest.mark.parametrize(
    ("flips", "said"),
    [
        ([None, None], "No patch up to 9×9 pixels changes any member's mind."),
        ([None], "No patch up to 9×9 pixels changes its mind."),
        ([(5, 4)], "Covering 5×5 pixels changes its mind."),
        ([(3, 4), (7, 9)], "Both members would change their minds under a patch of 3×3 to 7×7 "
         "pixels."),
        ([(5, 4)] * 3, "All 3 members would change their minds under a patch of 5×5 pixels."),
        ([(5, 4), None, None], "1 of 3 members would change its mind under a patch of 5×5 pixels."),
        ([(5, 4), (7, 4), None], "2 of 3 members would change their minds under a patch of 5×5 to "
         "7×7 pixels."),
    ],
)  # fmt: skip
def test_how_many_minds_a_patch_changes(flips: list[tuple[int, int] | None], said: str) -> None:
    assert saliency.sentence(covered(*flips)) == f"**{said}**"


@pytest.mark.parametrize(
    ("flips", "said"),
    [
        ([(5, 4), None], ["Member 1 would say 4 if the place marked were covered (5×5 pixels).",
                          "Member 2 would say 7 still: no patch up to 9×9 changes that."]),
        ([(5, 4), (7, 4), (5, 4), (5, 9), (5, 4)],
         ["Members 1, 3 and 5 would say 4 if the place marked were covered (5×5 pixels).",
          "Member 2 would say 4 if the place marked were covered (7×7 pixels).",
          "Member 4 would say 9 if the place marked were covered (5×5 pixels)."]),
        ([(9, 1)], ["It would say 1 if the place marked were covered (9×9 pixels)."]),
        ([None, None], []),
        ([(5, 4)] * 60 + [None] * 4,
         ["60 members would say 4 if the place marked were covered (5×5 pixels).",
          "Members 61, 62, 63 and 64 would say 7 still: no patch up to 9×9 changes that."]),
    ],
)  # fmt: skip
def test_what_would_change_each_mind(flips: list[tuple[int, int] | None], said: list[str]) -> None:
    digit = voting(*[7] * len(flips))
    assert saliency.told(covered(*flips), digit, DIGIT_NAMES) == said


def test_of_many_members_those_are_drawn_whose_minds_change_first() -> None:
    sides = [9, 7, None, 5, 3] * 4
    drawn = saliency.drawn(covered(*[side and (side, 1) for side in sides]))
    assert len(drawn) == saliency.MOST
    assert sorted(sides[m] or 99 for m in drawn) == [3] * 4 + [5] * 4 + [7] * 4
    assert saliency.drawn(covered(None, (3, 1))) == [0, 1]


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (voting(4, 4), voting(4, 4, sure=0.82), "**Both say 4:** 4 with 91 %, the other 4 with 82"),
        (voting(4), voting(9), r"**They differ:** one\_run, epoch 3 says 4 with 91 %, other"),
        (voting(4), voting(9, rejected=True), "**Only one declines it:** other, epoch 1; "),
        (voting(4, rejected=True), voting(9), r"**Only one declines it:** one\_run, epoch 3; "),
        (voting(4, rejected=True), voting(4, rejected=True), "**Both decline it.** Not a digit"),
    ],
)
def test_two_ensembles_beside_each_other(ours: Digit, theirs: Digit, said: str) -> None:
    sides = Side(ours, "one_run, epoch 3"), Side(theirs, "other, epoch 1")
    assert compare.sentence(*sides, DIGIT_NAMES).startswith(said)
