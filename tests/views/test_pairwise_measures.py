"""What two members do to the same images, in the words of each measure."""

import numpy as np
import pytest

from ensemble.views.members.agreement import MEASURES


@pytest.mark.parametrize(
    ("measure", "row", "column", "value", "said"),
    [
        ("disagreement", 0, 2, 0.05, "Members 1 and 3 say different things of 25 digits (5 %)"),
        ("double_fault", 0, 2, 0.002, "Members 1 and 3 are both wrong on 1 digit (0.2 %)"),
        ("double_fault", 1, 1, 0.1, "Member 2 is wrong on 50 digits (10 %)"),
        ("kl", 1, 0, 0.1234, "Member 2 and member 1: 0.123 nats"),
        ("q", 0, 1, 0.5, "Member 1 and member 2: 0.500"),
        ("q", 0, 1, np.nan, "Members 1 and 2: not defined, for want of mistakes"),
    ],
)
def test_a_cell_says_who_and_what(measure: str, row: int, column: int, value: float, said: str) -> None:
    assert MEASURES[measure].describe_cell(row, column, value, 500, "digit") == said


def test_the_farthest_and_the_nearest_pair_are_named_and_two_members_are_one_pair() -> None:
    values = np.array([[0.0, 0.1, 0.02], [0.1, 0.0, 0.04], [0.02, 0.04, 0.0]])
    measure = MEASURES["disagreement"]
    said = "Members 1 and 2 differ most (50 digits), 1 and 3 least (10 digits)."
    assert measure.explain_chart(values, 500, "digit") == said
    assert measure.explain_chart(values[:2, :2], 500, "digit") == "The members differ: 50 digits."
    assert "No pair makes mistakes" in MEASURES["q"].explain_chart(np.full((3, 3), np.nan), 500, "digit")
