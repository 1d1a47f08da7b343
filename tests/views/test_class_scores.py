"""Sentences on the lowest group of images: its share stands before that of the others."""

from ensemble.analysis.quality.class_scores import LowestGroup
from ensemble.views.confusion import describe_lowest_group


def test_the_lowest_group_is_held_against_the_others() -> None:
    lowest = LowestGroup(
        groups=12, least=10, first=340, count=40, right=28, low=0.48, high=0.86, others=0.975, p=0.0004
    )
    text = describe_lowest_group(lowest, "digit")
    assert text.startswith(
        "One group of images is right less often than the others, that of digit 340: 70.0 % against 97.50 % "
        "(28 of 40; 48.0 to 86.0 % for all 12 groups of at least 10 digits at once, "
    )
