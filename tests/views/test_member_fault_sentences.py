"""Which members only guess, in words."""

import pytest

from ensemble.analysis.members.broken_members import MemberFaults
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.views.member_faults import list_member_faults
from tests.analysis.members.test_broken_members import members


@pytest.mark.parametrize(
    ("guessing", "claim", "evidence"),
    [
        ((2,), "Member 3 only guesses.", "Member 3 gets "),
        ((0, 2), "Members 1 and 3 only guess.", "Members 1 and 3 get "),
    ],
)
def test_guessing_members_are_named_in_singular_and_plural(
    guessing: tuple[int, ...], claim: str, evidence: str
) -> None:
    probabilities, labels, _ = members(3, n=60)
    faults = MemberFaults(guessing=guessing, doubles=(), removal=None)
    ((said, why),) = list_member_faults(faults, evaluate_predictions(probabilities, labels), "image")
    assert said == claim
    assert why.startswith(evidence)
