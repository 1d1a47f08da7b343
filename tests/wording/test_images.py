"""What is said of test images: the answer, one image in a sentence, its votes."""

import numpy as np
import pytest

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.datasets.registry import DIGIT_NAMES, FASHION_NAMES, find_dataset_entry
from ensemble.wording import images as images_words


def voting(*votes: int, label: int = 1, sure: float = 0.91) -> EnsemblePredictions:
    """One image: each member gives `sure` to its vote and the rest to all others alike."""
    members = np.full((len(votes), 1, 10), (1 - sure) / 9)
    for member, vote in zip(members, votes, strict=True):
        member[0, vote] = sure
    return evaluate_predictions(members, np.array([label]))


def test_an_image_in_a_sentence() -> None:
    said = images_words.describe_image_prediction(voting(7, 7, 7, 1, 7), 0, DIGIT_NAMES)
    # 7 has (4 × 0.91 + 0.01) / 5
    assert said == "The ensemble says 7 with 73.0 %; the members split 7 7 7 1 7; it is a 1."


@pytest.mark.parametrize(
    ("made", "names", "said"),
    [
        (voting(8, 8, label=8), DIGIT_NAMES, "with 91.0 %; all 2 members say 8; it is an 8."),
        (voting(8, label=8), DIGIT_NAMES, "The one member says 8 with 91.0 %; it is an 8."),
        (voting(4, 4, 6), FASHION_NAMES, "2 say Coat, 1 says Shirt; it is labelled Trouser."),
        (voting(*[7] * 28, *[1] * 4), DIGIT_NAMES, "the members split: 28 say 7, 4 say 1; it"),
    ],
)
def test_sentences_fit_members_and_names(made: EnsemblePredictions, names: tuple[str, ...], said: str) -> None:
    assert said in images_words.describe_image_prediction(made, 0, names)


@pytest.mark.parametrize(
    ("dataset", "noun"), [("digits", "digit"), ("mnist", "digit"), ("kmnist", "character"), ("fashion_mnist", "image")]
)
def test_an_image_is_called_after_what_its_classes_are(dataset: str, noun: str) -> None:
    assert images_words.find_image_noun(find_dataset_entry(dataset).class_names) == noun


def test_an_image_of_classes_that_nobody_knows_is_an_image() -> None:
    assert images_words.find_image_noun(("cat", "dog")) == "image"


def test_votes_that_are_left_over_are_added_up() -> None:
    made = voting(*[7] * 20, *[1] * 5, *[2] * 4, *[3] * 3)
    assert images_words.format_vote_lines(made, 0, DIGIT_NAMES) == ["20 say 7", "5 say 1", "7 others"]


@pytest.mark.parametrize(
    ("votes", "labels", "said"),
    [
        ([[1, 2], [1, 2]], [1, 2], "2 of 2 digits right; its members agree about every one."),
        ([[1, 2], [1, 2]], [1, 3], "1 of 2 digits right; its members agree about every one."),
        ([[1, 2], [1, 3], [1, 2]], [1, 2], "2 of 2 digits right; its members disagree about 1 digit."),
        ([[1, 2], [1, 3], [1, 2]], [1, 3], "about 1 digit; its one mistake is among them."),
        ([[1, 2], [1, 3], [1, 2]], [4, 2], "its one mistake is not among them."),
        ([[1, 2], [1, 3], [1, 2]], [4, 4], "1 of its 2 mistakes is among them; about the other one all agree."),
        ([[2, 2], [1, 3], [2, 2]], [4, 4], "about 2 digits; all 2 mistakes are among them."),
        ([[1, 2]], [1, 3], "The one member gets 1 of 2 digits right; with one member"),
    ],
)
def test_the_answer_reads_well_in_every_case(votes: list[list[int]], labels: list[int], said: str) -> None:
    made = evaluate_predictions(np.eye(10)[np.array(votes)], np.array(labels))
    assert said in images_words.describe_disagreement_warning(made, "digit")
