from dataclasses import replace

import numpy as np
import pytest

from ensemble.analysis.inference.image_groups import grouped_share_interval
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.inference.training_variance import TrainingVariance
from ensemble.analysis.members.ece_gain import EceGain
from ensemble.analysis.members.gain import MeanGain, paired_gain
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.wording.verdicts import ensemble_gain as inspect_words
from tests.analysis.draws import distributions

APART = evaluate_predictions(distributions(4, 60, 3), np.zeros(60, int))


def found(
    digits: float,
    low: float,
    high: float,
    *,
    n: int = 500,
    nll: float = 0.035,
    nll_low: float = 0.03,
    nll_high: float = 0.041,
) -> MeanGain:
    """A gain over the average member with these figures, 3 digits lost."""
    return MeanGain(n, digits, low, high, nll, nll_low, nll_high, won=digits + 3.0, lost=3.0)


GAINED, LOST, OPEN = found(19.2, 9.4, 29), found(-4.2, -7.4, -1), found(2.5, -3.1, 8.1)


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (GAINED, "The ensemble gets 19 more digits right than its members do on average."),
        (LOST, "The ensemble gets 4 fewer digits right than its members do on average."),
        (OPEN, "These 500 digits show no gain in accuracy over the average member."),
    ],
)
def test_the_headline_is_one_claim_and_what_is_not_shown_is_not_called_the_same(gained: MeanGain, said: str) -> None:
    assert inspect_words.describe_ensemble_gain(APART, gained, "digit") == said


def test_the_headline_fits_one_line_however_many_images_there_are() -> None:
    for gained in (found(12_345, 9_000, 15_000, n=123_456), found(1, -9, 9, n=123_456)):
        assert len(inspect_words.describe_ensemble_gain(APART, gained, "image")) <= 90


def test_unanimous_members_are_said_to_be() -> None:
    for members, who in ((2, "Both members"), (5, "All five members"), (16, "All 16 members")):
        alike = evaluate_predictions(distributions(1, 9, 3).repeat(members, axis=0), np.zeros(9, int))
        told = inspect_words.describe_ensemble_gain(alike, OPEN, "digit")
        assert told == f"{who} give the same answer on every digit: together they get no more right."
        assert len(told) <= 90


def test_the_evidence_in_short_is_one_line_of_90_letters() -> None:
    assert inspect_words.summarize_gain_evidence(APART, GAINED, "digit") == (
        "On average 22.2 digits corrected, 3.0 spoilt; NLL 0.035 nats lower."
    )
    for gained in (found(12_345, 9, 20, n=123_456), found(1, -9, 9, nll_low=0.0)):
        assert len(inspect_words.summarize_gain_evidence(APART, gained, "image")) <= 90


def test_the_evidence_says_what_was_won_and_lost_and_why_nll_may_say_otherwise() -> None:
    assert inspect_words.describe_gain_evidence(APART, GAINED, "digit") == (
        "Against an average member (mean over the four): 22.2 digits corrected, 3.0 spoilt, +19.2 "
        "digits (95 % interval +9 to +29). NLL is 0.035 nats lower (0.030 to 0.041)."
    )
    assert inspect_words.describe_gain_evidence(APART, OPEN, "digit") == (
        "Against an average member (mean over the four): 5.5 digits corrected, 3.0 spoilt, +2.5 "
        "digits (95 % interval −3 to +8); anything from a loss of 3 digits to a gain of 8 digits "
        "is possible. NLL is 0.035 nats lower (0.030 to 0.041): accuracy counts right answers, NLL "
        "also how sure they are."
    )
    nll_open = found(19.2, 9.4, 29, nll=0.004, nll_low=0.0)
    assert inspect_words.describe_nll_gain(nll_open, "digit") == (
        "NLL is 0.0040 nats lower (0 to 0.041): averaging never raises it above the members' mean, "
        "but there are too few digits to say how far it falls."
    )


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (GAINED, ""),
        (OPEN, "; anything from a loss of 3 digits to a gain of 8 digits is possible"),
        (found(5, 0, 10), "; anything from no loss to a gain of 10 digits is possible"),
        (found(-1, -1.2, 0), "; anything from a loss of 1 digit to no gain is possible"),
    ],
)
def test_what_is_not_ruled_out_is_said(gained: MeanGain, said: str) -> None:
    assert inspect_words.describe_undecided_gain(gained, "digit") == said


def test_the_best_member_is_not_sold() -> None:
    right = int(APART.right.sum())
    assert inspect_words.describe_best_member(APART, 1401, "digit") == (
        f"The best single member gets 1,401 (the ensemble {right}), but it was picked on "
        "these very digits: nobody knows beforehand which it is."
    )


