"""Labels that are probably wrong: how many, which, and what the members say instead."""

from ensemble.analysis.quality.label_errors import LabelErrors, find_label_errors
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Images, Paragraph, Table, View
from ensemble.wording.verdicts import label_errors as words

MAX_IMAGES = 200
MAX_LISTED_PAIRS = 20


def build_labels(epoch: EvaluatedEpoch) -> View:
    """How many labels are probably wrong, and the images in doubt, the most first."""
    errors = epoch.measure(find_label_errors)
    yield Paragraph(words.describe_label_errors(errors, epoch.noun), "answer")
    yield Paragraph(words.describe_expected_finds(errors, epoch.noun), "evidence")
    yield Paragraph(words.explain_label_errors(errors, epoch.noun, epoch.members), "note")
    numbers = errors.order[errors.doubt[errors.order] >= words.MIN_SHOWN_DOUBT][:MAX_IMAGES]
    yield Images(
        numbers,
        "inspect_labels",
        words.caption_doubtful_images(errors, len(numbers), epoch.noun),
        list_lines_below=lambda number: words.list_doubt_lines(
            errors, epoch.predictions, number, epoch.class_names
        ),
        empty=f"No label of a test {epoch.noun} is in doubt.",
    )
    yield from build_label_tables(epoch, errors)


def build_label_tables(epoch: EvaluatedEpoch, errors: LabelErrors) -> View:
    """Which classes are taken for which, and every label with its doubt for a program."""
    pairs = words.tabulate_label_pairs(errors, epoch.class_names, epoch.noun)
    if len(pairs):
        yield Table(
            "Labelled as one class, confidently of another",
            pairs.head(MAX_LISTED_PAIRS),
            key="inspect_label_pairs",
            narrow=True,
            from_outside=True,
        )
    if errors.doubt[errors.order[0]] >= words.MIN_SHOWN_DOUBT:
        yield Table(
            "The labels most in doubt",
            words.tabulate_doubtful_labels(errors, epoch.predictions, epoch.class_names),
            folded=True,
            note=words.explain_doubt_table(),
            key="inspect_doubtful_labels",
            from_outside=True,
            numbers=lambda: words.tabulate_label_values(
                errors, epoch.predictions, epoch.class_names, epoch.dataset.details
            ),
            file="labels",
        )
