import math

import pytest

from ensemble.wording import formats


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.4, "under 1 s"),
        (50.4, "50 s"),
        (59.6, "1 min"),
        (80, "1 min 20 s"),
        (3599.7, "1 h"),
        (7500, "2 h 5 min"),
        (86399, "1 d"),
        (273600, "3 d 4 h"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_a_duration_in_two_units_at_most(seconds: float | None, said: str) -> None:
    assert formats.duration(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(42, "0:42"), (59.7, "1:00"), (3723, "1:02:03"), (-3, "0:00")]
)
def test_time_left_as_a_clock(seconds: float, said: str) -> None:
    assert formats.clock(seconds) == said


def test_accuracy_says_no_more_decimals_than_the_test_set_holds() -> None:
    assert formats.percent(0.9912, 10_000) == "99.12 %"
    assert formats.percent(0.9777, 360) == "97.8 %"
    assert formats.percent(None) == "–"
    assert formats.percent(math.nan) == "–"


def test_interval_is_half_of_wilsons() -> None:
    assert formats.plus_minus(0.9912, 10_000) == "± 0.18"
    assert formats.plus_minus(1.0, 360) == "± 0.5"


@pytest.mark.parametrize(
    ("difference", "said"),
    [(18.2, "+18 digits"), (1, "+1 digit"), (-1.1, "−1 digit"), (0.3, "±0 digits")],
)
def test_a_difference_in_digits(difference: float, said: str) -> None:
    assert formats.digits(difference) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.012345, "0.0123"), (1.0, "1.00"), (6712.4, "6,710"), (0, "0"), (None, "–")],
)
def test_three_significant_figures(value: float | None, said: str) -> None:
    assert formats.significant(value) == said


def test_throughput_and_counts() -> None:
    assert formats.throughput(6_712.4) == "6,700 img·member/s"
    assert formats.throughput(None) == "– img·member/s"
    assert formats.count(1, "member") == "1 member"
    assert formats.count(1797, "image") == "1,797 images"
