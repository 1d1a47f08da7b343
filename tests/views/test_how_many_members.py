"""The verdict on how many members are enough: one line of one claim, and never "the same"."""

from math import comb

import pytest

from ensemble.analysis.members.sufficient_size import Outcome, SizeVerdict, SufficientSize
from ensemble.views import how_many_members as words
from ensemble.wording.verdicts import selection_basis


def size(k: int, members: int, outcome: Outcome, examples: int | None = None, count: int | None = None) -> SizeVerdict:
    count = comb(members, k) if count is None else count
    needed = -(-count * 19 // 20)
    return SizeVerdict(k, outcome, count, needed, 0, 0, 0.0002, 0.00083, examples)


def found(
    members: int,
    *sizes: SizeVerdict,
    figure: str = "accuracy",
    margin: float = 0.001,
    share: float = 0.95,
    n: int = 500,
) -> SufficientSize:
    return SufficientSize(figure, margin, share, members, n, members <= 12, sizes)


TOO_FEW = size(3, 4, "undecided", 23_871)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            found(4, size(3, 4, "enough"), size(2, 4, "loses")),
            "3 of 4 members are enough if you accept a loss of 0.1 points of accuracy.",
        ),
        (
            found(2, size(1, 2, "enough"), figure="nll", margin=0.005, share=1.0),
            "1 of 2 members is enough if you accept a loss of 0.005 nats of NLL.",
        ),
        (found(4, TOO_FEW), "Keep all 4 members: 500 digits cannot show whether 3 are enough."),
        (found(2, size(1, 2, "undecided", 900)), "Keep both members: 500 digits cannot show whether 1 is enough."),
        (
            found(64, size(63, 64, "undecided", 241_000), n=10_000),
            "Keep all 64 members: 10,000 digits cannot show whether 63 are enough.",
        ),
        (
            found(2, size(1, 2, "loses")),
            "Keep both members: too few single members stay within 0.1 points of accuracy.",
        ),
        (
            found(64, size(63, 64, "loses"), figure="brier", margin=0.0002),
            "Keep all 64 members: too few committees of 63 stay within 0.0002 of the Brier score.",
        ),
    ],
)
def test_the_verdict_is_one_line_that_names_its_figure(verdict: SufficientSize, said: str) -> None:
    assert words.describe_enough_members(verdict, "digit") == said
    assert len(said) <= 90
    assert "the same" not in words.describe_enough_evidence(verdict, "digit")


def test_the_evidence_has_the_figures_of_both_sizes() -> None:
    verdict = found(4, size(3, 4, "enough"), size(2, 4, "undecided", 30_900))
    assert words.describe_enough_evidence(verdict, "digit") == (
        "On average the 4 committees of 3 lose 0.02 points of accuracy against all 4; 4 of them "
        "lose 0.083 points at most. On average the 6 committees of 2 lose 0.02 points of "
        "accuracy against all 4, which may be chance: whether 6 of them lose at most the 0.1 "
        "points that you accept stays open, as they may lose up to 0.083 points. If nothing is "
        "really lost, it takes about 31,000 digits to show it; there are 500. Each claim is "
        "wrong at most 5 % of the time."
    )


def test_a_size_that_the_images_leave_open_is_not_said_to_lose_as_much() -> None:
    """Of ten sets as large as is asked for, two leave it open though nothing is lost."""
    said = words.describe_enough_evidence(found(4, size(3, 4, "undecided")), "digit")
    assert "any test set" not in said
    assert "If nothing were really lost, most sets of 500 digits would have shown it." in said


def test_keeping_all_is_not_recommended_next_to_a_member_that_is_better_left_out() -> None:
    for verdict, expected in (
        (found(4, TOO_FEW), "500 digits cannot show whether 3 are enough."),
        (found(4, size(3, 4, "loses")), "Too few committees of 3 stay within 0.1 points of accuracy."),
    ):
        assert words.describe_enough_members(verdict, "digit", may_keep_all=False) == expected


def test_an_undecided_verdict_says_what_would_decide_it() -> None:
    assert words.describe_settling(found(4, TOO_FEW), 0.002, "digit") == (
        "What would show it: about 24,000 test digits, or accepting a loss of 0.2 points."
    )
    assert words.describe_settling(found(4, TOO_FEW), None, "digit") == (
        "What would show it: about 24,000 test digits."
    )
    assert words.describe_settling(found(4, size(3, 4, "undecided")), None, "digit") == ""
    assert words.describe_settling(found(4, size(3, 4, "loses")), None, "digit") == ""
    assert words.describe_settling(found(4, size(3, 4, "enough")), None, "digit") == ""


@pytest.mark.parametrize(
    ("bound", "needed", "said"),
    [
        (0.00083, 2, "2 of them lose 0.083 points at most."),
        (0.0, 2, "2 of them lose 0 points at most."),
        (-0.002, 1, "1 of them gains 0.2 points at least."),
    ],
)
def test_who_loses_nothing_is_not_said_to_lose_less_than_that(bound: float, needed: int, said: str) -> None:
    one = SizeVerdict(1, "enough", 2, needed, needed, 0, 0.0002, bound, None)
    assert words.describe_size_evidence(found(2, one), one, "digit").endswith(said)


def test_drawn_committees_are_said_to_be() -> None:
    verdict = found(20, size(19, 20, "enough"), size(17, 20, "loses", count=300))
    said = words.describe_enough_evidence(verdict, "digit")
    assert "On average the 20 committees of 19 lose" in said, "all there are"
    assert "On average the 300 committees of 17 that were drawn lose" in said
    assert "at least 16 of 300 committees of 17 lose over 0.1 points" in said


def test_all_members_are_both_of_two_and_named_by_their_number_else() -> None:
    assert [words.format_all_members(M) for M in (2, 3, 64)] == ["both members", "all 3 members", "all 64 members"]
    assert words.explain_member_worth(2).startswith("Without it: both members against all but this one.")


def test_a_committee_is_spoken_of_by_the_numbers_that_people_give() -> None:
    assert words.format_committee_members((0, 2, 3), 5) == "1, 3, 4"
    assert words.format_committee_members((4,), 5) == "5"
    assert words.format_committee_members((0, 1, 2), 3) == "all"
    assert words.format_committee_members((0,), 1) == "all"


def test_a_loss_has_its_sign_and_none_has_both() -> None:
    assert [words.format_signed_loss(value) for value in (0.0123, -0.0123, 0.0)] == ["+0.012", "−0.012", "±0"]


@pytest.mark.parametrize("held_out", [True, False])
def test_on_which_images_the_best_committees_are_chosen_is_said(held_out: bool) -> None:
    said = words.describe_committee_choice(held_out)
    assert said == (
        f"By NLL, {selection_basis.CHOSEN_ON_VALIDATION}; the figures are those of all test images."
        if held_out
        else f"By NLL, {selection_basis.CHOSEN_ON_TEST}."
    )
    assert selection_basis.CHOSEN_ON_VALIDATION != selection_basis.CHOSEN_ON_TEST
