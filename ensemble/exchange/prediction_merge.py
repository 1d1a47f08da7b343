"""What several files hold, put together: their labels, classes and epochs agree, or it is said."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import number_groups
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.errors import PredictionsError
from ensemble.exchange.binary_columns import turn_member_columns
from ensemble.exchange.checks import names
from ensemble.exchange.checks.axes import OutputAxes, parse_output_axes
from ensemble.exchange.checks.label_readings import LabelReading, LabelReadingError, choose_label_reading
from ensemble.exchange.checks.labels import (
    check_labels_are_classes,
    describe_labels_from_1,
    find_unlabelled,
    has_two_classes,
    list_label_readings,
)
from ensemble.exchange.checks.limits import (
    Shape,
    allocate_probabilities,
    check_free_memory,
    check_prediction_counts,
    estimate_import_bytes,
)
from ensemble.exchange.checks.probability_values import ProbabilityConverter
from ensemble.exchange.checks.repeated_rows import describe_repeated_rows, find_repeated_rows
from ensemble.exchange.files.file_predictions import NamedFilePredictions, name_file_in_errors
from ensemble.exchange.member_outputs import GROUPS_NOTE, ZERO_NOTE, MemberOutputs, UnlabelledOutputs
from ensemble.exchange.merged_parts import (
    find_first_details,
    load_first_images,
    merge_class_names,
    merge_member_names,
    number_first_groups,
)


def merge_predictions(
    files: list[NamedFilePredictions], most_bytes: int | None = None, labels_as: str = ""
) -> MemberOutputs:
    """The members of all files, in the files' order, with one set of labels.

    Args:
      files: the files.
      most_bytes: of memory that may be taken; None for as much as there is.
      labels_as: one of `label_meanings.LABEL_READINGS`; "" for what the names and the
        predictions say.

    Raises:
      PredictionsError: they do not fit together, or what one holds is not as it has to be.
    """
    if labels_as not in ("", *LABEL_READINGS):
        raise PredictionsError(
            f"`labels_as` is {labels_as!r:.40}: choose {', '.join(map(repr, LABEL_READINGS))}, or leave it out."
        )
    files = _align_examples(files)
    first, labels = _find_common_labels(files)
    files = [_turn_named_columns(file, labels) for file in files]
    axes = [_parse_file_axes(file, labels) for file in files]
    shape = _compute_merged_shape(files, axes)
    with name_file_in_errors(files[0].name):
        check_prediction_counts(shape)
        nbytes = estimate_import_bytes(shape, max(file.predictions.image_bytes for file in files))
        check_free_memory(nbytes, most_bytes)
        probabilities = allocate_probabilities(shape)
    class_names = merge_class_names(files, shape[3])
    kept = _find_kept_examples(files, first, labels, shape[3], class_names)
    with name_file_in_errors(first):
        readings, notes = list_label_readings(labels[kept], shape[3], class_names)
        if not labels_as and list(readings) == ["from-1"]:
            message = describe_labels_from_1(readings["from-1"], shape[3])
            raise LabelReadingError(message, ("from-1",))
    notes += _fill_probabilities(files, axes, probabilities)
    images, image_notes = load_first_images(files, len(labels))
    groups = number_first_groups(files, len(labels))
    details = find_first_details(files, len(labels))
    if left_out := len(labels) - len(kept):
        check_free_memory(nbytes, most_bytes)
        probabilities = np.ascontiguousarray(probabilities[:, :, kept])
        images = None if images is None else images[kept]
        groups = None if groups is None else groups[kept]
        details = details.take(kept)
        notes.append(_describe_left_out(left_out, len(labels)))
    with name_file_in_errors(first):
        reading = _resolve_label_reading(readings, probabilities, shape[3], labels_as)
    notes += [*reading.notes, *_describe_zero_probabilities(probabilities[-1], reading.labels)]
    if groups is not None:
        groups = number_groups(groups).astype(np.int64)
        notes.append(f"{GROUPS_NOTE}{int(groups.max()) + 1:,} groups.")
    repeats = find_repeated_rows(probabilities, reading.labels) if images is None else None
    notes += describe_repeated_rows(repeats)
    return MemberOutputs(
        probabilities=probabilities,
        labels=reading.labels,
        class_names=class_names or names.generate_default_names(shape[3]),
        member_names=merge_member_names(files, axes),
        images=images,
        groups=groups,
        repeats=repeats,
        split=next((file.predictions.split for file in files if file.predictions.split), "test"),
        noun=next((file.predictions.noun for file in files if file.predictions.noun), ""),
        notes=tuple(dict.fromkeys([*(n for file in files for n in file.predictions.notes), *notes, *image_notes])),
        label_reading=reading.name,
        label_options=reading.options,
        details=details,
    )


def merge_unlabelled_predictions(files: list[NamedFilePredictions], most_bytes: int | None = None) -> UnlabelledOutputs:
    """The members of all files, in the files' order, whatever labels they have.

    Without labels the shape alone says what is what: (M, N, C), (E, M, N, C) or (N, C).

    Args:
      files: the files.
      most_bytes: of memory that may be taken; None for as much as there is.

    Raises:
      PredictionsError: they do not fit together, or what one holds is not as it has to be.
    """
    files = _align_examples(files)
    axes = []
    for file in files:
        shape = file.predictions.shape
        with name_file_in_errors(file.name):
            if not 2 <= len(shape) <= 4:
                raise PredictionsError(
                    f"`{file.predictions.kind}` has the shape {shape}: give (members, examples, classes)."
                )
            axes.append(parse_output_axes(file.predictions.kind, shape, shape[-2], two=False))
            if axes[-1].shape[2] != axes[0].shape[2]:
                raise PredictionsError(
                    f"it has {axes[-1].shape[2]:,} examples, and {files[0].name} "
                    f"{axes[0].shape[2]:,}: give every file the same examples."
                )
    merged = _compute_merged_shape(files, axes)
    with name_file_in_errors(files[0].name):
        check_prediction_counts(merged)
        check_free_memory(estimate_import_bytes(merged, 0), most_bytes)
        probabilities = allocate_probabilities(merged)
    notes = [note for file in files for note in file.predictions.notes]
    notes += _fill_probabilities(files, axes, probabilities)
    examples = merged[2]
    named = next((file.predictions.examples for file in files if file.predictions.examples), None)
    return UnlabelledOutputs(
        probabilities[-1],
        merge_class_names(files, merged[3]) or names.generate_default_names(merged[3]),
        find_first_details(files, examples).names or named or (),
        tuple(dict.fromkeys(notes)),
        any(file.predictions.labels is not None for file in files),
    )


def _align_examples(files: list[NamedFilePredictions]) -> list[NamedFilePredictions]:
    """The files with their named examples in one order, that of the first which names them.

    Raises:
      PredictionsError: two files have other examples.
    """
    first = next((file for file in files if file.predictions.examples is not None), None)
    if first is None or first.predictions.examples is None:
        return files
    wanted = first.predictions.examples
    aligned = []
    for file in files:
        there = file.predictions.examples
        if there is not None and there != wanted:
            if file.predictions.reorder is None or set(there) != set(wanted):
                raise PredictionsError(
                    f"{file.name}: its examples have other names than in {first.name}: "
                    "give every file the same examples."
                )
            places = {name: place for place, name in enumerate(there)}
            order = np.array([places[name] for name in wanted])
            file = NamedFilePredictions(file.name, file.predictions.reorder(order))
        aligned.append(file)
    return aligned


def _turn_named_columns(file: NamedFilePredictions, labels: NDArray[Any]) -> NamedFilePredictions:
    with name_file_in_errors(file.name):
        return NamedFilePredictions(file.name, turn_member_columns(file.predictions, labels))


def _find_kept_examples(
    files: list[NamedFilePredictions],
    first: str,
    labels: NDArray[Any],
    classes: int,
    class_names: tuple[str, ...] | None,
) -> NDArray[np.int64]:
    left_out = find_unlabelled(labels, classes, class_names)
    for file in files:
        if file.predictions.unlabelled is not None:
            left_out |= file.predictions.unlabelled
    if left_out.all():
        raise PredictionsError(f"{first}: none of its {len(labels):,} examples has a label: give some.")
    return np.flatnonzero(~left_out)


def _describe_left_out(count: int, examples: int) -> str:
    why = "they have no label (−1, NaN, empty or unknown), or are masked"
    return f"{count:,} of {examples:,} examples were left out: {why}."


def _resolve_label_reading(
    readings: dict[str, NDArray[np.int32]], probabilities: NDArray[np.float32], classes: int, labels_as: str
) -> LabelReading:
    """The reading that fits the last epoch's predictions; nothing is averaged where it is clear."""
    if len(readings) == 1 and (not labels_as or labels_as in readings):
        return LabelReading("", next(iter(readings.values())))
    predicted = average_probabilities(probabilities[-1]).argmax(axis=1)
    return choose_label_reading(readings, predicted, classes, labels_as)


