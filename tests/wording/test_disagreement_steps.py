"""What is said of one image keeps to a line, whatever the classes, the votes and the epochs."""

import itertools

import numpy as np
import pytest

from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.selective import ConfidenceThreshold
from ensemble.wording import disagreement_steps
from tests.analysis.draws import distributions

LONG = tuple(f"a class with a very long name indeed {c}" for c in range(5))
DIGITS = tuple("01234")


def voting(*votes: int, sure: float = 0.9) -> EnsemblePredictions:
    """One image, labelled 0, whose members are that sure of these classes."""
    made = np.full((len(votes), 1, 5), (1 - sure) / 4)
    made[np.arange(len(votes)), 0, votes] = sure
    return evaluate_predictions(made, np.zeros(1, int))


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ((1, 1, 2), "The members split: two for 1, one for 2."),
        ((1, 1, 2, 3), "The members split: two for 1, one for 2, one for 3."),
        ((1, 1, 2, 3, 4), "The members split: two for 1, one for 2, two for others."),
        ((4, 4), "All 2 members say 4: they agree about this one."),
        ((4,), "One member says 4: alone, it has nobody to disagree with."),
    ],
)
def test_votes_are_counted_in_letters_so_that_none_reads_as_a_digit(votes, said) -> None:
    assert disagreement_steps.describe_vote_split(voting(*votes), 0, DIGITS) == said


def test_an_average_that_overrules_the_votes_says_so() -> None:
    made = np.array([[[0.51, 0.49]], [[0.51, 0.49]], [[0.05, 0.95]]])
    judged = evaluate_predictions(made, np.zeros(1, int))
    assert disagreement_steps.describe_averaging(judged, 0, ("3", "5")).startswith(
        "Most vote 3; averaged by how sure each"
    )
    tie = disagreement_steps.describe_averaging(evaluate_predictions(made[1:], np.zeros(1, int)), 0, ("3", "5"))
    assert tie.startswith("The votes tie;")


def test_the_members_differ_most_on_one_image_and_not_at_all_where_they_say_the_same() -> None:
    same = np.array([[0.7, 0.3], [0.9, 0.1], [0.6, 0.4]])
    made = evaluate_predictions(np.stack([same, [[0.7, 0.3], [0.1, 0.9], [0.5, 0.5]]]), np.zeros(3, int))
    measures = compute_measures(made)
    said = [disagreement_steps.describe_uncertainty_rank(made, measures, n, "insect") for n in range(3)]
    assert said[0].startswith("The members do not differ here")
    assert said[1] == "On no other insect do the members differ as much as here."
    assert said[2] == "The members differ here more than on 33 % of all insects."


def test_where_a_percentage_would_round_to_all_the_images_ahead_are_counted() -> None:
    second = np.linspace(0.1, 0.9, 400)
    made = evaluate_predictions(
        np.stack([np.tile([0.9, 0.1], (400, 1)), np.stack([1 - second, second], 1)]), np.zeros(400, int)
    )
    said = disagreement_steps.describe_uncertainty_rank(made, compute_measures(made), 398, "digit")
    assert said == "On only 1 of 400 digits do the members differ more."


def test_every_sentence_is_at_most_a_line_for_long_names_and_many_members() -> None:
    lines = []
    for members in (1, 2, 3, 64):
        made = evaluate_predictions(distributions(members, 20, 5, seed=members), np.arange(20) % 5)
        measures = compute_measures(made)
        lines += [disagreement_steps.format_first_question(members, "photograph")]
        for n in range(20):
            lines += [
                disagreement_steps.describe_vote_split(made, n, LONG),
                disagreement_steps.describe_averaging(made, n, LONG),
                disagreement_steps.describe_uncertainty_rank(made, measures, n, "photograph"),
            ]
    said = np.array([0, 1, 0, 2])
    lines += [
        disagreement_steps.describe_answers_over_epochs(said, [1, 5, 10, 99_999], LONG),
        disagreement_steps.describe_answers_over_members(said, LONG),
    ]
    lines += [
        disagreement_steps.describe_answers_over_epochs(said[:1], [10], LONG),
        disagreement_steps.describe_answers_over_members(said[:1], LONG),
    ]
    for threshold, sure in itertools.product((0.0, 0.5, 0.99998, float("inf")), (0.2, 0.99999)):
        found = ConfidenceThreshold(threshold, 0.5, 0.0, 0.0, 0.1, 5, 0, 10, 10, True)
        lines.append(disagreement_steps.describe_deferral(found, sure, "photograph"))
    assert max(map(len, lines)) <= disagreement_steps.MAX_SENTENCE_LETTERS, max(lines, key=len)


def test_members_that_join_are_told_from_the_last_average_that_said_otherwise() -> None:
    assert disagreement_steps.describe_answers_over_members(np.array([1, 2, 1, 2, 2]), DIGITS).startswith(
        "From 4 members on"
    )
    assert disagreement_steps.describe_answers_over_members(np.array([2, 2]), DIGITS) == (
        "From 1 to 2 members, the average always says 2."
    )
    assert disagreement_steps.describe_answers_over_epochs(np.array([1, 2, 1]), [1, 2, 3], DIGITS) == (
        "Over 3 epochs the answer changed twice; after the last it is 1."
    )


def test_whether_it_answers_says_from_where_on_it_does() -> None:
    found = ConfidenceThreshold(0.984, 0.5, 0.0, 0.0, 0.1, 5, 0, 10, 10, True)
    assert disagreement_steps.describe_deferral(found, 0.41, "digit") == (
        "41.0 % sure, it passes this digit on: it answers from 98.4 % up."
    )
    assert disagreement_steps.describe_deferral(found, 0.99, "digit").startswith("99.0 % sure, it answers this digit")
