import numpy as np
import pytest

from ensemble.analysis.predictions import judge
from ensemble.wording import inspect as inspect_words
from tests.analysis.draws import distributions

APART = judge(distributions(4, 60, 3), np.zeros(60, int))


@pytest.mark.parametrize(
    ("won", "lost", "p", "said"),
    [
        (31, 12, 0.0041, "31 digits right that a typical member misses, and loses 12: 19 more, and "
                         "more than luck (p = 0.004)."),
        (3, 0, 0.25, "3 digits right that a typical member misses, and loses none: 3 more, which "
                     "may be luck (p = 0.25)."),
        (1, 2, 1.0, "1 digit right that a typical member misses, and loses 2: 1 fewer, which may "
                    "be luck (p = 1.00)."),
        (0, 20, 1e-6, "no digit right that a typical member misses, and loses 20: 20 fewer, and "
                      "more than luck (p < 0.001)."),
        (4, 4, 1.0, "4 digits right that a typical member misses, and loses as many: no gain."),
        (0, 0, 1.0, "the same digits right as a typical member: no gain."),
    ],
)  # fmt: skip
def test_the_answer_says_what_is_won_and_lost(won: int, lost: int, p: float, said: str) -> None:
    told = inspect_words.gain(APART, won, lost, p, "digit").replace("\N{NO-BREAK SPACE}", " ")
    assert told == f"The ensemble gets {said}"


def test_unanimous_members_are_said_to_be() -> None:
    alike = judge(distributions(1, 9, 3).repeat(2, axis=0), np.zeros(9, int))
    assert "Both members say the same of every digit" in inspect_words.gain(alike, 0, 0, 1, "digit")


@pytest.mark.parametrize(
    ("p", "low", "said"),
    [(0.004, 6.0, False), (0.065, 6.0, True), (0.065, 0.0, False), (0.5, -3.0, False)],
)
def test_more_than_one_member_can_tell_is_added_where_it_holds(
    p: float, low: float, said: bool
) -> None:
    assert bool(inspect_words.over_all(p, low)) == said
