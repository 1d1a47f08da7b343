import numpy as np
import pytest

from ensemble.analysis.members.gain import PairedGain, paired_gain
from ensemble.views import run_comparison


def made(won: int, lost: int, saved: float, noise: float = 0.5, n: int = 500) -> PairedGain:
    """Won, lost, and a NLL that is lower by about `saved`."""
    hits, others = np.zeros((2, n), bool)
    hits[:won], others[won : won + lost] = True, True
    return paired_gain(hits, others, saved + noise * np.sin(np.arange(n)))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (made(31, 12, 0.0), "Of these two, this run gets 19 more digits right than it."),
        (made(12, 31, 0.2), "Of these two, this run gets 19 fewer digits right than it, but a lower NLL."),
        (made(31, 12, 0.2), "Of these two, this run gets 19 more digits right than it."),
        (made(9, 5, 0.0), "These 500 digits show no difference from it."),
        (made(9, 5, -0.2), "Of these two, this run has a higher NLL than it; which is right more often is open."),
        (made(0, 0, 0.0), "Both get the same digits right."),
        (made(0, 0, 0.2), "Both get the same digits right, this run at a lower NLL."),
    ],
)
def test_the_headline_says_which_run_is_better_or_that_the_images_cannot_tell(found: PairedGain, said: str) -> None:
    assert run_comparison.describe_run_comparison(found, "it", "digit") == said
    assert len(run_comparison.describe_run_comparison(found, "a name of twenty", "digit")) <= 100


def test_two_tests_at_once_are_adjusted_for() -> None:
    """11 won and 2 lost alone have p = 0.022; beside a second test that is 0.045, which holds;
    10 and 2 have 0.039, of which 0.077 is left, which does not."""
    assert run_comparison.compute_gain_signs(made(11, 2, 0.0)) == (1, 0)
    assert run_comparison.compute_gain_signs(made(10, 2, 0.0)) == (0, 0)
    assert made(10, 2, 0.0).accuracy_sign == 1
    assert run_comparison.compute_gain_signs(made(10, 2, 0.2)) == (1, 1), "the other holds: this one is the last"


def test_the_evidence_has_the_counts_the_interval_and_what_is_left_open() -> None:
    found = made(9, 5, 0.0)
    said = run_comparison.describe_comparison_evidence(found, "digit").replace("\N{NO-BREAK SPACE}", " ")
    low, high = round(abs(found.digits_low)), round(found.digits_high)
    assert said.startswith(
        f"9 right only in this run, 5 only in the other, p = 0.85: +4 digits (95 % interval "
        f"−{low} to +{high}); anything from a loss of {low} digits to a gain of {high} digits is "
        "possible. NLL is "
    )
    assert said.endswith("Both p are adjusted for two tests (Holm); each interval is for one test alone.")
    assert not run_comparison.describe_comparison_evidence(made(0, 0, 0.0, noise=0), "digit")
    assert "+1 digit (95 %" in run_comparison.describe_comparison_evidence(made(1, 0, 0.0), "digit")


def test_a_pair_that_was_picked_among_several_is_said_to_be() -> None:
    assert (
        "With 20 runs to compare with, about one in 20 of them would look different"
        in run_comparison.describe_pair_choice(20)
    )
    assert not run_comparison.describe_pair_choice(1)


@pytest.mark.long
def test_of_pairs_that_are_equally_good_one_is_called_better_in_at_most_5_of_100() -> None:
    """Signs are flipped at random: neither accuracy nor NLL differs."""
    draws = np.random.default_rng(0)
    wrong = 0
    for _ in range(120):
        apart = draws.random(500) < 0.03
        ours = draws.random(500) < 0.5
        sign = draws.choice([-1.0, 1.0], 500)
        found = paired_gain(apart & ours, apart & ~ours, sign * draws.gamma(0.3, size=500))
        wrong += run_comparison.compute_gain_signs(found) != (0, 0)
    assert wrong / 120 <= 0.05
