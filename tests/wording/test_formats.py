import math
import re
from pathlib import Path

import pytest
from scipy.stats import binomtest

from ensemble.wording import formats

REPO = Path(__file__).resolve().parents[2]


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
        (-3, "0 s"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_a_duration_in_two_units_at_most(seconds: float | None, said: str) -> None:
    assert formats.format_duration(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.00084, "0.84 ms"),
        (0.031, "31 ms"),
        (0.1374, "137 ms"),
        (0.0996, "100 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (1.0, "1.00 s"),
        (9.996, "10.0 s"),
        (1.254, "1.25 s"),
        (59.94, "59.9 s"),
        (59.97, "1 min"),
        (75, "1 min 15 s"),
        (0, "0 s"),
        (None, "–"),
    ],
)
def test_a_duration_that_was_measured_has_its_parts_of_a_second(seconds: float | None, said: str) -> None:
    assert formats.format_duration(seconds, fine=True) == said


def test_accuracy_says_no_more_decimals_than_the_test_set_holds() -> None:
    assert formats.format_percent(0.9912, 10_000) == "99.12 %"
    assert formats.format_percent(0.9777, 360) == "97.8 %"
    assert formats.format_percent(None) == "–"
    assert formats.format_percent(math.nan) == "–"


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.05, "5 %"),
        (0.5, "50 %"),
        (0.6, "60 %"),
        (0.0025, "0.25 %"),
        (0.002, "0.2 %"),
        (0.9946, "99.5 %"),
        (0.9996, "100 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.000002, "0.0002 %"),
    ],
)
def test_what_spans_powers_of_ten_has_two_figures_and_no_zeros_at_its_end(share: float, said: str) -> None:
    assert formats.format_percent(share, figures=2) == said


def test_decimals_that_are_asked_for_stand_whatever_it_was_counted_on() -> None:
    assert formats.format_percent(0.4, places=0) == "40 %"
    assert formats.format_percent(0.00523, 100, places=2) == "0.52 %"
    assert formats.format_percent_range(0.516, 0.784) == "52 to 78 %"
    assert formats.format_percent_range(0.001, 0.0231, places=2) == "0.10 to 2.31 %"


@pytest.mark.parametrize(("n", "said"), [(360, "97.8 %"), (10_000, "97.77 %")])
def test_a_column_of_numbers_reads_as_the_same_share_does_elsewhere(n: int, said: str) -> None:
    assert formats.build_percent_format(n) % (100 * 0.9777) == formats.format_percent(0.9777, n) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1.0, "over 99.9 %"),
        (0.99996, "over 99.9 %"),
        (0.9995, "over 99.9 %"),
        (0.9994, "99.9 %"),
        (0.9971, "99.7 %"),
        (0.61, "61.0 %"),
        (0.004, "0.4 %"),
        (0.0005, "0.1 %"),
        (0.0004, "under 0.1 %"),
        (0.0, "under 0.1 %"),
    ],
)
def test_a_chance_is_never_a_whole_0_or_100(share: float, said: str) -> None:
    assert formats.format_probability(share) == said


@pytest.mark.parametrize(
    ("threshold", "said"), [(0.5, "50.0 %"), (0.99998, "99.998 %"), (0.9996, "99.96 %"), (1, "100 %")]
)
def test_a_threshold_has_as_many_nines_as_it_takes(threshold: float, said: str) -> None:
    assert formats.format_confidence_threshold(threshold) == said


@pytest.mark.parametrize(("share", "said"), [(0.0, "0 %"), (0.29, "29 %"), (0.999, "99 %"), (1.0, "100 %")])
def test_work_is_done_to_100_percent_only_at_its_end(share: float, said: str) -> None:
    assert formats.format_progress(share) == said


def test_nothing_else_formats_a_percentage() -> None:
    by_hand = re.compile(r"\{[^{}]*\} ?%(?![({])|:\.\d%\}")
    found = []
    for folder in ("ensemble/ui", "ensemble/cli", "ensemble/figures", "ensemble/wording", "pages"):
        for file in (REPO / folder).rglob("*.py"):
            if file.name != "formats.py":
                lines = enumerate(file.read_text("utf-8").splitlines(), 1)
                found += [
                    f"{file.relative_to(REPO)}:{at}: {line.strip()}" for at, line in lines if by_hand.search(line)
                ]
    assert found == []