@pytest.mark.parametrize(
    ("low", "surer", "said"),
    [
        (
            0.05,
            (-0.2, -0.1),
            "ECE got worse, 0.0870 to 0.158: averaging 16 members makes it less sure than it is right.",
        ),
        (0.05, (0.1, 0.2), "ECE got worse, 0.0870 to 0.158: averaging 16 members leaves it surer than it is right."),
        (0.05, (-0.1, 0.2), "ECE got worse, 0.0870 to 0.158."),
        (-0.01, (-0.2, -0.1), ""),
    ],
)
def test_a_calibration_that_got_worse_with_more_members_is_said_to_have(
    low: float, surer: tuple[float, float], said: str
) -> None:
    assert inspect_words.describe_calibration_loss(EceGain(0.158, 0.087, low, 0.1, *surer), 16) == said


def test_the_spread_of_seeds_is_the_standard_deviation_between_runs() -> None:
    accuracies, nlls = [0.974, 0.98, 0.984], [0.08, 0.07, 0.09]
    points, nats = 100 * np.std(accuracies, ddof=1), np.std(nlls, ddof=1)
    assert inspect_words.describe_interval_scope(accuracies, nlls, 500) == (
        "Intervals hold for these trained members on new images; another seed may differ: 3 runs "
        f"that differ in the seed alone get 97.9 % ± {points:.2f} (97.4 to 98.4 %), NLL 0.0800 ± "
        f"{nats:.3f} (0.0700 to 0.0900): mean ± standard deviation."
    )
    for alone in ([], [0.9]):
        assert inspect_words.describe_interval_scope(alone, alone, 500).endswith("another seed may differ.")


def test_without_other_seeds_the_members_tell_what_they_can() -> None:
    alone = inspect_words.MemberSpread(0.0031, 0.0042, is_lower_limit=False)
    scope = inspect_words.describe_interval_scope
    assert scope([], [], 500, alone).endswith(
        "another seed may differ, judged by how its members differ by about ± 0.31 points and ± "
        "0.0042 nats of NLL (jackknife over members, standard deviation)."
    )
    together = scope([0.9], [0.3], 500, alone._replace(is_lower_limit=True))
    assert "by at least ± 0.31 points" in together
    assert together.endswith("all saw the images in one order, which another seed changes).")
    assert "jackknife" not in scope([0.9, 0.91], [0.3, 0.31], 500, alone)


def test_what_seeds_differ_by_is_parted_into_trainings_and_the_luck_of_these_images() -> None:
    def said(on_distribution: float, limit: float) -> str:
        variance = TrainingVariance(0.01**2, on_distribution, limit)
        return inspect_words.describe_training_variance(variance, 500, "digit")

    assert said(0.004**2, 0.012**2) == (
        "On new images the accuracy of such trainings differs by about ± 0.40 points (at most 1.2 "
        "points, 95 %); the rest is the luck of these 500 digits."
    )
    assert said(-1e-5, 0.005**2).endswith("differs by at most ± 0.50 points (95 %).")
    assert "no difference between trainings is seen" in said(-1e-5, 0.0)
    assert inspect_words.describe_training_variance(None, 500, "digit") == ""


def test_the_embedded_digits_are_counted_by_those_who_wrote_them() -> None:
    right = np.ones(500, bool)
    right[[*range(5), *range(250, 265), *range(375, 400)]] = False
    said = inspect_words.describe_digit_blocks("digits", right)
    assert "its quarters are 96 %, 100 %, 88 % and 80 % right." in said
    low, high = grouped_share_interval(right, np.arange(500) // 125)
    assert high - low > 2 * (wilson_interval(455, 500)[1] - wilson_interval(455, 500)[0])
    assert f"{100 * low:.1f} to {100 * high:.1f}" in said
    assert inspect_words.describe_digit_blocks("mnist", right) == ""


def test_test_images_that_were_learnt_from_are_said() -> None:
    said = inspect_words.describe_training_copies
    assert said(None, 500, "digit") == said(0, 500, "digit") == ""
    assert said(1, 500, "digit").startswith("1 of the 500 digits is a copy of training images: that")
    assert said(12, 500, "leaf").startswith("12 of the 500 leaves are copies of training images")


@pytest.mark.parametrize(
    ("saved", "ends", "text"),
    [
        (0.02, (-0.011, 0.052), "0.020 nats lower (−0.052 to +0.011)"),
        (-0.02, (-0.052, 0.011), "0.020 nats higher (−0.011 to +0.052)"),
        (0.02, (0.011, 0.052), "0.020 nats lower (0.011 to 0.052)"),
        (-0.03, (-0.052, -0.011), "0.030 nats higher (0.011 to 0.052)"),
        (0.02, (0.0, 0.052), "0.020 nats lower (0 to 0.052)"),
    ],
)
def test_a_saved_nll_is_reported_as_the_change_of_the_nll(saved: float, ends: tuple[float, float], text: str) -> None:
    gain = replace(paired_gain(np.ones(9, bool), np.ones(9, bool), np.zeros(9)), nll=saved)
    gain = replace(gain, nll_low=ends[0], nll_high=ends[1])
    assert inspect_words.format_nll_change(gain).replace("\N{NO-BREAK SPACE}", " ") == text
