"""Labels that are probably wrong: how many, which, and what the members say instead."""

from ensemble.datasets.example_details import NO_DETAILS
from ensemble.errors import EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.judged_labels import (
    JudgedLabels,
    Split,
    describe_unjudged_training,
    has_training_predictions,
    judge_labels,
)
from ensemble.views.parts import Alternatives, Choice, Images, OtherImages, Paragraph, Table, View
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import label_errors as words

MAX_IMAGES = 200
_MAX_LISTED_PAIRS = 20


def build_labels(epoch: EvaluatedEpoch) -> View:
    """How many labels are probably wrong, and the images in doubt, the most first.

    Of a run with folds those of the training images too.
    """
    if has_training_predictions(epoch.run):
        yield Alternatives(
            Choice(
                "images",
                "Images",
                {"test": f"Test {pluralize_noun(epoch.noun)}", "training": f"Training {pluralize_noun(epoch.noun)}"},
                "test",
                words.explain_image_choice(epoch.noun),
            ),
            lambda word: _build_split_labels(epoch, "training" if word == "training" else "test"),
        )
        return
    yield from _build_split_labels(epoch, "test")
    config = epoch.run.training_config
    if config and config.folds:
        yield Paragraph(describe_unjudged_training(epoch.run), "missing")


def _build_split_labels(epoch: EvaluatedEpoch, split: Split) -> View:
    try:
        judged = judge_labels(epoch, split)
    except EnsembleError as error:
        yield Paragraph(str(error), "unavailable")
        return
    errors, subject = judged.errors, f"{split} {epoch.noun}"
    if judged.fold_shares and judged.fold_shares.are_apart:
        yield Paragraph(words.describe_fold_conflict(subject), "answer")
        yield Paragraph(words.explain_fold_conflict(judged.fold_shares, epoch.noun), "evidence")
    else:
        yield Paragraph(words.describe_label_errors(errors, subject), "answer")
        yield Paragraph(words.describe_expected_finds(errors, epoch.noun), "evidence")
    if split == "training":
        sentence = words.describe_judges(
            judged.judges, epoch.run.config.members, judged.epoch, judged.predictions.right
        )
        yield Paragraph(sentence, "evidence")
    members = int(judged.judges.max())
    yield Paragraph(words.explain_label_errors(errors, epoch.noun, members), "note")
    places = errors.queue[:MAX_IMAGES]
    yield Images(
        judged.numbers[places],
        "inspect_labels" if split == "test" else "inspect_training_labels",
        words.caption_doubtful_images(errors, len(places), epoch.noun),
        list_lines_below=lambda number: list_lines_below(epoch, judged, number),
        empty=f"No member contradicts a label of a {subject}.",
        others=_list_training_images(epoch, judged) if split == "training" else None,
    )
    yield from _build_label_tables(epoch, judged)


def list_lines_below(epoch: EvaluatedEpoch, judged: JudgedLabels, number: int) -> list[str]:
    place = judged.find_place(number)
    lines = words.list_doubt_lines(judged.errors, judged.labels, int(judged.judges[place]), place, epoch.class_names)
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
    pairs = words.tabulate_label_pairs(errors, epoch.class_names, epoch.noun)
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
            words.tabulate_doubtful_labels(errors, *judging, epoch.class_names),
            folded=True,
            note=words.explain_doubt_table(),
            key="inspect_doubtful_labels",
            from_outside=True,
            numbers=lambda: words.tabulate_label_values(errors, *judging, epoch.class_names, details),
            file="labels" if judged.split == "test" else "training-labels",
        )