@pytest.mark.parametrize(
    ("share", "n", "said"),
    [
        (0.9912, 10_000, "± 0.18"),
        (0.5, 500, "± 4.4"),
        (1.0, 1_000, "(99.6 to 100)"),
        (1.0, 360, "(98.9 to 100)"),
        (0.0, 360, "(0 to 1.1)"),
        (0.98, 500, "(96.4 to 98.9)"),
        (0.9999, 10_000, "(99.94 to 100)"),
    ],
)
def test_an_interval_has_one_half_only_where_it_is_symmetric(share: float, n: int, said: str) -> None:
    assert formats.format_wilson_interval(share, n) == said
    low, high = binomtest(round(share * n), n).proportion_ci(method="wilson")
    ends = (
        (share - float(said[2:]) / 100, share + float(said[2:]) / 100)
        if said[0] == "±"
        else [float(end) / 100 for end in said.strip("()").split(" to ")]
    )
    assert ends == pytest.approx((low, high), abs=(high - low) / 8 + 10.0 ** -formats.count_percent_decimals(n) / 100)


@pytest.mark.parametrize(
    ("difference", "said"), [(18.2, "+18 digits"), (1, "+1 digit"), (-1.1, "−1 digit"), (0.3, "±0 digits")]
)
def test_a_difference_in_digits(difference: float, said: str) -> None:
    assert formats.format_image_difference(difference) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.012345, "0.0123"),
        (1.0, "1.00"),
        (6712.4, "6,710"),
        (0, "0"),
        (None, "–"),
        (999_499_999.0, "999,000,000"),
        (1.23456e10, "1.23e10"),
        (-2e30, "-2.00e30"),
        (2.76e-78, "2.76e-78"),
    ],
)
def test_three_significant_figures(value: float | None, said: str) -> None:
    assert formats.format_significant(value) == said


def test_throughput_and_counts() -> None:
    assert formats.format_throughput(6_712.4) == "6,700 img·member/s"
    assert formats.format_throughput(None) == "– img·member/s"
    assert formats.format_count(1, "member") == "1 member"
    assert formats.format_count(1797, "image") == "1,797 images"


def test_a_half_reads_the_same_whatever_sum_it_came_from() -> None:
    assert [formats.format_image_difference(value) for value in (17.5, 17.499999999, -17.5, 0.4, -0.4, 16.5)] == [
        "+18 digits",
        "+18 digits",
        "−18 digits",
        "±0 digits",
        "±0 digits",
        "+17 digits",
    ]


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("digit", "digits"),
        ("class", "classes"),
        ("berry", "berries"),
        ("leaf", "leaves"),
        ("epoch", "epochs"),
        ("day", "days"),
        ("red fox", "red foxes"),
        ("maple leaf", "maple leaves"),
        ("branch", "branches"),
        ("fish", "fish"),
        ("y", "ys"),
    ],
)
def test_several_of_a_noun_have_its_plural(noun: str, several: str) -> None:
    assert formats.pluralize_noun(noun) == several
    assert formats.format_count(1, noun) == f"1 {noun}"
    assert formats.format_count(2, noun) == f"2 {several}"


@pytest.mark.parametrize(
    ("value", "figures", "said"),
    [
        (9.994, 3, "9.99"),
        (9.996, 3, "10.0"),
        (99.96, 3, "100"),
        (0.9996, 3, "1.00"),
        (-0.009996, 3, "-0.0100"),
        (999.6, 3, "1,000"),
        (99.6, 2, "100"),
        (0.1, 1, "0.1"),
        (123_456.0, 2, "120,000"),
        (10.0, 3, "10.0"),
        (0.001, 3, "0.00100"),
    ],
)
def test_what_is_rounded_up_to_a_power_of_ten_has_no_figure_more(value: float, figures: int, said: str) -> None:
    assert formats.format_significant(value, figures) == said