def _find_common_labels(files: list[NamedFilePredictions]) -> tuple[str, NDArray[Any]]:
    """Whose labels stand for all, and these: all files that have any say the same."""
    having = [
        (candidate, candidate.predictions.labels) for candidate in files if candidate.predictions.labels is not None
    ]
    if not having:
        raise PredictionsError(
            f"{files[0].name}: it has no labels, so answers cannot be checked: save them too, "
            "one for each example, as `labels`, or in a table as a column `label`."
        )
    first, labels = having[0]
    for other, its in having[1:]:
        with name_file_in_errors(other.name):
            _check_equal_labels(first.name, labels, its)
    with name_file_in_errors(first.name):
        check_labels_are_classes(labels)
    return first.name, labels


def _check_equal_labels(first: str, here: NDArray[Any], there: NDArray[Any]) -> None:
    if here.shape != there.shape:
        raise PredictionsError(
            f"it has {len(there):,} labels, and {first} {len(here):,}: give every file the same examples."
        )
    if (here.dtype.kind == "U") != (there.dtype.kind == "U"):
        here, there = here.astype(str), there.astype(str)
    if (apart := here != there).any():
        place = int(np.argmax(apart))
        raise PredictionsError(
            f"its `labels[{place}]` is {there[place]!s:.40}, and in {first} {here[place]!s:.40}: "
            "give every file the same examples in the same order."
        )


