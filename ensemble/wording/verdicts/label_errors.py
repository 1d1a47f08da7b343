"""Doubtful labels in words: how many are wrong, which, and what that rests on."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.inference.fold_shares import FoldShares
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.label_errors import LabelErrors
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

MIN_SHOWN_DOUBT = 0.05  # a label that is right with 95 % is not asked about
BATCH = 20  # images that a person looks through at a time
MAX_ROWS = 20


def describe_label_errors(errors: LabelErrors, subject: str) -> str:
    """How many labels are wrong, in one line.

    Args:
      errors: what was found.
      subject: what one image is called, with its split: "test digit".
    """
    n = len(errors.doubt)
    count, low, high = (round(share * n) for share in (errors.share, errors.low, errors.high))
    if not high:
        return f"No label of the {formats.format_count(n, subject)} looks wrong to the members."
    if count == high == low:
        return (
            f"To the members about {count:,} of the labels of {n:,} {pluralize_noun(subject)} "
            "look wrong."
        )
    about = f"about {count:,}" if count else "hardly one"
    return (
        f"To the members {about} of the labels of {n:,} {pluralize_noun(subject)} "
        f"{'look' if count > 1 else 'looks'} wrong ({low:,} to {high:,})."
    )


def describe_expected_finds(errors: LabelErrors, noun: str) -> str:
    """What looking through the first images will find, and the share with its interval."""
    n = len(errors.doubt)
    interval = formats.format_share_interval(errors.share, errors.low, errors.high, n)
    share = f"{formats.format_percent(errors.share, n)} {interval}"
    first = min(BATCH, n)
    expected = formats.round_half_away(errors.expect_errors(0, first))
    if not expected:
        return f"{share} of the labels. Hardly any of those most in doubt is wrong."
    text = (
        f"{share} of the labels. If their probabilities hold, about {expected:,} of the {first:,} "
        f"{pluralize_noun(noun)} most in doubt {'are' if expected > 1 else 'is'} wrong"
    )
    following = formats.round_half_away(errors.expect_errors(first, first + BATCH))
    return f"{text}, of the next {BATCH:,} about {following:,}." if following else f"{text}."


def describe_judges(judges: Ints, members: int, epoch: int, right: NDArray[np.bool_]) -> str:
    """By how many members that have not learnt from them training images are judged.

    Args:
      judges: (N,), how many judge each.
      members: M, how many the run has.
      epoch: after which, from 1.
      right: (N,), where their average says the label.
    """
    low, high = int(judges.min()), int(judges.max())
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return (
        f"Each is judged by the members that never learnt from it, {count} of {members:,}, after "
        f"epoch {epoch:,}: they agree with "
        f"{formats.format_percent(float(right.mean()), len(right))} of the labels."
    )


def describe_fold_conflict(subject: str) -> str:
    """That nothing can be said of how many labels are wrong, for folds lie too far apart.

    Args:
      subject: what one image is called, with its split: "training digit".
    """
    return (
        f"These members cannot tell how many labels of {pluralize_noun(subject)} are wrong: their "
        "folds disagree."
    )


def explain_fold_conflict(fold_shares: FoldShares, noun: str) -> str:
    """Why they cannot, and what would help."""
    low, high = (
        formats.format_percent(float(share), places=1)
        for share in (fold_shares.shares.min(), fold_shares.shares.max())
    )
    return (
        f"From {low} of the labels in one fold to {high} in another, where folds that are drawn at "
        "random have about as many wrong labels each: the rest are mistakes of the members that "
        f"judge them, and {pluralize_noun(noun)} below may well be labelled rightly. Train longer, "
        "at another rate, or with more members a fold."
    )


def explain_image_choice(noun: str) -> str:
    """What the two kinds of images are judged by."""
    return (
        f"Test {pluralize_noun(noun)} are judged by all members, training {pluralize_noun(noun)} "
        "by those that left them out (folds)."
    )


def explain_label_errors(errors: LabelErrors, noun: str, members: int) -> str:
    """What it rests on, and where it errs."""
    who = "ensemble" if members > 1 else "one member"
    method = {
        "likelihood": "the likelihood of the labels, after one temperature",
        "confident learning": "confident learning",
    }[errors.by]
    return (
        f"A mistake that the {who} is sure of counts as a wrong label, the more on images unlike "
        f"those that it learnt: look at {pluralize_noun(noun)} before you relabel any. By "
        f"{method}, which finds fewer here than the other reckoning does."
    )


def caption_doubtful_images(errors: LabelErrors, count: int, noun: str) -> str:
    """What the images are, and in which order."""
    return (
        f"{formats.format_count(count, noun)} whose label is in doubt by at least "
        f"{formats.format_percent(MIN_SHOWN_DOUBT, places=0)}, the most doubtful first. Below "
        "each: what the ensemble says, and the label; the doubt; how many members vote for the "
        "label."
    )


def list_doubt_lines(
    errors: LabelErrors, labels: Ints, judges: int, place: int, names: Sequence[str]
) -> list[str]:
    """What stands below an image and its verdict: "doubt: 83.1 %", "1 of 4 say 7".

    Args:
      errors: what was found.
      labels: (N,), of all images.
      judges: how many members judge this one.
      place: of this one among them, from 0.
      names: of the classes.
    """
    doubt = formats.format_probability(float(errors.doubt[place])).replace("over ", ">")
    lines = [f"doubt: {doubt}"]
    if judges > 1:
        label = names[int(labels[place])]
        lines.append(f"{int(errors.agreeing[place]):,} of {judges:,} say {label}")
    return lines


def tabulate_label_pairs(errors: LabelErrors, names: Sequence[str], noun: str) -> pd.DataFrame:
    """A row for each label and class that it is confidently taken for, the commonest first."""
    joint = errors.joint.copy()
    np.fill_diagonal(joint, 0)
    order = np.argsort(-joint.ravel(), kind="stable")[: int((joint > 0).sum())]
    return pd.DataFrame(
        [
            {
                "labelled": names[int(cell) // len(joint)],
                "confidently": names[int(cell) % len(joint)],
                pluralize_noun(noun): f"{int(joint.ravel()[cell]):,}",
            }
            for cell in order
        ]
    )


def tabulate_doubtful_labels(
    errors: LabelErrors,
    numbers: Ints,
    labels: Ints,
    averaged: Floats,
    judges: Ints,
    names: Sequence[str],
) -> pd.DataFrame:
    """The labels most in doubt, to read.

    Args:
      errors: what was found.
      numbers: (N,), what the images are numbered.
      labels: (N,).
      averaged: (N, C), the averaged probabilities.
      judges: (N,), how many members judge each.
      names: of the classes.
    """
    places = errors.order[errors.doubt[errors.order] >= MIN_SHOWN_DOUBT][:MAX_ROWS]
    return pd.DataFrame(
        {
            "number": [f"{numbers[place]:,}" for place in places],
            "label": [names[int(labels[place])] for place in places],
            "instead": [names[int(errors.suggested[place])] for place in places],
            "doubt": [formats.format_probability(float(errors.doubt[place])) for place in places],
            "ensemble": [
                formats.format_probability(float(averaged[place, labels[place]]))
                for place in places
            ],
            "lowest member": [
                formats.format_probability(float(errors.lowest[place])) for place in places
            ],
            "votes": [f"{int(errors.agreeing[place]):,} of {judges[place]:,}" for place in places],
        }
    )


def explain_doubt_table() -> str:
    """What the columns are."""
    return (
        "Doubt: the probability that the label is wrong, if the averaged probabilities hold, by "
        "them and by how often each class is labelled as each. Ensemble and lowest member: the "
        "probability that they give the label. Votes: of members for the label."
    )


def tabulate_label_values(
    errors: LabelErrors,
    numbers: Ints,
    labels: Ints,
    averaged: Floats,
    judges: Ints,
    names: Sequence[str],
    details: ExampleDetails = NO_DETAILS,
) -> pd.DataFrame:
    """Every label with its doubt, the most doubtful first, for a program."""
    named, places = np.asarray(names, object), errors.order
    known = details.take(places)
    return pd.DataFrame(
        {
            "number": numbers[places],
            **({"example": known.names} if known.names else {}),
            "label": named[labels[places]],
            "suggested": named[errors.suggested[places]],
            "doubt": errors.doubt[places],
            "averaged": averaged[places, labels[places]],
            "lowest": errors.lowest[places],
            "votes": errors.agreeing[places],
            "members": judges[places],
        }
    )
