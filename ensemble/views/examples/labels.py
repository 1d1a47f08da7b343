"""Labels that are probably wrong: how many, which, and what the members say instead."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ensemble.analysis.inference.fold_shares import FoldShares
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.label_errors import QUEUE_DOUBT, LabelErrors
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.errors import EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training_predictions import explain_missing_predictions, has_training_predictions
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.judged_labels import JudgedLabels, Split, judge_labels
from ensemble.views.parts import Alternatives, Choice, Images, OtherImages, Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import describe_judges

BATCH = 20  # images that a person looks through at a time
MAX_ROWS = 20


def _describe_label_errors(errors: LabelErrors, subject: str) -> str:
    """Describe how many labels are wrong at least, or how many the members contradict.

    Args:
      subject: what one image is called, with its split: "test digit".
    """
    n = len(errors.doubt)
    labels = f"of the labels of {n:,} {pluralize_noun(subject)}"
    if least := int(errors.low * n):
        return f"At least {least:,} {labels} {'look' if least > 1 else 'looks'} wrong to the members."
    if contradicted := int(errors.contradicted.sum()):
        return f"The members contradict {contradicted:,} {labels}: look at the most doubtful."
    return f"The members contradict none {labels}."


def _describe_expected_finds(errors: LabelErrors, noun: str) -> str:
    n = len(errors.doubt)
    if int(errors.low * n) == 0:
        return (
            "Predictions alone do not show how many of these labels are wrong, and how many "
            "answers: labels that are wrong for a reason in the image look like answers that are."
        )
    interval = formats.format_share_interval(errors.share, errors.low, errors.high, n)
    text = (
        f"If mistakes depend on the class alone, about {formats.round_half_away(errors.count):,} "
        f"labels are wrong: {formats.format_percent(errors.share, n)} {interval}. Mistakes that "
        "follow the image, such as the members’ second guess, come on top."
    )
    first = min(BATCH, n)
    expected = formats.round_half_away(errors.expect_errors(0, first))
    if not expected:
        return text
    return (
        f"{text} Of the {first:,} {pluralize_noun(noun)} most in doubt at least about {expected:,} "
        f"{'are' if expected > 1 else 'is'} wrong."
    )


def describe_fold_conflict(subject: str) -> str:
    """That nothing can be said of how many labels are wrong, for folds lie too far apart.

    Args:
      subject: what one image is called, with its split: "training digit".
    """
    return f"These members cannot tell how many labels of {pluralize_noun(subject)} are wrong: their folds disagree."


def explain_fold_conflict(shares: FoldShares, noun: str) -> str:
    low, high = (formats.format_percent(float(share), places=1) for share in (shares.shares.min(), shares.shares.max()))
    return (
        f"From {low} of the labels in one fold to {high} in another, where folds that are drawn at "
        "random have about as many wrong labels each: the rest are mistakes of the members that "
        f"judge them, and {pluralize_noun(noun)} below may well be labelled rightly. Train longer, "
        "at another rate, or with more members a fold."
    )


def _explain_label_errors(errors: LabelErrors, noun: str, members: int) -> str:
    who = "ensemble" if members > 1 else "one member"
    method = {
        "likelihood": "the likelihood of the labels, after one temperature",
        "confident learning": "confident learning",
    }[errors.by]
    return (
        f"A mistake that the {who} is confident of counts as a wrong label, above all on images "
        f"unlike those that it learned: look at {pluralize_noun(noun)} before you relabel any. "
        f"Estimated by {method}, which finds fewer here than the other estimate."
    )


def _list_doubt_lines(errors: LabelErrors, labels: Ints, judges: int, place: int, names: Sequence[str]) -> list[str]:
    """What stands below an image and its verdict: "doubt: 83.1 %", "1 of 4 say 7".

    Args:
      labels: (N,), of all images.
      place: of this one among them, from 0.
    """
    doubt = formats.format_probability(float(errors.doubt[place])).replace("over ", ">")
    lines = [f"doubt: {doubt}"]
    if judges > 1:
        label = names[int(labels[place])]
        lines.append(f"{int(errors.agreeing[place]):,} of {judges:,} say {label}")
    return lines


def tabulate_label_pairs(errors: LabelErrors, names: Sequence[str], noun: str) -> pd.DataFrame:
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
    errors: LabelErrors, numbers: Ints, labels: Ints, averaged: Floats, judges: Ints, names: Sequence[str]
) -> pd.DataFrame:
    """The labels most in doubt, to read.

    Args:
      numbers: (N,), what the images are numbered.
      labels: (N,).
      averaged: (N, C), the averaged probabilities.
      judges: (N,), how many members judge each.
    """
    places = errors.queue[:MAX_ROWS]
    return pd.DataFrame(
        {
            "number": [f"{numbers[place]:,}" for place in places],
            "label": [names[int(labels[place])] for place in places],
            "instead": [names[int(errors.suggested[place])] for place in places],
            "doubt": [formats.format_probability(float(errors.doubt[place])) for place in places],
            "ensemble": [formats.format_probability(float(averaged[place, labels[place]])) for place in places],
            "lowest member": [formats.format_probability(float(errors.lowest[place])) for place in places],
            "votes": [f"{int(errors.agreeing[place]):,} of {judges[place]:,}" for place in places],
        }
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


MAX_IMAGES = 200
_MAX_LISTED_PAIRS = 20


def build_labels(epoch: EvaluatedEpoch) -> View:
    """Show how many labels are probably wrong, and the doubtful images, the most doubtful first.

    A run with folds shows those of its training images too.
    """
    if has_training_predictions(epoch.run):
        yield Alternatives(
            Choice(
                "images",
                "Images",
                {"test": f"Test {pluralize_noun(epoch.noun)}", "training": f"Training {pluralize_noun(epoch.noun)}"},
                "test",
                f"Test {pluralize_noun(epoch.noun)} are judged by all members, training {pluralize_noun(epoch.noun)} "
                "by those that left them out (folds).",
            ),
            lambda word: _build_split_labels(epoch, "training" if word == "training" else "test"),
        )
        return
    yield from _build_split_labels(epoch, "test")
    config = epoch.run.training_config
    if config and config.folds:
        yield Paragraph(explain_missing_predictions(epoch.run), "missing")


def _build_split_labels(epoch: EvaluatedEpoch, split: Split) -> View:
    try:
        judged = judge_labels(epoch, split)
    except EnsembleError as error:
        yield Paragraph(str(error), "unavailable")
        return
    errors, subject = judged.errors, f"{split} {epoch.noun}"
    if judged.fold_shares and judged.fold_shares.are_apart:
        yield Paragraph(describe_fold_conflict(subject), "answer")
        yield Paragraph(explain_fold_conflict(judged.fold_shares, epoch.noun), "evidence")
    else:
        yield Paragraph(_describe_label_errors(errors, subject), "answer")
        yield Paragraph(_describe_expected_finds(errors, epoch.noun), "evidence")
    if split == "training":
        judges = describe_judges(judged.judges, epoch.run.config.members, judged.epoch)
        right = judged.predictions.right
        agreeing = formats.format_percent(float(right.mean()), len(right))
        yield Paragraph(f"{judges}: they agree with {agreeing} of the labels.", "evidence")
    members = int(judged.judges.max())
    yield Paragraph(_explain_label_errors(errors, epoch.noun, members), "note")
    places = errors.queue[:MAX_IMAGES]
    yield Images(
        judged.numbers[places],
        "inspect_labels" if split == "test" else "inspect_training_labels",
        f"{formats.format_count(len(places), epoch.noun)} whose label the ensemble contradicts "
        f"or whose doubt is at least {formats.format_percent(QUEUE_DOUBT, places=0)}, the most doubtful first. "
        "Below each: what the ensemble says, and the label; the doubt; how many members vote for the label.",
        list_lines_below=lambda number: list_lines_below(epoch, judged, number),
        empty=f"No member contradicts a label of a {subject}.",
        others=_list_training_images(epoch, judged) if split == "training" else None,
    )
    yield from _build_label_tables(epoch, judged)


def list_lines_below(epoch: EvaluatedEpoch, judged: JudgedLabels, number: int) -> list[str]:
    place = judged.find_place(number)
    lines = _list_doubt_lines(judged.errors, judged.labels, int(judged.judges[place]), place, epoch.class_names)
    return lines if judged.split == "test" else [*lines, f"number {number:,}"]


def _list_training_images(epoch: EvaluatedEpoch, judged: JudgedLabels) -> OtherImages:
    return OtherImages(
        f"training {epoch.noun}",
        judged.predictions,
        judged.numbers,
        lambda numbers: load_run_dataset(epoch.run).train_images[numbers],
    )


def _build_label_tables(epoch: EvaluatedEpoch, judged: JudgedLabels) -> View:
    errors = judged.errors
    pairs = tabulate_label_pairs(errors, epoch.class_names, epoch.noun)
    if len(pairs):
        yield Table(
            "Labelled as one class, confidently of another",
            pairs.head(_MAX_LISTED_PAIRS),
            key="inspect_label_pairs",
            narrow=True,
            from_outside=True,
        )
    if len(errors.queue):
        judging = judged.numbers, judged.labels, judged.averaged, judged.judges
        details = epoch.dataset.details if judged.split == "test" else NO_DETAILS
        yield Table(
            "The labels most in doubt",
            tabulate_doubtful_labels(errors, *judging, epoch.class_names),
            folded=True,
            note="Doubt: the probability that the label is wrong, if the averaged probabilities hold and at "
            "least 1 % of each class are mislabeled. Ensemble and lowest member: the probability that "
            "they give the label. Votes: of members for the label.",
            key="inspect_doubtful_labels",
            from_outside=True,
            numbers=lambda: tabulate_label_values(errors, *judging, epoch.class_names, details),
            file="labels" if judged.split == "test" else "training-labels",
        )


VIEW = RegisteredView(
    "labels", "Labels in doubt", "Test labels that are probably wrong", build_labels, place=100, within="uncertainty"
)