def _parse_file_axes(file: NamedFilePredictions, labels: NDArray[Any]) -> OutputAxes:
    with name_file_in_errors(file.name):
        return parse_output_axes(
            file.predictions.kind,
            file.predictions.shape,
            len(labels),
            has_two_classes(labels),
            0 if labels.dtype.kind == "U" else len(np.unique(labels)),
        )


def _compute_merged_shape(files: list[NamedFilePredictions], axes: list[OutputAxes]) -> Shape:
    epochs, _, examples, classes = axes[0].shape
    for file, its in zip(files, axes, strict=True):
        for noun, place in ("epochs", 0), ("classes", 3):
            if its.shape[place] != axes[0].shape[place]:
                raise PredictionsError(
                    f"{file.name}: it has {its.shape[place]:,} {noun}, and {files[0].name} "
                    f"{axes[0].shape[place]:,}: give every file the same number."
                )
    return epochs, sum(its.shape[1] for its in axes), examples, classes


def _fill_probabilities(
    files: list[NamedFilePredictions], axes: list[OutputAxes], probabilities: NDArray[np.float32]
) -> list[str]:
    """Put all files' probabilities into (E, M, N, C); what is to be said of them."""
    notes, first, shape = list[str](), 0, probabilities.shape
    for file, its in zip(files, axes, strict=True):
        members = its.shape[1]
        own = probabilities[:, first : first + members]
        filling = ProbabilityConverter(file.predictions.kind, members, shape[2])
        with name_file_in_errors(file.name):
            filling.convert_blocks([epoch.reshape(-1, shape[3]) for epoch in own], file.predictions.blocks(its.columns))
            its.check_transposed(file.predictions.kind, file.predictions.shape, own)
        notes += [*its.list_notes(file.predictions.kind), *filling.notes()]
        first += members
    return notes


def _describe_zero_probabilities(probabilities: NDArray[np.float32], labels: NDArray[np.int32]) -> list[str]:
    """What is to be said where members (M, N, C) rule out what an example is."""
    zero = int((probabilities[:, np.arange(len(labels)), labels] == 0).sum())
    if not zero:
        return []
    phrase = f"of {probabilities.shape[0] * len(labels):,} times a member gives an example's own class"
    return [f"{zero:,} {phrase} {ZERO_NOTE}"]
